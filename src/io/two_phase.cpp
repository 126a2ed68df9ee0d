// SPDX-License-Identifier: BSD-3-Clause
#include "io/two_phase.hpp"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <vector>

#include "comm/participants.hpp"
#include "io/window.hpp"
#include "p2p/operations.hpp"

namespace heddle::io {
namespace {

using objects::Section;
using objects::Sections;

/// What a process tells the others of its access.
struct Share {
    std::int64_t low, high;  ///< places; the same: it has no data
    std::uint64_t bytes;
    std::uint64_t run;   ///< bytes that lie together
    std::int64_t size;   ///< of the file, as this process sees it
    std::int32_t alone;  ///< it cannot be but by each process itself

    bool empty() const noexcept { return low == high; }
    bool meets(std::int64_t begin, std::int64_t end) const noexcept {
        return low < end && begin < high;
    }
};

/// Runs from here on are as well written by who has them.
constexpr std::uint64_t long_run = std::uint64_t{256} << 10;
/// Of a domain, so that there are no more aggregators than have something to do.
constexpr std::int64_t least_domain = std::int64_t{1} << 20;
/// Bytes between two pieces that are read rather than left out.
constexpr std::uint64_t gap_to_read = 65536;

// The tags of a call.
enum : std::int32_t { plan_message, list_message, data_message, end_message };

/// Whether nobody's data lie between another's.
bool apart(std::vector<Share> shares) {
    std::erase_if(shares, [](const Share& share) { return share.empty(); });
    std::sort(shares.begin(), shares.end(),
              [](const Share& a, const Share& b) { return a.low < b.low; });
    for (std::size_t i = 1; i < shares.size(); ++i)
        if (shares[i].low < shares[i - 1].high) return false;
    return true;
}

bool each_by_itself(const std::vector<Share>& shares, Choice choice) {
    if (choice == Choice::disable || shares.size() == 1) return true;
    std::uint64_t least_run = UINT64_MAX;
    for (const Share& share : shares) {
        if (share.alone != 0) return true;
        if (!share.empty()) least_run = std::min(least_run, share.run);
    }
    if (choice == Choice::enable) return false;
    return least_run >= long_run || apart(shares);
}

/// The file from the first byte to the last one, in parts for aggregators.
struct Domains {
    std::int64_t begin = 0, end = 0;
    std::int64_t each = 0;  ///< bytes of a domain
    std::int32_t count = 0;
    std::int32_t ranks = 0;

    Domains(const std::vector<Share>& shares, const Hints& hints, std::int64_t block) noexcept
        : ranks(static_cast<std::int32_t>(shares.size())) {
        bool any = false;
        for (const Share& share : shares) {
            if (share.empty()) continue;
            begin = any ? std::min(begin, share.low) : share.low;
            end = any ? std::max(end, share.high) : share.high;
            any = true;
        }
        if (!any) return;
        const auto most = static_cast<std::int64_t>(
            hints.cb_nodes != 0 ? std::min<std::uint64_t>(hints.cb_nodes, shares.size())
                                : shares.size());
        const std::int64_t unit = hints.striping_unit != 0
            ? static_cast<std::int64_t>(hints.striping_unit)
            : std::max<std::int64_t>(block, 4096);
        const std::int64_t wanted = std::clamp<std::int64_t>((end - begin) / least_domain, 1, most);
        first_ = begin / unit * unit;
        each = (end - first_ + wanted - 1) / wanted;
        each = (each + unit - 1) / unit * unit;
        count = static_cast<std::int32_t>((end - first_ + each - 1) / each);
    }
    /// The aggregator's rank: they are spread over all.
    std::int32_t rank(std::int32_t domain) const noexcept {
        return static_cast<std::int32_t>(std::int64_t{domain} * ranks / count);
    }
    std::int64_t begin_of(std::int32_t domain) const noexcept {
        return std::max(begin, first_ + domain * each);
    }
    std::int64_t end_of(std::int32_t domain) const noexcept {
        return std::min(end, first_ + (domain + 1) * each);
    }

private:
    std::int64_t first_ = 0;
};

/// What comes before the data of a process in a window: its sections, if they are few; else they follow.
struct ListHead {
    static constexpr std::size_t few = 8;
    std::uint64_t sections = 0;
    std::uint64_t bytes = 0;  ///< of the data
    Section first[few];
};

/// Messages under way.
class Messages {
public:
    Messages(core::Thread& thread, objects::Communicator& communicator) noexcept
        : thread_(thread), communicator_(communicator) {}
    ~Messages() { finish(); }
    Messages(const Messages&) = delete;
    Messages& operator=(const Messages&) = delete;

    void send(const void* data, std::uint64_t bytes, std::int32_t to, std::int32_t tag) {
        add(p2p::start_send(thread_, communicator_, communicator_.context + 1, data, {bytes}, to,
                            tag));
    }
    void receive(void* data, std::uint64_t bytes, std::int32_t from, std::int32_t tag) {
        add(p2p::start_receive(thread_, communicator_, communicator_.context + 1, data, {bytes},
                               from, tag));
    }
    void finish() noexcept {
        for (core::Request* request : requests_)
            if (p2p::finish(thread_, communicator_, request) != MPI_SUCCESS) failed = true;
        requests_.clear();
    }
    bool failed = false;

private:
    void add(core::Request* request) {
        if (request == nullptr) throw std::bad_alloc();
        requests_.push_back(request);
    }

    core::Thread& thread_;
    objects::Communicator& communicator_;
    std::vector<core::Request*> requests_;
};

/// The sections of a process in a window, and where their data are. Used for one window after the other.
class Parcel {
public:
    ListHead head;
    std::byte* data = nullptr;  ///< in the program's memory, or in room()

    void clear() noexcept { head.sections = head.bytes = 0; }
    std::span<Section> sections() noexcept {
        if (head.sections <= ListHead::few) return {head.first, head.sections};
        return list_;
    }
    bool has_list() const noexcept { return head.sections > ListHead::few; }
    /// From the head, which has come.
    std::span<Section> list_to_come() {
        list_.resize(head.sections);
        return list_;
    }
    void make_list(Sections sections) {
        list_.clear();
        for (Section section; sections.next(section);) list_.push_back(section);
        head.sections = list_.size();
        if (!has_list()) std::copy(list_.begin(), list_.end(), head.first);
    }
    std::byte* room() { return room_.get(head.bytes); }

private:
    std::vector<Section> list_;
    Room room_;
};

class TwoPhases {
public:
    TwoPhases(core::Thread& thread, OpenFile& file, const Part& part, Stream& stream, bool writes,
              std::int32_t tag, const std::vector<Share>& shares, const Hints& hints)
        : thread_(thread),
          file_(file),
          part_(part),
          stream_(stream),
          writes_(writes),
          tag_(tag),
          shares_(shares),
          domains_(shares, hints, file.storage->block()),
          window_bytes_(static_cast<std::int64_t>(hints.cb_buffer_size)),
          me_(file.communicator->rank),
          out_(static_cast<std::size_t>(domains_.count)) {}

    Failure run() {
        const std::int64_t windows = (domains_.each + window_bytes_ - 1) / window_bytes_;
        for (std::int64_t i = 0; i < windows; ++i) step(i);
        return failure_;
    }

private:
    /// Where the i-th window of a domain is; the same: it has none.
    struct Span {
        std::int64_t begin, end;
    };
    Span window(std::int32_t domain, std::int64_t i) const noexcept {
        const std::int64_t end = domains_.end_of(domain);
        const std::int64_t begin = std::min(end, domains_.begin_of(domain) + i * window_bytes_);
        return {begin, std::min(end, begin + window_bytes_)};
    }
    /// Which data of this process are in it, as bytes of the stream.
    struct Bytes {
        std::uint64_t from, bytes;
    };
    Bytes data_in(const Span& span) const noexcept {
        const objects::Endless data = part_.data();
        const auto clamped = [&](std::int64_t place) {
            return std::clamp(data.before(place), part_.from, part_.from + part_.bytes);
        };
        const std::uint64_t from = clamped(span.begin);
        return {from - part_.from, clamped(span.end) - from};
    }
    bool has_data_in(const Span& span) const noexcept {
        const Share& mine = shares_[static_cast<std::size_t>(me_)];
        return span.begin < span.end && !mine.empty() && mine.meets(span.begin, span.end);
    }

    /// What this process has there. Data to be sent are where they lie, unless they must be packed.
    void fill(const Bytes& bytes, Parcel& parcel) {
        parcel.make_list(Sections(part_.data(), part_.from + bytes.from, bytes.bytes));
        parcel.head.bytes = bytes.bytes;
        parcel.data = stream_.dense(bytes.from);
        if (parcel.data != nullptr) return;
        parcel.data = parcel.room();
        if (writes_) stream_.pack(bytes.from, parcel.data, bytes.bytes);
    }

    /// One window of each domain.
    void step(std::int64_t i) {
        Messages messages(thread_, *file_.communicator);
        std::int32_t own = -1;
        for (std::int32_t domain = 0; domain < domains_.count; ++domain) {
            const std::int32_t aggregator = domains_.rank(domain);
            if (aggregator == me_) own = domain;
            Parcel& parcel = out_[static_cast<std::size_t>(domain)];
            parcel.clear();
            const Span span = window(domain, i);
            if (!has_data_in(span)) continue;
            fill(data_in(span), parcel);
            if (aggregator != me_) exchange(messages, parcel, aggregator);
        }
        if (own >= 0) aggregate(window(own, i), own);
        messages.finish();
        if (messages.failed) note_messages();
        if (!writes_) unpack(i);
    }

    void exchange(Messages& messages, Parcel& parcel, std::int32_t aggregator) {
        messages.send(&parcel.head, sizeof parcel.head, aggregator, tag_ + list_message);
        if (parcel.has_list())
            messages.send(parcel.sections().data(), parcel.sections().size_bytes(), aggregator,
                          tag_ + list_message);
        if (parcel.head.bytes == 0) return;
        if (writes_)
            messages.send(parcel.data, parcel.head.bytes, aggregator, tag_ + data_message);
        else
            messages.receive(parcel.data, parcel.head.bytes, aggregator, tag_ + data_message);
    }

    /// What has come and does not lie where it belongs.
    void unpack(std::int64_t i) {
        for (std::int32_t domain = 0; domain < domains_.count; ++domain) {
            const Parcel& parcel = out_[static_cast<std::size_t>(domain)];
            if (parcel.head.bytes == 0) continue;
            const Bytes bytes = data_in(window(domain, i));
            if (stream_.dense(bytes.from) == nullptr)
                stream_.unpack(bytes.from, parcel.data, bytes.bytes);
        }
    }

    /// Calls visit(parcel, rank) for the parcels of others in the window.
    template <class Visit>
    void each_other(const Span& span, Visit visit) {
        for (std::size_t rank = 0; rank < shares_.size(); ++rank) {
            const Share& share = shares_[rank];
            if (static_cast<std::int32_t>(rank) != me_ && !share.empty() &&
                share.meets(span.begin, span.end))
                visit(in_[rank], static_cast<std::int32_t>(rank));
        }
    }

    void collect(const Span& span) {
        Messages messages(thread_, *file_.communicator);
        each_other(span, [&](Parcel& parcel, std::int32_t rank) {
            messages.receive(&parcel.head, sizeof parcel.head, rank, tag_ + list_message);
        });
        messages.finish();
        each_other(span, [&](Parcel& parcel, std::int32_t rank) {
            if (parcel.has_list()) {
                const std::span<Section> list = parcel.list_to_come();
                messages.receive(list.data(), list.size_bytes(), rank, tag_ + list_message);
            }
            parcel.data = parcel.room();
            if (writes_ && parcel.head.bytes != 0)
                messages.receive(parcel.data, parcel.head.bytes, rank, tag_ + data_message);
        });
        messages.finish();
        if (messages.failed) note_messages();
    }

    void aggregate(const Span& span, std::int32_t domain) {
        if (span.begin == span.end) return;
        if (in_.empty()) in_.resize(shares_.size());
        for (Parcel& parcel : in_) parcel.clear();
        collect(span);
        Parcel& mine = out_[static_cast<std::size_t>(domain)];
        const auto each = [&](auto visit) {
            visit(mine);
            for (Parcel& parcel : in_) visit(parcel);
        };
        window_.open(span.begin, span.end);
        each([&](Parcel& parcel) { window_.expect(parcel.sections()); });
        each([&](Parcel& parcel) { window_.cover(parcel.sections()); });
        if (writes_) {
            each([&](Parcel& parcel) { window_.put(parcel.sections(), parcel.data); });
            write();
        } else {
            read();
            send_back(span, mine);
        }
    }

    void write() {
        window_.each_run(0, [&](std::int64_t at, std::uint64_t bytes) {
            const Moved moved = file_.storage->write(at, window_.at(at), bytes);
            if (moved.error != 0) note(Failure::of_system(moved.error, at, bytes));
            return moved.error == 0;
        });
    }

    void read() {
        window_.each_run(gap_to_read, [&](std::int64_t at, std::uint64_t bytes) {
            const Moved moved = file_.storage->read(at, window_.at(at), bytes);
            if (moved.error != 0 || moved.bytes != bytes)
                note(moved.error != 0
                         ? Failure::of_system(moved.error, at, bytes)
                         : Failure::of_class(MPI_ERR_IO, "the file has become shorter meanwhile"));
            return true;
        });
    }

    void send_back(const Span& span, Parcel& mine) {
        Messages messages(thread_, *file_.communicator);
        each_other(span, [&](Parcel& parcel, std::int32_t rank) {
            if (parcel.head.bytes == 0) return;
            window_.get(parcel.sections(), parcel.data);
            messages.send(parcel.data, parcel.head.bytes, rank, tag_ + data_message);
        });
        window_.get(mine.sections(), mine.data);
        messages.finish();
        if (messages.failed) note_messages();
    }

    void note_messages() noexcept {
        note(Failure::of_class(MPI_ERR_OTHER, "a message between the processes has failed"));
    }
    void note(const Failure& failure) noexcept {
        if (!failure_) failure_ = failure;
    }

    core::Thread& thread_;
    OpenFile& file_;
    const Part& part_;
    Stream& stream_;
    const bool writes_;
    const std::int32_t tag_;
    const std::vector<Share>& shares_;
    const Domains domains_;
    const std::int64_t window_bytes_;
    const std::int32_t me_;
    // Memory of one window after the other.
    std::vector<Parcel> out_;  ///< of this process, by domain
    std::vector<Parcel> in_;   ///< of the others, by rank
    Window window_;
    Failure failure_;
};

struct Settings {
    Hints hints;
    bool atomic;
};
Settings settings_of(OpenFile& file) {
    const std::lock_guard guard(file.lock);
    return {file.hints, file.atomic};
}

Share share_of(OpenFile& file, const Part& part, bool atomic) noexcept {
    Share share{};
    share.bytes = part.bytes;
    share.run = part.view->run();
    share.alone = atomic || !file.storage->seekable() || !part.sorted();
    if (part.bytes != 0) {
        share.low = part.first_place();
        share.high = part.end_place();
    }
    if (file.storage->size(share.size) != 0) share.size = INT64_MAX;  // reading will say why
    return share;
}

/// Nobody reads beyond the end of the file, which is where rank 0 sees it.
void cut(Part& part, std::int64_t size) noexcept {
    if (part.bytes == 0) return;
    const std::uint64_t there = part.data().before(size);
    part.bytes = there <= part.from ? 0 : std::min(part.bytes, there - part.from);
}
void cut(Share& share, std::int64_t size) noexcept {
    share.high = std::min(share.high, size);
    share.low = std::min(share.low, share.high);
}

/// The first failure of any of them; this process's own before others'.
Failure first_failure(core::Thread& thread, OpenFile& file, std::int32_t tag, const Failure& mine) {
    std::vector<Failure> all;
    if (comm::gather_all(thread, comm::Participants(*file.communicator), tag, all, mine) !=
        MPI_SUCCESS)
        return Failure::of_class(MPI_ERR_OTHER, "the other processes are out of reach");
    if (mine) return mine;
    for (const Failure& one : all)
        if (one) return one;
    return {};
}

Outcome go(core::Thread& thread, OpenFile& file, const Part& part, Stream& stream, bool writes,
           std::int32_t tag) {
    const Settings settings = settings_of(file);
    std::vector<Share> shares;
    if (comm::gather_all(thread, comm::Participants(*file.communicator), tag + plan_message, shares,
                         share_of(file, part, settings.atomic)) != MPI_SUCCESS)
        return {0, Failure::of_class(MPI_ERR_OTHER, "the other processes are out of reach")};
    const Choice choice = writes ? settings.hints.cb_write : settings.hints.cb_read;
    if (each_by_itself(shares, choice))
        return writes ? write(file, part, stream) : read(file, part, stream);
    Part mine = part;
    if (!writes) {
        const std::int64_t size = shares[0].size;
        cut(mine, size);
        for (Share& share : shares) cut(share, size);
    }
    TwoPhases phases(thread, file, mine, stream, writes, tag, shares, settings.hints);
    const Failure failure = first_failure(thread, file, tag + end_message, phases.run());
    return {failure ? 0 : mine.bytes, failure};
}

}  // namespace

Outcome access_together(core::Thread& thread, OpenFile& file, const Part& part, Stream& stream,
                        bool writes, std::int32_t tag) noexcept try {
    return go(thread, file, part, stream, writes, tag);
} catch (const std::bad_alloc&) {
    return {0, Failure::of_class(MPI_ERR_NO_MEM, "out of memory")};
}

}  // namespace heddle::io
