// SPDX-License-Identifier: BSD-3-Clause
#include "io/access.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "io/in_file_system.hpp"

namespace heddle::io {
namespace {

using objects::Endless;
using objects::Section;
using objects::Sections;

/// Memory for one access.
class Buffer {
public:
    /// Takes `wanted` bytes, at most `most`.
    Buffer(std::uint64_t wanted, std::uint64_t most)
        : bytes_(std::min(wanted, most)),
          memory_(std::make_unique_for_overwrite<std::byte[]>(bytes_)) {}
    std::byte* data() noexcept { return memory_.get(); }
    std::uint64_t bytes() const noexcept { return bytes_; }

private:
    std::uint64_t bytes_;
    std::unique_ptr<std::byte[]> memory_;
};

struct AccessSettings {
    Hints hints;
    bool atomic;
};
AccessSettings access_settings(OpenFile& file) {
    const std::lock_guard guard(file.lock);
    return {file.hints, file.atomic};
}

/// The lock of an access in atomic mode, from its first byte to its last one.
class AtomicAccess {
public:
    AtomicAccess(OpenFile& file, const Part& part, bool atomic, bool writes) noexcept
        : file_(file) {
        if (!atomic || !file.storage->seekable()) return;
        at_ = part.first_place();
        bytes_ = part.end_place() - at_;
        mine_ = std::unique_lock(file.atomic_accesses);
        error = file.storage->lock(at_, bytes_, writes);
    }
    ~AtomicAccess() {
        if (mine_ && error == 0) (void)file_.storage->unlock(at_, bytes_);
    }
    AtomicAccess(const AtomicAccess&) = delete;
    AtomicAccess& operator=(const AtomicAccess&) = delete;
    int error = 0;

private:
    OpenFile& file_;
    std::int64_t at_ = 0, bytes_ = 0;
    std::unique_lock<std::mutex> mine_;
};

/// Blocks one after the other. Blocks that touch are moved together, from and to memory in which
/// they lie side by side.
template <class Move>
class Joined {
public:
    Joined(std::byte* memory, Move move) noexcept : memory_(memory), move_(move) {}

    /// Adds a section. Returns false if the last move was not complete.
    bool add(const Section& section) noexcept {
        if (section.dense()) return add(section.at, section.total());
        for (std::uint64_t i = 0; i < section.count; ++i)
            if (!add(section.block(i), section.bytes)) return false;
        return true;
    }
    bool flush() noexcept {
        if (bytes_ == 0) return true;
        const Moved moved = move_(at_, memory_, bytes_);
        outcome.bytes += moved.bytes;
        if (moved.error != 0) outcome.failure = Failure::of_system(moved.error, at_, bytes_);
        const bool all = moved.bytes == bytes_;
        memory_ += bytes_;
        bytes_ = 0;
        return all;
    }
    Outcome outcome;

private:
    bool add(std::int64_t at, std::uint64_t bytes) noexcept {
        if (bytes_ != 0 && at == at_ + static_cast<std::int64_t>(bytes_)) {
            bytes_ += bytes;
            return true;
        }
        if (!flush()) return false;
        at_ = at;
        bytes_ = bytes;
        return true;
    }

    std::byte* memory_;
    Move move_;
    std::int64_t at_ = 0;
    std::uint64_t bytes_ = 0;
};

/// Moves data [from, from + bytes), which lie side by side in memory.
template <class Move>
Outcome move_blocks(const Endless& data, std::uint64_t from, std::byte* memory, std::uint64_t bytes,
                    Move move) noexcept {
    Joined<Move> joined(memory, move);
    Sections sections(data, from, bytes);
    for (Section section; sections.next(section);)
        if (!joined.add(section)) return joined.outcome;
    (void)joined.flush();
    return joined.outcome;
}

/// Adds an outcome. Returns false if no more may follow.
bool add(Outcome& all, const Outcome& some, std::uint64_t wanted) noexcept {
    all.bytes += some.bytes;
    all.failure = some.failure;
    return some.bytes == wanted && !some.failure;
}

Outcome write_all(InFileSystem& there, const Part& part, Stream& stream, std::uint64_t most) {
    const Endless data = part.data();
    const auto move = [&](std::int64_t at, std::byte* from, std::uint64_t bytes) noexcept {
        return there.write(at, from, bytes);
    };
    if (std::byte* memory = stream.dense(0))
        return move_blocks(data, part.from, memory, part.bytes, move);
    Buffer buffer(part.bytes, most);
    Outcome all;
    while (all.bytes < part.bytes) {
        const std::uint64_t some = std::min(part.bytes - all.bytes, buffer.bytes());
        stream.pack(all.bytes, buffer.data(), some);
        if (!add(all, move_blocks(data, part.from + all.bytes, buffer.data(), some, move), some))
            break;
    }
    return all;
}

// --- reading ---

Outcome read_blocks(InFileSystem& there, const Part& part, Stream& stream, std::uint64_t most) {
    const Endless data = part.data();
    const auto move = [&](std::int64_t at, std::byte* to, std::uint64_t bytes) noexcept {
        return there.read(at, to, bytes);
    };
    if (std::byte* memory = stream.dense(0))
        return move_blocks(data, part.from, memory, part.bytes, move);
    Buffer buffer(part.bytes, most);
    Outcome all;
    while (all.bytes < part.bytes) {
        const std::uint64_t some = std::min(part.bytes - all.bytes, buffer.bytes());
        const Outcome got = move_blocks(data, part.from + all.bytes, buffer.data(), some, move);
        stream.unpack(all.bytes, buffer.data(), got.bytes);
        if (!add(all, got, some)) break;
    }
    return all;
}

/// Copies data [from, from + bytes) out of bytes of the file that begin at `window`.
void copy_out(const Endless& data, std::uint64_t from, std::uint64_t bytes, const std::byte* window,
              std::int64_t window_at, std::byte* to) noexcept {
    Sections sections(data, from, bytes);
    for (Section section; sections.next(section);) {
        const std::byte* place = window + (section.at - window_at);
        for (std::uint64_t i = 0; i < section.count; ++i) {
            std::memcpy(to, place, section.bytes);
            to += section.bytes;
            place += section.stride;
        }
    }
}

/// Reads one window of the file after the other, as a whole.
Outcome sieve(InFileSystem& there, const Part& part, Stream& stream, std::uint64_t most) {
    const Endless data = part.data();
    const std::uint64_t end = part.from + part.bytes;
    const auto span = static_cast<std::uint64_t>(part.end_place() - part.first_place());
    Buffer window(span, most);
    std::unique_ptr<std::byte[]> packed;
    Outcome all;
    while (all.bytes < part.bytes) {
        const std::uint64_t from = part.from + all.bytes;
        const std::int64_t at = data.place(from);
        const std::int64_t last = at + static_cast<std::int64_t>(window.bytes());
        const std::uint64_t wanted = std::min(data.before(last), end) - from;
        const std::int64_t wanted_end = data.place(from + wanted - 1) + 1;
        const Moved moved =
            there.read(at, window.data(), static_cast<std::uint64_t>(wanted_end - at));
        const std::uint64_t got =
            std::min(data.before(at + static_cast<std::int64_t>(moved.bytes)) - from, wanted);
        std::byte* to = stream.dense(all.bytes);
        if (to == nullptr) {
            if (packed == nullptr)
                packed = std::make_unique_for_overwrite<std::byte[]>(window.bytes());
            to = packed.get();
        }
        copy_out(data, from, got, window.data(), at, to);
        if (to == packed.get()) stream.unpack(all.bytes, to, got);
        Outcome some{got, {}};
        if (moved.error != 0) some.failure = Failure::of_system(moved.error, at, window.bytes());
        if (!add(all, some, wanted)) break;
    }
    return all;
}

/// Returns whether the part has small pieces, close to each other.
bool is_worth_sieving(const Part& part, Choice choice) noexcept {
    if (choice == Choice::disable || part.view->dense() || !part.sorted()) return false;
    if (choice == Choice::enable) return true;
    constexpr std::uint64_t long_run = 32768, most_waste = 8;
    const auto span = static_cast<std::uint64_t>(part.end_place() - part.first_place());
    return part.view->run() < long_run && span / most_waste <= part.bytes;
}

}  // namespace

Outcome write(core::Thread& thread, OpenFile& file, const Part& part, Stream& stream,
              bool alone) noexcept try {
    if (part.bytes == 0) return {};
    const AccessSettings settings = access_settings(file);
    InFileSystem there(thread, file, part.first_place(), part.bytes, alone);
    const AtomicAccess access(file, part, settings.atomic, true);
    if (access.error != 0)
        return {0, Failure::of_system(access.error, part.first_place(), part.bytes)};
    return write_all(there, part, stream, settings.hints.ind_wr_buffer_size);
} catch (const std::bad_alloc&) {
    return {0, Failure::of_class(MPI_ERR_NO_MEM, "out of memory")};
}

Outcome read(core::Thread& thread, OpenFile& file, const Part& part, Stream& stream,
             bool alone) noexcept try {
    if (part.bytes == 0) return {};
    const AccessSettings settings = access_settings(file);
    InFileSystem there(thread, file, part.first_place(), part.bytes, alone);
    const AtomicAccess access(file, part, settings.atomic, false);
    if (access.error != 0)
        return {0, Failure::of_system(access.error, part.first_place(), part.bytes)};
    const std::uint64_t most = settings.hints.ind_rd_buffer_size;
    if (file.storage->seekable() && is_worth_sieving(part, settings.hints.ds_read))
        return sieve(there, part, stream, most);
    return read_blocks(there, part, stream, most);
} catch (const std::bad_alloc&) {
    return {0, Failure::of_class(MPI_ERR_NO_MEM, "out of memory")};
}

}  // namespace heddle::io
