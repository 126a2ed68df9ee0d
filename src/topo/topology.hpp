// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The topology of a communicator (MPI 5.0, 8): the relations of its processes.
///
/// Immutable once made, and shared by a communicator and its duplicates.

#include <utility>
#include <variant>

#include "topo/cart.hpp"
#include "topo/graph.hpp"
#include "topo/neighbours.hpp"

namespace heddle::topo {

struct Topology {
    std::variant<Cart, Graph, DistGraph> shape;
    Neighbours neighbours;  ///< of the calling process
};

}  // namespace heddle::topo
