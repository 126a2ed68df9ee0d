// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/agreement.hpp"

#include <algorithm>
#include <limits>

#include "objects/errors.hpp"
#include "p2p/join.hpp"
#include "p2p/operations.hpp"

namespace heddle::p2p {
namespace {

int none_left(core::Thread& thread, objects::Communicator& parent) {
    return objects::fail(thread, &parent, MPI_ERR_OTHER,
                         "no context id is left for another communicator");
}

/// A value of the first member to all, along a binomial tree.
int broadcast(core::Thread& thread, objects::Communicator& parent,
              std::span<const std::int32_t> members, std::int32_t me, std::int32_t tag,
              std::uint32_t& value) {
    const auto size = static_cast<std::int32_t>(members.size());
    const auto rank_of = [&](std::int32_t member) { return members[static_cast<std::size_t>(member)]; };
    const std::uint32_t context = parent.context + 1;
    std::int32_t step = 1;
    for (; step < size; step *= 2) {
        if ((me & step) == 0) continue;
        if (const int error = receive(thread, parent, context, &value, sizeof value,
                                      rank_of(me - step), tag))
            return error;
        break;
    }
    for (step /= 2; step >= 1; step /= 2) {
        if (me + step >= size) continue;
        if (const int error =
                send(thread, parent, context, &value, sizeof value, rank_of(me + step), tag))
            return error;
    }
    return MPI_SUCCESS;
}

/// What everybody gives, by rank, in a logarithmic number of rounds (Bruck).
template <class T>
int gather_all(core::Thread& thread, objects::Communicator& parent, std::int32_t tag, std::vector<T>& all,
               const T& mine) {
    const std::int32_t size = parent.size();
    const auto count = static_cast<std::size_t>(size);
    std::vector<T> from_me(count);  // entry i is of the rank i after mine
    from_me[0] = mine;
    for (std::int32_t step = 1; step < size; step *= 2) {
        const auto blocks = static_cast<std::uint64_t>(std::min(step, size - step));
        const std::int32_t before = (parent.rank - step + size) % size;
        const std::int32_t after = (parent.rank + step) % size;
        if (const int error = exchange(thread, parent, parent.context + 1, from_me.data(),
                                       blocks * sizeof(T), before, &from_me[static_cast<std::size_t>(step)],
                                       blocks * sizeof(T), after, tag))
            return error;
    }
    all.resize(count);
    for (std::size_t i = 0; i < count; ++i)
        all[(static_cast<std::size_t>(parent.rank) + i) % count] = from_me[i];
    return MPI_SUCCESS;
}

}  // namespace

std::int32_t create_group_agreement(std::int32_t users_tag) noexcept {
    const std::int32_t tag = std::numeric_limits<std::int32_t>::min() + users_tag;
    return tag == match::any_tag ? last_group_agreement : tag;
}

int agree_on_context(core::Thread& thread, objects::Communicator& parent,
                     std::span<const std::int32_t> members, std::int32_t me, std::int32_t tag,
                     std::uint32_t& context) {
    if (me == 0) context = thread.process->contexts.take();
    if (const int error = broadcast(thread, parent, members, me, tag, context)) return error;
    return context == 0 ? none_left(thread, parent) : MPI_SUCCESS;
}

int start_to_agree(core::Thread& thread, objects::Communicator& parent, std::uint32_t& context,
                   core::Request*& request) {
    const std::uint32_t through = parent.context + 1;
    std::vector<core::Request*> parts;
    if (parent.rank == 0) {
        context = thread.process->contexts.take();
        if (context == 0) return none_left(thread, parent);
        parts.push_back(&thread.process->engine->completed_send());
        for (std::int32_t rank = 1; rank < parent.size(); ++rank)
            parts.push_back(start_send(thread, parent, through, &context, sizeof context, rank,
                                       idup_agreement));
    } else {
        // Completed sends stand for the others: a request without a status of its own.
        core::Request* completed = &thread.process->engine->completed_send();
        parts = {completed, start_receive(thread, parent, through, &context, sizeof context, 0,
                                          idup_agreement)};
    }
    request = std::find(parts.begin(), parts.end(), nullptr) == parts.end() ? join(thread, parts)
                                                                             : nullptr;
    if (request != nullptr) return MPI_SUCCESS;
    return objects::fail(thread, &parent, MPI_ERR_NO_MEM, "no memory for a request");
}

int split(core::Thread& thread, objects::Communicator& parent, std::int32_t color, std::int32_t key,
          std::vector<std::int32_t>& members, std::uint32_t& context) {
    objects::Contexts& contexts = thread.process->contexts;
    const SplitChoice mine{color, key, color == MPI_UNDEFINED ? 0 : contexts.take()};
    std::vector<SplitChoice> all;
    if (const int error = gather_all(thread, parent, split_agreement, all, mine)) return error;
    members.clear();
    if (color == MPI_UNDEFINED) return MPI_SUCCESS;
    const auto choice = [&](std::int32_t rank) { return all[static_cast<std::size_t>(rank)]; };
    for (std::int32_t rank = 0; rank < parent.size(); ++rank)
        if (choice(rank).color == color) members.push_back(rank);
    std::stable_sort(members.begin(), members.end(), [&](std::int32_t a, std::int32_t b) {
        return choice(a).key < choice(b).key;
    });
    context = choice(members.front()).context;
    if (members.front() != parent.rank) contexts.give_back(mine.context);
    return context == 0 ? none_left(thread, parent) : MPI_SUCCESS;
}

}  // namespace heddle::p2p
