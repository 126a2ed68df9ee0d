// SPDX-License-Identifier: BSD-3-Clause
/// Perfetto's format (perfetto.dev, protos/perfetto/trace): a Trace of TracePackets.
/// perfetto_fields.hpp has the numbers of fields.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>
#include <system_error>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "perfetto_fields.hpp"
#include "timeline.hpp"

namespace heddle::timeline {
namespace {

using namespace fields;

/// A message of protocol buffers.
class Message {
public:
    void number(unsigned field, std::uint64_t value) {
        varint(field << 3);
        varint(value);
    }
    void fixed(unsigned field, std::uint64_t value) {
        varint(field << 3 | 1);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void text(unsigned field, std::string_view value) {
        varint(field << 3 | 2);
        varint(value.size());
        bytes_.append(value);
    }
    void message(unsigned field, const Message& inner) { text(field, inner.bytes_); }
    const std::string& bytes() const { return bytes_; }

private:
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
        bytes_.push_back(static_cast<char>(value));
    }
    std::string bytes_;
};

class Output {
public:
    explicit Output(const std::string& path) : path_(path), part_(path + ".part") {
        file_ = std::fopen(part_.c_str(), "we");
        if (file_ == nullptr) fail();
    }
    ~Output() {
        if (file_ == nullptr) return;
        std::fclose(file_);
        ::unlink(part_.c_str());
    }
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    void packet(const Message& packet) {
        Message framed;
        framed.message(Trace::packet, packet);
        if (std::fwrite(framed.bytes().data(), 1, framed.bytes().size(), file_) !=
            framed.bytes().size())
            fail();
    }
    /// Gives the complete file its own name.
    void finish() {
        const int error = std::fclose(file_);
        file_ = nullptr;
        if (error != 0 || std::rename(part_.c_str(), path_.c_str()) != 0) fail();
    }

private:
    [[noreturn]] void fail() const {
        throw std::system_error(errno, std::generic_category(), path_);
    }
    const std::string path_, part_;
    FILE* file_ = nullptr;
};

constexpr std::uint64_t sequence = 1;

/// Numbers for texts, each of which is written once.
class Interned {
public:
    explicit Interned(unsigned field) : field_(field) {}
    std::uint64_t operator()(const std::string& text, Message& data) {
        const auto [place, is_new] = numbers_.emplace(text, numbers_.size() + 1);
        if (is_new) {
            Message entry;
            entry.number(InternedEntry::iid, place->second);
            entry.text(InternedEntry::text, text);
            data.message(field_, entry);
        }
        return place->second;
    }

private:
    const unsigned field_;
    std::unordered_map<std::string, std::uint64_t> numbers_;
};

class Writer {
public:
    Writer(const Timeline& timeline, Output& output) : timeline_(timeline), output_(output) {}

    void write() {
        for (std::size_t i = 0; i < timeline_.ranks.size(); ++i) {
            const Rank& rank = timeline_.ranks[i];
            describe(i, rank);
            for (std::size_t thread = 0; thread < rank.threads.size(); ++thread)
                write(i, rank, static_cast<std::uint32_t>(thread));
        }
    }

private:
    static std::uint64_t process_track(std::size_t rank) { return (rank + 1) << 20; }
    static std::uint64_t thread_track(std::size_t rank, std::size_t thread) {
        return process_track(rank) + 2 * thread + 1;
    }
    static std::uint64_t waits_track(std::size_t rank, std::size_t thread) {
        return thread_track(rank, thread) + 1;
    }

    void describe(std::size_t index, const Rank& rank) {
        // Processes of several hosts may have the same number.
        const std::uint64_t pid = pids_.insert(rank.pid).second ? rank.pid : 10'000'000 + index;
        Message process, track;
        process.number(ProcessDescriptor::pid, pid);
        process.text(ProcessDescriptor::name,
                     rank.rank == nobody ? fmt::format("no rank ({}, process {} on {})",
                                                       rank.program, rank.pid, rank.host)
                                         : fmt::format("rank {} ({}, process {} on {})", rank.rank,
                                                       rank.program, rank.pid, rank.host));
        track.number(TrackDescriptor::uuid, process_track(index));
        track.message(TrackDescriptor::process, process);
        track_packet(track);
        for (std::size_t i = 0; i < rank.threads.size(); ++i) {
            const Thread& thread = rank.threads[i];
            Message descriptor, own, waits;
            descriptor.number(ThreadDescriptor::pid, pid);
            // A main thread has the number of its process, even if that number is replaced here.
            descriptor.number(ThreadDescriptor::tid,
                              thread.id == rank.pid ? pid
                                  : pid == rank.pid ? thread.id
                                                    : pid * 100 + i);
            descriptor.text(ThreadDescriptor::name, thread.name);
            own.number(TrackDescriptor::uuid, thread_track(index, i));
            own.number(TrackDescriptor::parent, process_track(index));
            own.message(TrackDescriptor::thread, descriptor);
            track_packet(own);
            waits.number(TrackDescriptor::uuid, waits_track(index, i));
            waits.number(TrackDescriptor::parent, process_track(index));
            waits.text(TrackDescriptor::name, fmt::format("waits of thread {}", thread.id));
            track_packet(waits);
        }
    }
    void track_packet(const Message& track) {
        Message packet;
        packet.number(TracePacket::sequence_id, sequence);
        packet.message(TracePacket::track_descriptor, track);
        output_.packet(packet);
    }

    /// Writes nested slices. A slice ends before the next one begins, unless that one lies within
    /// it.
    void write(std::size_t index, const Rank& rank, std::uint32_t thread) {
        const std::uint64_t track = thread_track(index, thread);
        std::vector<Nanoseconds> open;
        if (rank.threads[thread].lost != 0) tell_lost(track, rank, thread);
        const auto close_until = [&](Nanoseconds time) {
            while (!open.empty() && open.back() <= time) {
                mark(track, TrackEvent::slice_end, open.back());
                open.pop_back();
            }
        };
        for (const Event& event : rank.events) {
            if (event.thread != thread) continue;
            if (event.kind == Event::Kind::instant) {
                // Slices that end at the same time end after the instant.
                close_until(event.end - 1);
                begin(track, TrackEvent::instant, event, event.end);
                continue;
            }
            close_until(event.begin);
            begin(track, TrackEvent::slice_begin, event, event.begin);
            if (event.over)
                open.push_back(open.empty() ? event.end : std::min(event.end, open.back()));
            if (event.waited() > 0) waits(waits_track(index, thread), event);
        }
        close_until(INT64_MAX);
    }

    /// Tells the number of lost events at the first event that is kept.
    void tell_lost(std::uint64_t track, const Rank& rank, std::uint32_t thread) {
        const auto first = std::find_if(rank.events.begin(), rank.events.end(),
                                        [&](const Event& event) { return event.thread == thread; });
        if (first == rank.events.end()) return;
        Message what, data;
        what.number(TrackEvent::category_iid, categories_(lost_category, data));
        what.number(TrackEvent::name_iid, names_("earlier events were overwritten", data));
        add(what, data, "number", static_cast<std::int64_t>(rank.threads[thread].lost));
        packet(track, TrackEvent::instant, first->begin, what, data);
    }

    void waits(std::uint64_t track, const Event& event) {
        Message text, data;
        text.number(TrackEvent::name_iid,
                    names_(fmt::format("for rank {}", event.waits_for), data));
        text.number(TrackEvent::category_iid, categories_("wait", data));
        packet(track, TrackEvent::slice_begin, event.begin, text, data);
        mark(track, TrackEvent::slice_end, event.begin + event.waited());
    }

    void begin(std::uint64_t track, std::uint64_t type, const Event& event, Nanoseconds time) {
        Message what, data;
        what.number(TrackEvent::category_iid, categories_(event.category, data));
        what.number(TrackEvent::name_iid, names_(event.name, data));
        if (!event.object.empty()) add(what, data, "object", event.object);
        if (event.peer != nobody) add(what, data, "rank", event.peer);
        if (event.tag >= 0) add(what, data, "tag", event.tag);
        if (event.bytes != 0) add(what, data, "bytes", event.bytes);
        if (event.sequence != 0) add(what, data, "number", event.sequence);
        if (event.repeats != 0) add(what, data, "calls", std::int64_t{event.repeats} + 1);
        if (const std::string& where = timeline_.location(event); !where.empty())
            add(what, data, "called at", where);
        if (event.waited() > 0) {
            add(what, data, "waits for rank", event.waits_for);
            add(what, data, "waits ns", event.waited());
        }
        if (!event.over) add(what, data, "lasts so far ns", event.duration());
        for (const std::uint64_t flow : event.flows_out) what.fixed(TrackEvent::flow, flow);
        for (const std::uint64_t flow : event.flows_in)
            what.fixed(TrackEvent::terminating_flow, flow);
        packet(track, type, time, what, data);
    }
    Message annotation(Message& data, const char* name) {
        Message message;
        message.number(DebugAnnotation::name_iid, annotations_(name, data));
        return message;
    }
    void add(Message& what, Message& data, const char* name, std::int64_t value) {
        Message message = annotation(data, name);
        message.number(DebugAnnotation::integer, static_cast<std::uint64_t>(value));
        what.message(TrackEvent::annotation, message);
    }
    void add(Message& what, Message& data, const char* name, const std::string& value) {
        Message message = annotation(data, name);
        message.number(DebugAnnotation::text_iid, texts_(value, data));
        what.message(TrackEvent::annotation, message);
    }
    void mark(std::uint64_t track, std::uint64_t type, Nanoseconds time) {
        packet(track, type, time, {}, {});
    }

    void packet(std::uint64_t track, std::uint64_t type, Nanoseconds time, const Message& what,
                const Message& data) {
        Message event, packet;
        event.number(TrackEvent::type, type);
        event.number(TrackEvent::track, track);
        const std::string both = event.bytes() + what.bytes();
        packet.number(TracePacket::timestamp, static_cast<std::uint64_t>(time));
        packet.number(TracePacket::sequence_id, sequence);
        packet.number(
            TracePacket::sequence_flags,
            std::exchange(first_, false) ? TracePacket::state_cleared : TracePacket::needs_state);
        if (!data.bytes().empty()) packet.message(TracePacket::interned, data);
        packet.text(TracePacket::track_event, both);
        output_.packet(packet);
    }

    const Timeline& timeline_;
    Output& output_;
    std::set<std::uint64_t> pids_;
    Interned categories_{InternedData::categories}, names_{InternedData::names},
        annotations_{InternedData::annotations}, texts_{InternedData::texts};
    bool first_ = true;
};

}  // namespace

void write_perfetto(const Timeline& timeline, const std::string& path) {
    Output output(path);
    Writer(timeline, output).write();
    output.finish();
}

}  // namespace heddle::timeline
