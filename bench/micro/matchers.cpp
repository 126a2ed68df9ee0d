// SPDX-License-Identifier: BSD-3-Clause
/// Matching, for each engine that ships: items per second are messages matched.
///
/// posted       `depth` receives are posted, each with a tag of its own, and messages come in the same
///              order, or in the reverse one, which makes a list search all of it.
/// unexpected   `depth` messages have come, and are received in either order.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "match/all.hpp"

namespace {

using namespace heddle;

enum class From { front, back };

template <class Matcher>
void posted(benchmark::State& state, From from, std::int32_t source) {
    const auto depth = static_cast<std::int32_t>(state.range(0));
    std::vector<core::Request> receives(static_cast<std::size_t>(depth));
    Matcher matcher;
    for (auto _ : state) {
        for (std::int32_t tag = 0; tag < depth; ++tag) {
            core::Request& receive = receives[static_cast<std::size_t>(tag)];
            receive.context = 2;
            receive.source = source;
            receive.tag = tag;
            benchmark::DoNotOptimize(matcher.post(receive, {receive.context, receive.source, receive.tag}));
        }
        for (std::int32_t i = 0; i < depth; ++i) {
            core::Request* receive = matcher.posted_for({2, 1, from == From::front ? i : depth - 1 - i});
            matcher.take_posted(*receive);
        }
    }
    state.SetItemsProcessed(state.iterations() * depth);
}

template <class Matcher>
void unexpected(benchmark::State& state, From from, std::int32_t source) {
    const auto depth = static_cast<std::int32_t>(state.range(0));
    const auto messages = std::make_unique<match::Message[]>(static_cast<std::size_t>(depth));
    core::Request receive;
    receive.context = 2;
    Matcher matcher;
    for (auto _ : state) {
        for (std::int32_t tag = 0; tag < depth; ++tag) {
            messages[static_cast<std::size_t>(tag)].envelope = {2, 1, tag};
            benchmark::DoNotOptimize(matcher.posted_for({2, 1, tag}));
            matcher.keep(messages[static_cast<std::size_t>(tag)]);
        }
        for (std::int32_t i = 0; i < depth; ++i) {
            receive.source = source;
            receive.tag = from == From::front ? i : depth - 1 - i;
            benchmark::DoNotOptimize(matcher.post(receive, {receive.context, receive.source, receive.tag}));
        }
    }
    state.SetItemsProcessed(state.iterations() * depth);
}

template <class Matcher>
void add() {
    const std::string name(Matcher::name);
    const auto add_one = [&](const std::string& what, auto run) {
        benchmark::RegisterBenchmark((what + "/" + name).c_str(), run)->RangeMultiplier(4)->Range(1, 16384);
    };
    add_one("posted_in_order", [](auto& s) { posted<Matcher>(s, From::front, 1); });
    add_one("posted_in_reverse", [](auto& s) { posted<Matcher>(s, From::back, 1); });
    add_one("posted_any_source", [](auto& s) { posted<Matcher>(s, From::front, match::any_source); });
    add_one("unexpected_in_order", [](auto& s) { unexpected<Matcher>(s, From::front, 1); });
    add_one("unexpected_in_reverse", [](auto& s) { unexpected<Matcher>(s, From::back, 1); });
    add_one("unexpected_any_source", [](auto& s) { unexpected<Matcher>(s, From::front, match::any_source); });
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
