// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The keeper of a rank that another launcher has started tells the mpiexec that the user has called of that rank
/// (far_ranks.hpp): that it waits, where it is when that is asked, and how it has ended.
///
/// Connection     is tried at all addresses of mpiexec at once; the first that answers serves. Without one nobody is
///                told, and this keeper reports by itself.

#include <cstdint>
#include <memory>
#include <vector>

#include "event_loop.hpp"
#include "framed.hpp"
#include "report.hpp"
#include "report_place.hpp"

namespace heddle::mpiexec {

/// What the frames are between a keeper and mpiexec.
namespace frame {
inline constexpr char hello = 'H';  ///< Hello
inline constexpr char waits =
    'W';  ///< a number that changes with each wait; 0: the rank does not wait
inline constexpr char look = 'L';    ///< Look, from mpiexec
inline constexpr char answer = 'A';  ///< the round of the Look, then the packed rank
inline constexpr char ended = 'E';   ///< the packed rank

struct Hello {
    transport::JobToken secret;
    std::uint64_t layout;
    std::int32_t rank;
};
struct Look {
    std::uint32_t round;
    std::uint32_t for_lines_ms;  ///< that lines of the program may be looked for; 0: they are not
};
}  // namespace frame

class RootLink {
public:
    /// As the launcher has handed it down in the environment, where it goes no further; nullptr if it has not.
    static std::unique_ptr<RootLink> of_environment(EventLoop& loop, const Kept& kept);

    RootLink(EventLoop& loop, const Kept& kept, ReportAddress address);

    [[nodiscard]] bool is_up() const { return link_ != nullptr && link_->is_open(); }
    /// When the next look at the rank is due, on the clock of now_ms(); -1: never.
    [[nodiscard]] long long due() const { return is_up() ? due_ : -1; }
    void look(long long now);
    void rank_ended();

private:
    void connected(std::size_t index);
    void answer(const frame::Look& look);

    EventLoop& loop_;
    const Kept kept_;
    const ReportAddress address_;
    std::vector<UniqueFd> trying_;
    std::unique_ptr<Framed> link_;
    long long due_ = 0;
    std::uint64_t told_ = 0;
};

}  // namespace heddle::mpiexec
