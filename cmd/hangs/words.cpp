// SPDX-License-Identifier: BSD-3-Clause
#include "words.hpp"

#include <fmt/format.h>

#include <array>

namespace heddle::hangs {
namespace {

using node::AwaitedEvent;
using node::AwaitedKind;
using node::WaitsFor;

std::string tag_of(const AwaitedEvent& event) {
    return event.tag == node::any_tag_awaited ? "MPI_ANY_TAG" : std::to_string(event.tag);
}

/// Collects words and their peers.
class Writer {
public:
    std::string peer(const AwaitedEvent& event, const char* any) {
        if (event.peer == node::any_peer) return any;
        if (event.peer < 0 && event.world_peer < 0) return "unknown";
        words_.peers.push_back(event.peer >= 0 ? event.peer : event.world_peer);
        return std::string(1, Words::place);
    }
    std::string message(const char* role, const AwaitedEvent& event) {
        return fmt::format("{} {}, tag {}, {}", role, peer(event, "MPI_ANY_SOURCE"), tag_of(event),
                           communicator_name(event));
    }
    std::string send(const AwaitedEvent& event) {
        return fmt::format("dest {}{}, tag {}, {} bytes, {}{}", peer(event, "any"),
                           event.to_self ? ", to itself" : "", event.tag, event.bytes,
                           communicator_name(event),
                           event.no_room ? "; above HEDDLE_UNEXPECTED_LIMIT there" : "");
    }
    std::string window(const char* role, const AwaitedEvent& event, const std::string& awaited) {
        const std::string name = event.detail[0] != '\0'
            ? event.detail
            : fmt::format("window of {} processes", event.size);
        return fmt::format("{} {}, {}, {}", role, peer(event, "all"), name, awaited);
    }
    std::string lock(const AwaitedEvent& event) {
        const std::string holder = event.holder >= 0 ? fmt::format("rank {}", event.holder)
            : event.holder == node::holder_of_all    ? "who has locked all targets"
                                                     : "others";
        return window("target", event, "held by " + holder);
    }
    std::string collective(const AwaitedEvent& event) {
        const std::string call = event.detail[0] != '\0' ? event.detail : "collective call";
        return event.number != 0
            ? fmt::format("{} #{} on {}", call, event.number, communicator_name(event))
            : fmt::format("{} on {}", call, communicator_name(event));
    }

    static std::string file(const AwaitedEvent& event) {
        const std::string name = fmt::format("\"{}\"", event.detail);
        return event.place < 0
            ? name
            : fmt::format("{}, {} bytes from byte {} on", name, event.bytes, event.place);
    }

    std::string event(const AwaitedEvent& event);
    Words take(std::string text) {
        words_.text = std::move(text);
        return std::move(words_);
    }

private:
    Words words_;
};

std::string Writer::event(const AwaitedEvent& event) {
    switch (event.kind) {
        case AwaitedKind::receive:
        case AwaitedKind::probe: return message("source", event);
        case AwaitedKind::send: return send(event);
        case AwaitedKind::collective: return collective(event);
        case AwaitedKind::partitioned: return "partitioned, " + message("other rank", event);
        case AwaitedKind::buffered: return "buffered messages wait for their receives";
        case AwaitedKind::taken:
            return "messages that were sent have not been taken by their receivers";
        case AwaitedKind::composed:
            return "nonblocking collectives that were started are not complete";
        case AwaitedKind::program: return "the program completes the request";
        case AwaitedKind::file: return file(event);
        case AwaitedKind::finalize:
            return fmt::format("for MPI_Finalize of rank {}", peer(event, "any"));
        case AwaitedKind::window_post: return window("target", event, "for its MPI_Win_post");
        case AwaitedKind::window_complete:
            return window("origin", event, "for its MPI_Win_complete");
        case AwaitedKind::window_fence:
            return window("origin", event, "for another thread's MPI_Win_fence");
        case AwaitedKind::window_answer: return window("target", event, "for its answer");
        case AwaitedKind::window_room: return window("target", event, "for room on the way to it");
        case AwaitedKind::window_flush: return window("target", event, "for its answer to a flush");
        case AwaitedKind::window_lock: return lock(event);
        case AwaitedKind::window_lock_asked: return window("target", event, "for its lock");
        case AwaitedKind::window_unlock: return window("target", event, "for its lock to be left");
        case AwaitedKind::window_lock_all:
            return window("target", event, "for the lock of all its targets");
        case AwaitedKind::window_attached:
            return window("target", event, "for what is attached there");
        default: return event.detail;
    }
}

/// Returns the word before an event in a list of several.
const char* before(AwaitedKind kind) {
    return kind == AwaitedKind::receive ? "receive: " : kind == AwaitedKind::send ? "send: " : "";
}

/// Returns true if all events belong to one collective call, which blocks.
bool is_blocking_collective(const WaitsFor& what) {
    const AwaitedEvent& first = what.listed[0];
    for (std::uint32_t i = 0; i < what.number_listed(); ++i)
        if (what.listed[i].kind != AwaitedKind::collective || what.listed[i].detail[0] != '\0' ||
            what.listed[i].context != first.context)
            return false;
    return what.events != 0;
}

}  // namespace

std::string communicator_name(std::uint32_t context, std::string_view name) {
    if (context == world_context) return "MPI_COMM_WORLD";
    if (context == self_context) return "MPI_COMM_SELF";
    if (context == 0) return "a communicator that is being made";
    const std::uint32_t number = (context & ~local_group) / 2;
    if (name.empty()) return fmt::format("communicator {}", number);
    return fmt::format("'{}' (communicator {})", name, number);
}

Words words_of(const WaitsFor& what) {
    Writer writer;
    if (is_blocking_collective(what)) {
        const AwaitedEvent& event = what.listed[0];
        const std::string number = event.number == 0 ? "" : fmt::format(" #{}", event.number);
        return writer.take(fmt::format("{}{} on {}", what.call, number, communicator_name(event)));
    }
    if (what.events <= 1) {
        const std::string event = what.events == 0 ? "" : writer.event(what.listed[0]);
        return writer.take(fmt::format("{}({})", what.call, event));
    }
    constexpr std::uint32_t most = 3;
    const std::uint32_t told = what.events <= most + 1 ? what.events : most;
    std::string list;
    for (std::uint32_t i = 0; i < told; ++i)
        list += fmt::format("{}{}{}", i == 0 ? "" : "; ", before(what.listed[i].kind),
                            writer.event(what.listed[i]));
    if (what.events > told) list += fmt::format("; and {} more", what.events - told);
    return writer.take(fmt::format("{}({}: {})", what.call,
                                   what.need == node::Need::any ? "any of" : "all of", list));
}

std::string with_peers(const std::string& text, const std::vector<std::string>& peers) {
    std::string result;
    std::size_t next = 0;
    for (const char c : text) {
        if (c != Words::place)
            result += c;
        else if (next < peers.size())
            result += peers[next++];
    }
    return result;
}

std::string sentence_of(const WaitsFor& what) {
    const Words words = words_of(what);
    std::vector<std::string> peers;
    for (const int peer : words.peers) peers.push_back(std::to_string(peer));
    return with_peers(words.text, peers);
}

std::string ranges(const std::vector<int>& numbers) {
    std::string text;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        text += text.empty() ? "" : ", ";
        text += last == i
            ? std::to_string(numbers[i])
            : fmt::format("{}{}{}", numbers[i], last == i + 1 ? ", " : "-", numbers[last]);
        i = last + 1;
    }
    return text;
}

std::string rank_list(const std::vector<int>& ranks) {
    return (ranks.size() == 1 ? "rank " : "ranks ") + ranges(ranks);
}

std::string seconds_text(double seconds) { return fmt::format("{:.1f} s", seconds); }

}  // namespace heddle::hangs
