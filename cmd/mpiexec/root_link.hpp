// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The keeper of a rank that another launcher has started tells the mpiexec that the user has called of that rank
/// (far_ranks.hpp): that it waits, where it is and what its threads do when that is asked, and how it has ended.
/// Where mpiexec cannot be connected to, nobody is told, and this keeper reports by itself.

#include <cstdint>
#include <list>
#include <memory>

#include "activity/watch.hpp"
#include "connecting.hpp"
#include "event_loop.hpp"
#include "framed.hpp"
#include "frames.hpp"
#include "report.hpp"
#include "report_place.hpp"

namespace heddle::mpiexec {

class RootLink {
public:
    /// As the launcher has handed it down in the environment, where it goes no further; nullptr if it has not.
    static std::unique_ptr<RootLink> of_environment(EventLoop& loop, const Kept& kept);

    RootLink(EventLoop& loop, const Kept& kept, ReportAddress address);

    [[nodiscard]] bool is_up() const { return link_ != nullptr && link_->is_open(); }
    /// When the next look at the rank is due, on the clock of now_ms(); -1: never.
    [[nodiscard]] long long due() const;
    void look(long long now);
    void rank_ended();

private:
    /// What threads do is looked at for a while.
    struct Watched {
        std::uint32_t round;
        long long until, next;  ///< on the clock of now_ms()
        activity::Watch watch;
    };

    void connected(UniqueFd socket);
    void hear(char kind, std::string_view bytes);
    [[nodiscard]] hangs::Snapshot look_at_rank() const;
    void answer(const frame::Look& look);
    void begin_to_watch(const frame::Watch& asked);
    void tell_waits();
    void sample(long long now);

    EventLoop& loop_;
    const Kept kept_;
    const ReportAddress address_;
    Connecting connecting_;
    std::unique_ptr<Framed> link_;
    long long due_ = 0;
    std::uint64_t told_ = 0;
    std::list<Watched> watched_;
};

}  // namespace heddle::mpiexec
