// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/leaders.hpp"

#include <string>

#include "objects/errors.hpp"
#include "p2p/operations.hpp"

namespace heddle::p2p {
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

int exchange(core::Thread& thread, const Introduction& with, const void* out, std::uint64_t out_bytes,
             void* in, std::uint64_t in_bytes) {
    objects::Communicator& peer = *with.peer;
    Engine& engine = *thread.process->engine;
    const std::uint32_t context = peer.context + 1;
    core::Request* receive = engine.start_receive(
        thread, {{context, leaders + with.remote_leader, with.tag}, false, static_cast<std::byte*>(in),
                 in_bytes, &peer});
    core::Request* send = engine.start_send(
        thread, {{context, leaders + peer.rank, with.tag}, peer.processes[with.remote_leader],
                 static_cast<const std::byte*>(out), out_bytes});
    const int sent = finish(thread, peer, send);
    const int received = finish(thread, peer, receive);
    return sent != MPI_SUCCESS ? sent : received;
}

constexpr std::uint64_t bytes_of(std::int32_t count) {
    return static_cast<std::uint64_t>(count) * sizeof(std::int32_t);
}

/// At the leader: what its group is to hear.
int meet(core::Thread& thread, const objects::Communicator& local, const Introduction& with,
         Offer& offer, objects::Members& remote) {
    if (with.peer == nullptr) return with.error;
    objects::Contexts& contexts = thread.process->contexts;
    const objects::Members& members = local.group->processes;
    const Offer mine{MPI_SUCCESS, contexts.take(), local.size()};
    if (const int error = exchange(thread, with, &mine, sizeof mine, &offer, sizeof offer)) return error;
    remote.resize(static_cast<std::size_t>(offer.count));
    if (const int error = exchange(thread, with, members.data(), bytes_of(mine.count), remote.data(),
                                   bytes_of(offer.count)))
        return error;
    const bool i_choose = thread.process->rank() < with.peer->processes[with.remote_leader];
    if (!i_choose) contexts.give_back(mine.context);
    else offer.context = mine.context;
    if (!objects::intersected(members, remote).empty()) offer.error = MPI_ERR_GROUP;
    return MPI_SUCCESS;
}

int fail(core::Thread& thread, objects::Communicator& local, int error) {
    return objects::fail(thread, &local, error,
                         error == MPI_ERR_GROUP
                             ? "argument local_comm: a process is in both groups"
                             : "the local leader could not meet the remote one: " +
                                   std::string(objects::class_text(error)));
}

}  // namespace

int introduce(core::Thread& thread, objects::Communicator& local, std::int32_t local_leader,
              const Introduction& introduction, Part& part) {
    const Circle circle(local);
    const std::int32_t size = circle.size();
    const std::int32_t me = (circle.me() - local_leader + size) % size;
    std::vector<std::int32_t> members = everybody(circle);
    for (std::int32_t& member : members) member = (member + local_leader) % size;

    Offer offer{};
    const int failed = me == 0 ? meet(thread, local, introduction, offer, part.remote) : MPI_SUCCESS;
    if (failed != MPI_SUCCESS) offer = {failed, 0, 0};
    if (const int error =
            broadcast(thread, circle, members, me, intercomm_agreement, &offer, sizeof offer))
        return error;
    if (failed != MPI_SUCCESS) return failed;  // has been raised
    if (offer.error != MPI_SUCCESS) return fail(thread, local, offer.error);
    if (offer.context == 0)
        return objects::fail(thread, &local, MPI_ERR_OTHER,
                             "no context id is left for another communicator");
    part.context = offer.context;
    part.remote.resize(static_cast<std::size_t>(offer.count));
    return broadcast(thread, circle, members, me, intercomm_agreement, part.remote.data(),
                     bytes_of(offer.count));
}

}  // namespace heddle::p2p
