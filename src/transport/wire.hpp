// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The interface of a network to a lane (transport/lane.hpp): datagrams that are reliable and in
/// order, and no more.
///
/// Operation      a send, a receive or a read names its Operation in the call that begins it. The
///                Operation stays in use until the event that ends it. The wire may use `context`,
///                and nothing else of it.
/// Sent           accepted: an event `sent` follows. again: nothing was begun, try after some
///                events(). failed: nothing was begun, and nothing goes there; failure() says why.
/// Events         those of one destination's sends come in order, and so do those of what one
///                sender has sent. Received bytes stay readable until release(), once for each. A
///                wire has room for a limited number of them; senders get `again` then.
/// Thread safety  one thread at a time.

#include <cerrno>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "transport/transport.hpp"

namespace heddle::transport {

struct Operation {
    enum class What : std::uint8_t { send, receive, read };

    alignas(16) std::byte context[64];
    What what{};
};

enum class [[nodiscard]] Sent : std::uint8_t { accepted, again, failed };

struct WireEvent {
    Operation* operation = nullptr;
    std::span<std::byte> received;  ///< received bytes; they begin at a multiple of 8
    int error = 0;                  ///< of errno; 0: none
};

/// The error of a read that the kernel or the memory does not allow. It says nothing against the
/// peer.
inline constexpr int not_readable = EPERM;

struct SendBuffer : Operation {
    Peer peer = 0;
    SendBuffer* next = nullptr;  ///< next free one
    std::unique_ptr<std::byte[]> bytes;
};

template <class W>
concept Wire =
    requires(W wire, const W& asked, typename W::Destination to, const std::string& address,
             SendBuffer& buffer, Operation& operation, Bytes bytes, std::span<WireEvent> events,
             RemoteMemory remote, std::span<std::byte> local, std::string& why,
             std::chrono::milliseconds within) {
        { W::name } -> std::convertible_to<std::string_view>;
        { asked.address() } -> std::same_as<std::string>;
        /// Throws std::runtime_error if that is no address.
        { wire.find(address) } -> std::same_as<typename W::Destination>;
        /// Returns, for people, where the address is; may be empty.
        { asked.place(address) } -> std::same_as<std::string>;
        /// Returns the most bytes of a batch.
        { asked.batch_bytes() } noexcept -> std::same_as<std::size_t>;
        /// Sends the bytes. The buffer belongs to the wire until the event.
        { wire.send(to, buffer, std::size_t{}) } noexcept -> std::same_as<Sent>;
        /// Sends at most inject_limit() bytes, which are free again; no event follows.
        { wire.inject(to, bytes) } noexcept -> std::same_as<Sent>;
        { asked.inject_limit() } noexcept -> std::same_as<std::size_t>;
        /// Returns how many there are.
        { wire.events(events) } noexcept -> std::same_as<std::size_t>;
        { wire.release(operation) } noexcept -> std::same_as<void>;
        { asked.failure() } noexcept -> std::same_as<int>;
        /// Looks for the reason why nothing has gone to this address for a while, or come from
        /// there. It does not wait, and may be called again. Returns true when it has the reason,
        /// which then is in `why`.
        { wire.diagnose(address, why) } -> std::same_as<bool>;
        /// Returns, during a diagnosis, whether the host at this address has acknowledged something
        /// within that time.
        { wire.is_acknowledged(address, within) } noexcept -> std::same_as<bool>;
        { wire.end_diagnosis(address) } noexcept -> std::same_as<void>;
        /// Returns the network's last report of a failure; empty if there was none.
        { asked.last_error() } noexcept -> std::convertible_to<std::string>;

        { asked.descriptor() } noexcept -> std::same_as<int>;
        { wire.may_sleep() } noexcept -> std::same_as<bool>;

        /// Returns whether memory of any peer can be read; with `to`, of this one.
        { asked.can_read() } noexcept -> std::same_as<bool>;
        { asked.can_read(to) } noexcept -> std::same_as<bool>;
        { wire.expose(bytes) } -> std::same_as<typename W::Exposed>;
        { wire.read(to, remote, local, operation) } noexcept -> std::same_as<Sent>;
    };

}  // namespace heddle::transport
