// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The categories that knobs and counters belong to, one for each .def file.

#include <cstdint>
#include <span>

namespace heddle::tool {

enum class Category : std::uint8_t {
#define CATEGORY(Type, name, doc) name,
#include "tool/all.def"
};

struct CategoryInfo {
    const char* name;
    const char* doc;
};

/// Returns all categories, indexed by Category.
std::span<const CategoryInfo> category_table() noexcept;

}  // namespace heddle::tool
