// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The contract of file systems: files are opened by path, and bytes move between memory and places
/// in them. A file system is a class with this contract, and a line in io/file_systems.cpp.
///
/// Transfers      move everything, or return an error. Fewer bytes without an error mean the end of
///                the file, for reads alone. The number of bytes moved before an error is returned,
///                too.
/// Errors         are values of errno, 0 for none. Signals and short transfers are dealt with here.
/// Thread safety  any threads may use an open file at once, but for close().

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

/// The distribution of a file over servers; 0 if it is not distributed, or if this is not known.
struct Striping {
    std::int64_t unit = 0;    ///< bytes that lie together on one of them
    std::int32_t factor = 0;  ///< servers
};

/// The use of a file that the program has announced.
enum class Style : std::uint8_t { unknown, sequential, random };

class Storage {
public:
    virtual ~Storage() = default;

    virtual Moved read(std::int64_t at, std::span<const iovec> pieces) noexcept = 0;
    virtual Moved write(std::int64_t at, std::span<const iovec> pieces) noexcept = 0;

    virtual int size(std::int64_t& bytes) noexcept = 0;
    virtual int resize(std::int64_t bytes) noexcept = 0;
    /// Makes room for so many bytes. The size does not change if it is larger.
    virtual int allocate(std::int64_t bytes) noexcept = 0;
    virtual int sync() noexcept = 0;
    virtual int close() noexcept = 0;

    /// Locks the bytes [at, at + bytes): waits until no other opening of the file has locked them.
    virtual int lock(std::int64_t at, std::int64_t bytes, bool exclusive) noexcept = 0;
    virtual int unlock(std::int64_t at, std::int64_t bytes) noexcept = 0;

    /// Returns the bytes that the file system stores together, or 0 if this is not known.
    virtual std::int64_t block() const noexcept = 0;
    virtual Striping striping() const noexcept { return {}; }
    /// Announces the use of the file. May have no effect.
    virtual void expect(Style) noexcept {}
    /// Returns whether places have a meaning: they have none in a pipe or a terminal.
    virtual bool seekable() const noexcept = 0;
    /// Returns the same number for all openings of the same file, on any host, as far as possible.
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

/// The parameters of opening a file.
struct Opening {
    int flags = 0;     ///< of open(2)
    int mode = 0666;   ///< of a file that is created
    bool any = false;  ///< also if it is not seekable
};

class FileSystem {
public:
    virtual ~FileSystem() = default;
    /// Opens a file. Returns nullptr with an error.
    virtual std::unique_ptr<Storage> open(const std::string& path, const Opening& opening,
                                          int& error) const = 0;
    virtual int remove(const std::string& path) const noexcept = 0;
};

/// The file system that a name means, and the path there: "faulty:short:/tmp/x"
/// (io/file_systems.cpp).
struct Named {
    const FileSystem* system;
    std::string path;
};
Named file_system_of(const std::string& name);

/// Returns the file system of files of the kernel.
const FileSystem& posix() noexcept;

/// Returns the file system of files of the kernel that fail as their name says. Tests of programs
/// and of Heddle use it (io/faulty.cpp).
const FileSystem& faulty() noexcept;

}  // namespace heddle::io
