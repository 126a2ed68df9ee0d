// SPDX-License-Identifier: BSD-3-Clause
/// Partitioned messages. The n-th MPI_Psend_init of an envelope belongs to the n-th MPI_Precv_init
/// of it. Each start of one belongs to a start of the other. The records of such a pair are found
/// by n. A partition belongs to the library from MPI_Pready to the end of the send.

#include <algorithm>

#include "findings.hpp"
#include "requests.hpp"

namespace heddle::check {

namespace {

void set_partitions(Tracked& tracked, MPI_Comm comm, const void* buffer, int number,
                    MPI_Count count, MPI_Datatype datatype) {
    if (number <= 0 || count < 0) return;  // the library refuses it
    tracked.comm = comm_of(comm);
    tracked.partitions = std::make_unique<Partitions>();
    tracked.partitions->whole = Buffer(buffer, number * count, datatype);
    tracked.partitions->count = count;
    tracked.partitions->hashes.resize(static_cast<std::size_t>(number));
    tracked.partitions->ready.resize(static_cast<std::size_t>(number));
}

/// Returns true if the library accepts the number of this partition.
bool has(const Partitions& partitions, int number) noexcept {
    return number >= 0 && static_cast<std::size_t>(number) < partitions.ready.size();
}

}  // namespace

Buffer Partitions::part(std::size_t number) const {
    Buffer one = whole;
    one.count = count;
    one.address += static_cast<MPI_Count>(number) * count * whole.type->extent;
    return one;
}

void Partitions::forget() noexcept { std::fill(ready.begin(), ready.end(), std::uint8_t{0}); }

void sending_partitions(Tracked& tracked, const void* buffer, int number, MPI_Count count,
                        MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
    set_partitions(tracked, comm, buffer, number, count, datatype);
    if (tracked.partitions == nullptr) return;
    tracked.dest = dest;
    tracked.send_tag = tag;
    tracked.signature = signature_of(datatype, number * count);
}

void receiving_partitions(Tracked& tracked, const void* buffer, int number, MPI_Count count,
                          MPI_Datatype datatype, int source, int tag, MPI_Comm comm) {
    set_partitions(tracked, comm, buffer, number, count, datatype);
    if (tracked.partitions == nullptr) return;
    tracked.receives = source != MPI_PROC_NULL;
    tracked.source = source;
    tracked.receive_tag = tag;
}

void number_pair(Tracked& tracked) {
    if (tracked.comm == nullptr) return;
    Comm& comm = *tracked.comm;
    const std::lock_guard<std::mutex> held(comm.guard);
    const bool sends = tracked.dest != MPI_PROC_NULL;
    tracked.partitions->pair = ++comm.partitioned[{sends, sends ? tracked.dest : tracked.source,
                                                   sends ? tracked.send_tag : tracked.receive_tag}];
}

void set_ready(MPI_Request request, int first, int last, bool ready) {
    Tracked* const tracked = partitioned_request(request);
    if (tracked == nullptr) return;
    Partitions& partitions = *tracked->partitions;
    for (int i = first; i <= last && has(partitions, i); ++i) {
        const auto number = static_cast<std::size_t>(i);
        if (ready && !partitions.whole.is_empty())
            partitions.hashes[number] = partitions.part(number).hash();
        partitions.ready[number] = ready ? 1 : 0;
    }
}

void set_ready(MPI_Request request, int length, const int* numbers, bool ready) {
    for (int i = 0; is_memory(numbers) && i < length; ++i)
        set_ready(request, numbers[i], numbers[i], ready);
}

void look_at_partitions(const Call& call, const Tracked& tracked) {
    const Partitions& partitions = *tracked.partitions;
    if (partitions.whole.is_empty()) return;
    for (std::size_t i = 0; i < partitions.ready.size(); ++i)
        if (partitions.ready[i] != 0 && partitions.part(i).hash() != partitions.hashes[i])
            return tell(
                "buffer-changed", name_of(tracked.function), tracked.place,
                "partition " + std::to_string(i) + " was changed after MPI_Pready, before " +
                    call.name() + " at " + location_of(call.place()) + " completed the send",
                "Write to a partition before MPI_Pready, or after the request is complete.");
}

}  // namespace heddle::check
