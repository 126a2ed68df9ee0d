// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>

#include "functions.hpp"
#include "layout.hpp"
#include "timeline.hpp"

namespace heddle::timeline {
namespace {

namespace fs = std::filesystem;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using trace::File;
using trace::Record;

/// Maps a file of events. Holds nothing if the file is none.
class Mapped {
public:
    explicit Mapped(const fs::path& path) {
        const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat found{};
        if (fd >= 0 && ::fstat(fd, &found) == 0 &&
            found.st_size == static_cast<off_t>(sizeof(File)))
            memory_ = ::mmap(nullptr, sizeof(File), PROT_READ, MAP_SHARED, fd, 0);
        if (fd >= 0) ::close(fd);
    }
    ~Mapped() {
        if (memory_ != MAP_FAILED) ::munmap(memory_, sizeof(File));
    }
    Mapped(const Mapped&) = delete;
    Mapped& operator=(const Mapped&) = delete;
    const File* file() const {
        const auto* file = static_cast<const File*>(memory_);
        return memory_ == MAP_FAILED || file->magic != trace::file_magic ? nullptr : file;
    }

private:
    void* memory_ = MAP_FAILED;
};

template <std::size_t bytes>
std::string text_in(const char (&text)[bytes]) {
    std::string copy(text, ::strnlen(text, bytes));
    for (char& c : copy)
        if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
    return copy;
}

/// Converts the ticks of a host to real time. It uses the two readings of all its processes that
/// are furthest apart.
struct Clock {
    std::uint64_t first_ticks = UINT64_MAX, first_real = 0, last_ticks = 0, last_real = 0;

    void add(const File& file) {
        if (file.first_ticks < first_ticks) {
            first_ticks = file.first_ticks;
            first_real = file.first_real;
        }
        const std::uint64_t ticks = file.last_ticks.load(memory_order_relaxed);
        if (ticks > last_ticks) {
            last_ticks = ticks;
            last_real = file.last_real.load(memory_order_relaxed);
        }
    }
    double real(std::uint64_t ticks) const {
        const double span = static_cast<double>(last_ticks - first_ticks);
        const double rate = span > 0 ? static_cast<double>(last_real - first_real) / span : 1;
        return static_cast<double>(static_cast<std::int64_t>(ticks - first_ticks)) * rate;
    }
};

class Reader {
public:
    Reader(const File& file, const Clock& clock, Timeline& timeline, std::vector<Place>& places)
        : file_(file),
          clock_(clock),
          timeline_(timeline),
          places_(places),
          first_site_(static_cast<std::int32_t>(places.size())),
          sites_(
              std::min<std::size_t>(file.sites_used.load(memory_order_acquire), trace::most_sites)),
          objects_(std::min<std::size_t>(file.objects_used.load(memory_order_acquire),
                                         trace::most_objects)) {}

    Rank read() {
        Rank rank;
        rank.rank = file_.size > 0 ? file_.rank : nobody;
        rank.pid = file_.pid;
        rank.host = text_in(file_.host);
        rank.program = text_in(file_.program);
        rank.finalized = file_.finalized.load(memory_order_relaxed) != 0;
        for (std::size_t i = 1; i < sites_; ++i)
            places_.push_back({text_in(file_.sites[i].file), file_.sites[i].offset});
        for (const trace::Ring& ring : file_.rings) {
            if (ring.thread == 0) break;
            read(ring, rank);
        }
        return rank;
    }

private:
    void read(const trace::Ring& ring, Rank& rank) {
        const std::uint64_t written = ring.written.load(memory_order_acquire);
        const std::uint64_t first =
            written > trace::ring_records ? written - trace::ring_records : 0;
        const auto thread = static_cast<std::uint32_t>(rank.threads.size());
        rank.threads.push_back({ring.thread, text_in(ring.name), first});
        for (std::uint64_t number = first; number < written; ++number) {
            Record record;
            std::memcpy(&record, &ring.records[number % trace::ring_records], sizeof record);
            if (record.begin == 0) continue;
            Event event;
            if (!translate(record, event)) continue;
            event.thread = thread;
            if (event.kind == Event::Kind::call) event.request = 0;
            // The name of a request is the record that made it.
            event.request = record.request;
            if (record.request == 0)
                event.request = (static_cast<std::uint64_t>(thread) << 40) + number + 1;
            rank.events.push_back(std::move(event));
        }
    }

    bool translate(const Record& record, Event& event) const {
        event.code = record.kind;
        if (record.kind < trace::function_table.size()) {
            const trace::FunctionInfo& info = trace::function_table[record.kind];
            event.name = info.name;
            event.category = info.chapter;
        } else if (!special(record.kind, event)) {
            return false;
        }
        event.begin = time(record.begin);
        event.over = record.end != 0;
        event.end = event.over ? time(record.end) : event.begin;
        if (event.end < event.begin) event.end = event.begin;
        event.flags = record.flags;
        event.sequence = record.sequence;
        event.tag = record.tag;
        event.bytes = record.bytes;
        event.repeats = record.repeats;
        if (record.site != 0 && record.site < sites_) event.site = first_site_ + record.site - 1;
        if (record.object != 0 && record.object < objects_) find(record, event);
        return true;
    }

    static bool special(std::uint16_t kind, Event& event) {
        event.kind = Event::Kind::instant;
        event.category = "message";
        switch (kind) {
            case trace::kind_received: event.name = "received"; return true;
            case trace::kind_sent: event.name = "sent"; return true;
            case trace::kind_composed: event.name = "complete"; return true;
            case trace::kind_started_send: event.name = "send started"; return true;
            case trace::kind_started_receive: event.name = "receive started"; return true;
            case trace::kind_started_other: event.name = "started"; return true;
            case trace::kind_unexpected: event.name = "came before its receive"; return true;
            case trace::kind_sleep:
                event.kind = Event::Kind::sleep;
                event.name = "sleeps";
                event.category = "sleep";
                return true;
            default: return false;
        }
    }

    void find(const Record& record, Event& event) const {
        const trace::Object& object = file_.objects[record.object];
        event.identity = object.identity;
        event.object = text_in(object.name);
        if (event.object.empty()) {
            const char* const kinds[] = {"", "communicator", "window", "file"};
            const auto kind = static_cast<std::size_t>(object.kind);
            event.object = std::string(kinds[kind < std::size(kinds) ? kind : 0]) + " " +
                std::to_string(record.object);
        }
        const auto peer = static_cast<std::uint32_t>(record.peer);
        if (record.peer >= 0 && peer < object.size &&
            object.first_member + std::uint64_t{peer} < trace::most_members)
            event.peer = file_.members[object.first_member + peer];
    }

    Nanoseconds time(std::uint64_t ticks) const {
        const double since = clock_.real(ticks);
        const double real = static_cast<double>(static_cast<std::int64_t>(clock_.first_real -
                                                                          timeline_.first_real)) +
            since;
        return static_cast<Nanoseconds>(real + correction(since));
    }
    /// Returns the correction of this host's clock `since` nanoseconds after its first reading.
    double correction(double since) const {
        if (file_.corrected_at[0] == 0) return 0;
        const auto first = static_cast<double>(file_.correction[0]);
        if (file_.corrected_at[1] <= file_.corrected_at[0]) return first;
        const double begin = static_cast<double>(
            static_cast<std::int64_t>(file_.corrected_at[0] - clock_.first_real));
        const double length = static_cast<double>(file_.corrected_at[1] - file_.corrected_at[0]);
        return first +
            (static_cast<double>(file_.correction[1]) - first) * (since - begin) / length;
    }

    const File& file_;
    const Clock& clock_;
    Timeline& timeline_;
    std::vector<Place>& places_;
    const std::int32_t first_site_;
    const std::size_t sites_, objects_;
};

/// Shifts all times so that the first event has time 0.
void begin_at_zero(Timeline& timeline, Until until) {
    Nanoseconds first = INT64_MAX, last = INT64_MIN;
    if (until == Until::now)
        last = std::chrono::duration_cast<std::chrono::nanoseconds>(
                   std::chrono::system_clock::now().time_since_epoch())
                   .count() -
            static_cast<Nanoseconds>(timeline.first_real);
    for (const Rank& rank : timeline.ranks)
        for (const Event& event : rank.events) {
            first = std::min(first, event.begin);
            last = std::max(last, event.end);
        }
    for (Rank& rank : timeline.ranks)
        for (Event& event : rank.events) {
            if (!event.over) event.end = last;
            event.begin -= first;
            event.end -= first;
        }
    if (first != INT64_MAX) timeline.first_real += static_cast<std::uint64_t>(first);
}

}  // namespace

Nanoseconds Rank::begin() const {
    Nanoseconds first = INT64_MAX;
    for (const Event& event : events) first = std::min(first, event.begin);
    return events.empty() ? 0 : first;
}
Nanoseconds Rank::end() const {
    Nanoseconds last = 0;
    for (const Event& event : events) last = std::max(last, event.end);
    return last;
}
Nanoseconds Timeline::end() const {
    Nanoseconds last = 0;
    for (const Rank& rank : ranks) last = std::max(last, rank.end());
    return last;
}
const std::string& Timeline::location(const Event& event) const {
    static const std::string none;
    return event.site >= 0 && static_cast<std::size_t>(event.site) < locations.size()
        ? locations[static_cast<std::size_t>(event.site)]
        : none;
}

Timeline load(const std::string& folder, Until until) {
    std::vector<std::unique_ptr<Mapped>> files;
    std::map<std::string, Clock> clocks;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        if (entry->path().extension() != trace::file_ending) continue;
        auto mapped = std::make_unique<Mapped>(entry->path());
        if (mapped->file() == nullptr) continue;
        clocks[text_in(mapped->file()->host)].add(*mapped->file());
        files.push_back(std::move(mapped));
    }
    Timeline timeline;
    timeline.first_real = UINT64_MAX;
    for (const auto& [host, clock] : clocks)
        timeline.first_real = std::min(timeline.first_real, clock.first_real);
    std::vector<Place> places;
    for (const auto& mapped : files) {
        const File& file = *mapped->file();
        Reader reader(file, clocks[text_in(file.host)], timeline, places);
        timeline.ranks.push_back(reader.read());
        timeline.size = std::max(timeline.size, static_cast<int>(file.size));
    }
    std::sort(timeline.ranks.begin(), timeline.ranks.end(),
              [](const Rank& a, const Rank& b) { return a.rank < b.rank; });
    timeline.locations = locate(places);
    begin_at_zero(timeline, until);
    return timeline;
}

}  // namespace heddle::timeline
