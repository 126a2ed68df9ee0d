// SPDX-License-Identifier: BSD-3-Clause
#include "io/two_phase.hpp"

#include <new>
#include <vector>

#include "io/node_phases.hpp"
#include "io/phases.hpp"
#include "io/together.hpp"

namespace heddle::io {
namespace {

/// Data travel in messages, straight from the program's memory where they lie side by side.
class ByMessages : Phases {
public:
    explicit ByMessages(const Joint& joint)
        : Phases(joint, static_cast<std::int64_t>(joint.shares[0].hints.cb_buffer_size)),
          out_(static_cast<std::size_t>(domains_.count)) {}

    Failure run() {
        return counted([this] {
            for (std::int64_t i = 0; i < windows(); ++i) step(i);
        });
    }

private:
    /// One window of each domain.
    void step(std::int64_t i) {
        Messages messages = this->messages();
        for (std::int32_t domain = 0; domain < domains_.count; ++domain) {
            Parcel& parcel = out_[static_cast<std::size_t>(domain)];
            parcel.clear();
            const Span span = window(domain, i);
            if (!has_data_in(span)) continue;
            fill(data_in(span), parcel);
            if (domain != own_) exchange(messages, parcel, domains_.rank(domain));
        }
        if (own_ >= 0) aggregate(window(own_, i));
        finish(messages);
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

    /// What has come and does not lie where it belongs.
    void unpack(std::int64_t i) {
        for (std::int32_t domain = 0; domain < domains_.count; ++domain) {
            const Parcel& parcel = out_[static_cast<std::size_t>(domain)];
            if (parcel.head.bytes == 0) continue;
            const Bytes bytes = data_in(window(domain, i));
            if (joint_.stream.dense(bytes.from) == nullptr)
                joint_.stream.unpack(bytes.from, parcel.data, bytes.bytes);
        }
    }

    void aggregate(const Span& span) {
        if (span.empty()) return;
        collect_lists(span);
        Parcel& mine = out_[static_cast<std::size_t>(own_)];
        covered_.open(span.begin, span.end);
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
            parcel.data = parcel.room();
            messages.receive(parcel.data, parcel.head.bytes, rank, joint_.tag + data_message);
        });
        finish(messages);
    }

    void send_back(const Span& span, Parcel& mine) {
        Messages messages = this->messages();
        each_other(span, [&](Parcel& parcel, std::int32_t rank) {
            if (parcel.head.bytes == 0) return;
            parcel.data = parcel.room();
            covered_.get(parcel.sections(), parcel.data);
            messages.send(parcel.data, parcel.head.bytes, rank, joint_.tag + data_message);
        });
        covered_.get(mine.sections(), mine.data);
        finish(messages);
    }

    std::vector<Parcel> out_;  ///< of this process, by domain; memory of one window after the other
};

/// The first failure of any of them; this process's own before others'.
Failure first_failure(core::Thread& thread, OpenFile& file, std::int32_t tag, const Failure& mine) {
    std::vector<Failure> all;
    if (gather(thread, file, tag, all, mine) != MPI_SUCCESS)
        return Failure::of_class(MPI_ERR_OTHER, "the other processes are out of reach");
    if (mine) return mine;
    for (const Failure& one : all)
        if (one) return one;
    return {};
}

Failure run(const Joint& joint, SharedWindows& memory) {
    if (memory.has(joint)) return NodePhases(joint, memory).run();
    return ByMessages(joint).run();
}

Outcome go(core::Thread& thread, OpenFile& file, const Part& part, Stream& stream, bool writes,
           std::int32_t tag, SharedWindows& memory) {
    const Settings settings = settings_of(file);
    std::vector<Share> shares;
    if (gather(thread, file, tag + plan_message, shares, share_of(file, part, settings, writes)) !=
        MPI_SUCCESS)
        return {0, Failure::of_class(MPI_ERR_OTHER, "the other processes are out of reach")};
    const Agreed& hints = shares[0].hints;
    if (each_by_itself(shares, writes ? hints.cb_write : hints.cb_read))
        return writes ? write(thread, file, part, stream, false) : read(thread, file, part, stream);
    Part mine = part;
    if (!writes) {
        const std::int64_t size = shares[0].size;
        cut(mine, size);
        for (Share& share : shares) cut(share, size);
    }
    const Joint joint{thread, file, mine, stream, writes, tag, shares};
    const Failure failure = first_failure(thread, file, tag + end_message, run(joint, memory));
    return {failure ? 0 : mine.bytes, failure};
}

}  // namespace

Outcome access_together(core::Thread& thread, OpenFile& file, const Part& part, Stream& stream,
                        bool writes, std::int32_t tag, SharedWindows& memory) noexcept try {
    const std::lock_guard guard(memory.in_use);
    return go(thread, file, part, stream, writes, tag, memory);
} catch (const std::bad_alloc&) {
    return {0, Failure::of_class(MPI_ERR_NO_MEM, "out of memory")};
}

}  // namespace heddle::io
