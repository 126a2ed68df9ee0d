// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Transport: carries messages between processes of a job that share no memory.
///
/// Lane           one stream of traffic: everything below is said of one lane. A lane of one
///                process talks to a lane of another. It has nothing in common with the other lanes
///                of its process.
/// Peer           a process by its number in the job. connect() names its address, and costs no
///                traffic. A connection is made when the first message goes there. Peers that were
///                never named cost a lane nothing but a pointer.
/// Order          messages from one lane to one peer arrive in the order in which they were handed
///                over. Each arrives once, as long as the peer is not faulty. Two lanes have no
///                order.
/// post()         done: handed over, the caller's memory is free again. retry: no room, nothing was
///                changed; there will be room after some poll(). faulty: the peer is, and nothing
///                goes there any more.
/// Gathering      the first message to a peer after a poll() leaves at once. Messages that follow
///                before the next poll() gather, and leave together: when a buffer is full, with
///                flush(), or with poll(). While owes() returns true a thread must come back soon.
/// poll()         makes progress, and tells the consumer what has come. Returns how many things
///                that were. A consumer that takes no message now returns false. It gets the same
///                message again with a later poll(), and meanwhile nothing of the lane behind it.
///                It may call post() and read(), not poll().
/// Sleeping       arm() returns true if nothing is there. Then the descriptor becomes readable when
///                something comes, and the thread may sleep on it, at most for nap(). If arm()
///                returns false it must poll. After a sleep it calls disarm(), then polls. A lane
///                that cannot sleep has descriptor -1.
/// Reading        if can_read(), a receiver takes large payloads out of the sender's memory. The
///                sender says with expose() what may be read, and sends the result. The receiver
///                calls read(), and is told when it is over. The target must poll. Otherwise
///                messages of at most most_payload() bytes carry pieces.
/// Faults         of one peer never touch another. poll() tells the consumer once for each:
///                lost(peer, why). Messages from a faulty peer that have come before it was found
///                faulty are still delivered first. A peer is found faulty when something for it
///                cannot be delivered, or when its messages have a gap. A watched peer is, too,
///                when it has been silent for too long and its host is silent, too. A process that
///                is stopped, or has much to do, is not faulty. A word of farewell is not a fault.
///                If a peer is found to have ended after it, the consumer is told left(peer).
///                Nothing goes there any more, and all that it has said is there.
/// drain()        returns true when every peer has taken over what was handed over, or is faulty.
///                If a peer has taken its leave, it is enough that the network has what is for it.
///                Call drain() again after poll() until then; the peers must poll. A lane that is
///                destroyed earlier may lose what is under way.
/// mark()         remembers what was handed over so far. is_past_mark() returns whether every peer
///                has taken that over, or is faulty, or has gone. Call it again after poll() until
///                then. Other messages may be handed over meanwhile.
/// rest()         a word of farewell: from now on no thread polls the lane, and it may be gone
///                without notice. Peers may send to it nevertheless, and wait for no answer. It
///                stays, and resume() says that it is polled again. It then delivers what has come
///                meanwhile. Peers know of it with the next message to them.
/// Errors         set-up throws std::runtime_error with a sentence for users. Afterwards nothing
///                throws.
/// Thread safety  a lane is used by one thread at a time: the lock is outside. Lanes are
///                independent of each other.

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "transport/header.hpp"

namespace heddle::transport {

using Peer = std::uint32_t;
using Bytes = std::span<const std::byte>;

enum class [[nodiscard]] Post : std::uint8_t { done, retry, faulty };

/// 128 random bits that only the processes of a job have.
using JobToken = std::array<std::uint64_t, 2>;

/// The process of a lane, and its job.
struct Identity {
    Peer process;          ///< its own number
    Peer processes;        ///< number of processes of the job: peers are numbered below it
    JobToken token;        ///< batches without it are ignored, and counted
    bool checked = false;  ///< batches that are sent have a checksum
};

/// How long silence may last.
struct Patience {
    std::chrono::milliseconds before_call{
        1000};  ///< a watched peer is called after so long a silence.
    /// A watched peer is faulty if it is silent for longer, and its host acknowledges nothing
    /// either. 0: it never is.
    std::chrono::milliseconds silence{10'000};
    std::chrono::milliseconds before_diagnosis{200};  ///< nothing goes to the peer for so long
};

/// Memory of another process, as read() wants it: plain data, to be sent in a message.
struct RemoteMemory {
    std::uint64_t address;
    std::uint64_t key;
};

/// Reports of poll(). All of it is noexcept.
template <class C>
concept Consumer =
    requires(C consumer, Peer peer, Header& header, std::uint64_t token, std::string_view why) {
        /// Returns false if it does not take the message now. The header is in its place, the
        /// payload behind it, both the consumer's during the call.
        { consumer.arrived(peer, header) } noexcept -> std::same_as<bool>;
        /// Reports that a read() with this token is over; false: the peer is faulty, or its memory
        /// cannot be read.
        /// read.
        { consumer.read_over(token, bool{}) } noexcept -> std::same_as<void>;
        { consumer.lost(peer, why) } noexcept -> std::same_as<void>;
        { consumer.left(peer) } noexcept -> std::same_as<void>;
        /// Reports that a batch that does not belong to the job has come, and was ignored.
        { consumer.stranger() } noexcept -> std::same_as<void>;
    };

/// A consumer for the requirements below.
struct AnyConsumer {
    bool arrived(Peer, Header&) noexcept { return true; }
    void read_over(std::uint64_t, bool) noexcept {}
    void lost(Peer, std::string_view) noexcept {}
    void left(Peer) noexcept {}
    void stranger() noexcept {}
};
static_assert(Consumer<AnyConsumer>);

/// A consumer that takes nothing.
struct AbsentConsumer : AnyConsumer {
    bool arrived(Peer, Header&) noexcept { return false; }
};
static_assert(Consumer<AbsentConsumer>);

template <class L>
concept Transport = !std::movable<L> &&
    requires(L lane, const L& asked, Peer peer, const std::string& address, const Header& header,
             Bytes prefix, Bytes payload, AnyConsumer& consumer, RemoteMemory remote,
             std::span<std::byte> local, std::uint64_t token, typename L::Exposed& exposed) {
        { L::name } -> std::convertible_to<std::string_view>;
        /// Returns the address of the lane: any bytes, at most most_address.
        { asked.address() } -> std::same_as<std::string>;
        /// Throws std::runtime_error if the address is none.
        { lane.connect(peer, address) } -> std::same_as<void>;
        { asked.knows(peer) } noexcept -> std::same_as<bool>;
        /// Posts a message of `prefix` and then `payload`. The lane does not look at header.length
        /// but writes it.
        { lane.post(peer, header, prefix, payload) } noexcept -> std::same_as<Post>;
        { lane.flush() } noexcept -> std::same_as<void>;
        { asked.owes() } noexcept -> std::same_as<bool>;
        { lane.poll(consumer) } noexcept -> std::same_as<std::size_t>;
        { asked.most_payload() } noexcept -> std::same_as<std::size_t>;

        { asked.descriptor() } noexcept -> std::same_as<int>;
        { lane.arm() } noexcept -> std::same_as<bool>;
        { lane.disarm() } noexcept -> std::same_as<void>;
        { asked.nap() } noexcept -> std::same_as<std::chrono::milliseconds>;

        { asked.can_read() } noexcept -> std::same_as<bool>;
        /// Lets the memory be read until the result is destroyed, which must come before the lane's
        /// end.
        { lane.expose(payload) } -> std::same_as<typename L::Exposed>;
        { exposed.remote() } noexcept -> std::same_as<RemoteMemory>;
        /// Reads as many bytes as `local` has. If it returns done, read_over() will follow.
        { lane.read(peer, remote, local, token) } noexcept -> std::same_as<Post>;

        /// Says that a thread waits for this peer: from now on silence is a fault. Counted: as many
        /// times off as on.
        { lane.watch(peer, bool{}) } noexcept -> std::same_as<void>;
        { lane.drain() } noexcept -> std::same_as<bool>;
        { lane.mark() } noexcept -> std::same_as<void>;
        { lane.is_past_mark() } noexcept -> std::same_as<bool>;
        /// Returns whether something has gone there, or come from there. Peers among them that are
        /// not known hear no farewell.
        { asked.has_met(peer) } noexcept -> std::same_as<bool>;
        { lane.rest() } noexcept -> std::same_as<void>;
        { lane.resume() } noexcept -> std::same_as<void>;
    };

inline constexpr std::size_t most_address = 128;

}  // namespace heddle::transport
