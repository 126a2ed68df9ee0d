// SPDX-License-Identifier: BSD-3-Clause
#include "rma/transfer.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "rma/far_targets.hpp"
#include "rma/gathered.hpp"
#include "rma/held.hpp"
#include "rma/remote_memory.hpp"

namespace heddle::rma {
namespace {

using core::Thread;
using objects::Datatype;
using objects::Window;

/// Bytes that are packed at a time, between two datatypes with gaps.
constexpr std::uint64_t piece_bytes = 8192;

void copy_laid_out(const Datatype& to_type, std::byte* to, const Datatype& from_type,
                   const std::byte* from, std::uint64_t bytes) noexcept {
    if (to_type.contiguous && from_type.contiguous) {
        std::memmove(to, from, bytes);
    } else if (to_type.contiguous) {
        objects::pack(from_type, from, 0, to, bytes);
    } else if (from_type.contiguous) {
        objects::unpack(to_type, to, 0, from, bytes);
    } else {
        std::array<std::byte, piece_bytes> piece;
        for (std::uint64_t at = 0; at < bytes; at += piece_bytes) {
            const std::uint64_t some = std::min(piece_bytes, bytes - at);
            objects::pack(from_type, from, at, piece.data(), some);
            objects::unpack(to_type, to, at, piece.data(), some);
        }
    }
}

/// The caller's data in packed form, as long as the object lives.
class Packed {
public:
    Packed(const Local& local, std::uint64_t bytes) : local_(local), bytes_(bytes) {
        if (!local.type->contiguous) memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    }
    std::byte* data() noexcept { return memory_ == nullptr ? local_.address : memory_.get(); }
    void pack() noexcept {
        if (memory_ != nullptr)
            objects::pack(*local_.type, local_.address, 0, memory_.get(), bytes_);
    }
    void unpack() noexcept {
        if (memory_ != nullptr)
            objects::unpack(*local_.type, local_.address, 0, memory_.get(), bytes_);
    }

private:
    const Local& local_;
    const std::uint64_t bytes_;
    std::unique_ptr<std::byte[]> memory_;
};

int too_long(Thread& thread, Window& window, const Remote& there, std::uint64_t out,
             std::uint64_t room) {
    return objects::fail(thread, window, MPI_ERR_TRUNCATE,
                         "target " + name_of(there) + ": " + std::to_string(out) +
                             " bytes do not fit into the " + std::to_string(room) +
                             " of the other side");
}

enum class Direction : std::uint8_t { put, get };

/// Checks everything, and finds how many bytes are to be moved.
int prepare(Thread& thread, Window& window, Direction direction, const Local& here,
            const Remote& there, Spot& spot, std::uint64_t& bytes) {
    std::uint64_t mine = 0, theirs = 0;
    if (const int error = measure(thread, window, here.count, *here.type, mine)) return error;
    if (const int error = measure(thread, window, there.count, *there.type, theirs)) return error;
    if (const int error = locate(thread, window, there, spot)) return error;
    bytes = direction == Direction::put ? mine : theirs;
    const std::uint64_t room = direction == Direction::put ? theirs : mine;
    return bytes > room ? too_long(thread, window, there, bytes, room) : MPI_SUCCESS;
}

RemoteData remote_data(Thread& thread, Window& window, const Spot& spot,
                       const Remote& there) noexcept {
    return {thread, window, there.rank, spot, *there.type};
}

/// Returns whether the operation is only begun here: the kernel does it, and it has few bytes side
/// by side.
bool is_gathered(const Window& window, const Spot& spot, const Local& here, const Remote& there,
                 std::uint64_t bytes) noexcept {
    return window.gathered != nullptr && !spot.by_message && bytes <= Gathered::most_bytes &&
        here.type->contiguous && there.type->contiguous;
}

void count(Thread& thread, Direction direction, const Spot& spot, std::uint64_t bytes) noexcept {
    tool::counters::Windows& windows = thread.windows;
    (direction == Direction::put ? windows.window_puts : windows.window_gets).add();
    if (spot.direct)
        windows.window_mapped_bytes.add(bytes);
    else if (spot.far)
        windows.window_far_bytes.add(bytes);
    else if (spot.by_message)
        windows.window_asked_bytes.add(bytes);
    else
        windows.window_copied_bytes.add(bytes);
}

}  // namespace

int put_slowly(Thread& thread, Window& window, const Local& from, const Remote& to) {
    Spot spot;
    std::uint64_t bytes = 0;
    if (const int error = prepare(thread, window, Direction::put, from, to, spot, bytes))
        return error;
    if (bytes == 0) return MPI_SUCCESS;
    count(thread, Direction::put, spot, bytes);
    if (spot.far) {
        window.far->put({thread, to.rank, spot.place, *to.type, bytes}, from);
        return MPI_SUCCESS;
    }
    if (spot.direct) {
        const InInstance held(thread, window, spot);
        copy_laid_out(*to.type, reinterpret_cast<std::byte*>(spot.place), *from.type, from.address,
                      bytes);
        return MPI_SUCCESS;
    }
    if (is_gathered(window, spot, from, to, bytes))
        return window.gathered->add(thread, to.rank, Gathered::Direction::put, from.address,
                                    spot.place, bytes);
    Packed packed(from, bytes);
    packed.pack();
    bool written = false;
    {
        const InInstance held(thread, window, spot);
        written = write(remote_data(thread, window, spot, to), packed.data(), bytes);
    }
    return written ? MPI_SUCCESS : not_there(thread, window, to);
}

int get_slowly(Thread& thread, Window& window, const Local& to, const Remote& from) {
    Spot spot;
    std::uint64_t bytes = 0;
    if (const int error = prepare(thread, window, Direction::get, to, from, spot, bytes))
        return error;
    if (bytes == 0) return MPI_SUCCESS;
    count(thread, Direction::get, spot, bytes);
    if (spot.far) {
        window.far->get({thread, from.rank, spot.place, *from.type, bytes}, to);
        return MPI_SUCCESS;
    }
    if (spot.direct) {
        const InInstance held(thread, window, spot);
        copy_laid_out(*to.type, to.address, *from.type,
                      reinterpret_cast<const std::byte*>(spot.place), bytes);
        return MPI_SUCCESS;
    }
    if (is_gathered(window, spot, to, from, bytes))
        return window.gathered->add(thread, from.rank, Gathered::Direction::get, to.address,
                                    spot.place, bytes);
    Packed packed(to, bytes);
    bool was_read = false;
    {
        const InInstance held(thread, window, spot);
        was_read = read(remote_data(thread, window, spot, from), packed.data(), bytes);
    }
    if (!was_read) return not_there(thread, window, from);
    packed.unpack();
    return MPI_SUCCESS;
}

}  // namespace heddle::rma
