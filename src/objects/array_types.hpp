// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Subarrays and distributed arrays (MPI 5.0, 5.1.3 and 5.1.4), made from simpler types.
///
/// The recipe has everything but `simpler`, and its arguments have been checked. The functions
/// return null if something would need more than 63 bits.

#include "objects/definition.hpp"

namespace heddle::objects {

/// Makes a subarray. integers: dimensions, order. numbers: sizes, subsizes, starts.
DefinitionPointer define_subarray(Recipe recipe);

/// Makes a distributed array. integers: size, rank, dimensions, distributions, their arguments,
/// processes by dimension, order. numbers: sizes of the global array.
DefinitionPointer define_distributed_array(Recipe recipe);

}  // namespace heddle::objects
