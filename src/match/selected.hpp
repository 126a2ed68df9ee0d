// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The matching engine of an instance: the default one, or another that was selected at start.
///
/// Code that is inlined into the fast paths of a message calls `standard` directly. Those paths are
/// closed if another engine was selected (p2p/engine.hpp). All other code calls this class, past
/// one branch.

#include <memory>
#include <string_view>
#include <tuple>
#include <variant>

#include "match/all.hpp"

namespace heddle::match {

class Selected {
public:
    DefaultMatcher standard;

    /// Selects the engine called `name`, one that ships. Called before anything is queued.
    void select(std::string_view name);

    Message* post(core::Request& receive, const Pattern& pattern) noexcept {
        return ask([&](auto& engine) { return engine.post(receive, pattern); });
    }
    core::Request* posted_for(const Envelope& envelope) noexcept {
        return ask([&](auto& engine) { return engine.posted_for(envelope); });
    }
    void take_posted(core::Request& receive) noexcept {
        ask([&](auto& engine) { engine.take_posted(receive); });
    }
    void keep(Message& message) noexcept {
        ask([&](auto& engine) { engine.keep(message); });
    }
    Message* find(const Pattern& pattern) noexcept {
        return ask([&](auto& engine) { return engine.find(pattern); });
    }
    void take(Message& message) noexcept {
        ask([&](auto& engine) { engine.take(message); });
    }
    bool cancel(core::Request& receive) noexcept {
        return ask([&](auto& engine) { return engine.cancel(receive); });
    }
    std::uint64_t raise_order(std::uint64_t least) noexcept {
        return ask([&](auto& engine) { return engine.raise_order(least); });
    }
    template <class Visit>
    void each_posted(Visit&& visit) {
        ask([&](auto& engine) { engine.each_posted(visit); });
    }
    template <class Visit>
    void each_kept(Visit&& visit) {
        ask([&](auto& engine) { engine.each_kept(visit); });
    }
    tool::counters::Matching& counters() noexcept {
        return ask([](auto& engine) -> tool::counters::Matching& { return engine.counters; });
    }
    SearchCounts& searches() noexcept {
        return ask([](auto& engine) -> SearchCounts& { return engine.searches; });
    }

private:
    template <class... Engine>
    static std::variant<std::monostate, Engine...> any_of(std::tuple<DefaultMatcher, Engine...>*);
    using Others = decltype(any_of(static_cast<Matchers*>(nullptr)));

    template <class Question>
    auto ask(Question&& question) -> decltype(question(standard)) {
        using Answer = decltype(question(standard));
        if (other_ == nullptr) [[likely]]
            return question(standard);
        return std::visit(
            [&](auto& engine) -> Answer {
                if constexpr (std::is_same_v<decltype(engine), std::monostate&>)
                    __builtin_unreachable();
                else
                    return question(engine);
            },
            *other_);
    }

    std::unique_ptr<Others> other_;
};

}  // namespace heddle::match
