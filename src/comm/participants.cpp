// SPDX-License-Identifier: BSD-3-Clause
#include "comm/participants.hpp"

#include <numeric>

#include "objects/process.hpp"
#include "p2p/operations.hpp"

namespace heddle::comm {

Participants::Participants(objects::Communicator& communicator)
    : communicator_(communicator),
      context_(communicator.context + 1),
      processes_(communicator.group->processes),
      first_(communicator.size()),
      me_(communicator.rank) {
    if (communicator.remote == nullptr) return;
    const objects::MembersView local = communicator.group->processes;
    const objects::MembersView remote = communicator.remote->processes;
    const bool local_first = communicator.is_first;
    const objects::MembersView first = local_first ? local : remote;
    const objects::MembersView second = local_first ? remote : local;
    both_.assign(first.begin(), first.end());
    both_.insert(both_.end(), second.begin(), second.end());
    processes_ = both_;
    first_ = static_cast<std::int32_t>(first.size());
    if (!local_first) me_ += first_;
}

Participants::Participants(objects::Communicator& for_errors, std::uint32_t context,
                           const objects::Group& group)
    : communicator_(for_errors),
      context_(context),
      processes_(group.processes),
      first_(group.size()),
      me_(group.rank) {}

core::Request* start_send(core::Thread& thread, const Participants& participants, const void* data,
                          std::uint64_t bytes, std::int32_t to, std::int32_t tag) {
    return thread.engine->start_send(thread,
                                     {{participants.context(), participants.me(), tag},
                                      participants.process(to),
                                      static_cast<const std::byte*>(data),
                                      bytes});
}

core::Request* start_receive(core::Thread& thread, const Participants& participants, void* data,
                             std::uint64_t bytes, std::int32_t from, std::int32_t tag) {
    return thread.engine->start_receive(thread,
                                        {{participants.context(), from, tag},
                                         false,
                                         static_cast<std::byte*>(data),
                                         bytes,
                                         &participants.communicator()});
}

int send(core::Thread& thread, const Participants& participants, const void* data,
         std::uint64_t bytes, std::int32_t to, std::int32_t tag) {
    return p2p::finish(thread, participants.communicator(),
                       start_send(thread, participants, data, bytes, to, tag));
}

int receive(core::Thread& thread, const Participants& participants, void* data, std::uint64_t bytes,
            std::int32_t from, std::int32_t tag) {
    return p2p::finish(thread, participants.communicator(),
                       start_receive(thread, participants, data, bytes, from, tag));
}

int exchange(core::Thread& thread, const Participants& participants, const void* out,
             std::uint64_t out_bytes, std::int32_t to, void* in, std::uint64_t in_bytes,
             std::int32_t from, std::int32_t tag) {
    core::Request* receive = start_receive(thread, participants, in, in_bytes, from, tag);
    core::Request* send = start_send(thread, participants, out, out_bytes, to, tag);
    const int sent = p2p::finish(thread, participants.communicator(), send);
    const int received = p2p::finish(thread, participants.communicator(), receive);
    return sent != MPI_SUCCESS ? sent : received;
}

int broadcast(core::Thread& thread, const Participants& participants,
              std::span<const std::int32_t> members, std::int32_t me, std::int32_t tag, void* data,
              std::uint64_t bytes) {
    const auto size = static_cast<std::int32_t>(members.size());
    const auto place_of = [&](std::int32_t member) {
        return members[static_cast<std::size_t>(member)];
    };
    std::int32_t step = 1;
    for (; step < size; step *= 2) {
        if ((me & step) == 0) continue;
        if (const int error = receive(thread, participants, data, bytes, place_of(me - step), tag))
            return error;
        break;
    }
    for (step /= 2; step >= 1; step /= 2) {
        if (me + step >= size) continue;
        if (const int error = send(thread, participants, data, bytes, place_of(me + step), tag))
            return error;
    }
    return MPI_SUCCESS;
}

std::vector<std::int32_t> everybody(const Participants& participants) {
    std::vector<std::int32_t> places(static_cast<std::size_t>(participants.size()));
    std::iota(places.begin(), places.end(), 0);
    return places;
}

std::vector<std::uint64_t> common_names(const core::Thread& thread,
                                        std::span<const std::int32_t> processes) {
    const objects::Process& mine = *thread.process;
    const bool several_jobs = mine.has_guests(processes);
    std::vector<std::uint64_t> names;
    names.reserve(processes.size());
    for (const std::int32_t process : processes) {
        const transport::ProcessName name = mine.name_of(process);
        names.push_back(several_jobs ? name.job + name.rank : name.rank);
    }
    return names;
}

int all_agree(core::Thread& thread, const Participants& participants,
              std::span<const std::int32_t> members, std::int32_t me, std::int32_t tag, bool& yes) {
    const auto size = static_cast<std::int32_t>(members.size());
    const auto place_of = [&](std::int32_t member) {
        return members[static_cast<std::size_t>((member + size) % size)];
    };
    std::uint32_t mine = yes;
    for (std::int32_t step = 1; step < size; step *= 2) {
        std::uint32_t theirs = 0;
        const std::int32_t before = place_of(me - step);
        const std::int32_t after = place_of(me + step);
        if (const int error = exchange(thread, participants, &mine, sizeof mine, before, &theirs,
                                       sizeof theirs, after, tag))
            return error;
        mine &= theirs;
    }
    yes = mine != 0;
    return MPI_SUCCESS;
}

}  // namespace heddle::comm
