// SPDX-License-Identifier: BSD-3-Clause
/// Files of the kernel that fail on purpose, as their name says:
///
///   faulty:short,full=65536,fail_write=3:/tmp/x
///
/// short          each transfer of the kernel moves at most 7 bytes.
/// full=N         there is no room behind byte N.
/// quota=N        likewise, because of a quota.
/// fail_read=N    the Nth read fails with EIO, counted from 1.
///                Likewise fail_write=N, fail_sync=N, fail_close=N.
/// slow=N         a transfer takes N milliseconds more.
/// stripe=N       the file says that N bytes lie together on each of its servers;
///                stripes=N: it has N servers.

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <fcntl.h>
#include <string_view>
#include <thread>
#include <vector>

#include "io/file_system.hpp"

namespace heddle::io {
namespace {

constexpr std::string_view prefix = "faulty:";

struct Faults {
    std::int64_t full = -1, quota = -1;
    std::int64_t fail_read = 0, fail_write = 0, fail_sync = 0, fail_close = 0;
    std::int64_t slow = 0;
    std::int64_t stripe = 0, stripes = 0;
    bool is_short = false;
    bool known = true;
};

struct NamedFault {
    std::string_view name;
    std::int64_t Faults::* value;
};
constexpr NamedFault faults_with_numbers[] = {
    {"full=", &Faults::full},           {"quota=", &Faults::quota},
    {"fail_read=", &Faults::fail_read}, {"fail_write=", &Faults::fail_write},
    {"fail_sync=", &Faults::fail_sync}, {"fail_close=", &Faults::fail_close},
    {"slow=", &Faults::slow},           {"stripe=", &Faults::stripe},
    {"stripes=", &Faults::stripes},
};

void add_fault(Faults& faults, std::string_view word) noexcept {
    if (word == "short") {
        faults.is_short = true;
        return;
    }
    for (const NamedFault& fault : faults_with_numbers) {
        if (!word.starts_with(fault.name)) continue;
        const std::string_view number = word.substr(fault.name.size());
        const char* const end = number.data() + number.size();
        const auto read = std::from_chars(number.data(), end, faults.*fault.value);
        faults.known = faults.known && read.ec == std::errc{} && read.ptr == end;
        return;
    }
    faults.known = false;
}

/// Returns the faults that a name asks for, and the path behind it.
Faults faults_of(std::string_view name, std::string& path) {
    Faults faults;
    name.remove_prefix(prefix.size());
    const std::size_t end = name.find(':');
    if (end == std::string_view::npos) {
        faults.known = false;
        return faults;
    }
    path = name.substr(end + 1);
    std::string_view words = name.substr(0, end);
    while (!words.empty()) {
        const std::size_t comma = std::min(words.find(','), words.size());
        add_fault(faults, words.substr(0, comma));
        words.remove_prefix(std::min(comma + 1, words.size()));
    }
    return faults;
}

class FaultyFile final : public Storage {
public:
    FaultyFile(std::unique_ptr<Storage> file, const Faults& faults) noexcept
        : file_(std::move(file)), faults_(faults) {}

    Moved read(std::int64_t at, std::span<const iovec> pieces) noexcept override {
        return move(at, pieces, false);
    }
    Moved write(std::int64_t at, std::span<const iovec> pieces) noexcept override {
        return move(at, pieces, true);
    }
    int size(std::int64_t& bytes) noexcept override { return file_->size(bytes); }
    int resize(std::int64_t bytes) noexcept override {
        const int error = no_room(bytes);
        return error != 0 ? error : file_->resize(bytes);
    }
    int allocate(std::int64_t bytes) noexcept override {
        const int error = no_room(bytes);
        return error != 0 ? error : file_->allocate(bytes);
    }
    int sync() noexcept override { return ++syncs_ == faults_.fail_sync ? EIO : file_->sync(); }
    int close() noexcept override {
        const int error = file_->close();
        return faults_.fail_close != 0 ? EIO : error;
    }
    int lock(std::int64_t at, std::int64_t bytes, bool exclusive) noexcept override {
        return file_->lock(at, bytes, exclusive);
    }
    int unlock(std::int64_t at, std::int64_t bytes) noexcept override {
        return file_->unlock(at, bytes);
    }
    std::int64_t block() const noexcept override { return file_->block(); }
    Striping striping() const noexcept override {
        return {faults_.stripe, static_cast<std::int32_t>(faults_.stripes)};
    }
    void expect(Style style) noexcept override { file_->expect(style); }
    bool seekable() const noexcept override { return file_->seekable(); }
    std::uint64_t identity() const noexcept override { return file_->identity(); }

private:
    int no_room(std::int64_t end) const noexcept {
        if (faults_.full >= 0 && end > faults_.full) return ENOSPC;
        return faults_.quota >= 0 && end > faults_.quota ? EDQUOT : 0;
    }
    Moved move(std::int64_t at, std::span<const iovec> pieces, bool writes) noexcept {
        if (faults_.slow > 0) std::this_thread::sleep_for(std::chrono::milliseconds(faults_.slow));
        if (writes ? ++writes_ == faults_.fail_write : ++reads_ == faults_.fail_read)
            return {0, EIO};
        Moved all;
        for (const iovec& piece : pieces) {
            const Moved some = move_piece(at, piece, writes);
            all.bytes += some.bytes;
            all.error = some.error;
            if (some.error != 0 || some.bytes != piece.iov_len) break;
            at += static_cast<std::int64_t>(some.bytes);
        }
        return all;
    }
    Moved move_piece(std::int64_t at, const iovec& piece, bool writes) noexcept {
        constexpr std::size_t few = 7;
        Moved all;
        auto* memory = static_cast<std::byte*>(piece.iov_base);
        while (all.bytes < piece.iov_len) {
            std::size_t bytes = piece.iov_len - all.bytes;
            if (faults_.is_short && bytes > few) bytes = few;
            const std::int64_t from = at + static_cast<std::int64_t>(all.bytes);
            if (writes) bytes = bytes_with_room(from, bytes, all.error);
            if (bytes == 0) break;
            std::byte* const there = memory + all.bytes;
            const Moved some = writes ? file_->Storage::write(from, there, bytes)
                                      : file_->Storage::read(from, there, bytes);
            all.bytes += some.bytes;
            all.error = some.error;
            if (some.error != 0 || some.bytes != bytes) break;
        }
        return all;
    }
    std::size_t bytes_with_room(std::int64_t from, std::size_t bytes, int& error) const noexcept {
        while (bytes > 0) {
            const int problem = no_room(from + static_cast<std::int64_t>(bytes));
            if (problem == 0) return bytes;
            error = problem;
            const std::int64_t most = problem == ENOSPC ? faults_.full : faults_.quota;
            bytes = from < most ? static_cast<std::size_t>(most - from) : 0;
            if (bytes > 0) error = 0;
        }
        return 0;
    }

    std::unique_ptr<Storage> file_;
    const Faults faults_;
    std::atomic<std::int64_t> reads_{0}, writes_{0}, syncs_{0};
};

class Faulty final : public FileSystem {
public:
    std::unique_ptr<Storage> open(const std::string& name, const Opening& opening,
                                  int& error) const override {
        std::string path;
        const Faults faults = faults_of(name, path);
        if (!faults.known) {
            error = EINVAL;
            return nullptr;
        }
        auto file = posix().open(path, opening, error);
        return file == nullptr ? nullptr : std::make_unique<FaultyFile>(std::move(file), faults);
    }
    int remove(const std::string& name) const noexcept override {
        try {
            std::string path;
            return faults_of(name, path).known ? posix().remove(path) : EINVAL;
        } catch (const std::bad_alloc&) {
            return ENOMEM;
        }
    }
};

}  // namespace

const FileSystem& faulty() noexcept {
    static const Faulty system;
    return system;
}

}  // namespace heddle::io
