// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Any of the lock protocols, chosen by name at run time. It is for the laboratory's critical
/// sections, in which a virtual call does not matter.
///
/// PathLock keeps the contract of the protocols (lock.hpp). A flat lock, one without priorities,
/// ignores the path. A Node lives in the caller's guard, from before lock() until after unlock().

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "sync/locks/lock.hpp"
#include "sync/orders.hpp"

namespace heddle::sync::locks {

/// Counts of one thread's use of locks. Written by that thread only.
struct LockStatistics {
    std::uint64_t acquisitions = 0;  ///< tries that failed are none
    std::uint64_t contended = 0;     ///< times that the lock was not free at once, given up or not
    std::uint64_t ticks_waited = 0;  ///< platform::ticks(), taken only when the lock was not free

    std::chrono::nanoseconds waited() const noexcept;
    LockStatistics& operator+=(const LockStatistics& other) noexcept {
        acquisitions += other.acquisitions;
        contended += other.contended;
        ticks_waited += other.ticks_waited;
        return *this;
    }
};

class PathLock {
public:
    /// Room for the node of any protocol.
    struct Node {
        alignas(cache_line) std::byte room[7 * cache_line];  // uninitialised on purpose
        Node() noexcept {}                                   // NOLINT(modernize-use-equals-default)
    };

    PathLock() = default;
    PathLock(const PathLock&) = delete;
    PathLock& operator=(const PathLock&) = delete;
    virtual ~PathLock() = default;

    virtual void lock(Path path, Node& me) noexcept = 0;
    virtual bool try_lock(Path path, Node& me) noexcept = 0;
    virtual bool lock_for(Path path, Node& me, std::chrono::nanoseconds limit) noexcept = 0;
    virtual void unlock(Node& me) noexcept = 0;
    virtual std::string_view name() const noexcept = 0;

    /// Locks and counts: a try first, then the waiting and its time.
    void lock(Path path, Node& me, LockStatistics& statistics) noexcept;
    bool lock_for(Path path, Node& me, std::chrono::nanoseconds limit,
                  LockStatistics& statistics) noexcept;
};

/// Returns "mutex", "ticket", "mcs", "hmcs", and "p-X-Y" with each X (main path) and each Y
/// (progress path) of them. They are in the order of all.hpp; each ends with a NUL.
std::span<const char* const> path_lock_names() noexcept;

/// Returns nullptr if there is none of this name.
std::unique_ptr<PathLock> make_path_lock(std::string_view name);

/// Holds the lock while it lives.
class [[nodiscard]] PathGuard {
public:
    PathGuard(PathLock& lock, Path path, LockStatistics& statistics) noexcept : lock_(lock) {
        lock.lock(path, node_, statistics);
    }
    ~PathGuard() { lock_.unlock(node_); }
    PathGuard(const PathGuard&) = delete;
    PathGuard& operator=(const PathGuard&) = delete;

private:
    PathLock& lock_;
    PathLock::Node node_;
};

}  // namespace heddle::sync::locks
