// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/laboratory/laboratory.hpp"

#include <algorithm>

#include "objects/process.hpp"

namespace heddle::p2p {

Laboratory::Laboratory(const tool::Settings& settings, std::size_t instances, std::size_t processes)
    : sections(settings.critical_section == tool::Granularity::lock_free
                   ? nullptr
                   : std::make_unique<sync::locks::Sections>(
                         settings.critical_section,
                         tool::Choice<tool::LockProtocol>::print(settings.lock),
                         std::chrono::nanoseconds(settings.test_limit))),
      locked_counts(settings.reference_counts == tool::ReferenceCounts::locked),
      sequenced(tool::needs_sequence(settings.assignment)),
      serial(settings.progress == tool::ProgressStrategy::serial),
      common_pool_(settings.request_pools == tool::RequestPools::common),
      assignment_(settings.assignment),
      instances_(instances),
      processes_(processes),
      counters_(std::make_unique<tool::counters::Ordering[]>(instances)),
      holding_(std::make_unique<tool::counters::Holding[]>(instances)) {
    if (!sequenced) return;
    outgoing_ = std::make_unique<std::atomic<std::uint64_t>[]>(instances * processes);
    incoming_ = std::make_unique<Sequence[]>(instances * processes);
}

sync::locks::Visitor* Laboratory::visitor_for(core::Thread& thread) {
    if (sections == nullptr) return nullptr;
    std::lock_guard guard(visitors_lock_);
    auto& visitor = visitors_[&thread];
    if (visitor == nullptr) visitor = std::make_unique<sync::locks::Visitor>(*sections);
    if (common_pool_) thread.requests.share(*visitor);
    return visitor.get();
}

tool::Values Laboratory::counted() {
    tool::Values values;
    for (std::size_t i = 0; i < instances_; ++i) {
        values += counters_[i];
        values += holding_[i];
    }
    std::lock_guard guard(visitors_lock_);
    std::uint64_t& longest = values[tool::CounterIndex::longest_lock_wait];
    for (const auto& [thread, visitor] : visitors_) {
        values += visitor->counters;
        longest = std::max(longest, visitor->counters.lock_wait.value());
    }
    return values;
}

std::uint64_t Laboratory::counted_for(const core::Thread& thread, tool::CounterIndex which) {
    std::lock_guard guard(visitors_lock_);
    const auto at = visitors_.find(&thread);
    if (at == visitors_.end()) return 0;  // it is only just coming, or there are no sections
    const tool::counters::Laboratory& counters = at->second->counters;
    switch (which) {
        case tool::CounterIndex::thread_lock_acquisitions:
            return counters.lock_acquisitions_main.value() +
                counters.lock_acquisitions_progress.value();
        case tool::CounterIndex::thread_lock_contended: return counters.lock_contended.value();
        default: return counters.lock_wait.value();
    }
}

std::size_t Laboratory::own(const core::Thread& thread) const noexcept {
    return thread.process->threads.number_of(&thread) % instances_;
}

std::size_t Laboratory::choose(const core::Thread& thread) noexcept {
    if (assignment_ == tool::Assignment::dedicated) return own(thread);
    return turn_.fetch_add(1, relaxed) %
        instances_;  // relaxed: nothing follows from another thread's turn
}

}  // namespace heddle::p2p
