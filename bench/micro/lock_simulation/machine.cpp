// SPDX-License-Identifier: BSD-3-Clause
#include "machine.hpp"

#include <algorithm>
#include <stdexcept>
#include <ucontext.h>

namespace heddle::bench {
namespace {
constexpr std::size_t stack_bytes = 64 * 1024;
}

struct Machine::Fiber {
    explicit Fiber(unsigned processor_ = 0) : processor(processor_) {}

    unsigned processor;
    std::function<void()> body;
    std::unique_ptr<std::byte[]> stack;
    ucontext_t context{};
    std::uint64_t waits = 0;
    std::vector<std::pair<Line*, std::uint64_t>>
        looked_at;  ///< lines read since the last wait, and their versions then
};

platform::Hierarchy Topology::hierarchy() const {
    std::vector<unsigned> by_core, by_socket;
    for (unsigned p = 0; p < processors(); ++p) {
        by_core.push_back(core(p));
        by_socket.push_back(socket(p));
    }
    platform::Hierarchy hierarchy;
    if (threads > 1 && sockets * cores > 1) hierarchy.levels.push_back(by_core);
    if (sockets > 1 && cores > 1) hierarchy.levels.push_back(by_socket);
    return hierarchy;
}

Machine::Machine(const Topology& topology, const Costs& costs)
    : topology_(topology),
      costs_(costs),
      hierarchy_(topology.hierarchy()),
      home_(std::make_unique<Fiber>()) {
    if (topology.processors() > most_processors) throw std::runtime_error("too many processors");
    current_ = this;
}
Machine::~Machine() { current_ = nullptr; }

void Machine::thread(std::function<void()> body) {
    const auto processor = static_cast<unsigned>(fibers_.size());
    if (processor >= topology_.processors())
        throw std::runtime_error("more threads than processors");
    Fiber& fiber = *fibers_.emplace_back(std::make_unique<Fiber>(processor));
    fiber.body = std::move(body);
    fiber.stack = std::make_unique<std::byte[]>(stack_bytes);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = stack_bytes;
    const auto self = reinterpret_cast<std::uintptr_t>(&fiber);
    makecontext(&fiber.context, reinterpret_cast<void (*)()>(&Machine::begin), 2,
                static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
    wake(fiber, 0);
}

void Machine::begin(unsigned high, unsigned low) {
    auto& self = *reinterpret_cast<Fiber*>(std::uintptr_t{high} << 32 | low);
    self.body();
    ++here().over_;
    here().leave();
}

void Machine::run(Time until) {
    until_ = until;
    running_ = home_.get();
    leave();
    if (events_.empty() && over_ < fibers_.size()) throw std::runtime_error("all threads wait");
}

unsigned Machine::processor() const { return running_->processor; }

void Machine::wake(Fiber& fiber, Time at) { events_.push({at, numbers_++, &fiber}); }

void Machine::leave() {
    Fiber* const me = running_;
    Fiber* next = home_.get();
    if (!events_.empty() && events_.top().at <= until_) {
        next = events_.top().fiber;
        now_ = events_.top().at;
        events_.pop();
    }
    if (next == me) return;
    running_ = next;
    swapcontext(&me->context, &next->context);
}

void Machine::go_on_at(Time time) {
    // No fiber is before this one: no need to change fibers.
    if (time <= until_ && (events_.empty() || events_.top().at > time)) {
        now_ = time;
        return;
    }
    wake(*running_, time);
    leave();
}

Time Machine::distance(unsigned from, unsigned to) const {
    if (topology_.core(from) == topology_.core(to)) return costs_.sibling;
    return topology_.socket(from) == topology_.socket(to) ? costs_.near : costs_.far;
}

Time Machine::fetch(Line& line, bool to_write, Time at) {
    const unsigned me = running_->processor;
    if (line.holders[me] && (!to_write || line.alone)) return at + costs_.hit;
    Time nearest = costs_.far,
         farthest = costs_.hit;  // the cost if no processor has the line
    for (std::size_t p = line.holders._Find_first(); p < most_processors;
         p = line.holders._Find_next(p)) {
        if (p == me) continue;
        nearest = std::min(nearest, distance(me, static_cast<unsigned>(p)));
        farthest = std::max(farthest, distance(me, static_cast<unsigned>(p)));
    }
    const Time cost = line.holders.none() ? costs_.near : to_write ? farthest : nearest;
    if (to_write) line.holders.reset();
    line.holders.set(me);
    line.alone = to_write;
    line.busy_until = std::max(at, line.busy_until) + cost;
    return line.busy_until;
}

void Machine::read(const void* word) {
    go_on_at(fetch(line_of(word), false, now_));
    look_at(word);
}

void Machine::look_at(const void* word) {
    Line& line = line_of(word);
    auto& seen = running_->looked_at;
    const auto known =
        std::find_if(seen.begin(), seen.end(), [&](auto& one) { return one.first == &line; });
    if (known == seen.end())
        seen.emplace_back(&line, line.version);
    else
        known->second = line.version;
    if (seen.size() > 8) seen.erase(seen.begin());  // a loop that waits reads few lines
}

void Machine::before_write(const void* word, bool locked) {
    go_on_at(fetch(line_of(word), true, now_) + (locked ? costs_.locked : 0));
}

void Machine::wrote(const void* word) {
    Line& line = line_of(word);
    ++line.version;
    for (const Watcher& watcher : line.watchers)
        if (watcher.fiber->waits == watcher.wait) {
            ++watcher.fiber->waits;
            wake(*watcher.fiber, now_ + costs_.pause / 2);
        }
    line.watchers.clear();
}

void Machine::touch(std::span<const void* const> words) {
    std::vector<Time> slots(std::max(1U, costs_.overlap), now_);
    for (const void* word : words) {
        const auto first = std::min_element(slots.begin(), slots.end());
        *first = fetch(line_of(word), true, *first);
    }
    go_on_at(*std::max_element(slots.begin(), slots.end()));
}

void Machine::wait_for_change() {
    Fiber& me = *running_;
    const bool changed = std::any_of(me.looked_at.begin(), me.looked_at.end(),
                                     [](auto& one) { return one.first->version != one.second; });
    if (changed || me.looked_at.empty()) {
        me.looked_at.clear();
        return pause();
    }
    for (auto& [line, version] : me.looked_at) line->watchers.push_back({&me, me.waits});
    me.looked_at.clear();
    leave();
}

void Machine::sleep(const std::uint32_t& word, std::uint32_t expected) {
    work(costs_.system_call);
    if (word != expected) return;
    sleepers_[&word].push_back(running_);
    leave();
}

void Machine::wake_one(const std::uint32_t& word) {
    work(costs_.system_call);
    auto& asleep = sleepers_[&word];
    if (asleep.empty()) return;
    wake(*asleep.front(), now_ + costs_.wake_up);
    asleep.erase(asleep.begin());
}

}  // namespace heddle::bench
