// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Buffered sends (MPI 5.0, 3.6): memory of the user, or of the library, for messages that have not
/// left yet. Standard sends use the same if HEDDLE_SEND_BUFFER says so.
///
/// The message is copied, and the copy is sent like any other message. If it fits into the
/// receiver's ring it has left the buffer when the call returns, without any further call.
/// Otherwise its piece of the buffer becomes free when its send completes, by a listener.
///
/// Thread safety  every call from any thread. The lock is a leaf: no operation starts under it.
/// Lifetime       shared by the objects it is attached to, and by every message in it.
/// Overhead       the standard's MPI_BSEND_OVERHEAD is not needed: records are kept elsewhere.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "p2p/engine.hpp"
#include "p2p/progress_call.hpp"

namespace heddle::p2p {

class BsendBuffer : public std::enable_shared_from_this<BsendBuffer> {
public:
    /// Makes a buffer of `bytes` at `memory`. If that is MPI_BUFFER_AUTOMATIC it grows as needed,
    /// up to `bytes` unless they are 0.
    BsendBuffer(void* memory, std::uint64_t bytes) noexcept;

    void* memory() const noexcept { return memory_; }
    std::uint64_t bytes() const noexcept { return bytes_; }

    /// Copies and sends. Returns false, and has changed nothing, if there is no room. Throws
    /// std::bad_alloc, and has sent nothing then.
    [[nodiscard]] bool send(core::Thread& thread, const Outbound& message);

    bool is_empty();

    /// Returns a request that completes when every message buffered by now has left the buffer.
    /// Returns nullptr if memory has run out.
    core::Request* start_flush(core::Thread& thread);
    /// Sleeps until start_flush()'s request completes. Returns false if memory has run out.
    [[nodiscard]] bool flush(core::Thread& thread);

private:
    class Piece;
    struct Flush {
        core::Request* request;
        std::uint64_t pieces;  ///< still to leave
        std::uint64_t latest;  ///< the latest of them
    };

    bool reserve(Piece& piece);
    bool reserve_automatic(Piece& piece) noexcept;
    void give_back(const Piece& piece) noexcept;
    void release(ProgressCall& call, const Piece& piece) noexcept;

    void* const memory_;
    const std::uint64_t bytes_;
    const bool automatic_;

    std::mutex lock_;
    std::map<std::uint64_t, std::uint64_t> used_;  ///< offset -> bytes, at least one each
    std::uint64_t taken_ = 0;                      ///< bytes of automatic memory
    std::uint64_t latest_ = 0;                     ///< number of the latest piece
    std::uint64_t pieces_ = 0;                     ///< pieces that hold a message
    std::vector<Flush> flushes_;
};

}  // namespace heddle::p2p
