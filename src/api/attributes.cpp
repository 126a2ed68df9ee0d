// SPDX-License-Identifier: BSD-3-Clause
/// Attributes of communicators (MPI 5.0, 7.7).

#include "api/entry.hpp"
#include "api/object_arguments.hpp"
#include "objects/attributes.hpp"

namespace heddle::api {
namespace {

using core::Thread;

int no_keyval(Thread& thread, Communicator* communicator, int keyval) {
    const std::string number = std::to_string(keyval);
    return objects::fail(
        thread, communicator, MPI_ERR_KEYVAL,
        "argument comm_keyval: " +
            (keyval == MPI_KEYVAL_INVALID         ? "MPI_KEYVAL_INVALID"
             : objects::is_predefined_keyval(keyval) ? number + " is predefined and cannot be changed"
                                                     : number + " is no key, or one that has been freed"));
}

int create_keyval(Thread& thread, Raw<MPI_Comm_copy_attr_function*> copy,
                  Raw<MPI_Comm_delete_attr_function*> remove, Out<int> keyval, Raw<void*> extra_state) {
    *keyval = thread.process->keyvals.add(
        {MPI_KEYVAL_INVALID, copy.value, remove.value, extra_state.value});
    return MPI_SUCCESS;
}

int free_keyval(Thread& thread, InOut<int> keyval) {
    if (!thread.process->keyvals.erase(*keyval)) return no_keyval(thread, nullptr, *keyval);
    *keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

int set_attr(Thread& thread, Comm comm, Raw<int> keyval, Raw<void*> value) {
    const auto key = thread.process->keyvals.find(keyval.value);
    if (key == nullptr) return no_keyval(thread, comm.object, keyval.value);
    if (const int error = objects::set_attribute(*thread.process, *comm, key, value.value))
        return objects::fail(thread, comm.object, error, "the function that deletes the old value failed");
    return MPI_SUCCESS;
}

/// Attributes of the program: the value that was set. Predefined ones: the address of an int.
int get_attr(Thread& thread, Comm comm, Raw<int> keyval, OutPointer value, Out<int> flag) {
    if (objects::is_predefined_keyval(keyval.value)) {
        int* place = objects::predefined_attribute(*thread.process, keyval.value);
        *flag = place != nullptr;
        if (place != nullptr) *value.place = place;
        return MPI_SUCCESS;
    }
    if (thread.process->keyvals.find(keyval.value) == nullptr)
        return no_keyval(thread, comm.object, keyval.value);
    *flag = objects::get_attribute(*thread.process, *comm, keyval.value, *value.place);
    return MPI_SUCCESS;
}

int delete_attr(Thread& thread, Comm comm, Raw<int> keyval) {
    if (thread.process->keyvals.find(keyval.value) == nullptr)
        return no_keyval(thread, comm.object, keyval.value);
    if (const int error = objects::delete_attribute(*thread.process, *comm, keyval.value))
        return objects::fail(thread, comm.object, error, "the function that deletes the value failed");
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(4, Comm_create_keyval, create_keyval)
MPI_ENTRY(1, Comm_free_keyval, free_keyval)
MPI_ENTRY(3, Comm_set_attr, set_attr)
MPI_ENTRY(4, Comm_get_attr, get_attr)
MPI_ENTRY(2, Comm_delete_attr, delete_attr)

// The names before MPI 2.
MPI_ENTRY(4, Keyval_create, create_keyval)
MPI_ENTRY(1, Keyval_free, free_keyval)
MPI_ENTRY(3, Attr_put, set_attr)
MPI_ENTRY(4, Attr_get, get_attr)
MPI_ENTRY(2, Attr_delete, delete_attr)
