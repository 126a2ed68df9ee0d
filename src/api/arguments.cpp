// SPDX-License-Identifier: BSD-3-Clause
#include "api/arguments.hpp"

#include <cstdio>

namespace heddle::api {
namespace {

/// Returns nullptr if the address is no constant.
const char* name_of_constant(const void* address) noexcept {
    if (address == MPI_IN_PLACE) return "MPI_IN_PLACE";
    if (address == MPI_BUFFER_AUTOMATIC) return "MPI_BUFFER_AUTOMATIC";
    if (address == MPI_UNWEIGHTED) return "MPI_UNWEIGHTED";
    return address == MPI_WEIGHTS_EMPTY ? "MPI_WEIGHTS_EMPTY" : nullptr;
}

std::string wrong_rank(std::int32_t rank, const Communicator* communicator) {
    if (communicator == nullptr) return "rank " + std::to_string(rank);
    return "rank " + std::to_string(rank) + " is not in the communicator, which has ranks 0 to " +
        std::to_string(communicator->peers - 1);
}

}  // namespace

std::string no_memory(const void* address) {
    if (address == nullptr) return "a null pointer";
    if (const char* name = name_of_constant(address))
        return std::string(name) + " is not allowed here";
    char text[48];
    std::snprintf(text, sizeof text, "%p is no address of memory", address);
    return text;
}

std::string no_communicator(MPI_Comm handle) {
    if (handle == MPI_COMM_NULL) return "MPI_COMM_NULL";
    if (handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF)
        return std::string(handle == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF") +
            " is there from MPI_Init to MPI_Finalize only, not for sessions";
    return "no communicator, or one that has been freed";
}

std::string Dest::wrong(const Communicator* communicator) const {
    if (rank == MPI_ANY_SOURCE) return "MPI_ANY_SOURCE is not a destination";
    return wrong_rank(rank, communicator);
}

std::string Source::wrong(const Communicator* communicator) const {
    if (rank == MPI_ANY_SOURCE)
        return "MPI_ANY_SOURCE, although mpi_assert_no_any_source has been asserted";
    return wrong_rank(rank, communicator);
}

std::string SendTag::wrong(const Communicator*) const {
    if (value == MPI_ANY_TAG) return "MPI_ANY_TAG cannot be sent";
    return "tag " + std::to_string(value) + " is not in 0 to " + std::to_string(most_tag);
}

std::string ReceiveTag::wrong(const Communicator*) const {
    if (value == MPI_ANY_TAG)
        return "MPI_ANY_TAG, although mpi_assert_no_any_tag has been asserted";
    return "tag " + std::to_string(value) + " is not in 0 to " + std::to_string(most_tag);
}

}  // namespace heddle::api
