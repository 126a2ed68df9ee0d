// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A file that is open: what one process of those that have opened it together knows of it.
///
/// Threads        `lock` guards view and pointers. Accesses take what they need of them at their start, and hold no
///                lock while they move data.
/// Collectives    have numbers, in the order in which they are called, the same in every process: messages of one
///                do not meet those of another, also where several are under way.

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

/// Which pair of functions a split collective is.
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
    /// For blocking collectives, and for the others.
    std::array<std::unique_ptr<SharedWindows>, 2> windows;

    mutable std::mutex lock;
    // Guarded by it:
    ViewPointer view;
    std::int64_t position = 0;  ///< of the individual pointer, in etypes
    Hints hints;
    bool atomic = false;
    std::uint32_t collectives = 0;
    Split split = Split::none;
    core::Request* split_request = nullptr;
    const void* split_buffer = nullptr;
    std::uint32_t uncollected = 0;  ///< nonblocking accesses that the program has not completed
    std::uint32_t under_way = 0;    ///< and those that are not over
    std::condition_variable over;   ///< none of the latter is left

    std::atomic<std::int64_t> written_to{-1};  ///< end of the last write of this process
    // For advice; guarded by objects::Files::counting:
    std::uint64_t small_writes = 0;
    std::uint64_t small_bytes = 0;

    /// One access after the other in atomic mode: locks of the file system are those of the whole process.
    std::mutex atomic_accesses;
    /// Nonblocking collectives, one after the other.
    std::unique_ptr<Workers> collective_worker;
};

/// Of a file that is open.
void apply_hints(OpenFile& file, const objects::Info& info);

/// The tag of the next collective call.
std::int32_t next_tag(OpenFile& file) noexcept;

}  // namespace heddle::io
