// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The connection of a keeper, whose rank another launcher has started, to the mpiexec that the
/// user has called (far_ranks.hpp). The keeper reports that the rank waits, and how the rank has
/// ended. On request it reports where the rank is and what its threads do. If mpiexec cannot be
/// reached, the keeper prints its reports itself.

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
    /// Returns a link by the launcher's variable, which it removes from the environment. Returns
    /// nullptr if there is no variable.
    static std::unique_ptr<RootLink> of_environment(EventLoop& loop, const Kept& kept);

    RootLink(EventLoop& loop, const Kept& kept, ReportAddress address);

    [[nodiscard]] bool is_up() const { return link_ != nullptr && link_->is_open(); }
    /// Returns when the next look at the rank is due, on the clock of now_ms(), or -1 for never.
    [[nodiscard]] long long due() const;
    void look(long long now);
    void rank_ended();

private:
    /// A request to watch the threads for a while.
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
