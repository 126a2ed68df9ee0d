// SPDX-License-Identifier: BSD-3-Clause
#include "tool/recipe.hpp"

#include "tool/settings.hpp"

namespace heddle::tool {

bool in_laboratory(const Settings& settings) noexcept {
    return settings.assignment != Assignment::tag || settings.progress != ProgressStrategy::concurrent;
}

std::uint32_t agreement(const Settings& settings) noexcept {
    return 1 + static_cast<std::uint32_t>(settings.instances) * 256 +
           static_cast<std::uint32_t>(settings.assignment) * 65536;
}

std::string print_agreement(std::uint32_t agreement) {
    const auto instances = static_cast<InstanceCount>(agreement / 256 % 256);
    const auto assignment = static_cast<Assignment>(agreement / 65536);
    std::string text("HEDDLE_INSTANCES=");
    text += Choice<InstanceCount>::print(instances);
    text += " HEDDLE_ASSIGNMENT=";
    text += Choice<Assignment>::print(assignment);
    return text;
}

}  // namespace heddle::tool
