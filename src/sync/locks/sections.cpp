// SPDX-License-Identifier: BSD-3-Clause
#include "sync/locks/sections.hpp"

namespace heddle::sync::locks {

Sections::Sections(tool::Granularity how_fine, std::string_view lock,
                   std::chrono::nanoseconds limit_of_tests)
    : granularity(how_fine), test_limit(limit_of_tests) {
    if (granularity != tool::Granularity::per_object) {
        one_ = make_path_lock(lock);
        return;
    }
    for (auto& one : of_objects_) one = make_path_lock(lock);
}

PathLock* Sections::lock_of(Section section, std::size_t object) noexcept {
    switch (granularity) {
        case tool::Granularity::global: return section == Section::call ? one_.get() : nullptr;
        case tool::Granularity::brief_global:
            return section == Section::call ? nullptr : one_.get();
        default: break;
    }
    if (section < Section::inbox) return nullptr;
    const auto kind = static_cast<std::size_t>(section) - static_cast<std::size_t>(Section::inbox);
    return of_objects_[kind * stripes + object % stripes].get();
}

PathLock* Visitor::enter(Section section, std::size_t object, PathLock::Node& node, Limit limit,
                         bool& gave_up) noexcept {
    PathLock* lock = sections.lock_of(section, object);
    if (lock == nullptr) {
        gave_up = section == Section::progress && call_gave_up_;
        return nullptr;
    }
    const bool recursive = sections.is_recursive(*lock);
    if (!recursive || depth_ == 0) {
        LockStatistics statistics;
        if (limit == Limit::of_tests && sections.test_limit.count() > 0)
            gave_up = !lock->lock_for(path, node, sections.test_limit, statistics);
        else
            lock->lock(path, node, statistics);
        count(statistics);
        if (section == Section::call) call_gave_up_ = gave_up;
        if (gave_up) return nullptr;
        if (recursive) held_ = &node;
    }
    if (recursive) ++depth_;
    return lock;
}

void Visitor::leave(PathLock& lock, PathLock::Node& node) noexcept {
    if (sections.is_recursive(lock) && --depth_ != 0) return;
    lock.unlock(node);
}

void Visitor::give_way() noexcept {
    PathLock* lock = sections.lock_of(Section::call, 0);
    if (lock == nullptr || depth_ == 0) return;
    lock->unlock(*held_);
    LockStatistics statistics;
    lock->lock(path, *held_, statistics);
    count(statistics);
}

void Visitor::count(const LockStatistics& what) noexcept {
    (path == Path::main ? counters.lock_acquisitions_main : counters.lock_acquisitions_progress)
        .add(what.acquisitions);
    counters.lock_contended.add(what.contended);
    if (what.ticks_waited != 0)
        counters.lock_wait.add(static_cast<std::uint64_t>(what.waited().count()));
}

}  // namespace heddle::sync::locks
