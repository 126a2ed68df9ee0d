// SPDX-License-Identifier: BSD-3-Clause
/// Events (MPI 5.0, 15.3.8). There is one source, this process, and the events that tool/events.hpp
/// lists.
///
/// Events are raised while the library holds locks. So only callbacks of
/// MPI_T_CB_REQUIRE_THREAD_SAFE or a stricter level can be called. Without one the event is
/// dropped, and counted as dropped.
///
/// Locking        `lock` guards registrations and is held while callbacks run, so that none runs
///                after its registration was freed. It is recursive, since a callback looks at its
///                own event. The lock of the interface is not taken with it. A thread that holds
///                that one may be waiting for an instance, whose holder raises an event.

#include <array>
#include <cstring>
#include <ctime>
#include <limits>
#include <mutex>
#include <vector>

#include "api/mpit.hpp"
#include "objects/info.hpp"
#include "tool/events.hpp"

namespace heddle::api::mpit {
namespace {

constexpr std::size_t source_count = 1;
constexpr std::array safety_levels{MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                   MPI_T_CB_REQUIRE_THREAD_SAFE,
                                   MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};
constexpr std::size_t least_level = 2;  ///< MPI_T_CB_REQUIRE_THREAD_SAFE

struct Callback {
    MPI_T_event_cb_function* function = nullptr;
    void* user_data = nullptr;
};

struct Registration {
    tool::Event event;
    std::array<Callback, safety_levels.size()> callbacks{};
    MPI_T_event_dropped_cb_function* dropped = nullptr;

    MPI_T_event_registration handle() noexcept {
        return reinterpret_cast<MPI_T_event_registration>(this);
    }
    /// Returns the number of the level of the least demanding callback that may be called.
    std::size_t callable() const noexcept {
        std::size_t level = least_level;
        while (level < callbacks.size() && callbacks[level].function == nullptr) ++level;
        return level;
    }
};

struct Registrations {
    std::recursive_mutex lock;
    Handles<Registration> live;
};
Registrations& registrations() noexcept {
    static Registrations& all = *new Registrations;
    return all;
}

/// The event behind an MPI_T_event_instance, while a callback looks at it.
struct Instance {
    tool::Event event;
    const tool::Elements* elements;
    MPI_Count timestamp;
};
constinit thread_local const Instance* current_instance __attribute__((tls_model("initial-exec"))) =
    nullptr;

MPI_Count now() noexcept {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * MPI_Count{1'000'000'000} + time.tv_nsec;
}

void tell(Registration& registration, const Instance& instance) {
    const std::size_t level = registration.callable();
    if (level == registration.callbacks.size()) {
        if (registration.dropped != nullptr)
            registration.dropped(1, registration.handle(), 0, MPI_T_CB_REQUIRE_THREAD_SAFE,
                                 nullptr);
        return;
    }
    const Callback callback = registration.callbacks[level];
    callback.function(reinterpret_cast<MPI_T_event_instance>(const_cast<Instance*>(&instance)),
                      registration.handle(), MPI_T_CB_REQUIRE_THREAD_SAFE, callback.user_data);
}

/// Takes an event from tool::raise(). A callback must not raise another event.
void take_event(tool::Event event, const tool::Elements& elements) noexcept {
    if (current_instance != nullptr) return;
    Registrations& all = registrations();
    std::lock_guard guard(all.lock);
    const Instance instance{event, &elements, now()};
    current_instance = &instance;
    try {
        std::vector<const void*> listeners;  // a callback may free registrations
        all.live.for_each([&](Registration& one) {
            if (one.event == event) listeners.push_back(&one);
        });
        for (const void* handle : listeners)
            if (Registration* one = all.live.find(handle)) tell(*one, instance);
    } catch (const std::bad_alloc&) {  // without memory no callback is told
    }
    current_instance = nullptr;
}

/// Has those events raised that a registration listens to, and no others. The caller has locked
/// registrations.
void listen() {
    std::uint32_t events = 0;
    registrations().live.for_each([&](const Registration& one) {
        if (one.callable() < one.callbacks.size() || one.dropped != nullptr)
            events |= std::uint32_t{1} << static_cast<unsigned>(one.event);
    });
    tool::event_sink.store(&take_event, relaxed);
    tool::listened_events.store(events, release);
}

std::size_t level_of(MPI_T_cb_safety safety) noexcept {
    std::size_t level = 0;
    while (level < safety_levels.size() && safety_levels[level] != safety) ++level;
    return level;
}
bool is_level(MPI_T_cb_safety safety) noexcept { return level_of(safety) < safety_levels.size(); }

Registration* find_event(MPI_T_event_registration handle) noexcept {
    return registrations().live.find(handle);
}

bool is_info(MPI_Info handle) noexcept {
    return handle == MPI_INFO_NULL || objects::find_info(handle) != nullptr;
}
/// Returns no hints in use, since no hint is known.
void give_hints(MPI_Info* info) {
    if (info != nullptr) *info = objects::handle_of(objects::make_info());
}

// --- sources ---

int source_get_num(int* num) {
    if (num == nullptr) return MPI_T_ERR_INVALID;
    *num = static_cast<int>(source_count);
    return MPI_SUCCESS;
}

int source_get_info(int index, char* name, int* name_len, char* desc, int* desc_len,
                    MPI_T_source_order* ordering, MPI_Count* ticks_per_second, MPI_Count* max_ticks,
                    MPI_Info* info) {
    if (!is_index(index, source_count)) return MPI_T_ERR_INVALID_INDEX;
    if (wrong_length(name_len) || wrong_length(desc_len)) return MPI_T_ERR_INVALID;
    give_text("heddle", name, name_len);
    give_text("The threads of this process, inside MPI; ticks of CLOCK_MONOTONIC", desc, desc_len);
    give(ordering, MPI_T_SOURCE_UNORDERED);
    give(ticks_per_second, 1'000'000'000);
    give(max_ticks, std::numeric_limits<MPI_Count>::max());
    give_hints(info);
    return MPI_SUCCESS;
}

int source_get_timestamp(int index, MPI_Count* timestamp) {
    if (!is_index(index, source_count)) return MPI_T_ERR_INVALID_INDEX;
    if (timestamp == nullptr) return MPI_T_ERR_INVALID;
    *timestamp = now();
    return MPI_SUCCESS;
}

// --- event types ---

int event_get_num(int* num) {
    if (num == nullptr) return MPI_T_ERR_INVALID;
    *num = static_cast<int>(tool::event_table().size());
    return MPI_SUCCESS;
}

int event_get_info(int index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatypes,
                   MPI_Aint* displacements, int* num_elements, MPI_T_enum* enumtype, MPI_Info* info,
                   char* desc, int* desc_len, int* bind) {
    if (!is_index(index, tool::event_table().size())) return MPI_T_ERR_INVALID_INDEX;
    if (wrong_length(name_len) || wrong_length(desc_len) || wrong_length(num_elements))
        return MPI_T_ERR_INVALID;
    const tool::EventInfo& event = tool::event_table()[static_cast<std::size_t>(index)];
    give_text(event.name, name, name_len);
    give_text(event.doc, desc, desc_len);
    give(verbosity, MPI_T_VERBOSITY_TUNER_ALL);
    const int room = num_elements != nullptr ? *num_elements : 0;
    for (int i = 0; i < event.elements && i < room; ++i) {
        if (datatypes != nullptr) datatypes[i] = MPI_COUNT;
        if (displacements != nullptr)
            displacements[i] = i * static_cast<MPI_Aint>(sizeof(MPI_Count));
    }
    give(num_elements, event.elements);
    give(enumtype, MPI_T_ENUM_NULL);
    give_hints(info);
    give(bind, MPI_T_BIND_NO_OBJECT);
    return MPI_SUCCESS;
}

int event_get_index(const char* name, int* index) {
    return find_name(tool::event_table(), name, index);
}

// --- registrations ---

int event_handle_alloc(int index, void*, MPI_Info info, MPI_T_event_registration* registration) {
    if (!is_index(index, tool::event_table().size())) return MPI_T_ERR_INVALID_INDEX;
    if (registration == nullptr || !is_info(info)) return MPI_T_ERR_INVALID;
    *registration = registrations().live.add(static_cast<tool::Event>(index)).handle();
    return MPI_SUCCESS;
}

int take_registration(MPI_T_event_registration handle) {
    const Registration* found = find_event(handle);
    if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    registrations().live.erase(*found);
    listen();
    return MPI_SUCCESS;
}

int event_handle_set_info(MPI_T_event_registration handle, MPI_Info info) {
    if (find_event(handle) == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    return is_info(info) ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

int event_handle_get_info(MPI_T_event_registration handle, MPI_Info* info) {
    if (find_event(handle) == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    if (info == nullptr) return MPI_T_ERR_INVALID;
    give_hints(info);
    return MPI_SUCCESS;
}

int event_register_callback(MPI_T_event_registration handle, MPI_T_cb_safety safety, MPI_Info info,
                            void* user_data, MPI_T_event_cb_function* function) {
    Registration* found = find_event(handle);
    if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    if (!is_level(safety) || !is_info(info)) return MPI_T_ERR_INVALID;
    found->callbacks[level_of(safety)] = {function, user_data};
    listen();
    return MPI_SUCCESS;
}

int event_callback_set_info(MPI_T_event_registration handle, MPI_T_cb_safety safety,
                            MPI_Info info) {
    if (find_event(handle) == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    return is_level(safety) && is_info(info) ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

int event_callback_get_info(MPI_T_event_registration handle, MPI_T_cb_safety safety,
                            MPI_Info* info) {
    if (find_event(handle) == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    if (!is_level(safety) || info == nullptr) return MPI_T_ERR_INVALID;
    give_hints(info);
    return MPI_SUCCESS;
}

int event_set_dropped_handler(MPI_T_event_registration handle,
                              MPI_T_event_dropped_cb_function* dropped) {
    Registration* found = find_event(handle);
    if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    found->dropped = dropped;
    listen();
    return MPI_SUCCESS;
}

// --- inside a callback ---

const Instance* find_event(MPI_T_event_instance handle) noexcept {
    const auto* instance = reinterpret_cast<const Instance*>(handle);
    return instance != nullptr && instance == current_instance ? instance : nullptr;
}

int event_read(MPI_T_event_instance handle, int element, void* place) {
    const Instance* instance = find_event(handle);
    if (instance == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    const tool::EventInfo& event = tool::event_table()[static_cast<std::size_t>(instance->event)];
    if (!is_index(element, static_cast<std::size_t>(event.elements)))
        return MPI_T_ERR_INVALID_INDEX;
    if (place == nullptr) return MPI_T_ERR_INVALID;
    std::memcpy(place, &(*instance->elements)[static_cast<std::size_t>(element)],
                sizeof(std::int64_t));
    return MPI_SUCCESS;
}

int event_copy(MPI_T_event_instance handle, void* place) {
    const Instance* instance = find_event(handle);
    if (instance == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    if (place == nullptr) return MPI_T_ERR_INVALID;
    const tool::EventInfo& event = tool::event_table()[static_cast<std::size_t>(instance->event)];
    std::memcpy(place, instance->elements->data(),
                static_cast<std::size_t>(event.elements) * sizeof(std::int64_t));
    return MPI_SUCCESS;
}

int event_get_timestamp(MPI_T_event_instance handle, MPI_Count* timestamp) {
    const Instance* instance = find_event(handle);
    if (instance == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    if (timestamp == nullptr) return MPI_T_ERR_INVALID;
    *timestamp = instance->timestamp;
    return MPI_SUCCESS;
}

int event_get_source(MPI_T_event_instance handle, int* source_index) {
    if (find_event(handle) == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    if (source_index == nullptr) return MPI_T_ERR_INVALID;
    *source_index = 0;
    return MPI_SUCCESS;
}

/// Calls a function with the registrations locked, but not the interface.
template <auto function, class... Raw>
int call_with_events(Raw... raw) noexcept {
    if (!(may_be(raw) && ...)) return MPI_T_ERR_INVALID;
    if (interface().users.load(relaxed) == 0) return MPI_T_ERR_NOT_INITIALIZED;
    std::lock_guard guard(registrations().lock);
    try {
        return function(raw...);
    } catch (const std::bad_alloc&) {
        return MPI_T_ERR_MEMORY;
    } catch (...) {
        return MPI_T_ERR_INVALID;
    }
}

/// Frees a registration. No lock is held while the callback is called, since it may use MPI.
int event_handle_free(MPI_T_event_registration handle, void* user_data,
                      MPI_T_event_free_cb_function* freed) {
    const int error = call_with_events<&take_registration>(handle);
    if (error == MPI_SUCCESS && freed != nullptr) freed(handle, MPI_T_CB_REQUIRE_NONE, user_data);
    return error;
}

}  // namespace

void drop_registrations() noexcept {
    std::lock_guard guard(registrations().lock);
    registrations().live.clear();
    listen();
}

}  // namespace heddle::api::mpit

#define MPIT_EVENT_ENTRY(arity, X)                                         \
    extern "C" int PMPI_T_##X(HEDDLE_PARAMETERS_##arity(PMPI_T_##X)) {     \
        return heddle::api::mpit::call_with_events<&heddle::api::mpit::X>( \
            HEDDLE_ARGUMENTS_##arity);                                     \
    }                                                                      \
    HEDDLE_ALIAS(T_##X)

extern "C" int PMPI_T_event_handle_free(HEDDLE_PARAMETERS_3(PMPI_T_event_handle_free)) {
    return heddle::api::mpit::event_handle_free(HEDDLE_ARGUMENTS_3);
}
HEDDLE_ALIAS(T_event_handle_free)

MPIT_EVENT_ENTRY(1, source_get_num)
MPIT_EVENT_ENTRY(9, source_get_info)
MPIT_EVENT_ENTRY(2, source_get_timestamp)
MPIT_EVENT_ENTRY(1, event_get_num)
MPIT_EVENT_ENTRY(12, event_get_info)
MPIT_EVENT_ENTRY(2, event_get_index)
MPIT_EVENT_ENTRY(4, event_handle_alloc)
MPIT_EVENT_ENTRY(2, event_handle_set_info)
MPIT_EVENT_ENTRY(2, event_handle_get_info)
MPIT_EVENT_ENTRY(5, event_register_callback)
MPIT_EVENT_ENTRY(3, event_callback_set_info)
MPIT_EVENT_ENTRY(3, event_callback_get_info)
MPIT_EVENT_ENTRY(2, event_set_dropped_handler)
MPIT_EVENT_ENTRY(3, event_read)
MPIT_EVENT_ENTRY(2, event_copy)
MPIT_EVENT_ENTRY(2, event_get_timestamp)
MPIT_EVENT_ENTRY(2, event_get_source)
