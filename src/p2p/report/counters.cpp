// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/report/counters.hpp"

#include <algorithm>

#include "objects/file.hpp"
#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "p2p/far/network.hpp"

namespace heddle::p2p {

tool::Values Engine::counted_by(std::size_t instance) {
    tool::Values values;
    base_.pool[instance].add_counted_to(values, base_.rings.processes());
    match::add_shallow_searches(values);
    if (base_.laboratory != nullptr) values += base_.laboratory->holding(instance);
    return values;
}

tool::Values Engine::counted() {
    tool::Values values;
    // All instances: unused ones have zeroes.
    for (std::size_t i = 0; i < base_.pool.size(); ++i)
        base_.pool[i].add_counted_to(values, base_.rings.processes());
    any_tag_.add_to(values);
    match::add_shallow_searches(values);
    if (far_.network() != nullptr) far_.network()->add_to(values);
    if (base_.laboratory != nullptr) values.add(base_.laboratory->counted());
    return values;
}

std::vector<Contention> Engine::contended() {
    std::vector<Contention> all;
    const auto add = [&](std::uint8_t instance, const instance::Contended& what) {
        if (what.times == 0) return;
        const auto at = std::find_if(all.begin(), all.end(), [&](const Contention& one) {
            return one.instance == instance && one.what.context == what.context &&
                one.what.tag == what.tag;
        });
        if (at == all.end())
            all.push_back({instance, what});
        else
            at->what.times += what.times;
    };
    for (std::size_t i = 0; i < base_.pool.size(); ++i)
        base_.pool[i].each_contended(
            [&](const instance::Contended& what) { add(static_cast<std::uint8_t>(i), what); });
    return all;
}

std::uint64_t Engine::counted_for(const core::Thread& thread, tool::CounterIndex which) {
    return base_.laboratory != nullptr ? base_.laboratory->counted_for(thread, which) : 0;
}

void Engine::add_counted_in(tool::Values& values, std::uint32_t context) {
    using Index = tool::CounterIndex;
    const auto add_receive = [&](const core::Request& receive) {
        if (receive.context == context) ++values[Index::comm_posted_receives];
    };
    base_.pool.each(base_.pool.used(), [&](instance::Instance& instance) {
        const instance::InstanceLock held(instance);
        held->matcher.each_posted(add_receive);
        held->matcher.each_kept([&](const match::Message& message) {
            if (message.envelope.context != context) return;
            ++values[Index::comm_unexpected_messages];
            values[Index::comm_unexpected_bytes] += message.length;
        });
        held->matcher.searches().add_to(values, context);
    });
    any_tag_.each_posted(add_receive);
    any_tag_.add_to(values, context);
}

tool::Values read_counters(objects::Process& process) {
    tool::Values values = process.engine->counted();
    for (std::size_t i = 0; const core::Thread* thread = process.threads.at_place(i); ++i) {
        values += thread->progress;
        values += thread->copying;
        values += thread->windows;
    }
    values += process.files->counted;
    return values;
}

std::uint64_t read_counter(objects::Process& process, tool::CounterIndex which,
                           std::uint32_t context) {
    objects::attach(  // threads that lock instances belong to the process (sync/lone_thread.hpp)
        process);
    tool::Values values;
    for (const std::uint32_t one : {context, context + 1})
        process.engine->add_counted_in(values, one);
    match::add_shallow_searches(values);
    return values[tool::counter_table()[static_cast<std::size_t>(which)].whole];
}

std::size_t count_threads(const objects::Process& process) {
    std::size_t threads = 0;
    while (process.threads.at_place(threads) != nullptr) ++threads;
    return threads;
}

std::vector<std::uint64_t> read_array(objects::Process& process, tool::CounterIndex which) {
    Engine& engine = *process.engine;
    const tool::CounterInfo& info = tool::counter_table()[static_cast<std::size_t>(which)];
    std::vector<std::uint64_t> values;
    if (tool::is_of_instances(info.kind)) {
        for (std::size_t i = 0; i < engine.instances(); ++i)
            values.push_back(engine.counted_by(i)[info.whole]);
    } else {
        for (std::size_t i = 0; const core::Thread* thread = process.threads.at_place(i); ++i)
            values.push_back(engine.counted_for(*thread, which));
    }
    return values;
}

}  // namespace heddle::p2p
