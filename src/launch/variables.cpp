// SPDX-License-Identifier: BSD-3-Clause
#include "launch/variables.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

#include "launch/children_wire.hpp"
#include "node/board.hpp"

namespace heddle::launch {

int number_in(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr) throw std::runtime_error(std::string(variable) + " is missing");
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < 0 || value > 1'000'000)
        throw std::runtime_error(std::string(variable) + "=" + text + " is not a number of ranks");
    return static_cast<int>(value);
}

RankInJob rank_in_job() {
    const RankInJob who{number_in("PMI_RANK"), number_in("PMI_SIZE")};
    if (who.rank >= who.size)
        throw std::runtime_error("PMI_RANK=" + std::to_string(who.rank) + " is no rank of " +
                                 std::to_string(who.size));
    return who;
}

namespace {

/// Returns the options. They are never destroyed: threads may start children to the end.
std::string& kept_spawn_options() {
    static std::string& kept = *new std::string;
    return kept;
}

}  // namespace

std::string spawn_options() {
    const char* const text = std::getenv(spawn_options_variable);
    return text != nullptr ? text : kept_spawn_options();
}

void keep_variables_from_children() noexcept {
    if (std::string options = spawn_options(); !options.empty())
        kept_spawn_options() = std::move(options);
    unsetenv(spawn_options_variable);
    for (const char* variable : {"PMI_FD", "PMI_PORT", node::node_descriptor_variable, "PMIX_RANK",
                                 "PMIX_NAMESPACE", "OMPI_COMM_WORLD_SIZE"})
        unsetenv(variable);
}

std::string take_parent() {
    const char* const parent = std::getenv("HEDDLE_PARENT");
    const std::string taken = parent != nullptr ? parent : "";
    unsetenv("HEDDLE_PARENT");
    return taken;
}

}  // namespace heddle::launch
