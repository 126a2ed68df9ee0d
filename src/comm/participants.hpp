// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The participants of a communicator, each at a place that all of them know. The library sends its
/// own messages by them while communicators are made.
///
/// In an intracommunicator they are its group. In an intercommunicator they are both groups, one
/// after the other. First is the group whose rank 0 has the lower rank in the world, or the lower
/// name between jobs: the two have no process in common. Messages travel in the collective context
/// of the communicator. Their sources are places of participants, and collectives do not use their
/// tags. If there is no communicator yet, a context stands in for it.
///
/// Errors         send(), receive() and exchange() return an MPI error code that the communicator's
///                error handler has already seen.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/thread.hpp"
#include "mpi.h"
#include "objects/communicator.hpp"

namespace heddle::comm {

class Participants {
public:
    explicit Participants(objects::Communicator& communicator);
    /// Makes participants without a communicator. Errors are raised on `for_errors`. The group must
    /// live as long.
    Participants(objects::Communicator& for_errors, std::uint32_t context,
                 const objects::Group& group);

    /// Returns the communicator on which errors are raised.
    objects::Communicator& communicator() const noexcept { return communicator_; }
    std::uint32_t context() const noexcept { return context_; }
    bool is_inter() const noexcept { return !both_.empty(); }
    std::int32_t size() const noexcept { return static_cast<std::int32_t>(processes_.size()); }
    std::int32_t me() const noexcept { return me_; }
    /// Returns the number of the process at a place.
    std::int32_t process(std::int32_t place) const noexcept {
        return processes_[static_cast<std::size_t>(place)];
    }
    objects::Members processes() const { return {processes_.begin(), processes_.end()}; }
    /// These return whether the place is in the first group, and whether it is in the caller's.
    bool is_first(std::int32_t place) const noexcept { return place < first_; }
    bool is_local(std::int32_t place) const noexcept { return is_first(place) == is_first(me_); }
    /// Returns the place of rank 0 of the second group of an intercommunicator.
    std::int32_t second_leader() const noexcept { return first_; }

private:
    objects::Communicator& communicator_;
    std::uint32_t context_;
    std::vector<std::int32_t> both_;  ///< both groups of an intercommunicator
    std::span<const std::int32_t> processes_;
    std::int32_t first_;  ///< size of the first group
    std::int32_t me_;
};

core::Request* start_send(core::Thread& thread, const Participants& participants, const void* data,
                          std::uint64_t bytes, std::int32_t to, std::int32_t tag);
core::Request* start_receive(core::Thread& thread, const Participants& participants, void* data,
                             std::uint64_t bytes, std::int32_t from, std::int32_t tag);
int send(core::Thread& thread, const Participants& participants, const void* data,
         std::uint64_t bytes, std::int32_t to, std::int32_t tag);
int receive(core::Thread& thread, const Participants& participants, void* data, std::uint64_t bytes,
            std::int32_t from, std::int32_t tag);
/// Sends and receives at once.
int exchange(core::Thread& thread, const Participants& participants, const void* out,
             std::uint64_t out_bytes, std::int32_t to, void* in, std::uint64_t in_bytes,
             std::int32_t from, std::int32_t tag);

/// Sends the bytes that members.front() has at `data` to the others, along a binomial tree.
/// `members` are places; the caller's is number `me`.
int broadcast(core::Thread& thread, const Participants& participants,
              std::span<const std::int32_t> members, std::int32_t me, std::int32_t tag, void* data,
              std::uint64_t bytes);

/// Returns every place, in order, for calls that all take part in.
std::vector<std::int32_t> everybody(const Participants& participants);

/// Returns names by which all processes of a group know it, since they do not share numbers. They
/// are ranks in the world, or stand for names if there are several jobs.
std::vector<std::uint64_t> common_names(const core::Thread& thread,
                                        std::span<const std::int32_t> processes);

/// Sets `yes` if all members have said yes; `members` and `me` as above. In every round each hears,
/// indirectly, from twice as many.
int all_agree(core::Thread& thread, const Participants& participants,
              std::span<const std::int32_t> members, std::int32_t me, std::int32_t tag, bool& yes);

/// Gathers the values of all participants, by place, in a logarithmic number of rounds (Bruck).
template <class T>
int gather_all(core::Thread& thread, const Participants& participants, std::int32_t tag,
               std::vector<T>& all, const T& mine) {
    const std::int32_t size = participants.size();
    const auto count = static_cast<std::size_t>(size);
    std::vector<T> from_me(count);  // entry i is of the place i after mine
    from_me[0] = mine;
    for (std::int32_t step = 1; step < size; step *= 2) {
        const auto blocks = static_cast<std::uint64_t>(std::min(step, size - step));
        const std::int32_t before = (participants.me() - step + size) % size;
        const std::int32_t after = (participants.me() + step) % size;
        if (const int error =
                exchange(thread, participants, from_me.data(), blocks * sizeof(T), before,
                         &from_me[static_cast<std::size_t>(step)], blocks * sizeof(T), after, tag))
            return error;
    }
    all.resize(count);
    for (std::size_t i = 0; i < count; ++i)
        all[(static_cast<std::size_t>(participants.me()) + i) % count] = from_me[i];
    return MPI_SUCCESS;
}

}  // namespace heddle::comm
