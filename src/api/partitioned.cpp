// SPDX-License-Identifier: BSD-3-Clause
/// Partitioned communication (MPI 5.0, 4).

#include "partitioned/partitioned.hpp"
#include "api/completion.hpp"
#include "api/entry.hpp"
#include "api/object_arguments.hpp"
#include "core/request_type.hpp"

namespace heddle::api {
namespace {

HEDDLE_NAMED(Partitions, Count, "partitions")
/// The most partitions for which there are tags.
constexpr std::int64_t most_partitions = 1 << 30;

/// Checks the arguments that both ends have, and finds their memory.
int side_of(Thread& thread, Communicator& communicator, std::byte* data, Partitions partitions,
            Count count, Type type, partitioned::Side& side) {
    if (partitions.value < 1 || partitions.value > most_partitions)
        return refuse(thread, &communicator, MPI_ERR_ARG, Partitions::name,
                      std::to_string(partitions.value) + " is not from 1 to " +
                          std::to_string(most_partitions));
    std::int64_t elements = 0;
    if (__builtin_mul_overflow(partitions.value, count.value, &elements))
        return refuse(thread, &communicator, MPI_ERR_COUNT, Count::name,
                      "the message has more than 2^63 bytes");
    p2p::Shape shape;
    if (const int error =
            shape_of(thread, communicator, data, Count(*thread.process, elements), type, shape))
        return error;
    side = {data, partitions.value, count.value, type.object};
    return MPI_SUCCESS;
}

int start_end(Thread& thread, Request& request) {
    if (request.extra == nullptr)
        request.inner = null_receive(thread);
    else
        static_cast<partitioned::End*>(request.extra)->start(thread, request);
    return MPI_SUCCESS;
}

int let_go_of_end(Thread& thread, Request& request) {
    if (request.extra != nullptr)
        static_cast<partitioned::End*>(request.extra)->let_go(thread, request);
    else if (request.inner != nullptr)
        engine_of(thread).requests().free(thread, *request.inner);
    engine_of(thread).requests().free(thread, request);
    return MPI_SUCCESS;
}

int hand_out_end(Thread& thread, Communicator& communicator, partitioned::End* end,
                 MPI_Request& handle) {
    Request* request = engine_of(thread).requests().take(thread);
    if (request == nullptr) return hand_out(thread, communicator, nullptr, handle);
    request->operation = core::Operation::persistent_partitioned;
    request->inner = nullptr;
    request->extra = end;
    request->error = MPI_SUCCESS;
    request->any_tag = false;
    request->cancelled = false;
    return hand_out(thread, communicator, request, handle);
}

template <class End>
int make_side(Thread& thread, Communicator& communicator, const partitioned::Side& side,
              std::int32_t peer, std::int32_t tag, MPI_Request& handle) {
    auto* end = new End(thread, communicator, side, peer, tag);
    if (!end->pair(thread)) {
        Request none;
        end->let_go(thread, none);
        return hand_out(thread, communicator, nullptr, handle);
    }
    return hand_out_end(thread, communicator, end, handle);
}

int psend_init(Thread& thread, SendBuffer buffer, Partitions partitions, Count count, Type type,
               Dest dest, SendTag tag, Comm comm, Hints, Out<MPI_Request> result) {
    partitioned::Side side{};
    auto* data = const_cast<std::byte*>(buffer.address);  // only read
    if (const int error = side_of(thread, *comm, data, partitions, count, type, side)) return error;
    if (dest.null()) return hand_out_end(thread, *comm, nullptr, *result);
    return make_side<partitioned::Sender>(thread, *comm, side, dest.rank, tag.value, *result);
}

/// A source without wildcards: `Dest` and `SendTag` allow what may stand here.
HEDDLE_NAMED(PartitionSource, Dest, "source")

int precv_init(Thread& thread, ReceiveBuffer buffer, Partitions partitions, Count count, Type type,
               PartitionSource source, SendTag tag, Comm comm, Hints, Out<MPI_Request> result) {
    partitioned::Side side{};
    if (const int error = side_of(thread, *comm, buffer.address, partitions, count, type, side))
        return error;
    if (source.null()) return hand_out_end(thread, *comm, nullptr, *result);
    return make_side<partitioned::Receiver>(thread, *comm, side, source.rank, tag.value, *result);
}

/// Finds the end behind a handle: nullptr for MPI_PROC_NULL. Raises an error if the handle is not
/// of this kind.
template <class End>
int find_end(Thread& thread, MPI_Request handle, Request*& request, End*& end) {
    if (const int error = find_request(thread, handle, request)) return error;
    auto* any = request == nullptr || request->operation != core::Operation::persistent_partitioned
        ? nullptr
        : static_cast<partitioned::End*>(request->extra);
    end = dynamic_cast<End*>(any);
    if (end != nullptr ||
        (request != nullptr && any == nullptr &&
         request->operation == core::Operation::persistent_partitioned))
        return MPI_SUCCESS;
    return objects::fail(thread, nullptr, MPI_ERR_REQUEST,
                         std::is_same_v<End, partitioned::Sender>
                             ? "argument request: not of MPI_Psend_init"
                             : "argument request: not of MPI_Precv_init");
}

int no_partition(Thread& thread, const Request& request, const partitioned::End& end,
                 std::int64_t partition) {
    return refuse(thread, request.communicator, MPI_ERR_ARG, "partition",
                  std::to_string(partition) + " is not one of the request's partitions, 0 to " +
                      std::to_string(end.partitions() - 1));
}

int ready(Thread& thread, MPI_Request handle, std::int64_t partition) {
    Request* request = nullptr;
    partitioned::Sender* sender = nullptr;
    if (const int error = find_end(thread, handle, request, sender)) return error;
    if (request->inner == nullptr)
        return objects::fail(thread, request->communicator, MPI_ERR_REQUEST,
                             "argument request: not started");
    if (sender == nullptr) return MPI_SUCCESS;
    if (partition < 0 || partition >= sender->partitions())
        return no_partition(thread, *request, *sender, partition);
    if (sender->ready(thread, partition) == MPI_SUCCESS) return MPI_SUCCESS;
    return refuse(thread, request->communicator, MPI_ERR_ARG, "partition",
                  std::to_string(partition) + " has been ready before");
}

int pready(Thread& thread, Raw<int> partition, Raw<MPI_Request> request) {
    return ready(thread, request.value, partition.value);
}

int pready_range(Thread& thread, Raw<int> low, Raw<int> high, Raw<MPI_Request> request) {
    for (std::int64_t partition = low.value; partition <= high.value; ++partition)
        if (const int error = ready(thread, request.value, partition)) return error;
    return MPI_SUCCESS;
}

HEDDLE_NAMED(Length, Count, "length")

int pready_list(Thread& thread, Length length, Array<const int> partitions,
                Raw<MPI_Request> request) {
    if (partitions.value == nullptr && length.value != 0)
        return objects::fail(thread, nullptr, MPI_ERR_ARG,
                             "argument array_of_partitions: a null pointer");
    for (std::int64_t i = 0; i < length.value; ++i)
        if (const int error = ready(thread, request.value, partitions.value[i])) return error;
    return MPI_SUCCESS;
}

int parrived(Thread& thread, Raw<MPI_Request> handle, Raw<int> partition, Out<int> flag) {
    Request* request = nullptr;
    partitioned::Receiver* receiver = nullptr;
    if (const int error = find_end(thread, handle.value, request, receiver)) return error;
    *flag = 1;
    if (receiver == nullptr) return MPI_SUCCESS;
    if (partition.value < 0 || partition.value >= receiver->partitions())
        return no_partition(thread, *request, *receiver, partition.value);
    // All partitions of a request that is not active are there (MPI 5.0, 4.2.2).
    if (request->inner == nullptr || receiver->arrived(partition.value)) return MPI_SUCCESS;
    Request* const one[] = {request->inner};
    make_progress(thread, one);
    *flag = receiver->arrived(partition.value);
    return MPI_SUCCESS;
}

constexpr core::RequestType end_type{.let_go = let_go_of_end, .start = start_end};
const core::TypeOfRequests ends(core::Operation::persistent_partitioned, end_type);

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(9, Psend_init, psend_init)
MPI_ENTRY(9, Precv_init, precv_init)
MPI_ENTRY(2, Pready, pready)
MPI_ENTRY(3, Pready_range, pready_range)
MPI_ENTRY(3, Pready_list, pready_list)
MPI_ENTRY(3, Parrived, parrived)
