// SPDX-License-Identifier: BSD-3-Clause
/// The payload of a matched rendezvous: one copy out of the sender's memory, in which the sender helps
/// when it is large, or a request to send it through the ring.

#include <algorithm>
#include <array>
#include <bit>

#include "p2p/engine.hpp"
#include "p2p/payload.hpp"

namespace heddle::p2p {
namespace {

/// From here on the sender, if it does nothing better, copies pieces, too.
constexpr std::uint64_t share_from = 4 * transport::shm::SharedCopy::piece_bytes;
constexpr std::uint64_t no_piece = ~std::uint64_t{0};
constexpr transport::shm::SharedCopy::Piece no_work{0, 0};

}  // namespace

/// No lock is held.
void Engine::pull(Turn& turn, const Pull& pull) {
    core::Request& receive = *pull.receive;
    const std::uint64_t bytes = fit(receive, pull.length);
    if (pull.process == rank_) {
        auto& send = *reinterpret_cast<core::Request*>(pull.sender);
        transfer(send, receive, bytes);
        turn.complete(send);
        return turn.complete(receive);
    }
    if (bytes == 0) return settle(turn, pull);
    // When the copy began, which teaches something where there is a choice. The receive is posted nowhere.
    receive.order = pull.address == unreadable || receive.laid_out ? 0 : platform::ticks();
    if (may_read(pull, bytes) && read_payload(turn, pull, bytes)) return;
    receive.remaining = bytes;
    const CtsFields fields{pull.sender, reinterpret_cast<std::uint64_t>(&receive), bytes};
    control(turn, pull.instance, pull.process, Kind::cts, &fields, sizeof fields);
}

/// The payload is here: the sender hears of it, and the receive is complete.
void Engine::settle(Turn& turn, const Pull& pull) {
    const SenderField field{pull.sender};
    control(turn, pull.instance, pull.process, Kind::fin, &field, sizeof field);
    turn.complete(*pull.receive);
}

/// False if the payload is to be pipelined, because that is faster or because reading is forbidden.
bool Engine::may_read(const Pull& pull, std::uint64_t bytes) {
    using SingleCopy = tool::Settings::SingleCopy;
    if (pull.address == unreadable || settings_.single_copy == SingleCopy::never) return false;
    if (!peer_memory_.reachable(pull.process)) return false;
    return settings_.single_copy == SingleCopy::always ||
        copy_choice_.choose(bytes) == Way::single_copy;
}

/// Whether a sender is likely to have time to help. Where this process has sends that are still to be taken,
/// data goes both ways, and everybody is busy with what he receives.
bool Engine::others_are_free() const noexcept { return announced_.load(relaxed) == 0; }

/// Reads the payload out of the sender's memory and completes the message. False if that is forbidden.
bool Engine::read_payload(Turn& turn, const Pull& pull, std::uint64_t bytes) {
    core::Request& receive = *pull.receive;
    if (bytes >= share_from && !receive.laid_out && others_are_free() &&
        read_and_share(turn, pull, bytes))
        return true;
    if (receive.laid_out ? !read_and_unpack(pull, bytes)
                         : !peer_memory_.read(pull.process, receive.buffer, pull.address, bytes)) {
        peer_memory_.give_up(pull.process);
        return false;
    }
    note_copied(turn.thread, Way::single_copy, receive, bytes);
    settle(turn, pull);
    return true;
}

bool Engine::read_and_unpack(const Pull& pull, std::uint64_t bytes) {
    std::array<std::byte, 16384> packed;
    for (std::uint64_t from = 0; from < bytes; from += packed.size()) {
        const std::uint64_t piece = std::min<std::uint64_t>(packed.size(), bytes - from);
        if (!peer_memory_.read(pull.process, packed.data(), pull.address + from, piece))
            return false;
        scatter(*pull.receive, from, packed.data(), piece);
    }
    return true;
}

/// The payload is here as a whole: counts it, and learns how long that took.
void Engine::note_copied(core::Thread& thread, Way way, const core::Request& receive,
                         std::uint64_t bytes) noexcept {
    (way == Way::single_copy ? thread.copying.single_copy_bytes : thread.copying.pipelined_bytes)
        .add(bytes);
    if (receive.order != 0) copy_choice_.learn(way, bytes, platform::ticks() - receive.order);
}

/// False if nothing has been copied, and all is still to do.
bool Engine::read_and_share(Turn& turn, const Pull& pull, std::uint64_t bytes) {
    using transport::shm::SharedCopy;
    std::size_t number = 0;
    SharedCopy* copy = take_shared_copy(number);
    if (copy == nullptr) return false;
    std::byte* const buffer = pull.receive->buffer;
    // What is read alone shows that the kernel allows it.
    if (!peer_memory_.read(pull.process, buffer, pull.address, SharedCopy::piece_bytes)) {
        sharing_.fetch_and(~(1U << number), release);
        return false;
    }
    copy->users.store(2, relaxed);
    copy->source = pull.address;
    copy->target = reinterpret_cast<std::uint64_t>(buffer);
    copy->length = bytes;
    copy->receive = reinterpret_cast<std::uint64_t>(pull.receive);
    copy->next.store(SharedCopy::piece_bytes, relaxed);  // published by the message
    copy->left.store(bytes - SharedCopy::piece_bytes, relaxed);
    const ShareFields fields{pull.sender, number};
    control(turn, pull.instance, pull.process, Kind::share, &fields, sizeof fields);

    std::uint64_t copied = 0;
    for (SharedCopy::Piece piece = copy->take(); piece.bytes != 0; piece = copy->take()) {
        if (!peer_memory_.read(pull.process, buffer + piece.from, pull.address + piece.from,
                               piece.bytes))
            pull.receive->error = MPI_ERR_INTERN;  // the sender is gone, and the job with it
        copied += piece.bytes;
    }
    const bool last = copy->done(copied);
    give_shared_copy(*copy, number);
    if (!last) return true;  // completed by end_sharing()
    note_copied(turn.thread, Way::single_copy, *pull.receive, bytes);
    settle(turn, pull);
    return true;
}

/// nullptr: all are in use.
transport::shm::SharedCopy* Engine::take_shared_copy(std::size_t& number) noexcept {
    constexpr std::uint32_t all_of_them = (1U << transport::shm::shared_copies) - 1;
    std::uint32_t used = sharing_.load(relaxed);
    do {
        if (used == all_of_them) return nullptr;
        number = static_cast<std::size_t>(std::countr_one(used));
        // Pairs with the release where it became free: its last use is over.
    } while (!sharing_.compare_exchange_weak(used, used | 1U << number, acquire, relaxed));
    return &node_.shared_copy(static_cast<std::size_t>(rank_), number);
}

/// One of the two has done with it.
void Engine::give_shared_copy(transport::shm::SharedCopy& copy, std::size_t number) noexcept {
    if (copy.users.fetch_sub(1, acq_rel) == 1) sharing_.fetch_and(~(1U << number), release);
}

/// The sender's part of the work, which is to say that it does nothing where it cannot write into the receiver.
/// No lock is held. The send itself may be complete and gone.
void Engine::help(Turn& turn, const Share& share) {
    auto& copy = node_.shared_copy(static_cast<std::size_t>(share.process), share.number);
    std::uint64_t copied = 0;
    std::uint64_t undone = no_piece;
    const bool able = peer_memory_.reachable(share.process);
    for (auto piece = able ? copy.take() : no_work; piece.bytes != 0; piece = copy.take()) {
        const auto* from = reinterpret_cast<const std::byte*>(copy.source) + piece.from;
        if (!peer_memory_.write(share.process, copy.target + piece.from, from, piece.bytes)) {
            undone = piece.from;
            break;
        }
        copied += piece.bytes;
    }
    const bool last = copy.done(copied);
    const SharedFields fields{share.sender, share.number, last ? 1U : 0U, undone};
    control(turn, share.instance, share.process, Kind::shared, &fields, sizeof fields);
    if (!last) return;
    announced_.fetch_sub(1, relaxed);
    turn.complete(*reinterpret_cast<core::Request*>(share.sender));
}

/// The sender has answered. Instance locked.
void Engine::end_sharing(Turn& turn, instance::Instance& instance, std::int32_t process,
                         const SharedFields& fields) {
    auto& copy = node_.shared_copy(static_cast<std::size_t>(rank_), fields.number);
    auto& receive = *reinterpret_cast<core::Request*>(copy.receive);
    const std::uint64_t bytes = copy.length;
    if (fields.undone != no_piece) {
        make_room(turn.undone);
        return turn.undone.push_back(
            {process, instance.number, fields.sender, fields.number, fields.undone});
    }
    give_shared_copy(copy, fields.number);
    if (fields.last == 0) return;
    note_copied(turn.thread, Way::single_copy, receive, bytes);
    turn.complete(receive);
}

/// The receiver reads what the sender could not write. No lock is held.
void Engine::finish_sharing(Turn& turn, const Undone& undone) {
    auto& copy = node_.shared_copy(static_cast<std::size_t>(rank_), undone.number);
    auto& receive = *reinterpret_cast<core::Request*>(copy.receive);
    const std::uint64_t bytes = copy.length;
    const auto piece = copy.piece_at(undone.from);
    if (!peer_memory_.read(undone.process, receive.buffer + piece.from, copy.source + piece.from,
                           piece.bytes))
        receive.error = MPI_ERR_INTERN;  // the sender is gone, and the job with it
    const bool last = copy.done(piece.bytes);
    give_shared_copy(copy, undone.number);
    if (!last) return;
    note_copied(turn.thread, Way::single_copy, receive, bytes);
    settle(turn, {&receive, undone.process, undone.instance, undone.sender, 0, bytes});
}

}  // namespace heddle::p2p
