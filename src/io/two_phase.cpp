// SPDX-License-Identifier: BSD-3-Clause
#include "io/two_phase.hpp"

#include <array>
#include <new>
#include <vector>

#include "io/node_phases.hpp"
#include "io/phases.hpp"
#include "io/together.hpp"

namespace heddle::io {
namespace {

/// An access whose data travel in messages, straight from the program's memory if they lie side by
/// side. Messages of a window are pending while the window before is written or read.
class ByMessages : Phases {
public:
    ByMessages(const Joint& joint, Workplace& place) noexcept
        : Phases(joint, static_cast<std::int64_t>(joint.shares[0].hints.cb_buffer_size), place),
          under_way_{messages(), messages()} {}

    Failure run() {
        return counted([this] {
            const std::int64_t all = windows();
            for (std::int64_t i = 0; i <= all; ++i) {
                if (i < all) begin(i);
                if (i > 0) end(i - 1);
            }
        });
    }

private:
    Messages& under_way(std::int64_t i) noexcept {
        return under_way_[static_cast<std::size_t>(i % 2)];
    }

    /// Begins one window of each domain.
    void begin(std::int64_t i) {
        for (std::int32_t domain = 0; domain < domains_.count; ++domain) {
            Parcel& parcel = parcels(i)[static_cast<std::size_t>(domain)];
            parcel.clear();
            const Span span = window(domain, i);
            if (!has_data_in(span)) continue;
            fill(data_in(span), parcel);
            if (domain != own_) exchange(under_way(i), parcel, domains_.rank(domain));
        }
    }
    void end(std::int64_t i) {
        if (own_ >= 0) aggregate(window(own_, i), parcels(i)[static_cast<std::size_t>(own_)]);
        finish(under_way(i));
        if (!joint_.writes) unpack(i);
    }

    void exchange(Messages& messages, Parcel& parcel, std::int32_t aggregator) {
        send_list(messages, parcel, aggregator);
        if (parcel.head.bytes == 0) return;
        if (joint_.writes)
            messages.send(parcel.data, parcel.head.bytes, aggregator, joint_.tag + data_message);
        else
            messages.receive(parcel.data, parcel.head.bytes, aggregator, joint_.tag + data_message);
    }

    /// Unpacks received data that do not lie in their place yet.
    void unpack(std::int64_t i) {
        for (std::int32_t domain = 0; domain < domains_.count; ++domain) {
            const Parcel& parcel = parcels(i)[static_cast<std::size_t>(domain)];
            if (parcel.head.bytes == 0) continue;
            const Bytes bytes = data_in(window(domain, i));
            if (joint_.stream.dense(bytes.from) == nullptr)
                joint_.stream.unpack(bytes.from, parcel.data, bytes.bytes);
        }
    }

    /// Opens a window. Without memory for it, no data are put there or taken.
    void open(const Span& span, Parcel& mine) noexcept try {
        covered_.open(span.begin, span.end);
    } catch (const std::bad_alloc&) {
        note_no_memory();
        covered_.open(span.begin, span.end, nullptr);
        mine.forget_sections();
        for (Parcel& parcel : in_) parcel.forget_sections();
    }
    /// Returns room for the data of another. Returns nullptr if there is none: an empty message
    /// takes their place.
    std::byte* room_for(Parcel& parcel) noexcept try {
        return parcel.room();
    } catch (const std::bad_alloc&) {
        note_no_memory();
        parcel.forget_sections();
        return nullptr;
    }

    void aggregate(const Span& span, Parcel& mine) {
        if (span.empty()) return;
        collect_lists(span);
        open(span, mine);
        cover(mine);
        if (joint_.writes) {
            collect_data(span);
            covered_.put(mine.sections(), mine.data);
            for (Parcel& parcel : in_) covered_.put(parcel.sections(), parcel.data);
            write(covered_);
        } else {
            read(covered_);
            send_back(span, mine);
        }
    }

    void collect_data(const Span& span) {
        Messages messages = this->messages();
        each_other(span, [&](Parcel& parcel, std::int32_t rank) {
            if (parcel.head.bytes == 0) return;
            parcel.data = room_for(parcel);
            if (parcel.data == nullptr) return messages.lose(rank, joint_.tag + data_message);
            messages.receive(parcel.data, parcel.head.bytes, rank, joint_.tag + data_message);
        });
        finish(messages);
    }

    void send_back(const Span& span, Parcel& mine) {
        Messages messages = this->messages();
        each_other(span, [&](Parcel& parcel, std::int32_t rank) {
            if (parcel.head.bytes == 0) return;
            parcel.data = room_for(parcel);
            covered_.get(parcel.sections(), parcel.data);
            messages.send(parcel.data, parcel.data == nullptr ? 0 : parcel.head.bytes, rank,
                          joint_.tag + data_message);
        });
        covered_.get(mine.sections(), mine.data);
        finish(messages);
    }

    std::array<Messages, 2> under_way_;
};

/// Returns the failure of this process, or of one without which the others cannot go on.
Failure out_of_memory() noexcept {
    return Failure::of_class(MPI_ERR_NO_MEM, "a process is out of memory");
}

/// Returns the first failure of any process; this process's own before others'.
Failure first_failure(core::Thread& thread, OpenFile& file, std::int32_t tag,
                      const Failure& mine) try {
    std::vector<Failure> all;
    if (gather(thread, file, tag, all, mine) != MPI_SUCCESS)
        return Failure::of_class(MPI_ERR_OTHER, "the other processes are out of reach");
    if (mine) return mine;
    for (const Failure& one : all)
        if (one) return one;
    return {};
} catch (const std::bad_alloc&) {
    return mine ? mine : out_of_memory();
}

Failure run(const Joint& joint, SharedWindows& memory, Workplace& place) {
    if (memory.has(joint)) return NodePhases(joint, memory, place).run();
    return ByMessages(joint, place).run();
}

Outcome by_itself(core::Thread& thread, OpenFile& file, const Part& part, Stream& stream,
                  bool writes) noexcept {
    return writes ? write(thread, file, part, stream, false)
                  : read(thread, file, part, stream, false);
}

/// Lets one rank after the other access the file. If places mean nothing, the order of ranks is one
/// in time.
Outcome in_turns(core::Thread& thread, OpenFile& file, const Part& part, Stream& stream,
                 bool writes, std::int32_t tag) {
    const objects::Communicator& communicator = *file.communicator;
    Messages before(thread, *file.communicator);
    if (communicator.rank > 0)
        before.receive(nullptr, 0, communicator.rank - 1, tag + data_message);
    before.finish();
    Outcome outcome = by_itself(thread, file, part, stream, writes);
    Messages after(thread, *file.communicator);
    if (communicator.rank + 1 < communicator.peers)
        after.send(nullptr, 0, communicator.rank + 1, tag + data_message);
    after.finish();
    if ((before.failed || after.failed) && !outcome.failure)
        outcome.failure =
            Failure::of_class(MPI_ERR_OTHER, "a message between the processes has failed");
    return outcome;
}

/// Accesses the file with aggregators. `part` has no data if this process has moved them itself.
Outcome by_aggregators(const Joint& whole, std::vector<Share>& shares, SharedWindows& memory,
                       Workplace& place) {
    Part mine = whole.part;
    if (!whole.writes) {
        const std::int64_t size = shares[0].size;
        cut(mine, size);
        for (Share& share : shares) cut(share, size);
    }
    const Joint joint{whole.thread, whole.file, mine,  whole.stream,
                      whole.writes, whole.tag,  shares};
    const Failure failure =
        first_failure(joint.thread, joint.file, joint.tag + end_message, run(joint, memory, place));
    return {failure ? 0 : mine.bytes, failure};
}

Outcome go(core::Thread& thread, OpenFile& file, Part part, Stream& stream, bool writes,
           std::int32_t tag, SharedWindows& memory) {
    if (!file.storage->seekable()) return in_turns(thread, file, part, stream, writes, tag);
    const Settings settings = settings_of(file);
    Share mine = share_of(file, part, settings, writes);
    // Long runs need no other process: they are moved while the shares of the others come.
    const bool at_once =
        is_for_itself(mine, writes ? settings.hints.cb_write : settings.hints.cb_read);
    if (at_once) mine.leave();
    Workplace place;
    const bool has_memory = place.make(file.communicator->peers);
    Gathering<Share> gathering(thread, file, tag + plan_message, has_memory ? &mine : nullptr);
    Outcome outcome;
    if (at_once) {
        outcome = by_itself(thread, file, part, stream, writes);
        part.bytes = 0;
    }
    std::vector<Share> shares;
    if (gathering.finish(shares) != MPI_SUCCESS)
        return {outcome.bytes,
                Failure::of_class(MPI_ERR_OTHER, "the other processes are out of reach")};
    const Agreed& hints = shares[0].hints;
    if (each_by_itself(shares, writes ? hints.cb_write : hints.cb_read))
        return at_once ? outcome : by_itself(thread, file, part, stream, writes);
    const Outcome others =
        by_aggregators({thread, file, part, stream, writes, tag, shares}, shares, memory, place);
    return at_once ? outcome : others;
}

}  // namespace

Outcome access_together(core::Thread& thread, OpenFile& file, const Part& part, Stream& stream,
                        bool writes, std::int32_t tag, SharedWindows& memory) noexcept try {
    const std::lock_guard guard(memory.in_use);
    return go(thread, file, part, stream, writes, tag, memory);
} catch (const std::bad_alloc&) {
    return {0, out_of_memory()};
}

}  // namespace heddle::io
