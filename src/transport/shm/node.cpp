// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/node.hpp"

#include <bit>
#include <cerrno>

namespace heddle::transport::shm {
namespace {

constexpr std::size_t page_bytes = 4096;

constexpr std::size_t rounded(std::size_t bytes) noexcept {
    return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

/// Rings grow with the square of the processes. Fewer instances for many processes keep the address
/// space (not the memory, which only touched rings take) below a hundred gigabytes.
constexpr std::size_t instances_for(std::size_t processes) noexcept {
    std::size_t instances = most_instances;
    while (instances > 1 && processes * processes * instances > std::size_t{1} << 21)
        instances /= 2;
    return instances;
}

}  // namespace

std::optional<Node> Node::map(int descriptor, std::size_t processes) {
    if (processes > most_processes) {
        errno = E2BIG;
        return std::nullopt;
    }
    Node node;
    node.processes_ = processes;
    node.instances_ = instances_for(processes);
    node.source_words_ = (processes + 63) / 64;
    const std::size_t rings = processes * processes * node.instances_;
    node.doors_ = processes * launch::board_page_bytes;
    node.door_bytes_ = rounded(sizeof(Door) + node.instances_ * node.source_words_ * 8);
    node.blocked_notices_ = node.doors_ + processes * node.door_bytes_;
    node.shared_copies_ = node.blocked_notices_ + rounded(processes * processes * sizeof(BlockedNotice));
    node.stage_board_ =
        node.shared_copies_ + rounded(processes * shared_copies * sizeof(SharedCopy));
    node.stages_ = node.stage_board_ + rounded(sizeof(StageBoard));
    node.controls_ = node.stages_ + stages * stage_bytes;
    node.cells_ = node.controls_ + rounded(rings * sizeof(Control));
    node.memory_ = std::make_shared<platform::Mapping>(
        platform::map_shared(descriptor, node.cells_ + rings * ring_slots * sizeof(Cell)));
    if (!*node.memory_) return std::nullopt;
    return node;
}

std::int32_t Node::take_stage(std::uint32_t users) const noexcept {
    StageBoard& board = stage_board();
    std::uint64_t used = board.used.load(relaxed);
    int number = 0;
    do {
        number = std::countr_one(used);
        if (number == static_cast<int>(stages)) return -1;
        // A1: pairs with R1, where the last user of before has left.
    } while (!board.used.compare_exchange_weak(used, used | std::uint64_t{1} << number, acquire,
                                               relaxed));
    board.users[number].store(users, relaxed);  // published by the message that tells them
    return number;
}

void Node::leave_stage(std::int32_t number) const noexcept {
    StageBoard& board = stage_board();
    if (board.users[number].fetch_sub(1, acq_rel) == 1)
        board.used.fetch_and(~(std::uint64_t{1} << number), release);  // R1
}

void Node::notify(std::size_t from, std::size_t to, std::size_t instance) const noexcept {
    rung_sources(to, instance, from / 64).fetch_or(std::uint64_t{1} << (from % 64), seq_cst);
    Door& there = door(to);
    there.rung.fetch_or(std::uint64_t{1} << instance, seq_cst);
    there.bell.ring();
}

void Node::notify_withdrawn(std::size_t to) const noexcept {
    Door& there = door(to);
    there.withdrawn.store(1, seq_cst);
    there.bell.ring();
}

}  // namespace heddle::transport::shm
