// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Key and value pairs (MPI 5.0, 10), in the order in which the keys were first set.

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/object.hpp"

namespace heddle::objects {

struct Info : core::Object {
    Info* next = nullptr;
    std::vector<std::pair<std::string, std::string>> entries;  ///< guarded by the process's set-up lock

    std::optional<std::string_view> get(std::string_view key) const {
        for (const auto& [k, v] : entries)
            if (k == key) return v;
        return std::nullopt;
    }
    void set(std::string_view key, std::string_view value) {
        for (auto& [k, v] : entries)
            if (k == key) return void(v = value);
        entries.emplace_back(key, value);
    }
    bool erase(std::string_view key) {
        for (auto at = entries.begin(); at != entries.end(); ++at)
            if (at->first == key) return entries.erase(at), true;
        return false;
    }
};

}  // namespace heddle::objects
