// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Attributes: values that programs attach to communicators, datatypes and windows under keys of
/// their own (MPI 5.0, 7.7).
///
/// A key lives until the program has freed it and no attribute uses it any more. Until then its
/// number works. No lock is held while a function of the user is called, and it may throw
/// (callback.hpp).

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
struct Datatype;
struct Window;

/// The kind of object that a key is for. The kinds differ in the handle that functions of the user
/// take.
enum class Holds : std::uint8_t { communicator, datatype, window };

struct Keyval {
    using Function = void (*)();  ///< cast from the type that belongs to `holds`

    Holds holds = Holds::communicator;
    Function copy = nullptr;
    Function remove = nullptr;
    void* extra_state = nullptr;
    int number = MPI_KEYVAL_INVALID;
};

struct Attribute {
    std::shared_ptr<const Keyval> key;
    void* value;
};
/// The attributes of one object, in the order in which they were first set. Guarded by the
/// process's set-up lock.
using Attributes = std::vector<Attribute>;

/// An object that has attributes, with its handle, which functions of the user take.
struct Holder {
    void* handle;
    Attributes& attributes;
};
Holder holder(Communicator& communicator) noexcept;
Holder holder(Window& window) noexcept;
/// Returns the holder for a datatype. Its attributes lie in the process, since few types have any.
Holder holder(Process& process, Datatype& type);
/// Removes the place of a freed type's attributes, once they are deleted.
void forget_attributes(Process& process, const Datatype& type) noexcept;

/// The keys of a process. Numbers are not used again, so that a freed one is recognised.
class Keyvals {
public:
    int add(Keyval keyval);
    /// Returns nullptr if no key with this number for this kind of object lives.
    std::shared_ptr<const Keyval> find(int number, Holds holds);
    /// Returns false if there never was such a key. Accepts that copies of a number are freed one
    /// by one.
    bool free(int number, Holds holds);

private:
    static constexpr int above_predefined = 1000;

    std::shared_ptr<const Keyval> look_up(int number) const;

    std::mutex lock_;
    int latest_ = above_predefined;
    std::map<int, std::shared_ptr<const Keyval>> keyvals_;
    /// Freed keys, which live as long as attributes hold them.
    std::map<int, std::weak_ptr<const Keyval>> freed_;
};

/// The values of predefined keys. The program gets the address of a value (MPI 5.0, 9.1.2).
struct PredefinedAttributes {
    int tag_ub = 0x7fffffff;
    int io = MPI_ANY_SOURCE;   ///< every process can do input and output
    int host = MPI_PROC_NULL;  ///< no process is special
    int wtime_is_global = 1;   ///< one machine, one clock
    /// The number of processes that there can be, or MPI_UNDEFINED if it is not known.
    int universe_size = MPI_UNDEFINED;
    /// The number of this program among mpiexec's, or MPI_UNDEFINED if mpiexec gave none.
    int appnum = MPI_UNDEFINED;
};

/// Returns the address of the value of a predefined key. Returns nullptr for other keys, and for
/// those without a value.
int* predefined_attribute(Process& process, int keyval) noexcept;
bool is_predefined_keyval(int keyval) noexcept;

// These return MPI_SUCCESS, or the error code of a function of the user.

int set_attribute(Process& process, Holder object, const std::shared_ptr<const Keyval>& keyval,
                  void* value);
/// Returns true and writes the value to `value` if there is one.
bool get_attribute(Process& process, Holder object, int keyval, void*& value);
int delete_attribute(Process& process, Holder object, int keyval);
/// Copies attributes to a duplicate: `to` gets what the copy functions of `from` give.
int copy_attributes(Process& process, Holder from, Holder to);
/// Deletes all, the latest first. Stops if a delete function fails.
int delete_attributes(Process& process, Holder object);

}  // namespace heddle::objects
