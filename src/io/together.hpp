// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What the processes of a file tell each other in its collective calls.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "comm/participants.hpp"
#include "io/open_file.hpp"
#include "p2p/operations.hpp"

namespace heddle::io {

/// What each gives, by rank. Among few everybody tells everybody, so that each has to run but once before all can go on,
/// which counts where they share cores; among many in rounds.
template <class T>
class Gathering {
public:
    /// Among few the caller's share is under way when this returns. Throws std::bad_alloc.
    Gathering(core::Thread& thread, OpenFile& file, std::int32_t tag, const T& mine)
        : thread_(thread),
          communicator_(*file.communicator),
          participants_(communicator_),
          tag_(tag),
          mine_(mine) {
        const std::int32_t size = participants_.size(), me = participants_.me();
        all_.resize(static_cast<std::size_t>(size));
        all_[static_cast<std::size_t>(me)] = mine;
        if (size > few) return;
        for (std::int32_t i = 1; i < size; ++i) {
            const std::int32_t from = (me + i) % size;
            T& theirs = all_[static_cast<std::size_t>(from)];
            requests_[count_++] =
                comm::start_receive(thread, participants_, &theirs, sizeof theirs, from, tag);
        }
        for (std::int32_t i = 1; i < size; ++i)
            requests_[count_++] = comm::start_send(thread, participants_, &mine_, sizeof mine_,
                                                   (me + size - i) % size, tag);
    }
    ~Gathering() {
        while (count_ > 0) (void)p2p::finish(thread_, communicator_, requests_[--count_]);
    }
    Gathering(const Gathering&) = delete;
    Gathering& operator=(const Gathering&) = delete;

    /// Answers an MPI error code that has been raised.
    int finish(std::vector<T>& all) {
        int error = MPI_SUCCESS;
        if (participants_.size() > few)
            error = comm::gather_all(thread_, participants_, tag_, all_, mine_);
        while (count_ > 0)
            if (const int one = p2p::finish(thread_, communicator_, requests_[--count_]))
                error = one;
        all = std::move(all_);
        return error;
    }

private:
    static constexpr std::int32_t few = 16;

    core::Thread& thread_;
    objects::Communicator& communicator_;
    const comm::Participants participants_;
    const std::int32_t tag_;
    const T mine_;
    std::vector<T> all_;
    core::Request* requests_[2 * few];
    std::size_t count_ = 0;
};

/// All of it at once.
template <class T>
int gather(core::Thread& thread, OpenFile& file, std::int32_t tag, std::vector<T>& all,
           const T& mine) {
    return Gathering<T>(thread, file, tag, mine).finish(all);
}

}  // namespace heddle::io
