// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How a type was made, in the order in which MPI_Type_get_contents tells it (MPI 5.0, 5.1.13).

#include <cstdint>
#include <vector>

#include "objects/definition.hpp"

namespace heddle::objects {

struct Contents {
    int combiner = MPI_COMBINER_NAMED;
    std::vector<int> integers;
    std::vector<std::int64_t> addresses;
    std::vector<std::int64_t> counts;  ///< of a type that a large-count function made
    std::vector<const Definition*> types;
};

/// Of a predefined type with a name there is nothing to tell.
Contents contents_of(const Definition& definition);

}  // namespace heddle::objects
