// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Key and value pairs (MPI 5.0, 10), in the order in which the keys were first set.
///
/// Programs may make info objects before MPI_Init and use them after MPI_Finalize. So these belong
/// to the program and not to a Process.
///
/// Thread safety  entries are read and changed with info_lock() held. It is a leaf.

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/arena.hpp"
#include "core/object.hpp"
#include "mpi.h"

namespace heddle::objects {

struct Info : core::Object {
    Info* next = nullptr;
    std::vector<std::pair<std::string, std::string>> entries;

    std::optional<std::string_view> get(std::string_view key) const {
        for (const auto& [k, v] : entries)
            if (k == key) return v;
        return std::nullopt;
    }
    void set(std::string_view key, std::string_view value);
    bool erase(std::string_view key);
};

core::Arena<Info>& infos() noexcept;
std::mutex& info_lock() noexcept;

/// Returns the object behind a handle, also behind MPI_INFO_ENV, or nullptr if there is none.
Info* find_info(MPI_Info handle) noexcept;
/// Makes an empty object. Throws std::bad_alloc.
Info& make_info();
void free_info(Info& info) noexcept;
inline MPI_Info handle_of(Info& info) noexcept { return reinterpret_cast<MPI_Info>(&info); }

/// Fills `info` as MPI_INFO_ENV: how a program with these arguments was started.
void describe_environment(Info& info, const std::vector<std::string>& arguments);

}  // namespace heddle::objects
