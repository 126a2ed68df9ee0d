// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// An open file: the state in one of the processes that have opened it together.
///
/// Threads        `lock` guards view and pointers. Accesses take what they need of them at their
///                start, and hold no lock while they move data.
/// Collectives    have numbers, in the order in which they are called, the same in every process.
///                So messages of one do not meet those of another, even if several are pending.

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "io/common.hpp"
#include "io/file_system.hpp"
#include "io/hints.hpp"
#include "io/shared_pointer.hpp"
#include "io/shared_windows.hpp"
#include "io/view.hpp"
#include "io/workers.hpp"
#include "objects/communicator.hpp"
#include "objects/process.hpp"

namespace heddle::io {

/// The pair of functions that a split collective is.
enum class Split : std::uint8_t {
    none,
    read_at_all,
    write_at_all,
    read_all,
    write_all,
    read_ordered,
    write_ordered,
};

struct OpenFile {
    explicit OpenFile(objects::Process& owner) : process(owner), common(common_of(owner)) {}
    ~OpenFile();
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;

    bool readable() const noexcept { return (amode & MPI_MODE_WRONLY) == 0; }
    bool writable() const noexcept { return (amode & MPI_MODE_RDONLY) == 0; }
    bool sequential() const noexcept { return (amode & MPI_MODE_SEQUENTIAL) != 0; }
    ViewPointer view_now() const {
        const std::lock_guard guard(lock);
        return view;
    }

    objects::Process& process;
    const std::shared_ptr<Common> common;
    objects::Communicator* communicator = nullptr;  ///< of its own, counted
    std::unique_ptr<Storage> storage;
    std::string path;  ///< in the file system
    const FileSystem* file_system = nullptr;
    int amode = 0;
    std::unique_ptr<SharedPointer> shared;
    /// Windows for blocking collectives, and for the others.
    std::array<std::unique_ptr<SharedWindows>, 2> windows;

    mutable std::mutex lock;
    // Guarded by `lock`:
    ViewPointer view;
    std::int64_t position = 0;  ///< of the individual pointer, in etypes
    Hints hints;
    bool atomic = false;
    std::uint32_t collectives = 0;
    Split split = Split::none;
    core::Request* split_request = nullptr;
    const void* split_buffer = nullptr;
    std::uint32_t uncollected = 0;  ///< nonblocking accesses that the program has not completed
    std::uint32_t under_way = 0;    ///< nonblocking accesses that have not ended
    std::condition_variable over;   ///< notified when none is under way

    std::atomic<std::int64_t> written_to{-1};  ///< end of the last write of this process
    // Counts for advice; guarded by objects::Files::counting:
    std::uint64_t small_writes = 0;
    std::uint64_t small_bytes = 0;

    /// Held by one access after the other in atomic mode: locks of the file system belong to the
    /// whole process.
    std::mutex atomic_accesses;
    /// The thread of nonblocking collectives, which runs them one after the other.
    std::unique_ptr<Workers> collective_worker;
};

/// Applies hints to a file that is open.
void apply_hints(OpenFile& file, const objects::Info& info);

/// Returns the tag of the next collective call.
std::int32_t next_tag(OpenFile& file) noexcept;

}  // namespace heddle::io
