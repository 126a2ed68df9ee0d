// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The memory of the other processes of the job, read and written by their process ids.
///
/// A process id proves little. In another PID namespace it names another process, whose memory the
/// kernel lets us read and overwrite as readily. So a process keeps a random token in its memory.
/// Its page of the board has the token's address and value. Before the first copy from or to it,
/// the token is read by its process id. If it is not there, nothing is ever copied by that id. The
/// result is kept for each process.
///
/// Thread safety  any thread; two threads that find out at once get the same result.
/// Lifetime       of a result: a process id is not given to another process before its first
///                process has ended. A process that ends in the middle ends the job. A process that
///                has finalized may end in order, so nothing is copied by its id from then on. A
///                child that it forks does not have the token, and has no page.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "node/board.hpp"
#include "platform/memory.hpp"
#include "sync/orders.hpp"

namespace heddle::p2p {

class PeerMemory {
public:
    /// Publishes the token of process `rank`, this one.
    PeerMemory(node::Board board, std::size_t processes, std::int32_t rank);

    /// Returns whether memory of `process` can be copied. The first call finds out by a system
    /// call.
    bool reachable(std::int32_t process) noexcept {
        const Known known = known_[static_cast<std::size_t>(process)].load(relaxed);
        if (known == Known::not_asked) [[unlikely]]
            return find_out(process);
        return known == Known::reachable && is_there(process);
    }
    /// Returns whether it can be written, too: that alone may be forbidden.
    bool writable(std::int32_t process) noexcept {
        return reachable(process) && platform::may_copy_to_process(pid_of(process));
    }
    /// Ends copies with this process, since the kernel has refused one.
    void give_up(std::int32_t process) noexcept { note(process, Known::unreachable); }

    /// Copy memory of a reachable process. Return false if the kernel refuses; a part may have been
    /// copied then.
    bool read(std::int32_t process, void* to, std::uint64_t from,
              std::uint64_t bytes) const noexcept;
    bool write(std::int32_t process, std::uint64_t to, const void* from,
               std::uint64_t bytes) const noexcept;

    /// Copy several pieces, likewise.
    bool read(std::int32_t process, std::span<const iovec> to,
              std::span<const iovec> from) const noexcept {
        return platform::copy_pieces_from_process(pid_of(process), to, from);
    }
    bool write(std::int32_t process, std::span<const iovec> to,
               std::span<const iovec> from) const noexcept {
        return platform::copy_pieces_to_process(pid_of(process), to, from);
    }

private:
    enum class Known : std::uint8_t { not_asked, reachable, unreachable };

    bool find_out(std::int32_t process) noexcept;
    bool has_its_token(std::int32_t process) const noexcept;
    bool is_there(std::int32_t process) const noexcept {
        return page(process).phase.load(relaxed) == node::Phase::initialized;
    }
    void note(std::int32_t process, Known what) noexcept {
        known_[static_cast<std::size_t>(process)].store(what, relaxed);
    }
    node::Page& page(std::int32_t process) const noexcept {
        return board_.page(static_cast<std::size_t>(process));
    }
    int pid_of(std::int32_t process) const noexcept {
        return static_cast<int>(page(process).pid.load(relaxed));
    }

    const node::Board board_;
    const platform::Mapping token_;  ///< on its own page, which forked children find empty
    const std::unique_ptr<std::atomic<Known>[]> known_;
};

}  // namespace heddle::p2p
