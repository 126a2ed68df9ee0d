// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Entry points of the tool interface (MPI 5.0, 15.3), one line each:
///
///   MPIT_ENTRY(2, cvar_read, cvar_read)
///
/// defines PMPI_T_cvar_read and its weak alias MPI_T_cvar_read. They may be called at any time
/// between MPI_T_init_thread and the last MPI_T_finalize, before MPI_Init and after MPI_Finalize,
/// too. They call no error handler, and never communicate.
///
/// Thread safety  one lock for the interface, held by every call. User code (callbacks of events)
///                is called without it.
/// Handles        are looked up among the live ones, so that a wrong one is an error and no crash.

#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "api/entry.hpp"
#include "mpi.h"
#include "objects/process.hpp"

namespace heddle::api::mpit {

struct Interface {
    std::mutex lock;
    /// Calls of MPI_T_init_thread without a matching MPI_T_finalize. Changed with `lock` held.
    std::atomic<int> users{0};
};
Interface& interface() noexcept;

/// The objects behind the handles of one kind. The caller has locked the interface.
template <class T>
class Handles {
public:
    template <class... Arguments>
    T& add(Arguments&&... arguments) {
        auto made = std::make_unique<T>(T{std::forward<Arguments>(arguments)...});
        T& object = *made;
        live_.emplace(&object, std::move(made));
        return object;
    }
    /// Returns nullptr if there is no such object, or if it has been freed.
    T* find(const void* handle) const noexcept {
        const auto at = live_.find(handle);
        return at == live_.end() ? nullptr : at->second.get();
    }
    void erase(const T& object) noexcept { live_.erase(&object); }
    template <class Condition>
    void erase_if(Condition&& condition) {
        std::erase_if(live_, [&](const auto& entry) { return condition(*entry.second); });
    }
    template <class Function>
    void for_each(Function&& function) {
        for (auto& [handle, object] : live_) function(*object);
    }
    void clear() noexcept { live_.clear(); }

private:
    std::unordered_map<const void*, std::unique_ptr<T>> live_;
};

/// These free the objects that the last MPI_T_finalize leaves without an owner.
void drop_cvar_handles() noexcept;
void drop_pvar_sessions() noexcept;
/// Does the same for events, which have a lock of their own. The interface is not locked.
void drop_registrations() noexcept;

/// Returns the process of the caller, or nullptr before MPI_Init.
Process* process() noexcept;

/// Writes as much text as `*length` characters hold. Sets `*length` to the text's length with its
/// end (MPI 5.0, 15.3.3). Null pointers, and a length of 0, stand for results that the caller does
/// not want.
void give_text(std::string_view text, char* place, int* length) noexcept;
inline bool wrong_length(const int* length) noexcept { return length != nullptr && *length < 0; }

/// Writes a result, unless the caller does not want it.
template <class T>
void give(T* place, const auto& value) noexcept {
    if (place != nullptr) *place = static_cast<T>(value);
}

/// Returns whether this is an index below `count`.
inline bool is_index(int index, std::size_t count) noexcept {
    return index >= 0 && static_cast<std::size_t>(index) < count;
}

/// Finds the index of the line with that name. Returns MPI_T_ERR_INVALID_NAME if there is none.
template <class Table, class Condition>
int find_name(const Table& table, const char* name, int* index, Condition&& condition) {
    if (name == nullptr || index == nullptr) return MPI_T_ERR_INVALID;
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (std::string_view(table[i].name) != name || !condition(table[i])) continue;
        *index = static_cast<int>(i);
        return MPI_SUCCESS;
    }
    return MPI_T_ERR_INVALID_NAME;
}
template <class Table>
int find_name(const Table& table, const char* name, int* index) {
    return find_name(table, name, index, [](const auto&) { return true; });
}

/// Returns whether an argument is possible: an address must not lie where no memory can be. Handles
/// point at incomplete types, and are looked up.
template <class Raw>
bool may_be(Raw raw) noexcept {
    if constexpr (std::is_pointer_v<Raw>) {
        using Pointee = std::remove_pointer_t<Raw>;
        if constexpr (std::is_void_v<Pointee>)
            return is_memory_or_null(raw);
        else if constexpr (!std::is_function_v<Pointee>)
            if constexpr (requires { sizeof(Pointee); }) return is_memory_or_null(raw);
    }
    return true;
}

template <auto function, class... Raw>
int call(Raw... raw) noexcept {
    if (!(may_be(raw) && ...)) return MPI_T_ERR_INVALID;
    Interface& all = interface();
    std::lock_guard guard(all.lock);
    if (all.users.load(relaxed) == 0) return MPI_T_ERR_NOT_INITIALIZED;
    try {
        return function(raw...);
    } catch (const std::bad_alloc&) {
        return MPI_T_ERR_MEMORY;
    } catch (...) {
        return MPI_T_ERR_INVALID;
    }
}

}  // namespace heddle::api::mpit

#define MPIT_ENTRY(arity, X, ...)                                                 \
    extern "C" int PMPI_T_##X(HEDDLE_PARAMETERS_##arity(PMPI_T_##X)) {            \
        return ::heddle::api::mpit::call<&__VA_ARGS__>(HEDDLE_ARGUMENTS_##arity); \
    }                                                                             \
    HEDDLE_ALIAS(T_##X)
