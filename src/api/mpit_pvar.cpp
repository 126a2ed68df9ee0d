// SPDX-License-Identifier: BSD-3-Clause
/// Performance variables: the counters (MPI 5.0, 15.3.7).
///
/// All of them run from MPI_Init on: they cannot be started or stopped. Counters that only grow can
/// be reset and written, for each handle separately: the handle remembers from where it counts.
/// Numbers of present things, and their maximum so far, can only be read. A counter of threads has
/// an element for each thread that has called MPI when the handle is made. It has at least one:
/// thread n is element n. A counter of instances has one for each instance. Before MPI_Init, when
/// their number is not known, it has one element.

#include <algorithm>
#include <cstring>
#include <vector>

#include "api/mpit.hpp"
#include "p2p/engine.hpp"
#include "p2p/report/counters.hpp"
#include "tool/counters.hpp"

namespace heddle::api::mpit {
namespace {

using tool::CounterClass;

struct Session {
    char place = 0;  ///< two sessions have two addresses
};

/// The values of a variable: a single one, except for counters of threads and instances.
using Elements = std::vector<unsigned long long>;

int class_of(const tool::CounterInfo& info) noexcept {
    switch (info.kind) {
        case CounterClass::counter:
        case CounterClass::thread_counter:
        case CounterClass::instance_counter:
        case CounterClass::communicator_counter: return MPI_T_PVAR_CLASS_COUNTER;
        case CounterClass::most:
        case CounterClass::instance_most:
        case CounterClass::communicator_most: return MPI_T_PVAR_CLASS_HIGHWATERMARK;
        default: return MPI_T_PVAR_CLASS_LEVEL;
    }
}

bool only_grows(const tool::CounterInfo& info) noexcept {
    return class_of(info) == MPI_T_PVAR_CLASS_COUNTER;
}

struct PvarHandle {
    Session* session;
    std::size_t index;
    std::uint32_t context;  ///< the context of the communicator, if it is bound to one
    Elements base;          ///< the counter's values when the handle's were 0

    const tool::CounterInfo& info() const noexcept { return tool::counter_table()[index]; }
    bool writable() const noexcept { return only_grows(info()); }
};

struct Pvars {
    Handles<Session> sessions;
    Handles<PvarHandle> handles;
};
Pvars& pvars() noexcept {
    static Pvars& all = *new Pvars;
    return all;
}

bool is_bound(const tool::CounterInfo& info) noexcept { return is_of_communicators(info.kind); }

/// Returns the present number of elements.
std::size_t element_count(const tool::CounterInfo& info) {
    const Process* here = process();
    if (here == nullptr) return 1;
    if (is_of_instances(info.kind)) return here->engine->instances();
    return info.kind == CounterClass::thread_counter
        ? std::max(p2p::count_threads(*here), std::size_t{1})
        : 1;
}

/// Returns the values since MPI_Init, as many as the handle has. Before MPI_Init they are 0.
Elements counted(const PvarHandle& handle) {
    Elements values(handle.base.size());
    Process* here = process();
    if (here == nullptr) return values;
    const auto which = static_cast<tool::CounterIndex>(handle.index);
    if (is_array(handle.info().kind)) {
        const std::vector<std::uint64_t> all = p2p::read_array(*here, which);
        std::copy_n(all.begin(), std::min(all.size(), values.size()), values.begin());
    } else if (is_bound(handle.info())) {
        values[0] = p2p::read_counter(*here, which, handle.context);
    } else {
        values[0] = p2p::read_counters(*here)[which];
    }
    return values;
}

/// Subtracts modulo 2^64, so that a handle may be made to count from anywhere.
Elements difference(Elements values, const Elements& less) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= less[i];
    return values;
}

void copy_to(void* place, const Elements& values) noexcept {
    std::memcpy(place, values.data(), values.size() * sizeof values[0]);
}

int pvar_get_num(int* num) {
    if (num == nullptr) return MPI_T_ERR_INVALID;
    *num = static_cast<int>(tool::counter_count);
    return MPI_SUCCESS;
}

int pvar_get_info(int index, char* name, int* name_len, int* verbosity, int* var_class,
                  MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len,
                  int* bind, int* readonly, int* continuous, int* atomic) {
    if (!is_index(index, tool::counter_count)) return MPI_T_ERR_INVALID_INDEX;
    if (wrong_length(name_len) || wrong_length(desc_len)) return MPI_T_ERR_INVALID;
    const tool::CounterInfo& info = tool::counter_table()[static_cast<std::size_t>(index)];
    const bool writable = only_grows(info);
    give_text(info.name, name, name_len);
    give_text(std::string(info.doc) + " (" + info.unit + ")", desc, desc_len);
    give(verbosity, MPI_T_VERBOSITY_TUNER_DETAIL);
    give(var_class, class_of(info));
    give(datatype, MPI_UNSIGNED_LONG_LONG);
    give(enumtype, MPI_T_ENUM_NULL);
    give(bind, is_bound(info) ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT);
    give(readonly, !writable);
    give(continuous, 1);
    give(atomic, writable);
    return MPI_SUCCESS;
}

int pvar_get_index(const char* name, int var_class, int* index) {
    return find_name(tool::counter_table(), name, index,
                     [&](const tool::CounterInfo& info) { return class_of(info) == var_class; });
}

int pvar_session_create(MPI_T_pvar_session* session) {
    if (session == nullptr) return MPI_T_ERR_INVALID;
    *session = reinterpret_cast<MPI_T_pvar_session>(&pvars().sessions.add());
    return MPI_SUCCESS;
}

int pvar_session_free(MPI_T_pvar_session* session) {
    if (session == nullptr) return MPI_T_ERR_INVALID;
    const Session* found = pvars().sessions.find(*session);
    if (found == nullptr) return MPI_T_ERR_INVALID_SESSION;
    pvars().handles.erase_if([&](const PvarHandle& handle) { return handle.session == found; });
    pvars().sessions.erase(*found);
    *session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}

int pvar_handle_alloc(MPI_T_pvar_session session, int index, void* object,
                      MPI_T_pvar_handle* handle, int* count) {
    Session* found = pvars().sessions.find(session);
    if (found == nullptr) return MPI_T_ERR_INVALID_SESSION;
    if (!is_index(index, tool::counter_count)) return MPI_T_ERR_INVALID_INDEX;
    if (handle == nullptr || count == nullptr) return MPI_T_ERR_INVALID;
    const auto place = static_cast<std::size_t>(index);
    std::uint32_t context = 0;
    if (is_bound(tool::counter_table()[place])) {
        Process* here = process();
        if (here == nullptr || object == nullptr) return MPI_T_ERR_INVALID;
        const Communicator* communicator =
            here->communicator(*static_cast<const MPI_Comm*>(object));
        if (communicator == nullptr) return MPI_T_ERR_INVALID;
        context = communicator->context;
    }
    const std::size_t elements = element_count(tool::counter_table()[place]);
    *handle = reinterpret_cast<MPI_T_pvar_handle>(
        &pvars().handles.add(found, place, context, Elements(elements)));
    *count = static_cast<int>(elements);
    return MPI_SUCCESS;
}

/// Finds the handle of a session. Returns the error if the two do not belong together, or
/// MPI_SUCCESS.
int find_pvar(MPI_T_pvar_session session, MPI_T_pvar_handle handle, PvarHandle*& found) noexcept {
    const Session* owner = pvars().sessions.find(session);
    if (owner == nullptr) return MPI_T_ERR_INVALID_SESSION;
    found = pvars().handles.find(handle);
    return found != nullptr && found->session == owner ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

int pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle) {
    if (handle == nullptr) return MPI_T_ERR_INVALID;
    PvarHandle* found = nullptr;
    if (const int error = find_pvar(session, *handle, found)) return error;
    pvars().handles.erase(*found);
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

/// Does the work of MPI_T_pvar_start and MPI_T_pvar_stop. With all handles, those that always run
/// do not count.
int start_or_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    if (handle == MPI_T_PVAR_ALL_HANDLES)
        return pvars().sessions.find(session) == nullptr ? MPI_T_ERR_INVALID_SESSION : MPI_SUCCESS;
    PvarHandle* found = nullptr;
    const int error = find_pvar(session, handle, found);
    return error != MPI_SUCCESS ? error : MPI_T_ERR_PVAR_NO_STARTSTOP;
}

int pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* place) {
    PvarHandle* found = nullptr;
    if (const int error = find_pvar(session, handle, found)) return error;
    if (place == nullptr) return MPI_T_ERR_INVALID;
    copy_to(place, difference(counted(*found), found->base));
    return MPI_SUCCESS;
}

int pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const void* place) {
    PvarHandle* found = nullptr;
    if (const int error = find_pvar(session, handle, found)) return error;
    if (!found->writable()) return MPI_T_ERR_PVAR_NO_WRITE;
    if (place == nullptr) return MPI_T_ERR_INVALID;
    Elements values(found->base.size());
    std::memcpy(values.data(), place, values.size() * sizeof values[0]);
    found->base = difference(counted(*found), values);
    return MPI_SUCCESS;
}

/// Resets a handle. With all handles, those that can only be read do not count.
int pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
    if (handle == MPI_T_PVAR_ALL_HANDLES) {
        const Session* owner = pvars().sessions.find(session);
        if (owner == nullptr) return MPI_T_ERR_INVALID_SESSION;
        pvars().handles.for_each([&](PvarHandle& one) {
            if (one.session == owner && one.writable()) one.base = counted(one);
        });
        return MPI_SUCCESS;
    }
    PvarHandle* found = nullptr;
    if (const int error = find_pvar(session, handle, found)) return error;
    if (!found->writable()) return MPI_T_ERR_PVAR_NO_WRITE;
    found->base = counted(*found);
    return MPI_SUCCESS;
}

int pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* place) {
    PvarHandle* found = nullptr;
    if (const int error = find_pvar(session, handle, found)) return error;
    if (!found->writable()) return MPI_T_ERR_PVAR_NO_ATOMIC;
    if (place == nullptr) return MPI_T_ERR_INVALID;
    Elements now = counted(*found);
    copy_to(place, difference(now, found->base));
    found->base = std::move(now);
    return MPI_SUCCESS;
}

}  // namespace

void drop_pvar_sessions() noexcept {
    pvars().handles.clear();
    pvars().sessions.clear();
}

}  // namespace heddle::api::mpit

using namespace heddle::api::mpit;

MPIT_ENTRY(1, pvar_get_num, pvar_get_num)
MPIT_ENTRY(13, pvar_get_info, pvar_get_info)
MPIT_ENTRY(3, pvar_get_index, pvar_get_index)
MPIT_ENTRY(1, pvar_session_create, pvar_session_create)
MPIT_ENTRY(1, pvar_session_free, pvar_session_free)
MPIT_ENTRY(5, pvar_handle_alloc, pvar_handle_alloc)
MPIT_ENTRY(2, pvar_handle_free, pvar_handle_free)
MPIT_ENTRY(2, pvar_start, start_or_stop)
MPIT_ENTRY(2, pvar_stop, start_or_stop)
MPIT_ENTRY(3, pvar_read, pvar_read)
MPIT_ENTRY(3, pvar_write, pvar_write)
MPIT_ENTRY(2, pvar_reset, pvar_reset)
MPIT_ENTRY(3, pvar_readreset, pvar_readreset)
