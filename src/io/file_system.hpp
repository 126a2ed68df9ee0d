// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What Heddle asks of a file system: files are opened by path, and bytes move between memory and places in
/// them. A file system is a class with this contract, and a line in io/file_systems.cpp.
///
/// Transfers      move everything, or say why not: fewer bytes without an error mean the end of the file, for
///                reads alone. What moved before an error is told.
/// Errors         are values of errno, 0 for none. Signals and short transfers are dealt with here.
/// Thread safety  an open file may be used by any threads at once, but for close().

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <sys/uio.h>

namespace heddle::io {

struct Moved {
    std::uint64_t bytes = 0;
    int error = 0;
};

/// How a file is spread over servers; 0: it is not, or it is not known.
struct Striping {
    std::int64_t unit = 0;    ///< bytes that lie together on one of them
    std::int32_t factor = 0;  ///< servers
};

/// How the program says that it is going to use a file.
enum class Style : std::uint8_t { unknown, sequential, random };

class Storage {
public:
    virtual ~Storage() = default;

    virtual Moved read(std::int64_t at, std::span<const iovec> pieces) noexcept = 0;
    virtual Moved write(std::int64_t at, std::span<const iovec> pieces) noexcept = 0;

    virtual int size(std::int64_t& bytes) noexcept = 0;
    virtual int resize(std::int64_t bytes) noexcept = 0;
    /// There is room for so many bytes; the size is not changed if it is larger.
    virtual int allocate(std::int64_t bytes) noexcept = 0;
    virtual int sync() noexcept = 0;
    virtual int close() noexcept = 0;

    /// Keeps other openings of the file out of the bytes [at, at + bytes) that have locked them, too; waits.
    virtual int lock(std::int64_t at, std::int64_t bytes, bool exclusive) noexcept = 0;
    virtual int unlock(std::int64_t at, std::int64_t bytes) noexcept = 0;

    /// Bytes that the file system stores together; 0: not known.
    virtual std::int64_t block() const noexcept = 0;
    virtual Striping striping() const noexcept { return {}; }
    /// May have no effect.
    virtual void expect(Style) noexcept {}
    /// Whether places mean anything: not in a pipe or a terminal.
    virtual bool seekable() const noexcept = 0;
    /// The same for all that have opened the same file, on any host: as far as it can be told.
    virtual std::uint64_t identity() const noexcept = 0;

    Moved read(std::int64_t at, std::byte* to, std::uint64_t bytes) noexcept {
        const iovec one{to, bytes};
        return read(at, std::span(&one, 1));
    }
    Moved write(std::int64_t at, const std::byte* from, std::uint64_t bytes) noexcept {
        const iovec one{const_cast<std::byte*>(from), bytes};
        return write(at, std::span(&one, 1));
    }
};

/// How a file is to be opened.
struct Opening {
    int flags = 0;     ///< of open(2)
    int mode = 0666;   ///< of a file that is created
    bool any = false;  ///< also what is not seekable
};

class FileSystem {
public:
    virtual ~FileSystem() = default;
    /// nullptr with an error.
    virtual std::unique_ptr<Storage> open(const std::string& path, const Opening& opening,
                                          int& error) const = 0;
    virtual int remove(const std::string& path) const noexcept = 0;
};

/// Which file system a name means, and the path there: "faulty:short:/tmp/x" (io/file_systems.cpp).
struct Named {
    const FileSystem* system;
    std::string path;
};
Named file_system_of(const std::string& name);

/// Files of the kernel.
const FileSystem& posix() noexcept;

/// Files of the kernel that go wrong as their name says, for tests of programs and of Heddle (io/faulty.cpp).
const FileSystem& faulty() noexcept;

}  // namespace heddle::io
