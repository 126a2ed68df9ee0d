// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The receiving end of a connection.
///
/// Known          once it has said a Hello with the secret. Before that nothing else of it is read.
/// Reading        a system call for all that is there, as far as the chunk has room; whole batches
///                stay where they are read. The beginning of one that reaches the end of its chunk
///                moves to another.
/// Pressure       a connection has two chunks at most. When their batches are not released the
///                connection is paused: nothing is read, and the set does not look at it.
/// Ring           offered by the sender, and used if it can be mapped and the acceptor wants one
///                more. From `go_on` on batches lie there. They are the sender's again in the order
///                in which they lie. While the ring is *hot* the acceptor looks at it; else the
///                sender's bell, by the socket, makes it so.
/// End            of a connection is after the last batch in its ring. The Acceptor, to which it
///                belongs, destroys it in ready().

#include <chrono>
#include <cstdint>
#include <memory>

#include "transport/sockets/chunks.hpp"
#include "transport/sockets/descriptor.hpp"
#include "transport/sockets/hello.hpp"
#include "transport/sockets/loop.hpp"
#include "transport/sockets/ring_memory.hpp"
#include "transport/wire.hpp"

namespace heddle::transport::sockets {

class Acceptor;

class Incoming final : public Source {
public:
    using Clock = std::chrono::steady_clock;

    Incoming(Acceptor& acceptor, Descriptor socket, bool internet) noexcept
        : acceptor_(acceptor), socket_(std::move(socket)), internet_(internet) {}
    ~Incoming();
    Incoming(const Incoming&) = delete;
    Incoming& operator=(const Incoming&) = delete;

    void ready(std::uint32_t what) noexcept override;
    /// Returns false if there is no whole batch, or no memory for a receipt.
    bool take(WireEvent& event) noexcept;
    bool has_batch() noexcept;
    /// Returns whether the next bytes are no batch.
    bool is_broken() const noexcept;
    /// Takes note that no batch of the chunk is handed out any more.
    void released(Chunk& chunk) noexcept;
    /// Releases a batch in the ring.
    void release(Receipt& receipt) noexcept;
    /// Makes the ring cold: from now on the sender rings. Returns false if there is a batch.
    bool go_cold() noexcept { return ring_->consumer.go_cold(); }
    /// Returns whether a batch of its ring is there, or handed out.
    bool has_ring_in_use() noexcept { return uses_ring_ && (first_out_ != nullptr || has_batch()); }
    /// Returns whether it could be read again; then it has room.
    bool make_room() noexcept;

    int descriptor() const noexcept { return socket_.number(); }
    bool is_known() const noexcept { return known_; }
    Clock::time_point since() const noexcept { return since_; }

    std::size_t place = 0;  ///< the acceptor's: its place in the list of connections
    /// The acceptor's: in the list of connections with batches, or of those that are paused.
    Incoming* next = nullptr;
    bool listed = false;           ///< likewise
    Incoming* next_hot = nullptr;  ///< likewise: in the list of those with hot rings
    bool hot = false;              ///< likewise
    bool ended = false;            ///< likewise: the sender has gone
    unsigned idle = 0;             ///< likewise: looks at the ring that found nothing

private:
    void meet() noexcept;
    bool answer() noexcept;
    void read() noexcept;
    ssize_t receive(std::byte* to, std::size_t most) noexcept;
    void keep_descriptor(msghdr& message) noexcept;
    void heed_frames() noexcept;
    void consider_offer() noexcept;
    void hear_bells() noexcept;
    bool take_from_ring(WireEvent& event) noexcept;
    bool frame(Frame& frame) const noexcept;
    bool has_room_for_frame() const noexcept;
    void drop_chunk() noexcept;

    Acceptor& acceptor_;
    Descriptor socket_;
    const bool internet_;
    bool known_ = false;
    const Clock::time_point since_ = Clock::now();
    Hello hello_;
    std::size_t hello_bytes_ = 0;
    Chunk* chunk_ = nullptr;
    Chunk* before_ = nullptr;  ///< full, and not released
    std::size_t begin_ = 0;    ///< offset of the next batch in chunk_
    std::size_t end_ = 0;      ///< end of what was read in chunk_
    bool broken_ = false;      ///< it has said what means nothing
    Descriptor offered_;
    std::unique_ptr<ReceivingRing> ring_;
    bool uses_ring_ = false;
    Receipt* first_out_ = nullptr;  ///< first of the ring's batches that are handed out
    Receipt* last_out_ = nullptr;
};

}  // namespace heddle::transport::sockets
