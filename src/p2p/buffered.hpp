// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Buffered sends (MPI 5.0, 3.6): memory of the user's, or of the library's own, in which messages
/// lie until they are on their way. Standard sends use the same where they are told to (HEDDLE_SEND_BUFFER).
///
/// The message is copied and the copy sent like any other: what fits into the receiver's ring has
/// left the buffer when the call returns, without any further call. Where a message must wait, its
/// piece of the buffer becomes free when its send completes, by a listener.
///
/// Thread safety  every call from any thread. The lock is a leaf: nothing is started under it.
/// Lifetime       shared by who it is attached to, and by every message that lies in it.
/// What the standard calls MPI_BSEND_OVERHEAD is not needed: records are kept elsewhere.

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
    /// `bytes` at `memory`. Where that is MPI_BUFFER_AUTOMATIC: as much as it takes, at most `bytes` unless they are 0.
    BsendBuffer(void* memory, std::uint64_t bytes) noexcept;

    void* memory() const noexcept { return memory_; }
    std::uint64_t bytes() const noexcept { return bytes_; }

    /// Copies and sends. False, with nothing changed, if there is no room. Throws std::bad_alloc, and has sent nothing then.
    [[nodiscard]] bool send(core::Thread& thread, const Outbound& message);

    bool is_empty();

    /// A request that completes when every message buffered by now has left the buffer; nullptr when
    /// memory has run out.
    core::Request* start_flush(core::Thread& thread);
    /// Waits for that, asleep. False when memory has run out.
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
    std::uint64_t taken_ = 0;                      ///< bytes, where memory is automatic
    std::uint64_t latest_ = 0;                     ///< number of the latest piece
    std::uint64_t pieces_ = 0;                     ///< that hold a message
    std::vector<Flush> flushes_;
};

}  // namespace heddle::p2p
