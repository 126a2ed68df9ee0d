// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Mailboxes: one for each process. In it other processes announce what the process does not poll.
///
/// Zeroes are a valid empty mailbox.
/// Thread safety  every function from any thread.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "node/context_use.hpp"
#include "sync/orders.hpp"
#include "sync/parking.hpp"

namespace heddle::node {

struct Mailbox {
    alignas(cache_line) sync::Doorbell bell;
    /// A bit for each instance with a message in a cold ring, or with room for a starving producer.
    alignas(cache_line) std::atomic<std::uint64_t> rung;
    /// 1: a message that this process watches for is not blocked any more
    /// (node/blocked_notice.hpp).
    std::atomic<std::uint32_t> withdrawn;
    /// `pressure` while the process asks senders to keep payloads to themselves, or 0.
    alignas(cache_line) std::atomic<std::uint64_t> under_pressure;
    /// A digest of the cores that the process may run on; 0: not known yet.
    std::atomic<std::uint64_t> cores;
    /// Instances at which threads of the process wait. They offer their cores meanwhile: a hint
    /// (progress/wait.hpp).
    alignas(cache_line) std::atomic<std::uint64_t> waits;
    /// The doorbell of the library's thread that carries large messages while the program computes
    /// (p2p/node_worker.hpp).
    alignas(cache_line) sync::Doorbell worker;
    /// The instances by which messages come here.
    ContextUse use;
};

class Mailboxes {
public:
    /// `begin` is the address of the first one. Each has `bytes`; `source_words` words for each
    /// instance are among them, behind the Mailbox.
    Mailboxes(std::byte* begin, std::size_t bytes, std::size_t source_words,
              std::size_t processes) noexcept
        : begin_(begin), bytes_(bytes), source_words_(source_words), processes_(processes) {}

    std::size_t processes() const noexcept { return processes_; }
    Mailbox& of(std::size_t process) const noexcept {
        return *reinterpret_cast<Mailbox*>(begin_ + process * bytes_);
    }
    /// Returns whether that process asks senders to keep payloads until they are matched
    /// (p2p/pressure.hpp).
    bool is_under_pressure(std::int32_t process) const noexcept {
        return of(static_cast<std::size_t>(process)).under_pressure.load(relaxed) != 0;
    }
    /// Returns a word of bits, one for each of 64 processes: set if its ring into `instance` of
    /// `process` is worth a look.
    std::atomic<std::uint64_t>& rung_sources(std::size_t process, std::size_t instance,
                                             std::size_t word) const noexcept {
        auto* words = reinterpret_cast<std::atomic<std::uint64_t>*>(begin_ + process * bytes_ +
                                                                    sizeof(Mailbox));
        return words[instance * source_words_ + word];
    }
    std::size_t source_words() const noexcept { return source_words_; }

    /// Makes `to` look at its ring from `from`: sets the bits and rings the bell.
    void notify(std::size_t from, std::size_t to, std::size_t instance) const noexcept;
    /// Makes `to` ask again which messages are blocked.
    void notify_withdrawn(std::size_t to) const noexcept;

private:
    std::byte* begin_;
    std::size_t bytes_, source_words_, processes_;
};

}  // namespace heddle::node
