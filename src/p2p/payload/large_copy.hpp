// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Gets the payload of a matched message that did not come with its header.
///
/// Streamed   out of a ring of payload, behind the sender. If the receiver sees no piece for some
///            time, it closes the message. It gets the rest by one of the other methods.
/// Read       out of the sender's memory by one copy of the kernel. The sender of a large message
///            copies pieces, too, if it has nothing better to do. Both take pieces from a
///            SharedCopy of the receiver.
/// Asked for  through the ring of cells, if the kernel forbids the copy, or if the sender has to
///            pack.
///
/// Thread safety  any thread, for another message each. No lock is held unless a function takes a
///                key: copies take long.
/// Errors         throws std::bad_alloc if a control message can neither be sent nor queued.

#include <atomic>
#include <cstdint>

#include "p2p/announced_sends.hpp"
#include "p2p/base.hpp"
#include "p2p/payload/peer_memory.hpp"
#include "p2p/progress_call.hpp"
#include "p2p/protocol.hpp"

namespace heddle::p2p {

class Backlog;
class IncomingStream;
class NodeCores;
class PayloadRings;
class Sender;

class LargeCopy {
public:
    /// `sender` sends the control messages.
    LargeCopy(Base& base, Sender& sender, Backlog& backlog, const PayloadRings& rings,
              const AnnouncedSends& announced, const NodeCores& node_cores);

    /// Takes the first `bytes` of a streamed message.
    void take_stream(ProgressCall& call, Pull pull, std::uint64_t bytes);
    /// Gets the first `bytes` of the message, as far as the sender still has them.
    void fetch(ProgressCall& call, const Pull& pull, std::uint64_t bytes);
    /// Tells the sender that the payload is here, and completes the receive.
    void finish_copy(ProgressCall& call, const Pull& pull);

    /// Does the sender's part of a shared copy. It does nothing if this process cannot write into
    /// the receiver. The send may be complete and gone.
    void help(ProgressCall& call, const Share& share);
    /// Ends sharing after the sender has answered.
    void end_sharing(ProgressCall& call, std::uint8_t instance, std::int32_t process,
                     const SharedFields& fields);
    /// Reads the pieces that the sender could not write.
    void finish_sharing(ProgressCall& call, const Undone& undone);

    /// Opens the ring by which the process will send.
    void open_payload_ring(instance::LockedInstance instance, std::int32_t process,
                           const PayloadRingFields& fields);

    PeerMemory& peer_memory() noexcept { return peer_memory_; }

private:
    std::uint64_t take_claimed(const Pull& pull, IncomingStream& stream);
    bool may_read(const Pull& pull);
    bool others_are_free() const noexcept;
    bool read_payload(ProgressCall& call, const Pull& pull, std::uint64_t bytes);
    bool read(const Pull& pull, std::uint64_t from, std::uint64_t bytes);
    bool read_and_share(ProgressCall& call, const Pull& pull, std::uint64_t bytes);
    node::SharedCopy* take_shared_copy(std::size_t& number) noexcept;
    void give_shared_copy(node::SharedCopy& copy, std::size_t number) noexcept;

    Base& base_;
    Sender& sender_;
    const bool allowed_;  ///< whether it may read memory of other processes
    Backlog& backlog_;
    const PayloadRings& rings_;
    const AnnouncedSends& announced_;
    const NodeCores& node_cores_;
    PeerMemory peer_memory_;
    std::atomic<std::uint32_t> sharing_{0};  ///< bit i: shared copy i is in use
};

}  // namespace heddle::p2p
