// SPDX-License-Identifier: BSD-3-Clause
/// Windows (MPI 5.0, 12.2): making and freeing them, and their properties.

#include <cstring>
#include <limits>

#include "api/entry.hpp"
#include "api/rma_arguments.hpp"
#include "api/type_attributes.hpp"
#include "rma/dynamic.hpp"
#include "rma/epochs.hpp"
#include "rma/making.hpp"

namespace heddle::api {
namespace {

struct WindowSize {
    static constexpr const char* name = "size";
    std::int64_t value;

    WindowSize(const auto&, MPI_Aint raw) noexcept : value(raw) {}
    int error(const Communicator*) const noexcept { return value < 0 ? MPI_ERR_SIZE : MPI_SUCCESS; }
    std::string wrong(const Communicator*) const { return std::to_string(value) + " is negative"; }
};

struct DisplacementUnit {
    static constexpr const char* name = "disp_unit";
    std::int64_t value;

    DisplacementUnit(const auto&, MPI_Aint raw) noexcept : value(raw) {}
    int error(const Communicator*) const noexcept {
        return value <= 0 ? MPI_ERR_DISP : MPI_SUCCESS;
    }
    std::string wrong(const Communicator*) const {
        return std::to_string(value) + " is not positive";
    }
};

struct WindowComm : Comm {
    using Comm::Comm;
    int error(const Communicator* communicator) const noexcept {
        if (object != nullptr && object->remote != nullptr) return MPI_ERR_COMM;
        return Comm::error(communicator);
    }
    std::string wrong(const Communicator* communicator) const {
        return object == nullptr ? Comm::wrong(communicator) : "an intercommunicator";
    }
};

/// Checks that `base` is memory of the program, unless the window has none.
int check_base(Thread& thread, Communicator* communicator, const void* base, std::int64_t bytes) {
    if (bytes == 0 || is_memory(base)) return MPI_SUCCESS;
    return refuse(thread, communicator, MPI_ERR_BASE, "base", no_memory(base));
}

int make_window(Thread& thread, WindowComm comm, const rma::Wish& wish, MPI_Win& result) {
    result = MPI_WIN_NULL;
    objects::Window* window = nullptr;
    if (const int error = rma::make(thread, *comm, wish, window)) return error;
    result = window->handle();
    return MPI_SUCCESS;
}

int create_window(Thread& thread, Raw<void*> base, WindowSize size, DisplacementUnit unit,
                  Hints hints, WindowComm comm, Out<MPI_Win> result) {
    if (const int error = check_base(thread, comm.object, base.value, size.value)) return error;
    return make_window(thread, comm,
                       {MPI_WIN_FLAVOR_CREATE, size.value, unit.value, base.value, hints.object},
                       *result);
}

template <int flavor>
int allocate(Thread& thread, WindowSize size, DisplacementUnit unit, Hints hints, WindowComm comm,
             OutPointer base, Out<MPI_Win> result) {
    if (const int error = make_window(
            thread, comm, {flavor, size.value, unit.value, nullptr, hints.object}, *result))
        return error;
    *base.place = thread.process->window(*result)->base;
    return MPI_SUCCESS;
}

int create_dynamic(Thread& thread, Hints hints, WindowComm comm, Out<MPI_Win> result) {
    return make_window(thread, comm, {MPI_WIN_FLAVOR_DYNAMIC, 0, 1, nullptr, hints.object},
                       *result);
}

int win_free(Thread& thread, InOut<MPI_Win> handle) {
    const Win win(*thread.process, *handle);
    if (win.object == nullptr)
        return refuse(thread, nullptr, MPI_ERR_WIN, Win::name, win.wrong(nullptr));
    if (const int error = rma::refuse_open(thread, *win)) return error;
    if (const int error = delete_attributes(thread, *win)) return error;
    if (const int error = rma::free(thread, *win)) return error;
    *handle = MPI_WIN_NULL;
    return MPI_SUCCESS;
}

// --- memory ---

HEDDLE_NAMED(AttachedSize, WindowSize, "size")

int attach(Thread& thread, Win win, Raw<void*> base, AttachedSize size) {
    if (size.value != 0 && !is_memory(base.value))
        return refuse(thread, *win, MPI_ERR_BASE, "base", no_memory(base.value));
    return rma::attach(thread, *win, base.value, size.value);
}

int detach(Thread& thread, Win win, Raw<const void*> base) {
    return rma::detach(thread, *win, base.value);
}

/// Returns the lowest rank with memory, or `ranks` if none has any.
std::int32_t first_with_memory(const objects::Window& window) noexcept {
    std::int32_t rank = 0;
    while (rank < window.ranks && window.targets[rank].bytes == 0) ++rank;
    return rank;
}

/// Tells this process's view of the memory of another: nothing if it is not shared, or there is
/// none.
template <class Unit>
int shared_query(Thread& thread, Win win, TargetRank rank, Out<MPI_Aint> size, Out<Unit> unit,
                 OutPointer base) {
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return refuse(thread, *win, MPI_ERR_RMA_FLAVOR, Win::name,
                      "a window of MPI_Win_create_dynamic, whose memory is not shared");
    const std::int32_t which = rank.null() ? first_with_memory(*win) : rank.rank;
    const objects::Target* target = which < win->ranks ? &win->targets[which] : nullptr;
    if (target != nullptr && target->unit > std::numeric_limits<Unit>::max())
        return refuse(
            thread, *win, MPI_ERR_VALUE_TOO_LARGE, "disp_unit",
            std::to_string(target->unit) + " does not fit; MPI_Win_shared_query_c has room");
    const bool shared = target != nullptr && target->memory != nullptr && target->bytes != 0;
    *size = shared ? static_cast<MPI_Aint>(target->bytes) : 0;
    *unit = target != nullptr ? static_cast<Unit>(target->unit) : 1;
    *base.place = shared ? target->memory : nullptr;
    return MPI_SUCCESS;
}

// --- properties ---

int window_group(Thread&, Win win, Out<MPI_Group> result) {
    objects::Group& group = *win->communicator->group;
    group.hand_out();
    *result = reinterpret_cast<MPI_Group>(&group);
    return MPI_SUCCESS;
}

int set_window_name(Thread& thread, Win win, Text name) {
    std::lock_guard guard(thread.process->set_up);
    win->name.assign(name.value, strnlen(name.value, MPI_MAX_OBJECT_NAME - 1));
    return MPI_SUCCESS;
}

/// A window, or the null handle, which has a name, too.
struct NamedWin : Win {
    using Win::Win;
    int error(const Communicator* communicator) const noexcept {
        return null ? MPI_SUCCESS : Win::error(communicator);
    }
};

int window_name(Thread& thread, NamedWin win, Out<char> name, Out<int> length) {
    std::lock_guard guard(thread.process->set_up);
    *length = write_text(win.null ? "MPI_WIN_NULL" : win->name, name.place, MPI_MAX_OBJECT_NAME);
    return MPI_SUCCESS;
}

int set_window_info(Thread& thread, Win win, Info info) {
    std::lock_guard guard(thread.process->set_up);
    objects::apply_hints(win->hints, *info);
    return MPI_SUCCESS;
}

int window_info(Thread& thread, Win win, Out<MPI_Info> result) {
    objects::Info& info = objects::make_info();
    std::lock_guard guard(thread.process->set_up);
    objects::report_hints(win->hints, info);
    *result = objects::handle_of(info);
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY_C(6, Win_create, create_window)
MPI_ENTRY_C(6, Win_allocate, allocate<MPI_WIN_FLAVOR_ALLOCATE>)
MPI_ENTRY_C(6, Win_allocate_shared, allocate<MPI_WIN_FLAVOR_SHARED>)
MPI_ENTRY(3, Win_create_dynamic, create_dynamic)
MPI_ENTRY(1, Win_free, win_free)
MPI_ENTRY(3, Win_attach, attach)
MPI_ENTRY(2, Win_detach, detach)
MPI_ENTRY(5, Win_shared_query, shared_query<int>)
MPI_ENTRY(5, Win_shared_query_c, shared_query<MPI_Aint>)
MPI_ENTRY(2, Win_get_group, window_group)
MPI_ENTRY(2, Win_set_name, set_window_name)
MPI_ENTRY(3, Win_get_name, window_name)
MPI_ENTRY(2, Win_set_info, set_window_info)
MPI_ENTRY(2, Win_get_info, window_info)
