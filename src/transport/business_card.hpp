// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What a process publishes so that others reach it: one value for the launcher (launch/launcher.hpp, put and get), a few
/// dozen bytes. Only its first lane is in it: the addresses of others are asked for through that one
/// (docs/adr/0031-order-over-a-network.md).

#include <cstdint>
#include <string>

#include "transport/transport.hpp"

namespace heddle::transport {

struct BusinessCard {
    std::string fabric;   ///< all processes of a job use the same
    std::string address;  ///< of the first lane; any bytes
    JobToken token{};     ///< of the job, as this process has been told it
    std::uint64_t
        recipe{};  ///< what all processes must have in common (tool/recipe.hpp, agreement)

    bool operator==(const BusinessCard&) const = default;
};

std::string to_bytes(const BusinessCard& card);

/// The card that a process has published. Throws std::runtime_error with the reason if that process cannot be
/// talked to: it is of another version, uses another fabric or recipe, or belongs to another job.
BusinessCard read_card(const std::string& bytes, const BusinessCard& own);

}  // namespace heddle::transport
