// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Which way a large message takes: read out of the sender's memory in one copy, or pipelined
/// through the ring in two. Learned for each size (power of two) from how long each took here:
/// which of them wins depends on the machine, the kernel's limits and where the ranks run.
///
/// Thread safety  any thread; a lost update costs a measurement, not correctness.

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "sync/orders.hpp"

namespace heddle::p2p {

enum class Way : std::uint8_t { single_copy, pipelined };

class CopyChoice {
public:
    /// Between two processes of which one can copy from the other (p2p/peer_memory.hpp).
    Way choose(std::uint64_t bytes) noexcept {
        Class& size = of(bytes);
        const std::uint32_t turn = size.uses.fetch_add(1, relaxed);
        const bool single_wins = size.ticks[0].load(relaxed) <= size.ticks[1].load(relaxed);
        // Each way is tried in turn at first, and the loser once in a while, since things change.
        if (turn < trials) return turn % 2 == 0 ? Way::single_copy : Way::pipelined;
        return single_wins == (turn % retry_every != 0) ? Way::single_copy : Way::pipelined;
    }

    /// `ticks` for the copying of `bytes`, at least one.
    void learn(Way way, std::uint64_t bytes, std::uint64_t ticks) noexcept {
        auto& known = of(bytes).ticks[static_cast<std::size_t>(way)];
        const std::uint64_t scaled = (ticks << 10) / ((bytes + 15) >> 4);  // per 16 bytes
        const std::uint64_t before = known.load(relaxed);
        // The best seen counts, slowly forgotten: most disturbances only make a copy slower.
        known.store(before == 0 || scaled < before ? scaled : before + (scaled - before) / 16,
                    relaxed);
    }

private:
    static constexpr std::uint32_t trials = 8;
    static constexpr std::uint32_t retry_every = 128;

    struct Class {
        std::array<std::atomic<std::uint64_t>, 2> ticks{};  ///< 0: not tried
        std::atomic<std::uint32_t> uses{0};
    };
    Class& of(std::uint64_t bytes) noexcept {
        return classes_[static_cast<std::size_t>(std::bit_width(bytes)) % classes_.size()];
    }

    std::array<Class, 64> classes_;
};

}  // namespace heddle::p2p
