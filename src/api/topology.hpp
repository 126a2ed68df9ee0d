// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The common part of calls on process topologies.

#include <string>
#include <variant>

#include "api/entry.hpp"
#include "topo/topology.hpp"

namespace heddle::api {

/// The calling thread and the communicator of a call, and checks that need both.
struct TopologyCall {
    core::Thread& thread;
    Communicator& communicator;

    int fail(int error_class, const std::string& detail) const {
        return objects::fail(thread, &communicator, error_class, detail);
    }
    /// Checks that the communicator is an intracommunicator, since topologies belong to those.
    int intra() const {
        if (communicator.remote == nullptr) return MPI_SUCCESS;
        return fail(MPI_ERR_COMM, "argument comm: an intercommunicator");
    }
    int rank_exists(const char* argument, std::int32_t rank) const {
        if (rank >= 0 && rank < communicator.size()) return MPI_SUCCESS;
        return fail(MPI_ERR_RANK,
                    std::string("argument ") + argument + ": rank " + std::to_string(rank) +
                        " is not in the communicator, which has ranks 0 to " +
                        std::to_string(communicator.size() - 1));
    }
    int not_negative(const char* argument, std::int64_t value,
                     int error_class = MPI_ERR_ARG) const {
        if (value >= 0) return MPI_SUCCESS;
        return fail(
            error_class,
            std::string("argument ") + argument + ": " + std::to_string(value) + " is negative");
    }
    /// Checks that an array is there if it has entries.
    int present(const char* argument, const void* array, std::int64_t entries) const {
        if (array != nullptr || entries <= 0) return MPI_SUCCESS;
        return fail(MPI_ERR_ARG, std::string("argument ") + argument + ": a null pointer");
    }
    /// Finds the topology of the kind that the call is for.
    template <class Shape>
    int find(const Shape*& shape) const {
        const topo::Topology* topology = communicator.topology.get();
        shape = topology == nullptr ? nullptr : std::get_if<Shape>(&topology->shape);
        return shape != nullptr ? MPI_SUCCESS : fail(MPI_ERR_TOPOLOGY, missing(shape));
    }

private:
    static const char* missing(const topo::Cart*) noexcept {
        return "argument comm: it has no Cartesian topology";
    }
    static const char* missing(const topo::Graph*) noexcept {
        return "argument comm: it has no graph topology";
    }
    static const char* missing(const topo::DistGraph*) noexcept {
        return "argument comm: it has no distributed graph topology";
    }
};

}  // namespace heddle::api
