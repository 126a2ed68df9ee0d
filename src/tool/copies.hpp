// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The row of the table of copies that settings choose.

#include <cstddef>

#include "platform/copy_table.hpp"
#include "tool/settings.hpp"

namespace heddle::tool {

inline const platform::CopyRow& copy_row_for(const Settings& settings) noexcept {
    if (settings.copies == Copies::automatic) return platform::copy_row_of_processor();
    constexpr auto first = static_cast<std::size_t>(Copies::generic);
    return platform::copy_rows()[static_cast<std::size_t>(settings.copies) - first];
}

}  // namespace heddle::tool
