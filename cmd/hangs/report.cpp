// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "json.hpp"
#include "near_by.hpp"
#include "words.hpp"

namespace heddle::hangs {
namespace {

/// Threads of several ranks that do the same.
struct Group {
    std::vector<int> ranks;        ///< the rank of each thread
    std::vector<int> threads;      ///< numbers in ranks with several threads; empty if each is the
                                   ///< only one
    std::vector<std::string> who;  ///< the name of each thread
    std::vector<std::vector<int>> peers;  ///< the peers of each thread
    double least = 0, most = 0;           ///< seconds; 0 if it is no wait
    std::uint32_t tests = 0;              ///< of the last thread, in vain; 0 if none tests
};

/// The properties that all threads of a group share.
struct Key {
    std::string name;  ///< of the thread, such as " 'pool'"
    std::string text;  ///< with places for peers
    std::string location;
    bool operator<(const Key& other) const {
        return std::tie(name, text, location) < std::tie(other.name, other.text, other.location);
    }
};

bool has_several_threads(const Rank& rank) {
    return std::count_if(rank.threads.begin(), rank.threads.end(), [](const Thread& thread) {
               return thread.attached && !thread.of_library;
           }) > 1;
}

const Thread* same_thread(const Snapshot* snapshot, const Rank& of, const Thread& wanted) {
    if (snapshot == nullptr) return nullptr;
    for (const Rank& rank : snapshot->ranks)
        for (const Thread& thread : rank.threads)
            if (rank.rank == of.rank && thread.thread == wanted.thread) return &thread;
    return nullptr;
}

/// Returns how often a thread has tested between the two snapshots.
std::uint32_t tests_since(const Snapshot* before, const Rank& rank, const Thread& thread) {
    const Thread* earlier = same_thread(before, rank, thread);
    return earlier == nullptr ? 0 : thread.tests - earlier->tests;
}

/// Returns the threads that have tested in vain since the snapshot before, with their tests.
std::vector<std::pair<const Thread*, const Waiting*>> active_pollers(const Rank& rank,
                                                                     const Snapshot* before) {
    std::vector<std::pair<const Thread*, const Waiting*>> found;
    for (const Thread& thread : rank.threads)
        for (const Waiting& poller : rank.pollers)
            if (poller.thread == thread.thread && !is_waiting(rank, thread) &&
                tests_since(before, rank, thread) != 0)
                found.emplace_back(&thread, &poller);
    return found;
}

/// Returns a text such as "1,234 times" or "2.1 million times".
std::string times(std::uint32_t number) {
    if (number >= 1'000'000) return fmt::format("{:.1f} million times", number / 1e6);
    std::string text = std::to_string(number);
    if (text.size() > 3) text.insert(text.size() - 3, ",");
    return text + (number == 1 ? " time" : " times");
}

/// Returns the thread that stands for a rank without waiting threads: one that polls, or runs, or
/// the main one.
const Thread* most_active(const Rank& rank, const Snapshot* before) {
    const Thread* found = nullptr;
    int best = -1;
    for (const Thread& thread : rank.threads) {
        if (thread.of_library) continue;
        const bool polls = tests_since(before, rank, thread) != 0;
        const int active = polls                                    ? 3
            : thread.state == 'R'                                   ? 2
            : thread.thread == static_cast<std::uint32_t>(rank.pid) ? 1
                                                                    : 0;
        if (active > best) {
            best = active;
            found = &thread;
        }
    }
    return found;
}

std::string phase_of(const Rank& rank) {
    if (!rank.knows_phase) return "";
    switch (rank.phase) {
        case node::Phase::started: return ", before MPI_Init";
        case node::Phase::finalized: return ", after MPI_Finalize";
        case node::Phase::closed: return ", with no session open";
        default: return "";
    }
}

std::string without_wait(const Rank& rank, const Snapshot* before) {
    if (!rank.is_heard_of) return "not heard of";
    if (rank.pid == 0) return "not started";
    if (rank.end) return *rank.end;
    if (rank.in_barrier) return "waits for the other ranks in MPI_Init or MPI_Finalize";
    const Thread* thread = most_active(rank, before);
    const std::string call = thread == nullptr || thread->call.empty()
        ? ""
        : "; its last call of MPI was " + thread->call;
    if (thread != nullptr && tests_since(before, rank, *thread) != 0)
        return fmt::format("polls with {}, in vain so far",
                           thread->call.empty() ? "MPI" : thread->call);
    if (thread != nullptr && (thread->state == 'T' || thread->state == 't'))
        return "stopped" + call;
    const bool sleeps = thread != nullptr && thread->state != 'R';
    return fmt::format("{} (not blocked in MPI){}{}", sleeps ? "sleeps" : "running", phase_of(rank),
                       call);
}

/// Returns a name such as "thread 2", with the number in its rank.
std::string name_in_rank(const Rank& rank, std::uint32_t thread) {
    for (const Waiting& waiting : rank.waiting)
        if (waiting.thread == thread) return fmt::format("thread {}", waiting.what.thread);
    return "another thread";
}

/// Returns a text on what a thread outside of MPI waits for, or an empty text if that is unknown.
std::string wait_in_program(const Rank& rank, const Thread& thread) {
    if (thread.wait.thread == 0) return "";
    const std::string other = name_in_rank(rank, thread.wait.thread);
    return thread.wait.kind == ProgramWait::Kind::end_of_thread
        ? fmt::format("a thread waits for the end of {}", other)
        : fmt::format("a thread waits for a mutex that {} holds", other);
}

/// Returns the peers at `place` as text. It is "7" if all ranks have the same, else "1, 2, 3 ... 0"
/// in the order of the ranks.
std::string peers_at(const std::vector<std::vector<int>>& peers_of_each, std::size_t place) {
    std::vector<std::string> all;
    std::set<int> different;
    for (const std::vector<int>& peers : peers_of_each) {
        different.insert(peers[place]);
        all.push_back(std::to_string(peers[place]));
    }
    if (different.size() == 1) return all.front();
    constexpr std::size_t most = 6;
    if (all.size() > most) {
        all[most - 2] = "...";
        all[most - 1] = all.back();
        all.resize(most);
    }
    return fmt::format("{}", fmt::join(all, ", "));
}
std::string with_peers_of_each(const std::string& text,
                               const std::vector<std::vector<int>>& peers_of_each) {
    std::vector<std::string> peers;
    for (std::size_t i = 0; i < peers_of_each.front().size(); ++i)
        peers.push_back(peers_at(peers_of_each, i));
    return with_peers(text, peers);
}

class Groups {
public:
    Groups(const Snapshot& now, const Snapshot* before) : now_(now), before_(before) {
        for (const Rank& rank : now.ranks) add(rank);
    }

    std::vector<Line> lines() const {
        std::vector<std::pair<const Key*, const Group*>> order;
        for (const auto& [key, group] : groups_) order.emplace_back(&key, &group);
        std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
            const std::size_t size = a.second->ranks.size(), other = b.second->ranks.size();
            return std::tie(size, a.second->ranks) < std::tie(other, b.second->ranks);
        });
        std::vector<Line> lines;
        for (const auto& [key, group] : order) lines.push_back({line(*key, *group), false});
        if (order.size() > 1 &&
            order.front().second->ranks.size() < order.back().second->ranks.size())
            lines.front().odd = true;
        return lines;
    }

private:
    void add(const Rank& rank) {
        for (const Waiting& waiting : rank.waiting) add(rank, waiting);
        if (rank.more_waiting != 0)
            put({"", fmt::format("{} more threads wait in MPI", rank.more_waiting), ""}, rank, {});
        for (const Thread& thread : rank.threads)
            if (const std::string text = wait_in_program(rank, thread); !text.empty())
                put({"", text, ""}, rank, {});
        const auto pollers = active_pollers(rank, before_);
        for (const auto& [thread, poller] : pollers) add_poller(rank, *thread, *poller);
        if (rank.waiting.empty() && pollers.empty())
            put({"", without_wait(rank, before_), ""}, rank, {});
    }
    void add_poller(const Rank& rank, const Thread& thread, const Waiting& poller) {
        const std::string name = poller.name.empty() ? "" : fmt::format(" '{}'", poller.name);
        Words words = words_of(poller.what);
        Group& group =
            put({name, "polls with " + words.text, poller.location}, rank, std::move(words.peers));
        if (has_several_threads(rank) || poller.what.thread != 0)
            group.threads.push_back(poller.what.thread);
        group.tests = thread.tests;
    }
    void add(const Rank& rank, const Waiting& waiting) {
        const std::string name = waiting.name.empty() ? "" : fmt::format(" '{}'", waiting.name);
        Words words = words_of(waiting.what);
        Group& group = put({name, words.text, waiting.location}, rank, std::move(words.peers));
        if (has_several_threads(rank) || waiting.what.thread != 0)
            group.threads.push_back(waiting.what.thread);
        group.least = group.most == 0 ? waiting.seconds : std::min(group.least, waiting.seconds);
        group.most = std::max({group.most, waiting.seconds, 1e-9});
    }
    Group& put(Key key, const Rank& rank, std::vector<int> peers) {
        Group& group = groups_[std::move(key)];
        const std::string& host = rank.host.empty() ? now_.host : rank.host;
        group.ranks.push_back(rank.rank);
        group.who.push_back(
            rank.pid == 0 ? ""
                          : fmt::format("pid {}{}", rank.pid, host.empty() ? "" : " on " + host));
        group.peers.push_back(std::move(peers));
        return group;
    }

    static std::vector<int> each_once(std::vector<int> numbers) {
        std::sort(numbers.begin(), numbers.end());
        numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
        return numbers;
    }
    static std::string line(const Key& key, const Group& group) {
        const std::vector<int> ranks = each_once(group.ranks);
        const std::vector<int> threads = each_once(group.threads);
        const bool one = ranks.size() == 1;
        std::string text = rank_list(ranks);
        if (one && !group.who.front().empty()) text += fmt::format(" ({})", group.who.front());
        if (!threads.empty())
            text += fmt::format(", thread{} {}", threads.size() == 1 ? "" : "s", ranges(threads));
        text += key.name;
        const std::string place = key.location.empty() ? "" : " at " + key.location;
        if (group.tests != 0)
            return fmt::format("{}: {}{}, in vain{} so far", text,
                               with_peers_of_each(key.text, group.peers), place,
                               group.who.size() == 1 ? " " + times(group.tests) : "");
        if (group.most == 0) return fmt::format("{}: {}", text, key.text);
        const std::string least = fmt::format("{:.1f}", group.least);
        const std::string most = fmt::format("{:.1f}", group.most);
        return fmt::format("{}: blocked for {} s in {}{}", text,
                           least == most ? most : least + " to " + most,
                           with_peers_of_each(key.text, group.peers), place);
    }

    const Snapshot& now_;
    const Snapshot* const before_;
    std::map<Key, Group> groups_;
};

void add_near_by(const Snapshot& snapshot, const Snapshot* before, std::vector<Line>& lines) {
    struct Ranks {
        std::vector<int> ranks;
        std::vector<std::vector<int>> peers;
    };
    std::map<std::string, Ranks> found;  // by text
    const auto add = [&](const Rank& rank, const Waiting& waiting) {
        for (Words& words : near_by(rank, waiting.what)) {
            Ranks& same = found[words.text];
            // Each rank counts once, even if the text holds for several of its threads or sources.
            if (!same.ranks.empty() && same.ranks.back() == rank.rank) continue;
            same.ranks.push_back(rank.rank);
            same.peers.push_back(std::move(words.peers));
        }
    };
    for (const Rank& rank : snapshot.ranks) {
        for (const Waiting& waiting : rank.waiting) add(rank, waiting);
        for (const auto& [thread, poller] : active_pollers(rank, before)) add(rank, *poller);
    }
    constexpr std::size_t most = 8;
    std::size_t told = 0;
    for (const auto& [text, same] : found) {
        if (++told > most) break;
        lines.push_back({fmt::format("hint: {}: {}", rank_list(same.ranks),
                                     with_peers_of_each(text, same.peers)),
                         false});
    }
    if (found.size() > most)
        lines.push_back(
            {fmt::format("hint: and {} more of this kind", found.size() - most), false});
}

void add_to_itself(const Snapshot& snapshot, std::vector<Line>& lines) {
    std::vector<int> to_itself;
    for (const Rank& rank : snapshot.ranks)
        for (const Waiting& waiting : rank.waiting)
            if (waiting.what.events == 1 && waiting.what.listed[0].to_self &&
                (to_itself.empty() || to_itself.back() != rank.rank))
                to_itself.push_back(rank.rank);
    if (to_itself.empty()) return;
    lines.push_back(
        {fmt::format("hint: {} {} to {} and {} posted no receive for it; post the receive "
                     "first, or use MPI_Sendrecv",
                     rank_list(to_itself), to_itself.size() == 1 ? "sends" : "send",
                     to_itself.size() == 1 ? "itself" : "themselves",
                     to_itself.size() == 1 ? "has" : "have"),
         false});
}

}  // namespace

std::vector<Line> report(const Snapshot& now, const Snapshot* before) {
    std::vector<Line> lines = Groups(now, before).lines();
    add_near_by(now, before, lines);
    add_to_itself(now, lines);
    return lines;
}

namespace {

std::string event_in_json(const node::AwaitedEvent& event) {
    std::string members;
    for (int rank = 0; event.any_peer && rank < node::AwaitedEvent::most_members; ++rank)
        if (event.has_member(rank))
            members += fmt::format("{}{}", members.empty() ? "" : ",", rank);
    return fmt::format(
        "{{\"communicator\":{},\"context\":{},\"peer\":{},\"world_peer\":{},\"tag\":{},"
        "\"number\":{},\"any_of\":[{}]}}",
        json_string(communicator_name(event)), event.context, event.peer, event.world_peer,
        event.tag, event.number, members);
}

std::string unexpected_in_json(const node::UnexpectedMessage& message) {
    return fmt::format(
        "{{\"communicator\":{},\"context\":{},\"source\":{},\"world_source\":{},\"tag\":{},"
        "\"messages\":{}}}",
        json_string(communicator_name(message.context, message.communicator)), message.context,
        message.source, message.world_source, message.tag, message.messages);
}

std::string wait_in_json(const Waiting& waiting) {
    std::string events;
    for (std::uint32_t i = 0; i < waiting.what.number_listed(); ++i)
        events.append(i == 0 ? "" : ",").append(event_in_json(waiting.what.listed[i]));
    return fmt::format(
        "{{\"thread\":{},\"number\":{},\"name\":{},\"call\":{},\"text\":{},\"at\":{},"
        "\"seconds\":{:.3f},\"need\":\"{}\",\"events\":{},\"listed\":[{}]}}",
        waiting.thread, waiting.what.thread, json_string(waiting.name),
        json_string(waiting.what.call), json_string(sentence_of(waiting.what)),
        json_string(waiting.location), waiting.seconds,
        waiting.what.need == node::Need::any ? "any" : "all", waiting.what.events, events);
}

std::string thread_in_json(const Thread& thread) {
    return fmt::format(
        "{{\"thread\":{},\"state\":{},\"of_library\":{},\"last_call\":{},\"tests\":{}}}",
        thread.thread, json_string(std::string(1, thread.state)), thread.of_library,
        json_string(thread.call), thread.tests);
}

std::string rank_in_json(const Rank& rank) {
    std::vector<std::string> waits, pollers, threads, unexpected;
    for (const Waiting& waiting : rank.waiting) waits.push_back(wait_in_json(waiting));
    for (const Waiting& poller : rank.pollers) pollers.push_back(wait_in_json(poller));
    for (const Thread& thread : rank.threads) threads.push_back(thread_in_json(thread));
    for (const node::UnexpectedMessage& message : rank.unexpected.listed)
        if (message.messages != 0) unexpected.push_back(unexpected_in_json(message));
    return fmt::format(
        "{{\"rank\":{},\"pid\":{},\"host\":{},\"end\":{},\"blocked\":[{}],\"polls\":[{}],"
        "\"threads\":[{}],\"unexpected\":[{}]}}",
        rank.rank, rank.pid, json_string(rank.host), rank.end ? json_string(*rank.end) : "null",
        fmt::join(waits, ","), fmt::join(pollers, ","), fmt::join(threads, ","),
        fmt::join(unexpected, ","));
}

}  // namespace

std::string report_in_json(const Snapshot& now, const std::string& verdict) {
    std::vector<std::string> ranks;
    for (const Rank& rank : now.ranks) ranks.push_back(rank_in_json(rank));
    return fmt::format("{{\"host\":{},\"ranks\":[{}],\"verdict\":{}}}", json_string(now.host),
                       fmt::join(ranks, ","), verdict);
}

}  // namespace heddle::hangs
