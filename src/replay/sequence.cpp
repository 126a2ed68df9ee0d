// SPDX-License-Identifier: BSD-3-Clause
#include "replay/sequence.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <tuple>

#include "match/all.hpp"
#include "replay/state.hpp"

namespace heddle::replay {

/// Objects of one kind, each in a slot. A slot is reused when its object is no longer needed.
template <class Object>
class Slots {
public:
    Slot take() {
        if (free_.empty()) {
            objects_.emplace_back();
            free_.push_back(static_cast<Slot>(objects_.size() - 1));
        }
        const Slot slot = free_.back();
        free_.pop_back();
        most_ = std::max(most_, in_use());
        return slot;
    }
    void give(Slot slot) { free_.push_back(slot); }
    Object& operator[](Slot slot) { return objects_[slot]; }
    std::size_t in_use() const { return objects_.size() - free_.size(); }
    std::size_t most() const { return most_; }
    std::size_t size() const { return objects_.size(); }

private:
    std::deque<Object> objects_;
    std::vector<Slot> free_;
    std::size_t most_ = 0;
};

/// Plays a recording once, to find the partner of each event. That does not depend on the engine.
class Preparation {
public:
    explicit Preparation(const Recorded& recorded) : recorded_(recorded) {}

    void fill(Sequence& sequence) {
        sequence.operations_.reserve(recorded_.events.size());
        for (const Event& event : recorded_.events) {
            const std::optional<Operation> operation = play(event);
            if (operation)
                sequence.operations_.push_back(*operation);
            else
                ++summary_.left_out;
        }
        sequence.summary_ = summary_;
        sequence.receives_ = receives_.size();
        sequence.messages_ = messages_.size();
    }

private:
    /// Returns nothing if the event is left out.
    std::optional<Operation> play(const Event& event) {
        ++number_;
        if (event.envelope.tag == match::any_tag) any_tag_ = true;
        switch (event.step) {
            case Step::post: return post(event.envelope);
            case Step::arrive: return arrive(event.envelope);
            case Step::cancel: return cancel(event.envelope);
            default: return take(event.envelope);
        }
    }

    Operation post(const match::Pattern& pattern) {
        ++summary_.posts;
        if (pattern.source == match::any_source) ++summary_.any_source;
        if (pattern.tag == match::any_tag) ++summary_.any_tag;
        const Slot own = receives_.take();
        core::Request& receive = receives_[own];
        receive.context = pattern.context;
        receive.source = pattern.source;
        receive.tag = pattern.tag;
        receive.remaining = own;  // matching does not touch it
        const match::Message* message = state_.post(receive);
        if (message == nullptr) {
            posted_[key(pattern)].push_back(own);
            summary_.most_posted = std::max(summary_.most_posted, receives_.in_use());
            return {pattern, Step::post, own, nothing};
        }
        receives_.give(own);
        return {pattern, Step::post, own, give(*message)};
    }

    Operation arrive(const match::Envelope& envelope) {
        ++summary_.arrivals;
        const Slot own = messages_.take();
        if (const core::Request* receive = state_.arrive(envelope)) {
            messages_.give(own);
            // Among receives with one pattern, the one posted first was taken.
            return {envelope, Step::arrive, own,
                    unpost({receive->context, receive->source, receive->tag})};
        }
        ++summary_.unexpected;
        match::Message& message = messages_[own];
        message.envelope = envelope;
        message.length = own;
        state_.keep(message);
        summary_.most_unexpected = std::max(summary_.most_unexpected, messages_.in_use());
        return {envelope, Step::arrive, own, nothing};
    }

    std::optional<Operation> cancel(const match::Pattern& pattern) {
        const Slot own = unpost(pattern);
        if (own == nothing) return contradiction("cancels a receive that is not posted");
        ++summary_.cancelled;
        state_.cancel(receives_[own]);
        return Operation{pattern, Step::cancel, own, nothing};
    }

    std::optional<Operation> take(const match::Pattern& pattern) {
        const match::Message* message = state_.take(pattern);
        if (message == nullptr) return contradiction("takes a message that has not come");
        ++summary_.taken;
        return Operation{pattern, Step::take, nothing, give(*message)};
    }

    Slot give(const match::Message& message) {
        const auto slot = static_cast<Slot>(message.length);
        messages_.give(slot);
        return slot;
    }
    Slot unpost(const match::Pattern& pattern) {
        const auto found = posted_.find(key(pattern));
        if (found == posted_.end()) return nothing;
        const Slot slot = found->second.front();
        found->second.pop_front();
        if (found->second.empty()) posted_.erase(found);
        receives_.give(slot);
        return slot;
    }
    std::optional<Operation> contradiction(const char* what) const {
        if (any_tag_) return std::nullopt;
        throw std::runtime_error(recorded_.path + " contradicts itself: its event " +
                                 std::to_string(number_) + " " + what);
    }

    using Key = std::tuple<std::uint32_t, std::int32_t, std::int32_t>;
    static Key key(const match::Pattern& pattern) {
        return {pattern.context, pattern.source, pattern.tag};
    }

    const Recorded& recorded_;
    std::uint64_t number_ = 0;
    bool any_tag_ = false;  ///< an event so far had it
    State<match::DefaultMatcher> state_;
    Slots<core::Request> receives_;
    Slots<match::Message> messages_;
    std::map<Key, std::deque<Slot>> posted_;
    Summary summary_;
};

Sequence::Sequence(const Recorded& recorded) { Preparation(recorded).fill(*this); }

}  // namespace heddle::replay
