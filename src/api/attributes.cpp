// SPDX-License-Identifier: BSD-3-Clause
/// Attributes of communicators, datatypes and windows (MPI 5.0, 7.7 and 12.2.6).

#include "objects/attributes.hpp"
#include "api/entry.hpp"
#include "api/object_arguments.hpp"
#include "api/type_attributes.hpp"

namespace heddle::api {
namespace {

/// A type that is being made. Unless it is kept, it is freed, with the attributes that it got.
struct Duplicate {
    Process& process;
    objects::Datatype& type;
    bool kept = false;

    Duplicate(Process& owner, objects::Datatype& made) noexcept : process(owner), type(made) {}
    ~Duplicate() {
        if (kept) return;
        (void)objects::delete_attributes(process, objects::holder(process, type));
        objects::forget_attributes(process, type);
        objects::close_handle(process, type);
    }
    Duplicate(const Duplicate&) = delete;
    Duplicate& operator=(const Duplicate&) = delete;

    MPI_Datatype keep() noexcept {
        kept = true;
        return type.handle;
    }
};

}  // namespace

int copy_attributes(core::Thread& thread, objects::Datatype& old, MPI_Datatype& made) {
    Process& process = *thread.process;
    Duplicate duplicate(process, *process.datatype(made));
    made = MPI_DATATYPE_NULL;
    const int error = objects::copy_attributes(process, objects::holder(process, old),
                                               objects::holder(process, duplicate.type));
    if (error == MPI_SUCCESS) {
        made = duplicate.keep();
        return MPI_SUCCESS;
    }
    return objects::fail(thread, nullptr, error, "a function that copies attributes failed");
}

int delete_attributes(core::Thread& thread, objects::Window& window) {
    const int error = objects::delete_attributes(*thread.process, objects::holder(window));
    if (error == MPI_SUCCESS) return MPI_SUCCESS;
    return objects::fail(thread, window, error, "a function that deletes attributes failed");
}

int delete_attributes(core::Thread& thread, objects::Datatype& type) {
    Process& process = *thread.process;
    if (const int error = objects::delete_attributes(process, objects::holder(process, type)))
        return objects::fail(thread, nullptr, error, "a function that deletes attributes failed");
    objects::forget_attributes(process, type);
    return MPI_SUCCESS;
}

namespace {

using core::Thread;

using objects::Holds;

template <Holds holds>
constexpr const char* keyval_name = holds == Holds::communicator ? "comm_keyval"
    : holds == Holds::datatype                                   ? "type_keyval"
                                                                 : "win_keyval";

bool is_predefined_keyval(int keyval) noexcept {
    return objects::is_predefined_keyval(keyval) ||
        (keyval >= MPI_WIN_BASE && keyval <= MPI_WIN_MODEL);
}

std::string wrong_keyval(int keyval) {
    if (keyval == MPI_KEYVAL_INVALID) return "MPI_KEYVAL_INVALID";
    const std::string number = std::to_string(keyval);
    return is_predefined_keyval(keyval) ? number + " is predefined and cannot be changed"
                                        : number + " is no key, or one that has been freed";
}

template <Holds holds>
int no_keyval(Thread& thread, Communicator* communicator, int keyval) {
    return refuse(thread, communicator, MPI_ERR_KEYVAL, keyval_name<holds>, wrong_keyval(keyval));
}
template <Holds holds>
int no_keyval(Thread& thread, objects::Window& window, int keyval) {
    return refuse(thread, window, MPI_ERR_KEYVAL, keyval_name<holds>, wrong_keyval(keyval));
}

template <Holds holds, class Copy, class Remove>
int create_keyval(Thread& thread, Raw<Copy*> copy, Raw<Remove*> remove, Out<int> keyval,
                  Raw<void*> extra_state) {
    using Function = objects::Keyval::Function;
    *keyval =
        thread.process->keyvals.add({holds, reinterpret_cast<Function>(copy.value),
                                     reinterpret_cast<Function>(remove.value), extra_state.value});
    return MPI_SUCCESS;
}

template <Holds holds>
int free_keyval(Thread& thread, InOut<int> keyval) {
    if (!thread.process->keyvals.free(*keyval, holds))
        return no_keyval<holds>(thread, nullptr, *keyval);
    *keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

/// A datatype, whether committed or not.
struct AttributedType : Type {
    using Type::Type;
    int error(const Communicator*) const noexcept {
        return object == nullptr ? MPI_ERR_TYPE : MPI_SUCCESS;
    }
    std::string wrong(const Communicator*) const {
        return "no datatype, or one that has been freed";
    }
};

Communicator* raised_on(Comm comm) noexcept { return comm.object; }
Communicator* raised_on(AttributedType) noexcept { return nullptr; }
objects::Window& raised_on(Win win) noexcept { return *win; }
objects::Holder holder(Thread&, Comm comm) { return objects::holder(*comm); }
objects::Holder holder(Thread&, Win win) { return objects::holder(*win); }
objects::Holder holder(Thread& thread, AttributedType type) {
    return objects::holder(*thread.process, *type);
}

template <Holds holds, class Object>
int set_attr(Thread& thread, Object object, Raw<int> keyval, Raw<void*> value) {
    const auto key = thread.process->keyvals.find(keyval.value, holds);
    if (key == nullptr) return no_keyval<holds>(thread, raised_on(object), keyval.value);
    if (const int error =
            objects::set_attribute(*thread.process, holder(thread, object), key, value.value))
        return objects::fail(thread, raised_on(object), error,
                             "the function that deletes the old value failed");
    return MPI_SUCCESS;
}

/// Finds the value of a predefined key of windows: the window's address itself, and addresses of
/// all other values. Returns false if the key is not predefined.
bool predefined_of(objects::Window& window, int keyval, void*& value) noexcept {
    switch (keyval) {
        case MPI_WIN_BASE: value = window.base; return true;
        case MPI_WIN_SIZE: value = &window.bytes; return true;
        case MPI_WIN_DISP_UNIT: value = &window.unit; return true;
        case MPI_WIN_CREATE_FLAVOR: value = &window.flavor; return true;
        case MPI_WIN_MODEL: value = &window.model; return true;
        default: return false;
    }
}

/// Gives the value of the program's attributes. For predefined ones it gives the address of an int.
template <Holds holds, class Object>
int get_attr(Thread& thread, Object object, Raw<int> keyval, OutPointer value, Out<int> flag) {
    if (holds == Holds::communicator && objects::is_predefined_keyval(keyval.value)) {
        int* place = objects::predefined_attribute(*thread.process, keyval.value);
        *flag = place != nullptr;
        if (place != nullptr) *value.place = place;
        return MPI_SUCCESS;
    }
    if constexpr (holds == Holds::window)
        if (predefined_of(*object, keyval.value, *value.place)) {
            *flag = 1;
            return MPI_SUCCESS;
        }
    if (thread.process->keyvals.find(keyval.value, holds) == nullptr)
        return no_keyval<holds>(thread, raised_on(object), keyval.value);
    *flag =
        objects::get_attribute(*thread.process, holder(thread, object), keyval.value, *value.place);
    return MPI_SUCCESS;
}

template <Holds holds, class Object>
int delete_attr(Thread& thread, Object object, Raw<int> keyval) {
    if (thread.process->keyvals.find(keyval.value, holds) == nullptr)
        return no_keyval<holds>(thread, raised_on(object), keyval.value);
    if (const int error =
            objects::delete_attribute(*thread.process, holder(thread, object), keyval.value))
        return objects::fail(thread, raised_on(object), error,
                             "the function that deletes the value failed");
    return MPI_SUCCESS;
}

constexpr auto comm = Holds::communicator;
constexpr auto type = Holds::datatype;
constexpr auto win = Holds::window;

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(4, Comm_create_keyval,
          create_keyval<comm, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function>)
MPI_ENTRY(1, Comm_free_keyval, free_keyval<comm>)
MPI_ENTRY(3, Comm_set_attr, set_attr<comm, Comm>)
MPI_ENTRY(4, Comm_get_attr, get_attr<comm, Comm>)
MPI_ENTRY(2, Comm_delete_attr, delete_attr<comm, Comm>)

MPI_ENTRY(4, Type_create_keyval,
          create_keyval<type, MPI_Type_copy_attr_function, MPI_Type_delete_attr_function>)
MPI_ENTRY(1, Type_free_keyval, free_keyval<type>)
MPI_ENTRY(3, Type_set_attr, set_attr<type, AttributedType>)
MPI_ENTRY(4, Type_get_attr, get_attr<type, AttributedType>)
MPI_ENTRY(2, Type_delete_attr, delete_attr<type, AttributedType>)

MPI_ENTRY(4, Win_create_keyval,
          create_keyval<win, MPI_Win_copy_attr_function, MPI_Win_delete_attr_function>)
MPI_ENTRY(1, Win_free_keyval, free_keyval<win>)
MPI_ENTRY(3, Win_set_attr, set_attr<win, Win>)
MPI_ENTRY(4, Win_get_attr, get_attr<win, Win>)
MPI_ENTRY(2, Win_delete_attr, delete_attr<win, Win>)

// The names before MPI 2.
MPI_ENTRY(4, Keyval_create,
          create_keyval<comm, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function>)
MPI_ENTRY(1, Keyval_free, free_keyval<comm>)
MPI_ENTRY(3, Attr_put, set_attr<comm, Comm>)
MPI_ENTRY(4, Attr_get, get_attr<comm, Comm>)
MPI_ENTRY(2, Attr_delete, delete_attr<comm, Comm>)
