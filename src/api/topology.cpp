// SPDX-License-Identifier: BSD-3-Clause
/// Process topologies (MPI 5.0, 8): Cartesian ones, and the kind that a communicator has.

#include "api/topology.hpp"

#include <algorithm>

#include "topo/dims.hpp"
#include "topo/make.hpp"

namespace heddle::api {
namespace {

using core::Thread;
using topo::Cart;

int topo_test(Thread&, Comm comm, Out<int> status) {
    constexpr int kinds[] = {MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH};  // the order of the variant
    *status = comm->topology == nullptr ? MPI_UNDEFINED : kinds[comm->topology->shape.index()];
    return MPI_SUCCESS;
}

// --- sizes of grids ---

int wrong_dims(Thread& thread, const std::string& detail) {
    return objects::fail(thread, nullptr, MPI_ERR_DIMS, "argument " + detail);
}

/// Chooses dimensions that are 0, so that the product of all is nnodes.
int dims_create(Thread& thread, Raw<int> nodes, Raw<int> count, Array<int> dims) {
    if (nodes.value < 1)
        return objects::fail(
            thread, nullptr, MPI_ERR_ARG,
            "argument nnodes: " + std::to_string(nodes.value) + " is not positive");
    if (count.value < 0)
        return wrong_dims(thread, "ndims: " + std::to_string(count.value) + " is negative");
    if (dims.value == nullptr && count.value > 0)
        return objects::fail(thread, nullptr, MPI_ERR_ARG, "argument dims: a null pointer");
    int free = 0;
    int rest = nodes.value;
    for (int d = 0; d < count.value; ++d) {
        const int size = dims.value[d];
        if (size == 0) {
            ++free;
            continue;
        }
        if (size < 0)
            return wrong_dims(thread,
                              "dims: " + std::to_string(size) + " at index " + std::to_string(d) +
                                  " is negative");
        if (rest % size != 0)
            return wrong_dims(thread,
                              "dims: " + std::to_string(nodes.value) +
                                  " nodes are no multiple of the dimensions that are given");
        rest /= size;
    }
    if (free == 0) return MPI_SUCCESS;
    const std::vector<std::int32_t> chosen = topo::balanced_factors(rest, free);
    auto next = chosen.begin();
    for (int d = 0; d < count.value; ++d)
        if (dims.value[d] == 0) dims.value[d] = *next++;
    return MPI_SUCCESS;
}

// --- making ---

/// Reads the grid that the arguments describe.
int read_cart(const TopologyCall& call, int count, const int* dims, const int* periods,
              Cart& cart) {
    if (const int error = call.intra()) return error;
    if (const int error = call.not_negative("ndims", count, MPI_ERR_DIMS)) return error;
    if (const int error = call.present("dims", dims, count)) return error;
    if (const int error = call.present("periods", periods, count)) return error;
    for (int d = 0; d < count; ++d) {
        if (dims[d] < 1)
            return call.fail(MPI_ERR_DIMS,
                             "argument dims: " + std::to_string(dims[d]) + " at index " +
                                 std::to_string(d) + " is not positive");
        cart.dimensions.push_back({dims[d], periods[d] != 0});
    }
    if (topo::size_of(cart).value_or(call.communicator.size() + 1) > call.communicator.size())
        return call.fail(MPI_ERR_DIMS,
                         "argument dims: the grid has more places than the communicator, "
                         "which has " +
                             std::to_string(call.communicator.size()) + " processes");
    return MPI_SUCCESS;
}

int cart_create(Thread& thread, Comm comm, Raw<int> count, Array<const int> dims,
                Array<const int> periods, Raw<int> reorder, Out<MPI_Comm> result) {
    *result = MPI_COMM_NULL;
    Cart cart;
    if (const int error = read_cart({thread, *comm}, count.value, dims.value, periods.value, cart))
        return error;
    return topo::make_cart(thread, *comm, cart, reorder.value != 0, *result);
}

/// Returns the old order: a call of one process does not tell where the others are bound.
int cart_map(Thread& thread, Comm comm, Raw<int> count, Array<const int> dims,
             Array<const int> periods, Out<int> rank) {
    Cart cart;
    if (const int error = read_cart({thread, *comm}, count.value, dims.value, periods.value, cart))
        return error;
    *rank = comm->rank < *topo::size_of(cart) ? comm->rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int cart_sub(Thread& thread, Comm comm, Array<const int> remain, Out<MPI_Comm> result) {
    *result = MPI_COMM_NULL;
    const TopologyCall call{thread, *comm};
    const Cart* cart = nullptr;
    if (const int error = call.find(cart)) return error;
    if (const int error = call.present("remain_dims", remain.value, std::ssize(cart->dimensions)))
        return error;
    return topo::make_subgrid(thread, *comm, *cart, remain.value, *result);
}

// --- asking ---

int cartdim_get(Thread& thread, Comm comm, Out<int> count) {
    const Cart* cart = nullptr;
    if (const int error = TopologyCall{thread, *comm}.find(cart)) return error;
    *count = static_cast<int>(cart->dimensions.size());
    return MPI_SUCCESS;
}

/// Returns the number of entries for which there is room.
std::int64_t entries(const Cart& cart, int room) noexcept {
    return std::min<std::int64_t>(room, std::ssize(cart.dimensions));
}

int cart_get(Thread& thread, Comm comm, Raw<int> room, Array<int> dims, Array<int> periods,
             Array<int> coordinates) {
    const TopologyCall call{thread, *comm};
    const Cart* cart = nullptr;
    if (const int error = call.find(cart)) return error;
    if (const int error = call.not_negative("maxdims", room.value)) return error;
    const std::int64_t count = entries(*cart, room.value);
    if (const int error = call.present("dims", dims.value, count)) return error;
    if (const int error = call.present("periods", periods.value, count)) return error;
    if (const int error = call.present("coords", coordinates.value, count)) return error;
    const std::vector<std::int32_t> here = topo::coordinates_of(*cart, comm->rank);
    for (std::int64_t d = 0; d < count; ++d) {
        const auto i = static_cast<std::size_t>(d);
        dims.value[d] = cart->dimensions[i].size;
        periods.value[d] = cart->dimensions[i].periodic;
        coordinates.value[d] = here[i];
    }
    return MPI_SUCCESS;
}

int cart_coords(Thread& thread, Comm comm, Raw<int> rank, Raw<int> room, Array<int> coordinates) {
    const TopologyCall call{thread, *comm};
    const Cart* cart = nullptr;
    if (const int error = call.find(cart)) return error;
    if (const int error = call.rank_exists("rank", rank.value)) return error;
    if (const int error = call.not_negative("maxdims", room.value)) return error;
    const std::int64_t count = entries(*cart, room.value);
    if (const int error = call.present("coords", coordinates.value, count)) return error;
    const std::vector<std::int32_t> all = topo::coordinates_of(*cart, rank.value);
    std::copy_n(all.begin(), count, coordinates.value);
    return MPI_SUCCESS;
}

int cart_rank(Thread& thread, Comm comm, Array<const int> coordinates, Out<int> rank) {
    const TopologyCall call{thread, *comm};
    const Cart* cart = nullptr;
    if (const int error = call.find(cart)) return error;
    if (const int error = call.present("coords", coordinates.value, std::ssize(cart->dimensions)))
        return error;
    const auto found = topo::rank_at(*cart, coordinates.value);
    if (!found)
        return call.fail(
            MPI_ERR_ARG,
            "argument coords: outside of the grid in a dimension that is not periodic");
    *rank = *found;
    return MPI_SUCCESS;
}

int cart_shift(Thread& thread, Comm comm, Raw<int> direction, Raw<int> distance, Out<int> source,
               Out<int> destination) {
    const TopologyCall call{thread, *comm};
    const Cart* cart = nullptr;
    if (const int error = call.find(cart)) return error;
    if (direction.value < 0 || direction.value >= std::ssize(cart->dimensions))
        return call.fail(MPI_ERR_DIMS,
                         "argument direction: " + std::to_string(direction.value) +
                             " in a grid of " + std::to_string(cart->dimensions.size()) +
                             " dimensions, which count from 0");
    const auto dimension = static_cast<std::size_t>(direction.value);
    const std::int64_t steps = distance.value;
    *source = topo::shifted(*cart, comm->rank, dimension, -steps);
    *destination = topo::shifted(*cart, comm->rank, dimension, steps);
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(2, Topo_test, topo_test)
MPI_ENTRY(3, Dims_create, dims_create)
MPI_ENTRY(6, Cart_create, cart_create)
MPI_ENTRY(5, Cart_map, cart_map)
MPI_ENTRY(3, Cart_sub, cart_sub)
MPI_ENTRY(2, Cartdim_get, cartdim_get)
MPI_ENTRY(5, Cart_get, cart_get)
MPI_ENTRY(4, Cart_coords, cart_coords)
MPI_ENTRY(3, Cart_rank, cart_rank)
MPI_ENTRY(5, Cart_shift, cart_shift)
