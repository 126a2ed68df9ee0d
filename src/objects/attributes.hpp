// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Attributes: values that programs attach to communicators under keys of their own (MPI 5.0, 7.7).
///
/// A key lives until it has been freed and no attribute uses it any more. Functions of the user are
/// called without any lock held.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/thread.hpp"
#include "mpi.h"

namespace heddle::objects {

class Process;
struct Communicator;

struct Keyval {
    int number = MPI_KEYVAL_INVALID;
    MPI_Comm_copy_attr_function* copy = MPI_COMM_NULL_COPY_FN;
    MPI_Comm_delete_attr_function* remove = MPI_COMM_NULL_DELETE_FN;
    void* extra_state = nullptr;
};

struct Attribute {
    std::shared_ptr<const Keyval> key;
    void* value;
};
/// Of one object, in the order in which they were first set; guarded by the process's set-up lock.
using Attributes = std::vector<Attribute>;

/// The keys of a process. Numbers are not used again, so that an old one is recognised.
class Keyvals {
public:
    int add(Keyval keyval);
    std::shared_ptr<const Keyval> find(int number);  ///< nullptr: there is none
    bool erase(int number);

private:
    std::mutex lock_;
    int latest_ = 1000;  ///< above every predefined key
    std::map<int, std::shared_ptr<const Keyval>> keyvals_;
};

/// What predefined keys give: the program gets the address of the value (MPI 5.0, 9.1.2).
struct PredefinedAttributes {
    int tag_ub = 0x7fffffff;
    int io = MPI_ANY_SOURCE;     ///< every process can do input and output
    int host = MPI_PROC_NULL;    ///< none is special
    int wtime_is_global = 1;     ///< one machine, one clock
    int universe_size = 1;
};

/// Where the value of a predefined key lies; nullptr for keys that are no such, or that have no value.
int* predefined_attribute(Process& process, int keyval) noexcept;
bool is_predefined_keyval(int keyval) noexcept;

// They answer MPI_SUCCESS or what a function of the user's answered.

int set_attribute(Process& process, Communicator& communicator,
                  const std::shared_ptr<const Keyval>& keyval, void* value);
/// True if there is one, its value then in `value`.
bool get_attribute(Process& process, Communicator& communicator, int keyval, void*& value);
int delete_attribute(Process& process, Communicator& communicator, int keyval);
/// For MPI_Comm_dup: `from` gives `to` what its copy functions say.
int copy_attributes(Process& process, Communicator& from, Communicator& to);
/// Deletes all, the latest first. Stops where a delete function fails.
int delete_attributes(Process& process, Communicator& communicator);

}  // namespace heddle::objects
