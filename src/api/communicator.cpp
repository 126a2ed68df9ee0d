// SPDX-License-Identifier: BSD-3-Clause
/// Communicators (MPI 5.0, 7.4).

#include "api/entry.hpp"

namespace heddle::api {
namespace {

int comm_rank(core::Thread&, Comm comm, Out<int> rank) {
    *rank = comm->rank;
    return MPI_SUCCESS;
}

int comm_size(core::Thread&, Comm comm, Out<int> size) {
    *size = comm->size();
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(2, Comm_rank, comm_rank)
MPI_ENTRY(2, Comm_size, comm_size)
