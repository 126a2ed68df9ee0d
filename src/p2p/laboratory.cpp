// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/laboratory.hpp"

#include "objects/process.hpp"

namespace heddle::p2p {

Laboratory::Laboratory(const tool::Settings& settings, std::size_t instances, std::size_t processes)
    : sequenced(tool::needs_sequence(settings.assignment)),
      serial(settings.progress == tool::ProgressStrategy::serial),
      assignment_(settings.assignment),
      instances_(instances),
      processes_(processes),
      counters_(std::make_unique<tool::counters::Ordering[]>(instances)) {
    if (!sequenced) return;
    outgoing_ = std::make_unique<std::atomic<std::uint64_t>[]>(instances * processes);
    incoming_ = std::make_unique<Sequence[]>(instances * processes);
}

std::size_t Laboratory::own(const core::Thread& thread) const noexcept {
    return thread.process->threads.number_of(&thread) % instances_;
}

std::size_t Laboratory::choose(const core::Thread& thread) noexcept {
    if (assignment_ == tool::Assignment::dedicated) return own(thread);
    return turn_.fetch_add(1, relaxed) % instances_;  // relaxed: nothing follows from another's turn
}

}  // namespace heddle::p2p
