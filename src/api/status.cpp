// SPDX-License-Identifier: BSD-3-Clause
/// Functions on the content of a status (MPI 5.0, 3.2.5 and 13.3).

#include "objects/status.hpp"
#include "api/entry.hpp"

namespace heddle::api {
namespace {

using core::Thread;

template <int MPI_Status::* field>
int get_field(Thread&, FilledStatus status, Out<int> value) {
    *value = (*status).*field;
    return MPI_SUCCESS;
}

template <int MPI_Status::* field>
int set_field(Thread&, Out<MPI_Status> status, Raw<int> value) {
    (*status).*field = value.value;
    return MPI_SUCCESS;
}

int set_cancelled(Thread&, Out<MPI_Status> status, Raw<int> flag) {
    objects::set_cancelled(*status, flag.value != 0);
    return MPI_SUCCESS;
}

int test_cancelled(Thread&, FilledStatus status, Out<int> flag) {
    *flag = objects::cancelled(*status);
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(2, Status_get_source, get_field<&MPI_Status::MPI_SOURCE>)
MPI_ENTRY(2, Status_get_tag, get_field<&MPI_Status::MPI_TAG>)
MPI_ENTRY(2, Status_get_error, get_field<&MPI_Status::MPI_ERROR>)
MPI_ENTRY(2, Status_set_source, set_field<&MPI_Status::MPI_SOURCE>)
MPI_ENTRY(2, Status_set_tag, set_field<&MPI_Status::MPI_TAG>)
MPI_ENTRY(2, Status_set_error, set_field<&MPI_Status::MPI_ERROR>)
MPI_ENTRY(2, Status_set_cancelled, set_cancelled)
MPI_ENTRY(2, Test_cancelled, test_cancelled)
