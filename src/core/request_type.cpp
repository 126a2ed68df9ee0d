// SPDX-License-Identifier: BSD-3-Clause
#include "core/request_type.hpp"

#include <algorithm>

namespace heddle::core {
namespace {

constexpr RequestType usual;

constexpr std::array<const RequestType*, operations> all_usual() noexcept {
    std::array<const RequestType*, operations> types{};
    std::fill(types.begin(), types.end(), &usual);
    return types;
}

}  // namespace

constinit std::array<const RequestType*, operations> request_types = all_usual();

}  // namespace heddle::core
