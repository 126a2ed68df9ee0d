// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The description of how a type was made, in the order of MPI_Type_get_contents (MPI 5.0, 5.1.13).

#include <cstdint>
#include <vector>

#include "objects/definition.hpp"

namespace heddle::objects {

struct Contents {
    int combiner = MPI_COMBINER_NAMED;
    std::vector<int> integers;
    std::vector<std::int64_t> addresses;
    std::vector<std::int64_t> counts;  ///< only if a large-count function made the type
    std::vector<const Definition*> types;
};

/// Returns the contents of a type, which are empty for a predefined type with a name.
Contents contents_of(const Definition& definition);

}  // namespace heddle::objects
