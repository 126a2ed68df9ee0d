// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What the processes of a file tell each other in its collective calls.

#include <cstdint>
#include <vector>

#include "comm/participants.hpp"
#include "io/open_file.hpp"
#include "p2p/operations.hpp"

namespace heddle::io {

/// What each gives, by rank. Among few everybody tells everybody, so that each has to run but once before all can go on,
/// which counts where they share cores; among many in rounds. Answers an MPI error code that has been raised.
template <class T>
int gather(core::Thread& thread, OpenFile& file, std::int32_t tag, std::vector<T>& all,
           const T& mine) {
    constexpr std::int32_t few = 16;
    objects::Communicator& communicator = *file.communicator;
    const comm::Participants participants(communicator);
    const std::int32_t size = participants.size(), me = participants.me();
    if (size > few) return comm::gather_all(thread, participants, tag, all, mine);
    all.resize(static_cast<std::size_t>(size));
    all[static_cast<std::size_t>(me)] = mine;
    core::Request* requests[2 * few];
    std::size_t count = 0;
    for (std::int32_t i = 1; i < size; ++i) {
        const std::int32_t from = (me + i) % size;
        requests[count++] = comm::start_receive(
            thread, participants, &all[static_cast<std::size_t>(from)], sizeof mine, from, tag);
    }
    for (std::int32_t i = 1; i < size; ++i)
        requests[count++] =
            comm::start_send(thread, participants, &mine, sizeof mine, (me + size - i) % size, tag);
    int error = MPI_SUCCESS;
    for (std::size_t i = 0; i < count; ++i)
        if (const int one = p2p::finish(thread, communicator, requests[i])) error = one;
    return error;
}

}  // namespace heddle::io
