// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string_view>
#include <unordered_map>

#include "perfetto_fields.hpp"
#include "timeline.hpp"

namespace heddle::timeline {
namespace {

using namespace fields;

/// The fields of a message of protocol buffers, in their order.
class Fields {
public:
    explicit Fields(std::string_view bytes) : rest_(bytes) {}

    /// Goes to the next field. Returns false at the end.
    bool next() {
        if (rest_.empty()) return false;
        const std::uint64_t key = varint();
        field = static_cast<unsigned>(key >> 3);
        text = {};
        number = 0;
        switch (key & 7) {
            case 0: number = varint(); return true;
            case 1: number = fixed(8); return true;
            case 2: text = take(varint()); return true;
            case 5: number = fixed(4); return true;
            default: throw std::runtime_error("it is no trace of Perfetto");
        }
    }
    unsigned field = 0;
    std::uint64_t number = 0;
    std::string_view text;

private:
    std::string_view take(std::uint64_t bytes) {
        if (bytes > rest_.size()) throw std::runtime_error("it is cut off");
        const std::string_view taken = rest_.substr(0, bytes);
        rest_.remove_prefix(bytes);
        return taken;
    }
    std::uint64_t fixed(unsigned bytes) {
        std::uint64_t value = 0;
        const std::string_view taken = take(bytes);
        for (unsigned i = 0; i < bytes; ++i)
            value |= std::uint64_t{static_cast<unsigned char>(taken[i])} << 8 * i;
        return value;
    }
    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const auto byte = static_cast<unsigned char>(take(1).front());
            value |= std::uint64_t{byte & 0x7fU} << shift;
            if (byte < 0x80) return value;
        }
        throw std::runtime_error("it is no trace of Perfetto");
    }
    std::string_view rest_;
};

class Reader {
public:
    Timeline read(std::string_view bytes) {
        for (Fields trace(bytes); trace.next();)
            if (trace.field == Trace::packet) packet(trace.text);
        if (timeline_.ranks.empty())
            throw std::runtime_error(
                "there are no ranks in it (mpiexec --trace writes such files)");
        finish();
        return std::move(timeline_);
    }

private:
    struct Track {
        std::size_t rank;
        std::uint32_t thread;
        std::vector<std::size_t> open;  ///< events without an end
    };
    using Texts = std::unordered_map<std::uint64_t, std::string>;

    void packet(std::string_view bytes) {
        Nanoseconds time = 0;
        std::string_view event;
        for (Fields packet(bytes); packet.next();) switch (packet.field) {
                case TracePacket::timestamp: time = static_cast<Nanoseconds>(packet.number); break;
                case TracePacket::interned: intern(packet.text); break;
                case TracePacket::track_descriptor: track(packet.text); break;
                case TracePacket::track_event: event = packet.text; break;
                default: break;
            }
        if (!event.empty()) add(time, event);
    }

    void intern(std::string_view bytes) {
        for (Fields data(bytes); data.next();) {
            Texts* const texts = data.field == InternedData::categories ? &categories_
                : data.field == InternedData::names                     ? &names_
                : data.field == InternedData::annotations               ? &annotations_
                : data.field == InternedData::texts                     ? &texts_
                                                                        : nullptr;
            if (texts == nullptr) continue;
            std::uint64_t number = 0;
            std::string text;
            for (Fields entry(data.text); entry.next();) {
                if (entry.field == InternedEntry::iid) number = entry.number;
                if (entry.field == InternedEntry::text) text = entry.text;
            }
            (*texts)[number] = std::move(text);
        }
    }

    void track(std::string_view bytes) {
        std::uint64_t uuid = 0, parent = 0;
        std::string_view process, thread;
        for (Fields track(bytes); track.next();) {
            if (track.field == TrackDescriptor::uuid) uuid = track.number;
            if (track.field == TrackDescriptor::parent) parent = track.number;
            if (track.field == TrackDescriptor::process) process = track.text;
            if (track.field == TrackDescriptor::thread) thread = track.text;
        }
        if (!process.empty()) {
            Rank rank;
            for (Fields fields(process); fields.next();) {
                if (fields.field == ProcessDescriptor::pid)
                    rank.pid = static_cast<std::uint32_t>(fields.number);
                if (fields.field == ProcessDescriptor::name) name(rank, std::string(fields.text));
            }
            processes_[uuid] = timeline_.ranks.size();
            timeline_.ranks.push_back(std::move(rank));
        }
        const auto owner = processes_.find(parent);
        if (thread.empty() || owner == processes_.end()) return;
        Thread own;
        for (Fields fields(thread); fields.next();) {
            if (fields.field == ThreadDescriptor::tid)
                own.id = static_cast<std::uint32_t>(fields.number);
            if (fields.field == ThreadDescriptor::name) own.name = fields.text;
        }
        Rank& rank = timeline_.ranks[owner->second];
        tracks_[uuid] = {owner->second, static_cast<std::uint32_t>(rank.threads.size()), {}};
        rank.threads.push_back(std::move(own));
    }
    /// Parses a text such as "rank 0 (ring, process 12 on node3)".
    static void name(Rank& rank, const std::string& text) {
        char program[128] = "", host[128] = "";
        unsigned pid = 0;
        if (std::sscanf(text.c_str(), "rank %d (%127[^,], process %u on %127[^)])", &rank.rank,
                        program, &pid, host) < 1)
            rank.rank = nobody;
        rank.program = program;
        rank.host = host;
    }

    void add(Nanoseconds time, std::string_view bytes) {
        Event event;
        std::uint64_t type = 0, uuid = 0;
        Nanoseconds waited = 0;
        for (Fields fields(bytes); fields.next();) switch (fields.field) {
                case TrackEvent::type: type = fields.number; break;
                case TrackEvent::track: uuid = fields.number; break;
                case TrackEvent::name_iid: event.name = names_[fields.number]; break;
                case TrackEvent::category_iid: event.category = categories_[fields.number]; break;
                case TrackEvent::flow: event.flows_out.push_back(fields.number); break;
                case TrackEvent::terminating_flow: event.flows_in.push_back(fields.number); break;
                case TrackEvent::annotation: annotate(event, fields.text, waited); break;
                default: break;
            }
        const auto found = tracks_.find(uuid);
        if (found == tracks_.end()) return;
        Track& track = found->second;
        std::vector<Event>& events = timeline_.ranks[track.rank].events;
        if (type == TrackEvent::slice_end) {
            if (track.open.empty()) return;
            events[track.open.back()].end = time;
            events[track.open.back()].over = true;
            track.open.pop_back();
            return;
        }
        if (event.category == lost_category) {
            timeline_.ranks[track.rank].threads[track.thread].lost = event.sequence;
            return;
        }
        event.begin = time;
        event.end += time;  // until now it was the event's duration
        event.thread = track.thread;
        event.kind = type == TrackEvent::instant ? Event::Kind::instant
            : event.category == "sleep"          ? Event::Kind::sleep
                                                 : Event::Kind::call;
        if (waited > 0) event.waited_until = time + waited;
        if (type == TrackEvent::slice_begin) {
            event.over = false;
            track.open.push_back(events.size());
        }
        events.push_back(std::move(event));
    }

    void annotate(Event& event, std::string_view bytes, Nanoseconds& waited) {
        std::string name, text;
        std::int64_t value = 0;
        for (Fields fields(bytes); fields.next();) {
            if (fields.field == DebugAnnotation::name_iid) name = annotations_[fields.number];
            if (fields.field == DebugAnnotation::integer)
                value = static_cast<std::int64_t>(fields.number);
            if (fields.field == DebugAnnotation::text_iid) text = texts_[fields.number];
        }
        if (name == "object") event.object = text;
        if (name == "rank") event.peer = static_cast<int>(value);
        if (name == "tag") event.tag = static_cast<int>(value);
        if (name == "bytes") event.bytes = value;
        if (name == "number") event.sequence = static_cast<std::uint32_t>(value);
        if (name == "calls") event.repeats = static_cast<std::uint32_t>(value - 1);
        if (name == "waits for rank") event.waits_for = static_cast<int>(value);
        if (name == "waits ns") waited = value;
        if (name == "lasts so far ns") event.end = value;
        if (name == "called at") event.site = location(text);
    }
    std::int32_t location(const std::string& text) {
        const auto [place, is_new] =
            locations_.emplace(text, static_cast<std::int32_t>(timeline_.locations.size()));
        if (is_new) timeline_.locations.push_back(text);
        return place->second;
    }

    void finish() {
        for (const Rank& rank : timeline_.ranks)
            timeline_.size = std::max(timeline_.size, rank.rank + 1);
    }

    Timeline timeline_;
    std::map<std::uint64_t, std::size_t> processes_;
    std::map<std::uint64_t, Track> tracks_;
    std::map<std::string, std::int32_t> locations_;
    Texts categories_, names_, annotations_, texts_;
};

}  // namespace

Timeline read_perfetto(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("it cannot be read");
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    return Reader().read(bytes);
}

}  // namespace heddle::timeline
