// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A file (MPI 5.0, 14): the object behind its handle. io/ opens and accesses it.
///
/// Locking        the set-up lock of the process guards error handler and name.

#include <memory>
#include <mutex>
#include <string>

#include "core/arena.hpp"
#include "core/object.hpp"
#include "mpi.h"
#include "tool/counters.hpp"

namespace heddle::io {
struct Common;
struct OpenFile;
}  // namespace heddle::io

namespace heddle::objects {

class Process;
struct Errhandler;

struct File : core::Object {
    File* next = nullptr;
    Errhandler* errhandler = nullptr;  ///< counted; guarded by the process's set-up lock
    std::string name;                  ///< the path; empty for MPI_FILE_NULL
    std::shared_ptr<io::OpenFile> open;

    MPI_File handle() noexcept {
        return name.empty() ? MPI_FILE_NULL : reinterpret_cast<MPI_File>(this);
    }
};

/// The file to which a process has written most small pieces independently.
struct SmallWrites {
    std::string file;
    std::uint64_t writes = 0;  ///< in the sense of the counter file_small_writes
    std::uint64_t bytes = 0;   ///< of these
    std::int32_t ranks = 0;    ///< number of ranks that have the file open
};

/// The files of a process.
class Files {
public:
    core::Arena<File> arena{std::size_t{1} << 16};
    /// MPI_FILE_NULL. It has the error handler of calls without a file, which new files get (MPI
    /// 5.0, 14.7).
    File null;
    std::shared_ptr<io::Common> common;  ///< what they share; guarded by the set-up lock

    std::mutex counting;
    // Guarded by `counting`:
    tool::counters::Files counted;
    SmallWrites small_writes;
};

/// Makes a file with the handle's reference. Throws std::bad_alloc.
File& make_file(Process& process, std::string path, std::shared_ptr<io::OpenFile> open);
/// Makes the handle invalid. Pending accesses keep what they need.
void close_handle(Process& process, File& file) noexcept;

/// Returns the path in quotes.
std::string name_of(const File& file);

}  // namespace heddle::objects
