// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/circle.hpp"

#include <numeric>

#include "objects/process.hpp"
#include "p2p/operations.hpp"

namespace heddle::p2p {

Circle::Circle(objects::Communicator& communicator)
    : communicator_(communicator),
      context_(communicator.context + 1),
      processes_(communicator.group->processes),
      first_(communicator.size()),
      me_(communicator.rank) {
    if (communicator.remote == nullptr) return;
    const objects::Members& local = communicator.group->processes;
    const objects::Members& remote = communicator.remote->processes;
    const bool local_first = local.front() < remote.front();
    const objects::Members& first = local_first ? local : remote;
    const objects::Members& second = local_first ? remote : local;
    both_ = first;
    both_.insert(both_.end(), second.begin(), second.end());
    processes_ = both_;
    first_ = static_cast<std::int32_t>(first.size());
    if (!local_first) me_ += first_;
}

Circle::Circle(objects::Communicator& for_errors, std::uint32_t context,
               const objects::Group& group)
    : communicator_(for_errors),
      context_(context),
      processes_(group.processes),
      first_(group.size()),
      me_(group.rank) {}

core::Request* start_send(core::Thread& thread, const Circle& circle, const void* data,
                          std::uint64_t bytes, std::int32_t to, std::int32_t tag) {
    return thread.process->engine->start_send(thread,
                                              {{circle.context(), circle.me(), tag},
                                               circle.process(to),
                                               static_cast<const std::byte*>(data),
                                               bytes});
}

core::Request* start_receive(core::Thread& thread, const Circle& circle, void* data,
                             std::uint64_t bytes, std::int32_t from, std::int32_t tag) {
    return thread.process->engine->start_receive(thread,
                                                 {{circle.context(), from, tag},
                                                  false,
                                                  static_cast<std::byte*>(data),
                                                  bytes,
                                                  &circle.communicator()});
}

int send(core::Thread& thread, const Circle& circle, const void* data, std::uint64_t bytes,
         std::int32_t to, std::int32_t tag) {
    return finish(thread, circle.communicator(), start_send(thread, circle, data, bytes, to, tag));
}

int receive(core::Thread& thread, const Circle& circle, void* data, std::uint64_t bytes,
            std::int32_t from, std::int32_t tag) {
    return finish(thread, circle.communicator(),
                  start_receive(thread, circle, data, bytes, from, tag));
}

int exchange(core::Thread& thread, const Circle& circle, const void* out, std::uint64_t out_bytes,
             std::int32_t to, void* in, std::uint64_t in_bytes, std::int32_t from,
             std::int32_t tag) {
    core::Request* receive = start_receive(thread, circle, in, in_bytes, from, tag);
    core::Request* send = start_send(thread, circle, out, out_bytes, to, tag);
    const int sent = finish(thread, circle.communicator(), send);
    const int received = finish(thread, circle.communicator(), receive);
    return sent != MPI_SUCCESS ? sent : received;
}

int broadcast(core::Thread& thread, const Circle& circle, std::span<const std::int32_t> members,
              std::int32_t me, std::int32_t tag, void* data, std::uint64_t bytes) {
    const auto size = static_cast<std::int32_t>(members.size());
    const auto place_of = [&](std::int32_t member) {
        return members[static_cast<std::size_t>(member)];
    };
    std::int32_t step = 1;
    for (; step < size; step *= 2) {
        if ((me & step) == 0) continue;
        if (const int error = receive(thread, circle, data, bytes, place_of(me - step), tag))
            return error;
        break;
    }
    for (step /= 2; step >= 1; step /= 2) {
        if (me + step >= size) continue;
        if (const int error = send(thread, circle, data, bytes, place_of(me + step), tag))
            return error;
    }
    return MPI_SUCCESS;
}

std::vector<std::int32_t> everybody(const Circle& circle) {
    std::vector<std::int32_t> places(static_cast<std::size_t>(circle.size()));
    std::iota(places.begin(), places.end(), 0);
    return places;
}

}  // namespace heddle::p2p
