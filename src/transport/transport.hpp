// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What carries messages between processes of a job that share no memory.
///
/// Lane           one stream of traffic: everything below is said of one lane. A lane of one process talks to a lane
///                of another, and has nothing in common with the other lanes of its process.
/// Peer           a process by its number in the job. connect() tells where it is, and costs no traffic: a
///                connection is made when the first message goes there. Peers that were never named cost a
///                lane nothing but a pointer.
/// Order          messages from one lane to one peer arrive in the order in which they were handed over, each once, as
///                long as the peer is not faulty. Nothing is said of two lanes.
/// post()         done: handed over, the caller's memory is free again. retry: no room, nothing was changed; there
///                will be room after some poll(). faulty: the peer is, and nothing goes there any more.
/// Gathering      the first message to a peer after a poll() leaves at once. Those that follow before the next
///                poll() gather, and leave together: when a buffer is full, with flush(), or with poll(). While
///                owes() answers true somebody must come back soon.
/// poll()         makes progress, and tells the consumer what has come: how many things that were. A consumer that
///                takes no message now answers false; it gets the same one again with a later poll(), and
///                meanwhile nothing of the lane behind it. It may call post() and read(), not poll().
/// Sleeping       arm() answers true if nothing is there: then the descriptor becomes readable when something comes, and
///                the thread may sleep on it, at most for nap(). After false it must poll. After a sleep
///                it calls disarm(), then polls. A lane that cannot sleep has descriptor -1.
/// Large payloads where can_read(), a receiver takes them out of the sender's memory: the sender says with expose() what
///                may be read, and sends the answer; the receiver calls read(), and is told when it is over.
///                The target must poll. Elsewhere messages of at most most_payload() bytes carry pieces.
/// Faults         of one peer never touch another. The consumer is told once for each: lost(peer, why), by poll().
///                Messages from a faulty peer that have come before it was found faulty are still delivered first.
///                A peer is found faulty when something for it cannot be delivered, when its messages have a gap, and
///                if it is watched when it has been silent for too long and its host is silent, too: a process that is
///                stopped, or has much to do, is none. A word of farewell is not a fault: where it is found that a peer has ended
///                after it, the consumer is told left(peer). Nothing goes there any more, and all that it has said is there.
/// drain()        true when every peer has taken over what was handed over, or is faulty, or has taken its leave and
///                the network has what is for it. To be called again after poll() until then; the peers must poll. A
///                lane that is destroyed earlier may lose what is under way.
/// mark()         remembers what was handed over so far; is_past_mark() answers whether every peer has taken that over, or
///                is faulty, or has gone. To be asked again after poll() until then. Others may be handed over meanwhile.
/// rest()         a word of farewell: from now on nobody polls the lane, and it may be gone without notice. Peers may
///                send to it nevertheless, and wait for no answer. It stays, and resume() says that it is polled again;
///                what has come meanwhile is told then. Peers know of it with the next message to them.
/// Errors         set-up throws std::runtime_error with a sentence for users. Afterwards nothing throws.
/// Thread safety  a lane is used by one thread at a time: the lock is outside. Lanes are independent of each other.

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

/// Who a lane is.
struct Identity {
    Peer process;          ///< its own number
    Peer processes;        ///< of the job: numbers are below
    JobToken token;        ///< what comes without it is ignored, and counted
    bool checked = false;  ///< what is sent has a checksum
};

/// How long silence may last.
struct Patience {
    std::chrono::milliseconds before_call{
        1000};  ///< a watched peer is called after so long a silence
    /// A watched peer that is silent for longer, and whose host acknowledges nothing either, is faulty. 0: it never is.
    std::chrono::milliseconds silence{10'000};
    std::chrono::milliseconds before_diagnosis{200};  ///< of a peer to which nothing goes
};

/// Memory of another process, as read() wants it: plain data, to be sent in a message.
struct RemoteMemory {
    std::uint64_t address;
    std::uint64_t key;
};

/// What poll() tells. All of it is noexcept.
template <class C>
concept Consumer =
    requires(C consumer, Peer peer, Header& header, std::uint64_t token, std::string_view why) {
        /// False: not now. The header is in its place, the payload behind it, both the consumer's during the call.
        { consumer.arrived(peer, header) } noexcept -> std::same_as<bool>;
        /// A read() with this token is over; false: the peer is faulty, or its memory cannot be read.
        { consumer.read_over(token, bool{}) } noexcept -> std::same_as<void>;
        { consumer.lost(peer, why) } noexcept -> std::same_as<void>;
        { consumer.left(peer) } noexcept -> std::same_as<void>;
        /// Something has come from somebody who does not belong to the job, and was ignored.
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

/// One that takes nothing.
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
        /// Where the lane is reached: any bytes, at most most_address.
        { asked.address() } -> std::same_as<std::string>;
        /// Throws std::runtime_error if the address is none.
        { lane.connect(peer, address) } -> std::same_as<void>;
        { asked.knows(peer) } noexcept -> std::same_as<bool>;
        /// The payload is `prefix` and then `payload`; header.length is not looked at but written.
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
        /// What it answers lets the memory be read until it is destroyed, which must come before the lane's end.
        { lane.expose(payload) } -> std::same_as<typename L::Exposed>;
        { exposed.remote() } noexcept -> std::same_as<RemoteMemory>;
        /// `local` and what is read are as long as each other; done: read_over() will tell.
        { lane.read(peer, remote, local, token) } noexcept -> std::same_as<Post>;

        /// Somebody waits for this peer: from now on silence is a fault. Counted: as many times off as on.
        { lane.watch(peer, bool{}) } noexcept -> std::same_as<void>;
        { lane.drain() } noexcept -> std::same_as<bool>;
        { lane.mark() } noexcept -> std::same_as<void>;
        { lane.is_past_mark() } noexcept -> std::same_as<bool>;
        /// Something has gone there, or come from there. Those among them that are not known hear no farewell.
        { asked.has_met(peer) } noexcept -> std::same_as<bool>;
        { lane.rest() } noexcept -> std::same_as<void>;
        { lane.resume() } noexcept -> std::same_as<void>;
    };

inline constexpr std::size_t most_address = 128;

}  // namespace heddle::transport
