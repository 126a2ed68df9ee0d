// SPDX-License-Identifier: BSD-3-Clause
/// Messages between ranks of a node: their sender leaves a record, which the receiver compares with what it has taken.
///
/// The records of one sender, receiver, communicator and tag are in the order of the sends, as the messages are. Threads may
/// swap them between the record and the send. So a receive takes the first record that agrees with it, and only if there is
/// none a wrong one.

#include <mutex>
#include <unordered_map>
#include <vector>

#include "buffers.hpp"
#include "findings.hpp"
#include "node.hpp"
#include "requests.hpp"

namespace heddle::check {

namespace {

Key key_of(const Comm& comm, int from, int to, int tag) {
    return {Sort::message, comm.id,
            static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to),
            static_cast<std::uint64_t>(tag)};
}

/// A record for a message, if its receiver is on this node.
Sent add_record(const Comm& comm, int dest, int tag, const Signature& signature, Function function,
                Place place) {
    Node* const node = Node::get();
    if (node == nullptr || comm.id == 0 || dest < 0) return {};
    const int from = comm.world_rank(comm.rank), to = comm.world_rank(dest);
    if (from < 0 || !node->is_here(to)) return {};
    Bucket bucket(*node, key_of(comm, from, to, tag));
    Record* const record = bucket.add();
    if (record == nullptr) {
        node->lose_sight_of(to);
        return {};
    }
    record->place = place;
    record->signature = signature;
    record->function = static_cast<std::int32_t>(function);
    record->number = tag;
    record->rank = from;
    record->peer = to;
    return {node->index_of(*record), record->key.communicator, record->key.first, tag};
}

bool may_receive(const Record& sent, const Buffer& buffer) {
    if (buffer.is_empty() || sent.signature.elements == 0) return true;
    const Signature& one = buffer.type->signature;
    if (one.is_any() || sent.signature.is_any()) return true;
    if (one.code != Signature::mixed && sent.signature.code != Signature::mixed)
        return one.code == sent.signature.code;
    Signature taken;
    return !buffer.type->prefix(sent.signature.elements, taken) || agree(taken, sent.signature);
}

void tell_types(const char* call, Place place, const Record& sent, const Buffer& buffer) {
    const Signature wanted = buffer.type->signature.times(static_cast<std::uint64_t>(buffer.count));
    tell("message-type", call, place,
         "receives " + words(wanted) + ", but rank " + std::to_string(sent.rank) + " has sent " +
             words(sent.signature) + " (" + name_of(static_cast<Function>(sent.function)) + " at " +
             location_of(sent.place) + ", tag " + std::to_string(sent.number) + ")",
         "Name the same types on both sides.");
}

void tell_length(const char* call, Place place, const Record& sent, const Buffer& buffer) {
    const std::int64_t room = buffer.is_empty() ? 0 : buffer.count * buffer.type->signature.bytes;
    tell("assertion", call, place,
         "receives " + std::to_string(sent.signature.bytes) + " bytes into room for " +
             std::to_string(room) + ", on a communicator that promises mpi_assert_exact_length",
         "Post receives of the exact length, or do not promise it.");
}

/// Messages that a probe has matched, by handle.
struct Matched {
    std::mutex guard;
    std::unordered_map<MPI_Message, std::shared_ptr<Comm>> comms;
};
Matched& matched_messages() {
    static Matched& all = *new Matched;
    return all;
}

void look_at_wildcards(const Call& call, const Comm& comm, int source, int tag) {
    if (source == MPI_ANY_SOURCE && comm.no_any_source)
        tell("assertion", call.name(), call.place(),
             "MPI_ANY_SOURCE on " + words(comm) + ", which promises mpi_assert_no_any_source",
             "Name the source, or do not promise it.");
    if (tag == MPI_ANY_TAG && comm.no_any_tag)
        tell("assertion", call.name(), call.place(),
             "MPI_ANY_TAG on " + words(comm) + ", which promises mpi_assert_no_any_tag",
             "Name the tag, or do not promise it.");
}

}  // namespace

Sent send(const Call& call, const void* buffer, MPI_Count count, MPI_Datatype datatype, int dest,
          int tag, MPI_Comm comm) {
    if (dest == MPI_PROC_NULL) return {};
    look_for_overlap(call, Buffer(buffer, count, datatype), false);
    const auto found = comm_of(comm);
    if (found == nullptr) return {};
    return add_record(*found, dest, tag, signature_of(datatype, count), call.function(),
                      call.place());
}

void unsend(Sent sent) {
    Node* const node = Node::get();
    if (node == nullptr || sent.record == 0) return;
    Bucket bucket(
        *node,
        {Sort::message, sent.communicator, sent.ranks, static_cast<std::uint64_t>(sent.tag)});
    // A later message of the same kind may have been received for it: then the record of that one is left.
    Record* last = nullptr;
    for (Record* record = bucket.find(); record != nullptr; record = bucket.find(record)) {
        last = record;
        if (node->index_of(*record) == sent.record) break;
    }
    if (last != nullptr) bucket.remove(*last);
}

void put_on_its_way(Tracked& tracked) {
    if (tracked.comm == nullptr || tracked.dest == MPI_PROC_NULL) return;
    tracked.sent = add_record(*tracked.comm, tracked.dest, tracked.send_tag, tracked.signature,
                              tracked.function, tracked.place);
}

void receiving(const Call& call, Tracked& tracked, MPI_Comm comm, int source, int tag) {
    const auto found = comm_of(comm);
    if (found == nullptr) return;
    look_at_wildcards(call, *found, source, tag);
    if (tracked.comm != nullptr && tracked.comm != found) return;
    tracked.comm = found;
    tracked.receives = source != MPI_PROC_NULL;
    tracked.source = source;
    tracked.receive_tag = tag;
}

void receiving_matched(Tracked& tracked, MPI_Message message) {
    tracked.comm = comm_of_message(message);
    tracked.receives = tracked.comm != nullptr;
    tracked.source = MPI_ANY_SOURCE;
}

void matched(MPI_Message message, MPI_Comm comm) {
    if (message == MPI_MESSAGE_NULL || message == MPI_MESSAGE_NO_PROC) return;
    const auto found = comm_of(comm);
    const std::lock_guard<std::mutex> held(matched_messages().guard);
    matched_messages().comms[message] = found;
}

std::shared_ptr<Comm> comm_of_message(MPI_Message message) {
    const std::lock_guard<std::mutex> held(matched_messages().guard);
    const auto entry = matched_messages().comms.find(message);
    if (entry == matched_messages().comms.end()) return nullptr;
    auto found = std::move(entry->second);
    matched_messages().comms.erase(entry);
    return found;
}

void before_receive(const Call& call, const Buffer& buffer, MPI_Comm comm, int source, int tag) {
    look_for_overlap(call, buffer, true);
    if (const auto found = comm_of(comm)) look_at_wildcards(call, *found, source, tag);
}

void look_at_probe(const Call& call, MPI_Comm comm, int source, int tag) {
    if (const auto found = comm_of(comm)) look_at_wildcards(call, *found, source, tag);
}

void received(const Call& call, const Buffer& buffer, MPI_Comm comm, const MPI_Status& status) {
    if (const auto found = comm_of(comm))
        compare_received(call.name(), call.place(), *found, buffer, status.MPI_SOURCE,
                         status.MPI_TAG);
}

void lost() {
    if (Node* const node = Node::get()) node->lose_sight_of(own_rank());
}

void compare_received(const char* call, Place place, Comm& comm, const Buffer& buffer, int source,
                      int tag) {
    Node* const node = Node::get();
    if (node == nullptr || comm.id == 0 || source < 0) return;
    const int from = comm.world_rank(source), to = comm.world_rank(comm.rank);
    if (to < 0 || !node->is_here(from)) return;
    Record taken{};
    bool agrees = true;
    {
        Bucket bucket(*node, key_of(comm, from, to, tag));
        Record* const first = bucket.find();
        Record* record = first;
        while (record != nullptr && !may_receive(*record, buffer)) record = bucket.find(record);
        agrees = record != nullptr;
        if (record == nullptr) record = first;
        if (record == nullptr) return;
        taken = *record;
        bucket.remove(*record);
    }
    if (!agrees) tell_types(call, place, taken, buffer);
    const std::int64_t room = buffer.is_empty() ? 0 : buffer.count * buffer.type->signature.bytes;
    if (comm.exact_length && taken.signature.bytes != room) tell_length(call, place, taken, buffer);
}

void tell_unreceived() {
    Node* const node = Node::get();
    if (node == nullptr || !node->leave()) return;
    std::vector<Record> left;
    node->for_each_message([&](const Record& record) {
        if (!node->is_lost(record.peer)) left.push_back(record);
    });
    for (const Record& record : left)
        tell("unreceived", name_of(static_cast<Function>(record.function)), record.place,
             "the message to rank " + std::to_string(record.peer) + " with tag " +
                 std::to_string(record.number) + " (" + words(record.signature) +
                 ") is never received",
             "Receive it, or do not send it.", record.rank);
}

}  // namespace heddle::check
