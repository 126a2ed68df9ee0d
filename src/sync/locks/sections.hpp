// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Critical sections that are named by what they protect (P3): which lock that is, if any, depends on the
/// granularity.
///
///   global        the call as a whole
///   brief global  one lock for all sections, recursive; none where a call touches nothing shared
///   per object    a lock for each object: an instance's outbox (a virtual channel, in P3) and inbox, the
///                 pool of requests, a request, a reference count
///
/// They stand around what needs no lock in the default recipe, so that the designs of the papers can be
/// measured beside it. A thread that waits gives the global section up between two polls, and asks for it
/// again on the progress path (P2, figure 1).
///
/// Tests          MPI_Test need not wait for a section longer than `test_limit`: it then comes back without
///                progress (P2, section 6.2), and under global without having been in the section at all, whose
///                lock protects nothing that is not safe without it.
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
    const std::chrono::nanoseconds test_limit;  ///< of Limit::of_tests; zero: none

    /// The lock of this section; nullptr: none. `object`: a number of the object.
    PathLock* lock_of(Section section, std::size_t object) noexcept;
    bool is_recursive(const PathLock& lock) const noexcept { return &lock == one_.get(); }

private:
    static constexpr std::size_t kinds = 5, stripes = 64;
    std::unique_ptr<PathLock> one_;  ///< of both global granularities
    std::array<std::unique_ptr<PathLock>, kinds * stripes> of_objects_;
};

/// A thread, as far as it goes through sections.
class Visitor {
public:
    explicit Visitor(Sections& sections) noexcept : sections(sections) {}

    Sections& sections;
    Path path = Path::main;
    tool::counters::Laboratory counters;

    /// nullptr: there is nothing to be left. The limit may run out: then `gave_up` is set, also of progress
    /// that a call asks for which has given its section up.
    PathLock* enter(Section section, std::size_t object, PathLock::Node& node, Limit limit,
                    bool& gave_up) noexcept;
    void leave(PathLock& lock, PathLock::Node& node) noexcept;

    /// In the global section: lets others have it, and comes back on the progress path.
    void give_way() noexcept;

    /// So many things were done that programs wait for: requests made, completed, freed (P2, section 3).
    void productive(std::uint64_t things) noexcept {
        (path == Path::main ? counters.productive_main : counters.productive_progress).add(things);
    }

private:
    void count(const LockStatistics& what) noexcept;

    bool call_gave_up_ = false;       ///< the call at hand goes without its section
    unsigned depth_ = 0;              ///< of the recursive lock
    PathLock::Node* held_ = nullptr;  ///< the node that it is held with
};

/// A section, for as long as the object lives. Without a visitor: nothing.
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

    /// The limit ran out: the thread is not in the section.
    bool gave_up() const noexcept { return gave_up_; }

private:
    Visitor* visitor_;
    PathLock* lock_ = nullptr;
    bool gave_up_ = false;
    PathLock::Node node_;
};

}  // namespace heddle::sync::locks
