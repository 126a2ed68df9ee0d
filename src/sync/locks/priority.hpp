// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// "p-X-Y": the two-level priority lock of P2, section 4.1, figure 5. X is the lock among threads
/// on the main path, Y that among those on the progress path. A filter holds the latter back while
/// there are threads on the main path.
///
/// The lines of the figure:
///     4  high_p         high_         17 go_straight = 1        18-26 release()     unlock_high()
///     5  go_straight    go_straight_  21 nowaiters_high_p()     28-31 acquire_l()   lock_low()
///     6  filter         filter_       22 go_straight = 0        34-37 release_l()   unlock_low()
///     7  lock_p         low_          23 ticket_release()
/// A line below that is one of the figure names it.
///
/// Invariants     (1) go_straight_ belongs to the holder of high_; it is set while the class of the
///                    main path has the filter.
///                (2) if high_ is free and go_straight_ is set, a thread in lock() of high_ is
///                    still to get it. It will look again whether any thread waits. Otherwise no
///                    thread would ever give the filter back. So nowaiters() must not count threads
///                    that may leave.
///                (3) at most one thread of each class is at the filter.
/// Preference     a thread on the main path waits for the holder and for at most one thread on the
///                progress path. The latter had its ticket of the filter before.
/// Starvation     as in the figure: the progress path waits as long as main-path threads keep
///                coming.
/// Time limit     one limit over the steps. Nothing has changed if it ends between them, since
///                go_straight_ was not set. At the filter a thread gives its ticket back
///                (ticket.hpp).

#include <algorithm>
#include <array>

#include "sync/locks/ticket.hpp"

namespace heddle::sync::locks {

template <ClassLock High, Lock Low, class World = Native>
class TwoLevelPriority {
    using Filter = Ticket<World>;

public:
    struct Node {
        typename High::Node high;
        typename Low::Node low;
        typename Filter::Node filter;
        Path path = Path::main;  ///< of the thread that holds the lock with this node
    };

private:
    static constexpr auto name_text = [] {
        constexpr std::string_view parts[] = {"p-", High::name, "-", Low::name};
        std::array<char, parts[0].size() + parts[1].size() + parts[2].size() + parts[3].size() + 1>
            text{};
        auto at = text.begin();
        for (const std::string_view part : parts) at = std::copy(part.begin(), part.end(), at);
        return text;
    }();

public:
    // Ends with a NUL as literals do.
    static constexpr std::string_view name{name_text.data(), name_text.size() - 1};
    static constexpr bool fifo = High::fifo;  ///< within the class of the main path
    static constexpr bool fifo_progress = Low::fifo;

    TwoLevelPriority() = default;
    TwoLevelPriority(const TwoLevelPriority&) = delete;
    TwoLevelPriority& operator=(const TwoLevelPriority&) = delete;

    void lock(Node& me, Path path = Path::main) noexcept {
        me.path = path;
        if (path == Path::main)
            lock_high(me);
        else
            lock_low(me);
    }
    bool try_lock(Node& me, Path path = Path::main) noexcept { return lock_for(me, path, {}); }
    bool lock_for(Node& me, std::chrono::nanoseconds limit) noexcept {
        return lock_for(me, Path::main, limit);
    }
    bool lock_for(Node& me, Path path, std::chrono::nanoseconds limit) noexcept {
        me.path = path;
        return path == Path::main ? lock_high_for(me, limit) : lock_low_for(me, limit);
    }
    void unlock(Node& me) noexcept {
        if (me.path == Path::main)
            unlock_high(me);
        else
            unlock_low(me);
    }

private:
    void lock_high(Node& me) noexcept {  // line 12
        high_.lock(me.high);             // line 13
        if (!go_straight_) {             // line 14
            filter_.lock(me.filter);     // line 15
            go_straight_ = true;         // line 16
        }
    }
    void unlock_high(Node& me) noexcept {  // line 20
        if (high_.nowaiters(me.high)) {    // line 21
            go_straight_ = false;          // line 22
            filter_.unlock(me.filter);     // line 23
        }
        high_.unlock(me.high);  // line 25
    }
    void lock_low(Node& me) noexcept {  // line 28
        low_.lock(me.low);              // line 29
        filter_.lock(me.filter);        // line 30
    }
    void unlock_low(Node& me) noexcept {  // line 34
        filter_.unlock(me.filter);        // line 35
        low_.unlock(me.low);              // line 36
    }

    bool lock_high_for(Node& me, std::chrono::nanoseconds limit) noexcept {
        const Limit left(limit);
        if (!high_.lock_for(me.high, limit)) return false;
        if (go_straight_) return true;
        if (filter_.lock_one_of_two_for(me.filter, left())) {
            go_straight_ = true;
            return true;
        }
        high_.unlock(me.high);
        return false;
    }
    bool lock_low_for(Node& me, std::chrono::nanoseconds limit) noexcept {
        const Limit left(limit);
        if (!low_.lock_for(me.low, limit)) return false;
        if (filter_.lock_one_of_two_for(me.filter, left())) return true;
        low_.unlock(me.low);
        return false;
    }

    /// The rest of a limit; does not ask for the time if there is no limit.
    class Limit {
    public:
        explicit Limit(std::chrono::nanoseconds limit) noexcept : limit_(limit) {
            if (limit.count() > 0) start_ = World::now();
        }
        std::chrono::nanoseconds operator()() const noexcept {
            return limit_.count() > 0 ? limit_ - (World::now() - start_) : limit_;
        }

    private:
        std::chrono::nanoseconds limit_, start_{};
    };

    High high_;                 // line 4
    bool go_straight_ = false;  // line 5
    Filter filter_;             // line 6
    Low low_;                   // line 7
};

}  // namespace heddle::sync::locks
