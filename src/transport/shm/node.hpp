// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The shared memory of a node: the board, a front door for each process, and the rings.
///
/// Everything stands at a place computed from the number of processes, so that nothing needs to be
/// exchanged and a process may be written to before it has started. All memory starts as zeroes,
/// which is a valid state of everything in it; pages that nobody touches do not exist.
///
/// Errors         map() answers an empty Node and errno says why.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "launch/board.hpp"
#include "platform/memory.hpp"
#include "sync/parking.hpp"
#include "transport/shm/blocked_notice.hpp"
#include "transport/shm/ring.hpp"
#include "transport/shm/shared_copy.hpp"

namespace heddle::transport::shm {

inline constexpr std::size_t most_instances = 64;  ///< one bit each in Door::rung
inline constexpr std::size_t shared_copies = 8;    ///< to one process at a time
inline constexpr std::size_t most_processes = 4096;
inline constexpr std::size_t stages = 64;  ///< one bit each in StageBoard::used
inline constexpr std::size_t stage_bytes = 2 << 20;

/// Where other processes announce what is not polled.
struct Door {
    alignas(cache_line) sync::Doorbell bell;
    /// Instances with something to look at in a cold ring, or with room for a starving producer.
    alignas(cache_line) std::atomic<std::uint64_t> rung;
    /// 1: a message that this process watches for is not blocked any more (transport/shm/blocked_notice.hpp).
    std::atomic<std::uint32_t> withdrawn;
    /// `pressure` while the process asks senders to keep payloads to themselves, or 0.
    alignas(cache_line) std::atomic<std::uint64_t> under_pressure;
};

/// Stages: memory in which several processes work on the same data. Whoever takes one for all of them tells
/// the others; it is free again when each of them has left it.
struct StageBoard {
    std::atomic<std::uint64_t> used;
    std::atomic<std::uint32_t> users[stages];
};

class Node {
public:
    /// Maps the node's memory of `processes` processes behind `descriptor`.
    static std::optional<Node> map(int descriptor, std::size_t processes);

    std::size_t processes() const noexcept { return processes_; }
    /// Instances of each process: a power of two, the same for all.
    std::size_t instances() const noexcept { return instances_; }

    launch::Page& page(std::size_t process) const noexcept {
        return launch::board_page(memory_->address(), process);
    }
    Door& door(std::size_t process) const noexcept {
        return *reinterpret_cast<Door*>(at(doors_) + process * door_bytes_);
    }
    /// Processes whose ring into `instance` of `process` is worth a look, 64 in a word.
    std::atomic<std::uint64_t>& rung_sources(std::size_t process, std::size_t instance,
                                             std::size_t word) const noexcept {
        auto* words = reinterpret_cast<std::atomic<std::uint64_t>*>(
            at(doors_) + process * door_bytes_ + sizeof(Door));
        return words[instance * source_words_ + word];
    }
    std::size_t source_words() const noexcept { return source_words_; }
    /// Written by `from` for `to`.
    BlockedNotice& blocked_notice(std::size_t from, std::size_t to) const noexcept {
        return reinterpret_cast<BlockedNotice*>(at(blocked_notices_))[to * processes_ + from];
    }

    /// Of messages to `process`.
    SharedCopy& shared_copy(std::size_t process, std::size_t number) const noexcept {
        return reinterpret_cast<SharedCopy*>(at(shared_copies_))[process * shared_copies + number];
    }

    /// A stage for so many processes; -1: all are in use.
    std::int32_t take_stage(std::uint32_t users) const noexcept;
    void leave_stage(std::int32_t number) const noexcept;
    std::byte* stage(std::int32_t number) const noexcept {
        return at(stages_) + static_cast<std::size_t>(number) * stage_bytes;
    }

    Producer producer(std::size_t from, std::size_t to, std::size_t instance) const noexcept {
        const std::size_t ring = index(from, to, instance);
        return {control(ring), cells(ring)};
    }
    void bind(Consumer& consumer, std::size_t from, std::size_t to,
              std::size_t instance) const noexcept {
        const std::size_t ring = index(from, to, instance);
        consumer.bind(control(ring), cells(ring), door(to).under_pressure);
    }

    /// Makes `to` look at its ring from `from`: sets the bits and rings the bell.
    void notify(std::size_t from, std::size_t to, std::size_t instance) const noexcept;
    /// Makes `to` ask again what is blocked.
    void notify_withdrawn(std::size_t to) const noexcept;

private:
    Node() = default;
    std::byte* at(std::size_t offset) const noexcept {
        return static_cast<std::byte*>(memory_->address()) + offset;
    }
    std::size_t index(std::size_t from, std::size_t to, std::size_t instance) const noexcept {
        return (to * processes_ + from) * instances_ + instance;
    }
    StageBoard& stage_board() const noexcept {
        return *reinterpret_cast<StageBoard*>(at(stage_board_));
    }
    Control& control(std::size_t ring) const noexcept {
        return reinterpret_cast<Control*>(at(controls_))[ring];
    }
    Cell* cells(std::size_t ring) const noexcept {
        return reinterpret_cast<Cell*>(at(cells_)) + ring * ring_slots;
    }

    std::shared_ptr<platform::Mapping> memory_;  ///< shared by copies of this object
    std::size_t processes_ = 0, instances_ = 0, source_words_ = 0;
    std::size_t doors_ = 0, door_bytes_ = 0, blocked_notices_ = 0, shared_copies_ = 0;
    std::size_t stage_board_ = 0, stages_ = 0, controls_ = 0, cells_ = 0;
};

}  // namespace heddle::transport::shm
