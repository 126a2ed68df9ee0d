// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The business card: what a process publishes so that others reach it. It is one value for the
/// launcher (launch/launcher.hpp, put and get), of a few dozen bytes. It has only the first lane's
/// address. Other processes ask through that lane for the addresses of the others
/// (docs/adr/0031-order-over-a-network.md).

#include <cstdint>
#include <string>

#include "transport/transport.hpp"

namespace heddle::transport {

struct BusinessCard {
    std::string fabric;   ///< fabric that all processes of a job use
    std::string address;  ///< address of the first lane; any bytes
    JobToken token{};     ///< token of the job, as this process has been told it
    /// The settings that all processes must have in common (tool/recipe.hpp, agreement).
    std::uint64_t recipe{};

    bool operator==(const BusinessCard&) const = default;
};

std::string to_bytes(const BusinessCard& card);

/// Returns the card that a process has published. Throws std::runtime_error with the reason if that
/// process cannot be talked to: another version, another fabric or recipe, or another job.
BusinessCard read_card(const std::string& bytes, const BusinessCard& own);

}  // namespace heddle::transport
