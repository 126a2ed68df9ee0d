// SPDX-License-Identifier: BSD-3-Clause
#include "comm/leaders.hpp"

#include <string>

#include "comm/recycling.hpp"
#include "objects/errors.hpp"
#include "p2p/operations.hpp"

namespace heddle::comm {
namespace {

/// Leaders meet in the collective context of their common communicator, with the user's tag and sources
/// that are no ranks: other calls use that context with the same tags.
constexpr std::int32_t leaders = 1 << 30;

/// What a leader tells the other one, and then its group, before a list of processes.
struct Offer {
    std::int32_t error;
    std::uint32_t context;
    std::int32_t count;
};

int exchange(core::Thread& thread, const Route& route, const void* out, std::uint64_t out_bytes,
             void* in, std::uint64_t in_bytes) {
    p2p::Engine& engine = *thread.engine;
    core::Request* receive = engine.start_receive(thread,
                                                  {{route.context, route.their_source, route.tag},
                                                   false,
                                                   static_cast<std::byte*>(in),
                                                   in_bytes,
                                                   route.for_errors});
    core::Request* send = engine.start_send(thread,
                                            {{route.context, route.my_source, route.tag},
                                             route.process,
                                             static_cast<const std::byte*>(out),
                                             out_bytes});
    const int sent = p2p::finish(thread, *route.for_errors, send);
    const int received = p2p::finish(thread, *route.for_errors, receive);
    return sent != MPI_SUCCESS ? sent : received;
}

constexpr std::uint64_t bytes_of(std::int32_t count) {
    return static_cast<std::uint64_t>(count) * sizeof(std::int32_t);
}

/// At the leader: what its group is to hear. `remote`: ranks in the world.
int meet(core::Thread& thread, const objects::Members& members, const Route& with, Offer& offer,
         objects::Members& remote) {
    if (with.for_errors == nullptr) return with.error;
    objects::Contexts& contexts = thread.process->contexts;
    const Offer mine{MPI_SUCCESS, contexts.take(), static_cast<std::int32_t>(members.size())};
    if (const int error = exchange(thread, with, &mine, sizeof mine, &offer, sizeof offer))
        return error;
    remote.resize(static_cast<std::size_t>(offer.count));
    const objects::Members ranks = world_ranks(thread, members);
    if (const int error = exchange(thread, with, ranks.data(), bytes_of(mine.count), remote.data(),
                                   bytes_of(offer.count)))
        return error;
    const launch::Numbering& numbers = thread.process->numbers;
    const bool i_choose = numbers.rank() < numbers.rank_of(with.process);
    if (!i_choose)
        contexts.give_back(mine.context);
    else
        offer.context = mine.context;
    if (!objects::intersected(ranks, remote).empty()) offer.error = MPI_ERR_GROUP;
    return MPI_SUCCESS;
}

int fail(core::Thread& thread, const Participants& participants, int error) {
    return objects::fail(thread, &participants.communicator(), error,
                         error == MPI_ERR_GROUP
                             ? "a process is in both groups"
                             : "the local leader could not meet the remote one: " +
                                 std::string(objects::class_text(error)));
}

}  // namespace

Route through(objects::Communicator& peer, std::int32_t leader, std::int32_t tag) noexcept {
    return {
        &peer, peer.context + 1, tag, leaders + peer.rank, leaders + leader, peer.processes[leader],
        0};
}

int introduce(core::Thread& thread, const Participants& participants, std::int32_t local_leader,
              const Route& route, Part& part) {
    thread.process->recycling->step(thread);
    const std::int32_t size = participants.size();
    const std::int32_t me = (participants.me() - local_leader + size) % size;
    std::vector<std::int32_t> members = everybody(participants);
    for (std::int32_t& member : members) member = (member + local_leader) % size;

    Offer offer{};
    part.local = participants.processes();
    const int failed = me == 0 ? meet(thread, part.local, route, offer, part.remote) : MPI_SUCCESS;
    if (failed != MPI_SUCCESS) offer = {failed, 0, 0};
    if (const int error =
            broadcast(thread, participants, members, me, intercomm_agreement, &offer, sizeof offer))
        return error;
    if (failed != MPI_SUCCESS) return failed;  // has been raised
    if (offer.error != MPI_SUCCESS) return fail(thread, participants, offer.error);
    if (offer.context == 0)
        return objects::fail(thread, &participants.communicator(), MPI_ERR_OTHER,
                             "no context id is left for another communicator");
    part.context = offer.context;
    part.remote.resize(static_cast<std::size_t>(offer.count));
    const int error = broadcast(thread, participants, members, me, intercomm_agreement,
                                part.remote.data(), bytes_of(offer.count));
    for (std::int32_t& process : part.remote) process = thread.process->numbers.number_of(process);
    return error;
}

}  // namespace heddle::comm
