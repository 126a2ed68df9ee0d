// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The receiving end of a connection.
///
/// Known          once it has said a Hello with the secret. Before that nothing else of it is read.
/// Reading        a system call for all that is there, as far as the chunk has room; whole batches stay where they
///                are read. The beginning of one that reaches the end of its chunk moves to another.
/// Pressure       a connection has two chunks at most. When nobody releases what is in them it is paused: nothing is
///                read, and the set does not look at it.
/// End            by whom it belongs to (Acceptor), which destroys it in ready().

#include <chrono>
#include <cstdint>

#include "transport/sockets/chunks.hpp"
#include "transport/sockets/descriptor.hpp"
#include "transport/sockets/hello.hpp"
#include "transport/sockets/loop.hpp"
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
    /// False: there is no whole batch, or no memory for a receipt.
    bool take(WireEvent& event) noexcept;
    bool has_batch() const noexcept;
    /// What comes next is no batch.
    bool is_broken() const noexcept;
    /// Of the chunk nothing is handed out any more.
    void released(Chunk& chunk) noexcept;
    /// Whether it could be read again; then it has room.
    bool make_room() noexcept;

    int descriptor() const noexcept { return socket_.number(); }
    bool is_known() const noexcept { return known_; }
    Clock::time_point since() const noexcept { return since_; }

    std::size_t place = 0;  ///< the acceptor's: where it has this one
    Incoming* next =
        nullptr;  ///< the acceptor's: in the list of those with batches, or of those that are paused
    bool listed = false;  ///< likewise

private:
    void meet() noexcept;
    bool answer() noexcept;
    void read() noexcept;
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
    std::size_t begin_ = 0;    ///< in chunk_: of the next batch
    std::size_t end_ = 0;      ///< likewise: of what was read
};

}  // namespace heddle::transport::sockets
