// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Communicators as the checker knows them: a number that is the same on all members, and who they are.
///
/// The number comes from that of the parent, from how many communicators were made of it before, and from the members, so
/// that nothing has to be sent; of an intercommunicator from those of both sides. 0: not known (what is made without
/// MPI_COMM_WORLD, and ranks of other jobs).

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mpi.h"

namespace heddle::check {

class Comm {
public:
    std::uint64_t id = 0;
    MPI_Comm handle = MPI_COMM_NULL;
    int rank = 0, size = 0;  ///< in the own group
    bool inter = false;
    std::uint64_t members = 0;  ///< the same on all of them, of both groups
    int here = 0;               ///< members on this node
    std::vector<int>
        world;  ///< the rank in MPI_COMM_WORLD of each one whom messages are sent to; empty where id is 0
    std::vector<int> places;  ///< the place on the node of each of these; -1: on another one
    std::atomic<std::uint64_t> collectives{0}, children{0};
    std::atomic<bool> out_of_step{false};  ///< collectives have been found in different order
    std::atomic<bool> no_any_source{false}, no_any_tag{false},
        exact_length{false};  ///< what its info promises
    std::mutex guard;
    std::map<std::pair<std::uint64_t, int>, std::uint64_t>
        groups;  ///< made of by MPI_Comm_create_group: how often
    std::map<std::tuple<bool, int, int>, std::uint64_t>
        partitioned;  ///< inits of partitioned sends, or receives, by peer and tag

    /// In MPI_COMM_WORLD; -1 where not known.
    int world_rank(int member) const noexcept { return of(world, member); }
    /// On the node; -1 where not known.
    int place(int member) const noexcept { return of(places, member); }

private:
    static int of(const std::vector<int>& all, int member) noexcept {
        return static_cast<std::size_t>(member) < all.size() ? all[static_cast<std::size_t>(member)]
                                                             : -1;
    }
};

/// nullptr if it is none. The reference holds until the communicator is freed, or the thread asks for another one.
const std::shared_ptr<Comm>& comm_of(MPI_Comm comm);
/// MPI_COMM_WORLD and MPI_COMM_SELF.
void first_communicators();
/// "MPI_COMM_WORLD", "'halo'", or "a communicator of 4 ranks".
std::string words(const Comm& comm);

}  // namespace heddle::check
