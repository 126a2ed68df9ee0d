// SPDX-License-Identifier: BSD-3-Clause
/// Files of the kernel.

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "io/file_system.hpp"
#include "io/striping.hpp"
#include "platform/limits.hpp"
#include "platform/signals.hpp"

namespace heddle::io {
namespace {

/// The kernel moves at most 2^31 - 4096 bytes at a time, and takes 1024 pieces.
constexpr std::size_t most_bytes = std::size_t{1} << 30;
constexpr std::size_t most_pieces = 256;

/// The rest of a list of pieces, as a list that the kernel takes.
class Rest {
public:
    explicit Rest(std::span<const iovec> pieces) noexcept : left_(pieces) { skip(0); }

    bool empty() const noexcept { return left_.empty(); }
    std::span<const iovec> next() noexcept {
        std::size_t count = 0, bytes = 0;
        for (std::size_t i = 0; i < left_.size() && count < most_pieces && bytes < most_bytes;
             ++i) {
            iovec piece = left_[i];
            if (i == 0) {
                piece.iov_base = static_cast<std::byte*>(piece.iov_base) + inside_;
                piece.iov_len -= inside_;
            }
            piece.iov_len = std::min(piece.iov_len, most_bytes - bytes);
            bytes += piece.iov_len;
            some_[count++] = piece;
        }
        return {some_.data(), count};
    }
    void skip(std::size_t bytes) noexcept {
        inside_ += bytes;
        while (!left_.empty() && inside_ >= left_[0].iov_len) {
            inside_ -= left_[0].iov_len;
            left_ = left_.subspan(1);
        }
    }

private:
    std::span<const iovec> left_;
    std::size_t inside_ = 0;
    std::array<iovec, most_pieces> some_;
};

void wait_until_ready(int descriptor, short events) noexcept {
    pollfd one{descriptor, events, 0};
    (void)poll(&one, 1, -1);
}

// Values of statfs(2).
constexpr long nfs = 0x6969, lustre = 0x0BD00BD0;

long kind_of(int descriptor) noexcept {
    struct statfs status;
    return fstatfs(descriptor, &status) == 0 ? static_cast<long>(status.f_type) : 0;
}

class PosixFile final : public Storage {
public:
    PosixFile(int descriptor, const struct stat& status) noexcept
        : descriptor_(descriptor),
          kind_(kind_of(descriptor)),
          block_(status.st_blksize),
          identity_(static_cast<std::uint64_t>(status.st_ino)),
          seekable_(S_ISREG(status.st_mode) || S_ISBLK(status.st_mode) ||
                    lseek(descriptor, 0, SEEK_CUR) >= 0),
          limited_(platform::file_size_is_limited()) {}
    ~PosixFile() override { close(); }
    PosixFile(const PosixFile&) = delete;
    PosixFile& operator=(const PosixFile&) = delete;

    Moved read(std::int64_t at, std::span<const iovec> pieces) noexcept override {
        return move(pieces, POLLIN, [&](std::span<const iovec> some, std::uint64_t moved) {
            const int count = static_cast<int>(some.size());
            return seekable_
                ? preadv(descriptor_, some.data(), count, at + static_cast<std::int64_t>(moved))
                : readv(descriptor_, some.data(), count);
        });
    }
    Moved write(std::int64_t at, std::span<const iovec> pieces) noexcept override {
        std::optional<platform::HeldSignal> held;
        hold_signal(held);
        return move(pieces, POLLOUT, [&](std::span<const iovec> some, std::uint64_t moved) {
            const int count = static_cast<int>(some.size());
            return seekable_
                ? pwritev(descriptor_, some.data(), count, at + static_cast<std::int64_t>(moved))
                : writev(descriptor_, some.data(), count);
        });
    }

    int size(std::int64_t& bytes) noexcept override {
        struct stat status;
        if (fstat(descriptor_, &status) != 0) return errno;
        bytes = status.st_size;
        if (S_ISBLK(status.st_mode)) bytes = lseek(descriptor_, 0, SEEK_END);
        return 0;
    }
    int resize(std::int64_t bytes) noexcept override {
        std::optional<platform::HeldSignal> held;
        hold_signal(held);
        return again([&] { return ftruncate(descriptor_, bytes); });
    }
    int allocate(std::int64_t bytes) noexcept override {
        if (bytes == 0) return 0;
        std::optional<platform::HeldSignal> held;
        hold_signal(held);
        const int error =
            again([&] { return fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, 0, bytes); });
        if (error != 0 && error != EOPNOTSUPP) return error;
        std::int64_t now = 0;
        if (const int problem = size(now)) return problem;
        return now < bytes ? resize(bytes) : 0;
    }
    int sync() noexcept override {
        const int error = again([&] { return fsync(descriptor_); });
        const bool has_nothing = error == EINVAL || error == EROFS;
        if (error != 0 && !has_nothing) return error;
        return kind_ == nfs ? forget_copies() : 0;
    }
    int close() noexcept override {
        if (descriptor_ < 0) return 0;
        const int closed = ::close(descriptor_);
        descriptor_ = -1;
        return closed == 0 || errno == EINTR ? 0 : errno;
    }

    int lock(std::int64_t at, std::int64_t bytes, bool exclusive) noexcept override {
        return set_lock(exclusive ? F_WRLCK : F_RDLCK, at, bytes);
    }
    int unlock(std::int64_t at, std::int64_t bytes) noexcept override {
        return set_lock(F_UNLCK, at, bytes);
    }

    std::int64_t block() const noexcept override { return block_; }
    Striping striping() const noexcept override {
        return kind_ == lustre ? striping_of(descriptor_) : Striping{};
    }
    void expect(Style style) noexcept override {
        const int advice = style == Style::random ? POSIX_FADV_RANDOM
            : style == Style::sequential          ? POSIX_FADV_SEQUENTIAL
                                                  : POSIX_FADV_NORMAL;
        (void)posix_fadvise(descriptor_, 0, 0, advice);
    }
    bool seekable() const noexcept override { return seekable_; }
    std::uint64_t identity() const noexcept override { return identity_; }

private:
    /// Holds a signal, as errors are the program's to handle. A signal must not end the program
    /// when its files are limited (RLIMIT_FSIZE), or no process reads from the pipe.
    void hold_signal(std::optional<platform::HeldSignal>& held) const noexcept {
        if (!seekable_)
            held.emplace(SIGPIPE);
        else if (limited_)
            held.emplace(SIGXFSZ);
    }
    template <class Call>
    static int again(Call call) noexcept {
        while (call() != 0)
            if (errno != EINTR) return errno;
        return 0;
    }
    template <class Some>
    Moved move(std::span<const iovec> pieces, short events, Some some) noexcept {
        Moved moved;
        Rest rest(pieces);
        while (!rest.empty()) {
            const ssize_t bytes = some(rest.next(), moved.bytes);
            if (bytes > 0) {
                moved.bytes += static_cast<std::uint64_t>(bytes);
                rest.skip(static_cast<std::size_t>(bytes));
            } else if (bytes == 0) {
                if (events == POLLOUT) moved.error = ENOSPC;  // nothing was written, for no reason
                return moved;
            } else if (errno == EAGAIN) {
                wait_until_ready(descriptor_, events);
            } else if (errno != EINTR) {
                moved.error = errno;
                return moved;
            }
        }
        return moved;
    }
    /// Locks for this opening of the file, not for the process: threads exclude each other above
    /// (io/access.cpp).
    int set_lock(short kind, std::int64_t at, std::int64_t bytes) noexcept {
        struct flock range{};
        range.l_type = kind;
        range.l_whence = SEEK_SET;
        range.l_start = at;
        range.l_len = bytes;
        return again([&] { return fcntl(descriptor_, F_OFD_SETLKW, &range); });
    }

    /// Drops the copies that a host keeps of data it has read over NFS. A lock makes the host ask
    /// anew, so that it sees data that others have written and synchronised.
    int forget_copies() noexcept {
        const int error = lock(0, 0, false);
        if (error == EBADF) return 0;  // opened for writing alone: nothing has been read
        return error != 0 ? error : unlock(0, 0);
    }

    int descriptor_;
    long kind_;  ///< of file system
    std::int64_t block_;
    std::uint64_t identity_;
    bool seekable_;
    bool limited_;  ///< since it was opened
};

/// Refuses a pipe for which open() would wait for another process, and a path with nothing to open.
int refuse_by_kind(const std::string& path, const Opening& opening) noexcept {
    struct stat status;
    if (stat(path.c_str(), &status) != 0) return 0;  // open() returns the error
    if (S_ISDIR(status.st_mode)) return EISDIR;
    return S_ISFIFO(status.st_mode) && !opening.any ? ESPIPE : 0;
}

class Posix final : public FileSystem {
public:
    std::unique_ptr<Storage> open(const std::string& path, const Opening& opening,
                                  int& error) const override {
        error = refuse_by_kind(path, opening);
        if (error != 0) return nullptr;
        int descriptor = -1;
        do descriptor = ::open(path.c_str(), opening.flags | O_CLOEXEC | O_NOCTTY, opening.mode);
        while (descriptor < 0 && errno == EINTR);
        struct stat status;
        if (descriptor < 0 || fstat(descriptor, &status) != 0) {
            error = errno;
            if (descriptor >= 0) ::close(descriptor);
            return nullptr;
        }
        auto file = std::make_unique<PosixFile>(descriptor, status);
        // Character devices (/dev/null, /dev/full) have no places, and take all data.
        const bool pipe = !file->seekable() && !S_ISCHR(status.st_mode);
        if (pipe && !opening.any) {
            error = ESPIPE;
            return nullptr;
        }
        return file;
    }
    int remove(const std::string& path) const noexcept override {
        struct stat status;
        if (lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return EISDIR;
        return unlink(path.c_str()) == 0 ? 0 : errno;
    }
};

}  // namespace

const FileSystem& posix() noexcept {
    static const Posix system;
    return system;
}

}  // namespace heddle::io
