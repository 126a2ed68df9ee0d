// SPDX-License-Identifier: BSD-3-Clause
/// Finds which receive got which message. Messages of a sender, a receiver, a communicator and a
/// tag are received in the order of the sends. The receives are matched in the order in which they
/// were posted. So the numbers of the messages, which both sides have counted, go to receives in
/// that order.

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "functions.hpp"
#include "layout.hpp"
#include "timeline.hpp"

namespace heddle::timeline {
namespace {

using trace::Waits;

struct Where {
    std::size_t rank, event;
};

Waits waits_in(const Event& event) {
    return event.code < trace::function_table.size() ? trace::function_table[event.code].waits
                                                     : Waits::other;
}

/// The possible difference between clocks of hosts.
constexpr Nanoseconds clock_error = 20'000;

/// Notes that process `whom` has come at `time`. The call has waited for it if it ended later, and
/// no other process came later.
void note(Event& call, int whom, Nanoseconds time) {
    if (whom == nobody || time <= call.begin || time > call.end + clock_error) return;
    if (call.waits_for != nobody && time <= call.waited_until) return;
    call.waits_for = whom;
    call.waited_until = std::min(time, call.end);
}

class Matcher {
public:
    explicit Matcher(Timeline& timeline) : timeline_(timeline) {
        parents_.resize(timeline.ranks.size());
    }

    void run() {
        for (std::size_t rank = 0; rank < timeline_.ranks.size(); ++rank) look_at(rank);
        for (auto& [key, stream] : streams_) join(stream);
        for (auto& [key, calls] : collectives_) meet(calls);
        for (const auto& [rank, event] : completions_) after_completion(rank, event);
        for (Rank& rank : timeline_.ranks)
            for (Event& event : rank.events) still_waits(rank, event);
    }

private:
    struct Stream {
        std::vector<Where> sends, receives;
    };
    using Key = std::tuple<std::uint64_t, int, int, int>;  ///< identity, sender, receiver, tag

    Event& at(Where where) { return timeline_.ranks[where.rank].events[where.event]; }
    /// Returns the call in which the event happened; itself if it is a call.
    Event& call_of(Where where) {
        return timeline_.ranks[where.rank].events[parents_[where.rank][where.event]];
    }

    void look_at(std::size_t index) {
        Rank& rank = timeline_.ranks[index];
        std::unordered_map<std::uint64_t, Nanoseconds> posted;
        std::unordered_map<std::uint32_t, std::size_t> last_call;
        auto& parents = parents_[index];
        for (std::size_t i = 0; i < rank.events.size(); ++i) {
            Event& event = rank.events[i];
            if (event.kind == Event::Kind::call) last_call[event.thread] = i;
            const auto call = last_call.find(event.thread);
            parents.push_back(call == last_call.end() ? i : call->second);
            if ((event.flags & (trace::flag_receives | trace::flag_sends)) != 0)
                posted.emplace(event.request, event.begin);
        }
        for (std::size_t i = 0; i < rank.events.size(); ++i) {
            Event& event = rank.events[i];
            const Where where{index, i};
            if ((event.flags & trace::flag_sends) != 0 && event.sequence != 0)
                streams_[{event.identity, rank.rank, event.peer, event.tag}].sends.push_back(where);
            if ((event.flags & trace::flag_complete) != 0 && event.sequence != 0) {
                const auto found = posted.find(event.request);
                event.posted = event.code == trace::kind_received && found != posted.end()
                    ? found->second
                    : event.begin;
                streams_[{event.identity, event.peer, rank.rank, event.tag}].receives.push_back(
                    where);
            }
            if ((event.flags & trace::flag_collective) != 0 && event.sequence != 0)
                collectives_[{event.identity, event.sequence}].push_back(where);
            if (event.code == trace::kind_sent || event.code == trace::kind_composed)
                completions_.push_back(where);
        }
    }

    void join(Stream& stream) {
        std::vector<std::uint32_t> numbers;
        for (const Where where : stream.receives) numbers.push_back(at(where).sequence);
        std::sort(numbers.begin(), numbers.end());
        std::stable_sort(stream.receives.begin(), stream.receives.end(),
                         [&](Where a, Where b) { return at(a).posted < at(b).posted; });
        std::unordered_map<std::uint32_t, Where> sent;
        for (const Where where : stream.sends) sent.emplace(at(where).sequence, where);
        for (std::size_t i = 0; i < stream.receives.size(); ++i) {
            const auto found = sent.find(numbers[i]);
            if (found != sent.end()) join(found->second, stream.receives[i]);
        }
    }

    void join(Where send, Where receive) {
        const std::uint64_t flow = ++flows_;
        Event& sent = at(send);
        Event& received = at(receive);
        Event& call = call_of(receive);
        call_of(send).flows_out.push_back(flow);
        received.bytes = sent.bytes;
        call.flows_in.push_back(flow);
        // Either the receiver came first, or the sender did, and may have to wait for the receive.
        note(call, timeline_.ranks[send.rank].rank, sent.begin);
        const int receiver = timeline_.ranks[receive.rank].rank;
        if (waits_in(sent) == Waits::send && !begins_request(sent))
            note(sent, receiver, received.posted);
        taken_[{send.rank, sent.request}] = {receiver, received.posted};
    }
    static bool begins_request(const Event& event) { return event.name.starts_with("MPI_I"); }

    /// Notes the waits of a collective. All ranks have come when the last one has.
    void meet(std::vector<Where>& calls) {
        const Where* last = nullptr;
        for (const Where& where : calls)
            if (last == nullptr || at(where).begin > at(*last).begin) last = &where;
        for (const Where& where : calls) {
            Event& call = at(where);
            const auto [whom, time] = awaited(calls, where, *last);
            ready_[{where.rank, call.request}] = {whom, time};
            if (!begins_request(call) && call.kind == Event::Kind::call) note(call, whom, time);
        }
    }
    std::pair<int, Nanoseconds> awaited(const std::vector<Where>& calls, Where me, Where last) {
        const Event& call = at(me);
        const int own = timeline_.ranks[me.rank].rank;
        const auto is = [&](Where where) { return timeline_.ranks[where.rank].rank; };
        switch (waits_in(call)) {
            case Waits::from_root:
                for (const Where where : calls)
                    if (is(where) == call.peer && is(where) != own)
                        return {is(where), at(where).begin};
                return {nobody, 0};
            case Waits::to_root:
                if (call.peer != own) return {nobody, 0};
                break;
            case Waits::scan: {
                std::pair<int, Nanoseconds> found{nobody, 0};
                for (const Where where : calls)
                    if (is(where) < own && at(where).begin > found.second)
                        found = {is(where), at(where).begin};
                return found;
            }
            default: break;
        }
        return is(last) == own ? std::pair<int, Nanoseconds>{nobody, 0}
                               : std::pair{is(last), at(last).begin};
    }

    /// Notes that a call has waited for a nonblocking collective, or for a send to be taken.
    void after_completion(std::size_t rank, std::size_t event) {
        const Where where{rank, event};
        const Event& complete = at(where);
        const auto& known = complete.code == trace::kind_sent ? taken_ : ready_;
        const auto found = known.find({rank, complete.request});
        if (found != known.end()) note(call_of(where), found->second.first, found->second.second);
    }

    /// Notes the wait of a call that has not returned.
    void still_waits(const Rank& rank, Event& call) {
        if (call.over || call.kind != Event::Kind::call || call.waits_for != nobody) return;
        int whom = call.peer;
        if ((call.flags & trace::flag_collective) != 0) whom = absent(rank, call);
        if (whom == nobody || whom == rank.rank) return;
        call.waits_for = whom;
        call.waited_until = call.end;
    }
    /// Returns a rank of the job that has not come to the collective, or -1 if all known ones have.
    int absent(const Rank& rank, const Event& call) {
        const auto& calls = collectives_[{call.identity, call.sequence}];
        for (const Rank& other : timeline_.ranks) {
            if (other.rank == rank.rank) continue;
            const bool came = std::any_of(calls.begin(), calls.end(), [&](Where where) {
                return timeline_.ranks[where.rank].rank == other.rank;
            });
            const bool belongs = call.object == "MPI_COMM_WORLD" ||
                std::any_of(other.events.begin(), other.events.end(),
                            [&](const Event& event) { return event.identity == call.identity; });
            if (!came && belongs) return other.rank;
        }
        return nobody;
    }

    Timeline& timeline_;
    std::vector<std::vector<std::size_t>> parents_;
    std::map<Key, Stream> streams_;
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::vector<Where>> collectives_;
    std::vector<Where> completions_;
    using ByRequest = std::map<std::pair<std::size_t, std::uint64_t>, std::pair<int, Nanoseconds>>;
    ByRequest taken_;  ///< the receiver of a message, and when the receive was posted
    ByRequest ready_;  ///< the rank for which a collective had to wait
    std::uint64_t flows_ = 0;
};

}  // namespace

void match(Timeline& timeline) { Matcher(timeline).run(); }

}  // namespace heddle::timeline
