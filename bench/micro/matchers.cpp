// SPDX-License-Identifier: BSD-3-Clause
/// Measures matching, for each engine that ships. Items per second are messages matched. The time
/// is that of `depth` messages, with all that is done for them.
///
///   KEYS/KIND/ORDER/ENGINE/DEPTH
///
/// tags        each message has a tag of its own; `sources`: a source of its own; `any_source`: a
///             tag of its own, and is received with MPI_ANY_SOURCE; `four`: one of four tags, in
///             turn; `one`: the same tag as all others.
/// posted      `depth` receives are posted, then the messages come.
/// unexpected  `depth` messages come, then they are received.
/// in_order    first posted or come, first matched; `reverse`: the last one first, so that a list
///             searches all of it; `random`: in an order of no meaning.
///
/// Linear engines run with 262,144 only if they find their entries in front.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "match/all.hpp"

namespace {

using namespace heddle;
using match::Envelope;

enum class Keys { tags, sources, any_source, four, one };
enum class Order { in_order, reverse, random };

constexpr Keys all_keys[] = {Keys::tags, Keys::sources, Keys::any_source, Keys::four, Keys::one};
constexpr std::string_view key_names[] = {"tags", "sources", "any_source", "four", "one"};
constexpr Order orders[] = {Order::in_order, Order::reverse, Order::random};
constexpr std::string_view order_names[] = {"in_order", "reverse", "random"};
constexpr std::int64_t depths[] = {1, 64, 1'024, 16'384, 262'144};

Envelope message(Keys keys, std::int32_t i) {
    switch (keys) {
        case Keys::sources: return {2, i, 7};
        case Keys::four: return {2, 1, i % 4};
        case Keys::one: return {2, 1, 7};
        default: return {2, 1, i};
    }
}
Envelope receive(Keys keys, std::int32_t i) {
    Envelope pattern = message(keys, i);
    if (keys == Keys::any_source) pattern.source = match::any_source;
    return pattern;
}

std::vector<Envelope> sequence(Keys keys, Order order, std::int64_t depth,
                               Envelope (*what)(Keys, std::int32_t)) {
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(depth));
    std::iota(numbers.begin(), numbers.end(), 0);
    if (order == Order::reverse) std::reverse(numbers.begin(), numbers.end());
    if (order == Order::random) std::shuffle(numbers.begin(), numbers.end(), std::mt19937(1));
    std::vector<Envelope> all;
    for (const std::int32_t i : numbers) all.push_back(what(keys, i));
    return all;
}

template <class Matcher>
core::Request* post(Matcher& matcher, core::Request& request, const Envelope& pattern) {
    request.context = pattern.context;
    request.source = pattern.source;
    request.tag = pattern.tag;
    match::Message* message = matcher.post(request, pattern);
    benchmark::DoNotOptimize(message);
    return &request;
}

template <class Matcher>
void posted(benchmark::State& state, Keys keys, Order order) {
    const auto patterns = sequence(keys, Order::in_order, state.range(0), receive);
    const auto envelopes = sequence(keys, order, state.range(0), message);
    std::vector<core::Request> requests(patterns.size());
    Matcher matcher;
    for (auto _ : state) {
        for (std::size_t i = 0; i < patterns.size(); ++i) post(matcher, requests[i], patterns[i]);
        for (const Envelope& envelope : envelopes) {
            core::Request* found = matcher.arrive(envelope);
            if (found == nullptr) state.SkipWithError("no receive found");
        }
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <class Matcher>
void unexpected(benchmark::State& state, Keys keys, Order order) {
    const auto envelopes = sequence(keys, Order::in_order, state.range(0), message);
    const auto patterns = sequence(keys, order, state.range(0), receive);
    const auto messages = std::make_unique<match::Message[]>(envelopes.size());
    core::Request request;
    Matcher matcher;
    for (auto _ : state) {
        for (std::size_t i = 0; i < envelopes.size(); ++i) {
            if (matcher.arrive(envelopes[i]) != nullptr) state.SkipWithError("a receive found");
            messages[i].envelope = envelopes[i];
            matcher.keep(messages[i]);
        }
        for (const Envelope& pattern : patterns) post(matcher, request, pattern);
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

template <class Matcher>
void add() {
    for (const Keys keys : all_keys)
        for (const bool come_first : {false, true})
            for (const Order order : orders) {
                // There is one key: the first to come is matched first.
                if (keys == Keys::one && order != Order::in_order) continue;
                const std::string name = std::string(key_names[static_cast<int>(keys)]) +
                    (come_first ? "/unexpected/" : "/posted/") +
                    std::string(order_names[static_cast<int>(order)]) + "/" +
                    std::string(Matcher::name);
                auto* added =
                    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
                        come_first ? unexpected<Matcher>(state, keys, order)
                                   : posted<Matcher>(state, keys, order);
                    });
                for (const std::int64_t depth : depths)
                    if (Matcher::name == "hash" || order == Order::in_order || depth < depths[4])
                        added->Arg(depth);
            }
}

template <class... Matchers>
void add_all(std::tuple<Matchers...>*) {
    (add<Matchers>(), ...);
}

}  // namespace

int main(int argc, char** argv) {
    add_all(static_cast<match::Matchers*>(nullptr));
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
}
