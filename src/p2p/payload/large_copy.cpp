// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/payload/large_copy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>

#include "p2p/backlog.hpp"
#include "p2p/node_cores.hpp"
#include "p2p/payload/incoming_stream.hpp"
#include "p2p/payload/payload.hpp"
#include "p2p/payload/payload_rings.hpp"
#include "p2p/requests/awaited_peer.hpp"
#include "p2p/sender.hpp"
#include "platform/tick_rate.hpp"
#include "sync/short_wait.hpp"

namespace heddle::p2p {
namespace {

/// Length from which the sender copies pieces, too, if it has nothing better to do.
constexpr std::uint64_t share_from = 4 * node::SharedCopy::piece_bytes;
constexpr std::uint64_t no_piece = ~std::uint64_t{0};
constexpr node::SharedCopy::Piece no_work{0, 0};

/// Longer than a sender at work takes for a piece, even if each line comes from another cache.
/// Shorter than a copy by the kernel.
constexpr std::chrono::microseconds patience{20};
/// If cores are short, a sender that stops has probably lost its core.
constexpr std::chrono::microseconds little_patience{2};

/// The time without a new piece.
class Lull {
public:
    explicit Lull(std::chrono::nanoseconds limit) noexcept : limit_(limit) {}
    void end() noexcept { since_ = 0; }
    bool is_too_long() noexcept {
        const std::uint64_t now = platform::ticks();
        if (since_ == 0) since_ = now;
        return platform::duration_of(now - since_) > limit_;
    }

private:
    const std::chrono::nanoseconds limit_;
    std::uint64_t since_ = 0;
};

}  // namespace

LargeCopy::LargeCopy(Base& base, Sender& sender, Backlog& backlog, const PayloadRings& rings,
                     const AnnouncedSends& announced, const NodeCores& node_cores)
    : base_(base),
      sender_(sender),
      allowed_(base.settings.single_copy != tool::SingleCopy::never),
      backlog_(backlog),
      rings_(rings),
      announced_(announced),
      node_cores_(node_cores),
      peer_memory_(base.board, base.rings.processes(), base.rank) {}

// --- through a ring of payload ---

void LargeCopy::open_payload_ring(instance::LockedInstance instance, std::int32_t process,
                                  const PayloadRingFields& fields) {
    instance::Inlet& inlet = base_.pool.inlet(instance, process);
    inlet.payload_number = static_cast<std::uint32_t>(fields.number);
    inlet.payload = rings_.open(process, inlet.payload_number);
}

void LargeCopy::take_stream(ProgressCall& call, Pull pull, std::uint64_t bytes) {
    const auto& ring = base_.pool.payload(pull.instance, pull.process);
    IncomingStream stream(ring, pull.manifest, pull.receive, pull.length, bytes);
    Lull lull(node_cores_.are_short() ? little_patience : patience);
    while (!stream.has_all()) {
        if (stream.take()) {
            lull.end();
            continue;
        }
        if (stream.has_enough() || lull.is_too_long()) break;
        backlog_.flush_all(call);  // otherwise two that send to each other would both wait
        platform::pause();
    }
    const bool closed = !stream.has_all() && take_claimed(pull, stream) != pull.length;
    pull.from = stream.taken();
    call.thread.copying.pipelined_bytes.add(std::min(bytes, pull.from));
    stream.leave();
    if (closed) return fetch(call, pull, bytes);
    if (pull.synchronous) return finish_copy(call, pull);
    call.complete(*pull.receive);
}

/// Closes the message, and takes the pieces that the sender had claimed. Returns how many bytes it
/// had claimed.
std::uint64_t LargeCopy::take_claimed(const Pull& pull, IncomingStream& stream) {
    const std::uint64_t claimed = stream.close();
    sync::ShortWait<sync::Native> wait;
    while (stream.taken() < claimed) {
        if (stream.take()) continue;
        // The sender is just storing it, and may have lost its core. Its buffer is good until it
        // has stored.
        const node::Piece piece = stream.unstored();
        if (piece.bytes == 0 ||
            (may_read(pull) && read(pull, piece.at, piece.bytes) && stream.stored_nothing_more()))
            stream.skip();
        else
            wait.turn();
    }
    return claimed;
}

// --- out of the sender's memory ---

void LargeCopy::fetch(ProgressCall& call, const Pull& pull, std::uint64_t bytes) {
    if (bytes <= pull.from) return finish_copy(call, pull);
    if (may_read(pull) && read_payload(call, pull, bytes)) return;
    core::Request& receive = *pull.receive;
    receive.remaining = bytes - pull.from;
    const CtsFields fields{pull.sender, reinterpret_cast<std::uint64_t>(&receive), pull.from,
                           bytes};
    sender_.control(call, pull.instance, pull.process, fields);
}

void LargeCopy::finish_copy(ProgressCall& call, const Pull& pull) {
    sender_.control(call, pull.instance, pull.process, FinFields{pull.sender});
    set_awaits_payload(*pull.receive, false);
    call.complete(*pull.receive);
}

/// Returns false if the payload must be pipelined.
bool LargeCopy::may_read(const Pull& pull) {
    return pull.address != unreadable && !base_.is_far(pull.process) && allowed_ &&
        peer_memory_.reachable(pull.process);
}

/// Returns whether a sender is likely to have time to help. If this process has sends that are
/// still to be taken, data goes both ways. Each process is then busy with its own receives.
bool LargeCopy::others_are_free() const noexcept { return !announced_.any(); }

/// Reads the payload out of the sender's memory and completes the message. Returns false if that is
/// forbidden.
bool LargeCopy::read_payload(ProgressCall& call, const Pull& pull, std::uint64_t bytes) {
    core::Request& receive = *pull.receive;
    if (bytes >= share_from && pull.from == 0 && !receive.laid_out && others_are_free() &&
        read_and_share(call, pull, bytes))
        return true;
    if (!read(pull, pull.from, bytes - pull.from)) {
        peer_memory_.give_up(pull.process);
        return false;
    }
    call.thread.copying.single_copy_bytes.add(bytes - pull.from);
    finish_copy(call, pull);
    return true;
}

/// Reads `bytes` of the message, from `from` on, into the receive. Returns false if that is
/// forbidden.
bool LargeCopy::read(const Pull& pull, std::uint64_t from, std::uint64_t bytes) {
    core::Request& receive = *pull.receive;
    if (!receive.laid_out)
        return peer_memory_.read(pull.process, receive.buffer + from, pull.address + from, bytes);
    std::array<std::byte, 16384> packed;
    for (const std::uint64_t end = from + bytes; from < end; from += packed.size()) {
        const std::uint64_t piece = std::min<std::uint64_t>(packed.size(), end - from);
        if (!peer_memory_.read(pull.process, packed.data(), pull.address + from, piece))
            return false;
        scatter(receive, from, packed.data(), piece);
    }
    return true;
}

/// Returns false if nothing has been copied; everything is then still to do.
bool LargeCopy::read_and_share(ProgressCall& call, const Pull& pull, std::uint64_t bytes) {
    using node::SharedCopy;
    std::size_t number = 0;
    SharedCopy* copy = take_shared_copy(number);
    if (copy == nullptr) return false;
    std::byte* const buffer = pull.receive->buffer;
    // The first piece, which is read alone, shows that the kernel allows it.
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
    sender_.control(call, pull.instance, pull.process, fields);

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
    call.thread.copying.single_copy_bytes.add(bytes);
    finish_copy(call, pull);
    return true;
}

/// Returns nullptr if all are in use.
node::SharedCopy* LargeCopy::take_shared_copy(std::size_t& number) noexcept {
    constexpr std::uint32_t all_of_them = (1U << node::shared_copies_each) - 1;
    std::uint32_t used = sharing_.load(relaxed);
    do {
        if (used == all_of_them) return nullptr;
        number = static_cast<std::size_t>(std::countr_one(used));
        // Pairs with the release that freed it: its last use is over.
    } while (!sharing_.compare_exchange_weak(used, used | 1U << number, acquire, relaxed));
    return &base_.rings.shared_copy(static_cast<std::size_t>(base_.rank), number);
}

/// Ends the use by one of the two processes.
void LargeCopy::give_shared_copy(node::SharedCopy& copy, std::size_t number) noexcept {
    if (copy.users.fetch_sub(1, acq_rel) == 1) sharing_.fetch_and(~(1U << number), release);
}

void LargeCopy::help(ProgressCall& call, const Share& share) {
    auto& copy = base_.rings.shared_copy(static_cast<std::size_t>(share.process), share.number);
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
    sender_.control(call, share.instance, share.process, fields);
    if (!last) return;
    sender_.complete_announced(call, *reinterpret_cast<core::Request*>(share.sender));
}

void LargeCopy::end_sharing(ProgressCall& call, std::uint8_t instance, std::int32_t process,
                            const SharedFields& fields) {
    auto& copy = base_.rings.shared_copy(static_cast<std::size_t>(base_.rank), fields.number);
    auto& receive = *reinterpret_cast<core::Request*>(copy.receive);
    const std::uint64_t bytes = copy.length;
    if (fields.undone != no_piece) {
        make_room(call.undone);
        return call.undone.push_back(
            {process, instance, fields.sender, fields.number, fields.undone});
    }
    give_shared_copy(copy, fields.number);
    if (fields.last == 0) return;
    call.thread.copying.single_copy_bytes.add(bytes);
    call.complete(receive);
}

void LargeCopy::finish_sharing(ProgressCall& call, const Undone& undone) {
    auto& copy = base_.rings.shared_copy(static_cast<std::size_t>(base_.rank), undone.number);
    auto& receive = *reinterpret_cast<core::Request*>(copy.receive);
    const std::uint64_t bytes = copy.length;
    const auto piece = copy.piece_at(undone.from);
    if (!peer_memory_.read(undone.process, receive.buffer + piece.from, copy.source + piece.from,
                           piece.bytes))
        receive.error = MPI_ERR_INTERN;  // the sender is gone, and the job with it
    const bool last = copy.done(piece.bytes);
    give_shared_copy(copy, undone.number);
    if (!last) return;
    call.thread.copying.single_copy_bytes.add(bytes);
    finish_copy(call, {&receive, undone.process, undone.instance, undone.sender, 0, bytes});
}

}  // namespace heddle::p2p
