// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Attributes: values that programs attach to communicators, datatypes and windows under keys of their
/// own (MPI 5.0, 7.7).
///
/// A key lives until it has been freed and no attribute uses it any more: until then its number goes on
/// working. Functions of the user are called without any lock held, and may throw (callback.hpp).

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

/// What a key is for. The functions of the user differ in the type of handle that they take.
enum class Holds : std::uint8_t { communicator, datatype, window };

struct Keyval {
    using Function = void (*)();  ///< of the type that `holds` says

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
/// Of one object, in the order in which they were first set; guarded by the process's set-up lock.
using Attributes = std::vector<Attribute>;

/// An object that has attributes: its handle, for the functions of the user.
struct Holder {
    void* handle;
    Attributes& attributes;
};
Holder holder(Communicator& communicator) noexcept;
Holder holder(Window& window) noexcept;
/// The attributes of a datatype lie in the process: few types have any.
Holder holder(Process& process, Datatype& type);
/// What lies there; of a type that is freed, once its attributes are deleted.
void forget_attributes(Process& process, const Datatype& type) noexcept;

/// The keys of a process. Numbers are not used again, so that an old one is recognised.
class Keyvals {
public:
    int add(Keyval keyval);
    /// nullptr: none with this number for this kind of object lives.
    std::shared_ptr<const Keyval> find(int number, Holds holds);
    /// False if there never was one. Freeing copies of a number, one by one, is let pass.
    bool free(int number, Holds holds);

private:
    static constexpr int above_predefined = 1000;

    std::shared_ptr<const Keyval> look_up(int number) const;

    std::mutex lock_;
    int latest_ = above_predefined;
    std::map<int, std::shared_ptr<const Keyval>> keyvals_;
    std::map<int, std::weak_ptr<const Keyval>> freed_;  ///< live as long as attributes hold them
};

/// What predefined keys give: the program gets the address of the value (MPI 5.0, 9.1.2).
struct PredefinedAttributes {
    int tag_ub = 0x7fffffff;
    int io = MPI_ANY_SOURCE;   ///< every process can do input and output
    int host = MPI_PROC_NULL;  ///< none is special
    int wtime_is_global = 1;   ///< one machine, one clock
    int universe_size =
        MPI_UNDEFINED;  ///< how many processes there can be; MPI_UNDEFINED: not known
    int appnum =
        MPI_UNDEFINED;  ///< which of mpiexec's programs this is; MPI_UNDEFINED: nobody said
};

/// Where the value of a predefined key lies; nullptr for keys that are no such, or that have no value.
int* predefined_attribute(Process& process, int keyval) noexcept;
bool is_predefined_keyval(int keyval) noexcept;

// They answer MPI_SUCCESS or what a function of the user's answered.

int set_attribute(Process& process, Holder object, const std::shared_ptr<const Keyval>& keyval,
                  void* value);
/// True if there is one, its value then in `value`.
bool get_attribute(Process& process, Holder object, int keyval, void*& value);
int delete_attribute(Process& process, Holder object, int keyval);
/// For a duplicate: `from` gives `to` what its copy functions say.
int copy_attributes(Process& process, Holder from, Holder to);
/// Deletes all, the latest first. Stops where a delete function fails.
int delete_attributes(Process& process, Holder object);

}  // namespace heddle::objects
