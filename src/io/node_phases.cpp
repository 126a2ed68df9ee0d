// SPDX-License-Identifier: BSD-3-Clause
#include "io/node_phases.hpp"

namespace heddle::io {

NodePhases::NodePhases(const Joint& joint, const SharedWindows& memory, Workplace& place) noexcept
    : Phases(joint, memory.window_bytes(), place), memory_(memory), sent_{messages(), messages()} {}

Failure NodePhases::run() {
    return counted([this] {
        if (joint_.writes)
            write_all();
        else
            read_all();
        for (Messages& messages : sent_) finish(messages);
    });
}

Window NodePhases::there(std::int32_t domain, std::int64_t i) const noexcept {
    const Span span = window(domain, i);
    Window window;
    window.open(span.begin, span.end, memory_.window(domain, i));
    return window;
}

template <class Visit>
void NodePhases::each_domain(std::int64_t i, Visit visit) {
    for (std::int32_t domain = 0; domain < domains_.count; ++domain)
        if (has_data_in(window(domain, i)))
            visit(domain, parcels(i)[static_cast<std::size_t>(domain)]);
}

void NodePhases::tell(const Span& span, std::int32_t message) {
    Messages messages = this->messages();
    each_other(span, [&](Parcel&, std::int32_t rank) {
        messages.send(nullptr, 0, rank, joint_.tag + message);
    });
    finish(messages);
}

void NodePhases::hear(const Span& span, std::int32_t message) {
    Messages messages = this->messages();
    each_other(span, [&](Parcel&, std::int32_t rank) {
        messages.receive(nullptr, 0, rank, joint_.tag + message);
    });
    finish(messages);
}

/// Makes parcels of this process's data in the i-th windows. The lists of the windows before in the
/// same memory have arrived.
void NodePhases::make_parcels(std::int64_t i) {
    finish(sent(i));
    for (Parcel& parcel : parcels(i)) parcel.clear();
    each_domain(
        i, [&](std::int32_t domain, Parcel& parcel) { fill(data_in(window(domain, i)), parcel); });
}

// --- writing ---

void NodePhases::write_all() {
    const std::int64_t all = windows();
    for (std::int64_t i = 0; i <= all; ++i) {
        if (i < all) put(i);
        if (i > 0) aggregate_writes(i - 1);
    }
}

/// Waits until the windows before in the same memory have been written.
void NodePhases::wait_for_room(std::int64_t i) {
    if (i < SharedWindows::turns) return;
    Messages messages = this->messages();
    each_domain(i, [&](std::int32_t domain, Parcel&) {
        if (domain != own_)
            messages.receive(nullptr, 0, domains_.rank(domain), joint_.tag + data_message);
    });
    finish(messages);
}

void NodePhases::put(std::int64_t i) {
    wait_for_room(i);
    make_parcels(i);
    each_domain(i, [&](std::int32_t domain, Parcel& parcel) {
        there(domain, i).put(parcel.sections(), parcel.data);
        if (domain != own_) send_list(sent(i), parcel, domains_.rank(domain));
    });
}

void NodePhases::aggregate_writes(std::int64_t i) {
    if (own_ < 0) return;
    const Span span = window(own_, i);
    if (span.empty()) return;
    collect_lists(span);
    covered_.open(span.begin, span.end, memory_.window(own_, i));
    cover(parcels(i)[static_cast<std::size_t>(own_)]);
    write(covered_);
    tell(window(own_, i + SharedWindows::turns), data_message);
}

// --- reading ---

void NodePhases::read_all() {
    const std::int64_t all = windows();
    for (std::int64_t i = 0; i <= all; ++i) {
        if (i < all) {
            make_parcels(i);
            each_domain(i, [&](std::int32_t domain, Parcel& parcel) {
                if (domain != own_) send_list(sent(i), parcel, domains_.rank(domain));
            });
            aggregate_reads(i);
        }
        if (i > 0) get(i - 1);
    }
    for (std::int64_t i = std::max<std::int64_t>(0, all - SharedWindows::turns); i < all; ++i)
        if (own_ >= 0) hear(window(own_, i), done_message);
}

void NodePhases::aggregate_reads(std::int64_t i) {
    if (own_ < 0) return;
    if (i >= SharedWindows::turns) hear(window(own_, i - SharedWindows::turns), done_message);
    const Span span = window(own_, i);
    if (span.empty()) return;
    collect_lists(span);
    covered_.open(span.begin, span.end, memory_.window(own_, i));
    cover(parcels(i)[static_cast<std::size_t>(own_)]);
    read(covered_);
    tell(span, data_message);
}

void NodePhases::get(std::int64_t i) {
    each_domain(i, [&](std::int32_t domain, Parcel& parcel) {
        const std::int32_t aggregator = domains_.rank(domain);
        if (domain != own_) {
            Messages messages = this->messages();
            messages.receive(nullptr, 0, aggregator, joint_.tag + data_message);
            finish(messages);
        }
        there(domain, i).get(parcel.sections(), parcel.data);
        const Bytes bytes = data_in(window(domain, i));
        if (parcel.head.bytes != 0 && joint_.stream.dense(bytes.from) == nullptr)
            joint_.stream.unpack(bytes.from, parcel.data, bytes.bytes);
        if (domain == own_) return;
        Messages messages = this->messages();
        messages.send(nullptr, 0, aggregator, joint_.tag + done_message);
        finish(messages);
    });
}

}  // namespace heddle::io
