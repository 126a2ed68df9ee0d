// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Communicators in the checker: their members, and a number that is the same on all members.
///
/// The number is computed from the parent's number, the count of communicators made of the parent
/// before, and the members. So nothing has to be sent. The number of an intercommunicator comes
/// from those of both sides. It is 0 if it is unknown, as without MPI_COMM_WORLD and for ranks of
/// other jobs.

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
    std::uint64_t members = 0;  ///< a hash, equal on all members of both groups
    int here = 0;               ///< number of members on this node
    std::vector<int>
        world;  ///< the ranks in MPI_COMM_WORLD of those who get messages; empty if id is 0
    std::vector<int> places;  ///< their places on the node; -1 on another node
    std::atomic<std::uint64_t> collectives{0}, children{0};
    std::atomic<bool> out_of_step{false};  ///< collectives were found in different order
    std::atomic<bool> no_any_source{false}, no_any_tag{false},
        exact_length{false};  ///< promises of its info
    std::mutex guard;
    std::map<std::pair<std::uint64_t, int>, std::uint64_t>
        groups;  ///< how many MPI_Comm_create_group has made
    std::map<std::tuple<bool, int, int>, std::uint64_t>
        partitioned;  ///< inits of partitioned sends, or receives, by peer and tag

    /// Returns the rank in MPI_COMM_WORLD, or -1 if it is unknown.
    int world_rank(int member) const noexcept { return of(world, member); }
    /// Returns the place on the node, or -1 if it is unknown.
    int place(int member) const noexcept { return of(places, member); }

private:
    static int of(const std::vector<int>& all, int member) noexcept {
        return static_cast<std::size_t>(member) < all.size() ? all[static_cast<std::size_t>(member)]
                                                             : -1;
    }
};

/// Returns nullptr if `comm` is no communicator. The reference holds until it is freed, or the
/// thread asks for another one.
const std::shared_ptr<Comm>& comm_of(MPI_Comm comm);
/// Adds MPI_COMM_WORLD and MPI_COMM_SELF.
void first_communicators();
/// Returns "MPI_COMM_WORLD", "'halo'", or "a communicator of 4 ranks".
std::string words(const Comm& comm);

}  // namespace heddle::check
