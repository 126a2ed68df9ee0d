// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Critical sections that are named by what they protect (P3). The granularity says which lock that
/// is, if any.
///
///     global        the call as a whole
///     brief global  one lock for all sections, recursive; none if a call touches nothing shared
///     per object    a lock for each object: an instance's outbox (a virtual channel, in P3) and
///                   inbox, the pool of requests, a request, a reference count
///
/// Code in these sections needs no lock in the default recipe. They are there to measure the
/// designs of the papers beside it. A thread that waits gives the global section up between two
/// polls. It asks for it again on the progress path (P2, figure 1).
///
/// Tests          MPI_Test need not wait for a section longer than `test_limit`. It then comes back
///                without progress (P2, section 6.2). Under global it has not been in the section
///                at all. Everything that the section's lock protects is safe without it, too.
///
/// Lock order     inbox, outbox, then one of the rest.
/// Thread safety  Sections from any thread; a Visitor belongs to one thread, but for its counters.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "sync/locks/any_lock.hpp"
#include "tool/counters.hpp"
#include "tool/recipe.hpp"

namespace heddle::sync::locks {

/// How long a thread waits for a section.
enum class Limit : std::uint8_t { none, of_tests };

enum class Section : std::uint8_t {
    call,
    progress,
    inbox,
    outbox,
    request_pool,
    request,
    reference_count
};

class Sections {
public:
    Sections(tool::Granularity granularity, std::string_view lock,
             std::chrono::nanoseconds test_limit);

    const tool::Granularity granularity;
    const std::chrono::nanoseconds test_limit;  ///< for Limit::of_tests; zero: none

    /// Returns the lock of this section, or nullptr if it has none. `object`: a number of the
    /// object.
    PathLock* lock_of(Section section, std::size_t object) noexcept;
    bool is_recursive(const PathLock& lock) const noexcept { return &lock == one_.get(); }

private:
    static constexpr std::size_t kinds = 5, stripes = 64;
    std::unique_ptr<PathLock> one_;  ///< lock of both global granularities
    std::array<std::unique_ptr<PathLock>, kinds * stripes> of_objects_;
};

/// A thread that goes through sections.
class Visitor {
public:
    explicit Visitor(Sections& sections) noexcept : sections(sections) {}

    Sections& sections;
    Path path = Path::main;
    tool::counters::Laboratory counters;

    /// Enters a section. Returns nullptr if there is nothing to leave. If the limit runs out, sets
    /// `gave_up`. It also sets that for progress in a call that has given its section up.
    PathLock* enter(Section section, std::size_t object, PathLock::Node& node, Limit limit,
                    bool& gave_up) noexcept;
    void leave(PathLock& lock, PathLock::Node& node) noexcept;

    /// In the global section: lets other threads have it, and comes back on the progress path.
    void give_way() noexcept;

    /// Counts things that programs wait for: requests made, completed, freed (P2, section 3).
    void productive(std::uint64_t things) noexcept {
        (path == Path::main ? counters.productive_main : counters.productive_progress).add(things);
    }

private:
    void count(const LockStatistics& what) noexcept;

    bool call_gave_up_ = false;       ///< the current call goes without its section
    unsigned depth_ = 0;              ///< depth of the recursive lock
    PathLock::Node* held_ = nullptr;  ///< node with which that is held
};

/// Holds a section for as long as the object lives. Without a visitor it does nothing.
class [[nodiscard]] InSection {
public:
    InSection(Visitor* visitor, Section section, std::size_t object = 0,
              Limit limit = Limit::none) noexcept
        : visitor_(visitor) {
        if (visitor != nullptr) lock_ = visitor->enter(section, object, node_, limit, gave_up_);
    }
    ~InSection() {
        if (lock_ != nullptr) visitor_->leave(*lock_, node_);
    }
    InSection(const InSection&) = delete;
    InSection& operator=(const InSection&) = delete;

    /// Returns true if the limit ran out: the thread is not in the section.
    bool gave_up() const noexcept { return gave_up_; }

private:
    Visitor* visitor_;
    PathLock* lock_ = nullptr;
    bool gave_up_ = false;
    PathLock::Node node_;
};

}  // namespace heddle::sync::locks
