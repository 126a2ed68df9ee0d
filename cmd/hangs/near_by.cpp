// SPDX-License-Identifier: BSD-3-Clause
#include "near_by.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace heddle::hangs {
namespace {

using node::AwaitedEvent;
using node::AwaitedKind;
using node::UnexpectedMessage;

bool has_tag(const UnexpectedMessage& message, const AwaitedEvent& event) {
    return event.tag == node::any_tag_awaited || message.tag == event.tag;
}
/// Compares sources in the event's communicator.
bool has_source(const UnexpectedMessage& message, const AwaitedEvent& event) {
    return event.any_peer || message.source == event.peer;
}
/// Compares sources across communicators.
bool has_sender(const UnexpectedMessage& message, const AwaitedEvent& event) {
    return event.any_peer ||
        (message.world_source >= 0 && message.world_source == event.world_peer);
}

/// Returns a text such as "tag 14" or "tags 14, 15 and 2 more".
std::string tag_list(const std::vector<int>& tags) {
    constexpr std::size_t most = 3;
    if (tags.size() == 1) return fmt::format("tag {}", tags.front());
    const auto told = static_cast<std::ptrdiff_t>(std::min(tags.size(), most));
    const std::string list = fmt::format("{}", fmt::join(tags.begin(), tags.begin() + told, ", "));
    return tags.size() > most ? fmt::format("tags {} and {} more", list, tags.size() - most)
                              : "tags " + list;
}

class NearBy {
public:
    NearBy(const Rank& rank, const AwaitedEvent& event) : event_(event) {
        for (const UnexpectedMessage& message : rank.unexpected.listed)
            if (message.messages != 0) messages_.push_back(&message);
        std::sort(messages_.begin(), messages_.end(), [](const auto* a, const auto* b) {
            return std::tie(a->context, a->source, a->tag) <
                std::tie(b->context, b->source, b->tag);
        });
    }

    std::vector<Words> words() const {
        if (std::vector<Words> found = of_other_tags(); !found.empty()) return found;
        if (std::vector<Words> found = on_other_communicators(); !found.empty()) return found;
        return of_other_sources();
    }

private:
    std::vector<Words> of_other_tags() const {
        std::map<int, std::vector<int>> tags;  // their tags by source
        for (const UnexpectedMessage* message : messages_)
            if (message->context == event_.context && has_source(*message, event_) &&
                !has_tag(*message, event_))
                tags[message->source].push_back(message->tag);
        std::vector<Words> found;
        for (const auto& [source, of_it] : tags)
            found.push_back(
                {fmt::format("from rank {} {} {}; tag {} is awaited", Words::place,
                             of_it.size() == 1 ? "lies" : "lie", tag_list(of_it), event_.tag),
                 {source}});
        return found;
    }
    std::vector<Words> on_other_communicators() const {
        std::vector<Words> found;
        for (const UnexpectedMessage* message : messages_) {
            if (message->context == event_.context || !has_sender(*message, event_) ||
                !has_tag(*message, event_))
                continue;
            found.push_back({fmt::format("from rank {} lies tag {} on {}; it is awaited on {}",
                                         Words::place, message->tag,
                                         communicator_name(message->context, message->communicator),
                                         communicator_name(event_)),
                             {message->source}});
        }
        return found;
    }
    std::vector<Words> of_other_sources() const {
        std::vector<Words> found;
        for (const UnexpectedMessage* message : messages_)
            if (message->context == event_.context && has_tag(*message, event_) &&
                !has_source(*message, event_))
                found.push_back({fmt::format("from rank {} lies tag {}; it is awaited from rank {}",
                                             Words::place, message->tag, Words::place),
                                 {message->source, event_.peer}});
        return found;
    }

    const AwaitedEvent& event_;
    std::vector<const UnexpectedMessage*> messages_;
};

}  // namespace

std::vector<Words> near_by(const Rank& rank, const node::WaitsFor& what) {
    std::vector<Words> all;
    for (std::uint32_t i = 0; i < what.number_listed(); ++i) {
        const AwaitedEvent& event = what.listed[i];
        if (event.kind != AwaitedKind::receive && event.kind != AwaitedKind::probe) continue;
        for (Words& words : NearBy(rank, event).words()) all.push_back(std::move(words));
    }
    return all;
}

}  // namespace heddle::hangs
