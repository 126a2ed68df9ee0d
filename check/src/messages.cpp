// SPDX-License-Identifier: BSD-3-Clause
/// Messages between ranks of a node. The sender leaves a record, which the receiver compares with
/// its message.
///
/// The records of one envelope are in the order of the sends, as the messages are. Threads may swap
/// them between the record and the send. So a receive takes the first record that agrees with it.
/// Only if there is none, it takes a wrong one.

#include <mutex>
#include <unordered_map>
#include <vector>

#include "buffers.hpp"
#include "findings.hpp"
#include "node.hpp"
#include "requests.hpp"

namespace heddle::check {

namespace {

/// Returns the communicator's number in records. Records of a pair of partitioned messages match no
/// others.
std::uint64_t channel_of(const Comm& comm, std::uint64_t pair) noexcept {
    return pair == 0 ? comm.id : (comm.id ^ pair * 0x9e3779b97f4a7c15) | 1;
}

/// Adds a record for a message, if its receiver is on this node.
Sent add_record(const Comm& comm, int dest, int tag, const Signature& signature, Function function,
                Place place, std::uint64_t pair = 0) {
    Node* const node = Node::get();
    if (node == nullptr || comm.id == 0) return {};
    const int to = comm.place(dest);
    if (to < 0) return {};
    Message message{};
    message.communicator = channel_of(comm, pair);
    message.place = place;
    message.set(signature);
    message.tag = tag;
    message.function = static_cast<std::uint16_t>(function);
    message.from = static_cast<std::uint16_t>(node->place_of(own_rank()));
    const Sent sent = node->messages().add(to, message);
    if (sent.number == 0) node->lose_records_of(comm.world_rank(dest));
    return sent;
}

bool may_receive(const Message& sent, const Buffer& buffer) {
    if (buffer.is_empty() || sent.elements == 0) return true;
    const Signature& one = buffer.type->signature;
    if (one.is_any() || sent.code == Signature::any) return true;
    if (one.code != Signature::mixed && sent.code != Signature::mixed) return one.code == sent.code;
    Signature taken;
    return !buffer.type->prefix(sent.elements, taken) || agree(taken, sent.signature());
}

std::string sender_of(const Message& sent) {
    return std::to_string(Node::get()->rank_at(sent.from));
}

void tell_types(const char* call, Place place, const Message& sent, const Buffer& buffer) {
    const Signature wanted = buffer.type->signature.times(static_cast<std::uint64_t>(buffer.count));
    tell("message-type", call, place,
         "receives " + words(wanted) + ", but rank " + sender_of(sent) + " has sent " +
             words(sent.signature()) + " (" + name_of(static_cast<Function>(sent.function)) +
             " at " + location_of(sent.place) + ", tag " + std::to_string(sent.tag) + ")",
         "Name the same types on both sides.");
}

void tell_length(const char* call, Place place, const Message& sent, const Buffer& buffer) {
    const std::int64_t room = buffer.count * buffer.type->signature.bytes;
    tell("assertion", call, place,
         "receives " + std::to_string(sent.bytes) + " bytes into room for " + std::to_string(room) +
             ", on a communicator that promises mpi_assert_exact_length",
         "Post receives of the exact length, or do not promise it.");
}

/// The messages that a probe has matched, by handle.
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
    const auto& found = comm_of(comm);
    if (found == nullptr) return {};
    return add_record(*found, dest, tag, signature_of(datatype, count), call.function(),
                      call.place());
}

void unsend(const Sent& sent) {
    if (Node* const node = Node::get()) node->messages().withdraw(sent);
}

void put_on_its_way(Tracked& tracked) {
    if (tracked.comm == nullptr || tracked.dest == MPI_PROC_NULL) return;
    tracked.sent = add_record(*tracked.comm, tracked.dest, tracked.send_tag, tracked.signature,
                              tracked.function, tracked.place, pair_of(tracked));
}

void receiving(const Call& call, Tracked& tracked, MPI_Comm comm, int source, int tag) {
    const auto& found = comm_of(comm);
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
    const auto& found = comm_of(comm);
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
    if (const auto& found = comm_of(comm)) look_at_wildcards(call, *found, source, tag);
}

void look_at_probe(const Call& call, MPI_Comm comm, int source, int tag) {
    if (const auto& found = comm_of(comm)) look_at_wildcards(call, *found, source, tag);
}

void received(const Call& call, const Buffer& buffer, MPI_Comm comm, const MPI_Status& status) {
    if (const auto& found = comm_of(comm))
        compare_received(call.name(), call.place(), *found, buffer, status.MPI_SOURCE,
                         status.MPI_TAG);
}

void lost() {
    if (Node* const node = Node::get()) node->lose_sight_of(own_rank());
}

void compare_received(const char* call, Place place, const Comm& comm, const Buffer& buffer,
                      int source, int tag, std::uint64_t pair) {
    Node* const node = Node::get();
    if (node == nullptr || comm.id == 0) return;
    const int from = comm.place(source);
    if (from < 0) return;
    Message sent;
    const auto found = node->messages().take(
        from, {channel_of(comm, pair), tag},
        [&](const Message& one) { return may_receive(one, buffer); }, sent);
    if (found == SentMessages::Found::none || !node->has_all_records(own_rank())) return;
    if (found == SentMessages::Found::differs) tell_types(call, place, sent, buffer);
    if (!comm.exact_length || buffer.is_empty() || sent.bytes < 0) return;
    if (sent.bytes != buffer.count * buffer.type->signature.bytes)
        tell_length(call, place, sent, buffer);
}

void tell_unreceived() {
    Node* const node = Node::get();
    if (node == nullptr) return;
    node->messages().give_back();
    if (!node->leave()) return;
    for (const auto& [to, message] : node->messages().left()) {
        const int receiver = node->rank_at(to);
        if (node->is_lost(receiver)) continue;
        tell("unreceived", name_of(static_cast<Function>(message.function)), message.place,
             "the message to rank " + std::to_string(receiver) + " with tag " +
                 std::to_string(message.tag) + " (" + words(message.signature()) +
                 ") is never received",
             "Receive it, or do not send it.", node->rank_at(message.from));
    }
}

}  // namespace heddle::check
