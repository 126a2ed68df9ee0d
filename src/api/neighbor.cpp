// SPDX-License-Identifier: BSD-3-Clause
/// Neighbourhood collectives (MPI 5.0, 8.6).

#include "api/collective_forms.hpp"

#include "coll/neighbor.hpp"
#include "topo/topology.hpp"

namespace heddle::api {
namespace {

using coll::Block;
using coll::Blocks;
using topo::Neighbours;

/// An array with an entry for each edge. The communicator knows the number of edges.
template <class Kind>
struct PerEdge : Kind {
    using Kind::Kind;
    int error(const Communicator*) const noexcept { return MPI_SUCCESS; }
    int check(const Site& site, std::size_t edges) const {
        if (edges == 0) return MPI_SUCCESS;
        if constexpr (std::is_base_of_v<Counts, Kind>)
            return check_within(site, static_cast<std::int32_t>(edges));
        else
            return check_within(site, &site.communicator);
    }

private:
    template <class Scope>
    int check_within(const Site& site, Scope scope) const {
        const int error = Kind::error(scope);
        if (error == MPI_SUCCESS) return MPI_SUCCESS;
        return refuse(site.thread, &site.communicator, error, Kind::name, Kind::wrong(scope));
    }
};

/// The data of one edge's block, on one side of an exchange.
struct Piece {
    std::int64_t count;
    const objects::Datatype* type;
    std::int64_t offset;  ///< bytes
};

/// Lists the blocks of all edges that lead to a process. The list lies in the schedule. Blocks of
/// other edges are not even packed.
template <class CountKind, class Buffer, class PieceOf>
int list(const Site& site, const Buffer& buffer, const std::vector<std::int32_t>& peers, Use use,
         std::span<Block>& blocks, PieceOf&& piece_of) {
    blocks = site.schedule.scratch_of<Block>(peers.size());
    Site::Need need;
    for (std::size_t edge = 0; edge < peers.size(); ++edge) {
        blocks[edge] = {nullptr, 0};
        if (peers[edge] == MPI_PROC_NULL) continue;
        const Piece piece = piece_of(static_cast<std::int32_t>(edge));
        if (const int error = site.block<CountKind>(buffer, piece.count, *piece.type, piece.offset,
                                                    use, blocks[edge], need))
            return error;
    }
    return site.present(buffer, need);
}

/// Lists equal blocks, one after the other.
template <class Buffer, class CountKind, class TypeKind>
int list_equal(const Site& site, const Buffer& buffer, const CountKind& count, const TypeKind& type,
               const std::vector<std::int32_t>& peers, Use use, std::span<Block>& blocks) {
    std::int64_t one = 0, all = 0;
    if (__builtin_mul_overflow(count.value, type->extent, &one) ||
        __builtin_mul_overflow(one, std::ssize(peers), &all)) [[unlikely]]
        return site.fail(
            MPI_ERR_COUNT,
            std::string("argument ") + CountKind::name + ": the buffer has more than 2^63 bytes");
    return list<CountKind>(site, buffer, peers, use, blocks, [&](std::int32_t edge) {
        return Piece{count.value, type.object, edge * one};
    });
}

/// Lists blocks of different sizes, with displacements in elements.
template <class Buffer, class CountsKind, class DisplacementsKind, class TypeKind>
int list_of(const Site& site, const Buffer& buffer, const PerEdge<CountsKind>& counts,
            const PerEdge<DisplacementsKind>& displacements, const TypeKind& type,
            const std::vector<std::int32_t>& peers, Use use, std::span<Block>& blocks) {
    if (const int error = counts.check(site, peers.size())) return error;
    if (const int error = displacements.check(site, peers.size())) return error;
    return list<CountsKind>(site, buffer, peers, use, blocks, [&](std::int32_t edge) {
        return Piece{counts[edge], type.object, displacements[edge] * type->extent};
    });
}

/// Lists blocks with a type each, and displacements in bytes.
template <class Buffer, class CountsKind, class DisplacementsKind, class TypesKind>
int list_typed(const Site& site, const Buffer& buffer, const PerEdge<CountsKind>& counts,
               const PerEdge<DisplacementsKind>& displacements, const PerEdge<TypesKind>& types,
               const std::vector<std::int32_t>& peers, Use use, std::span<Block>& blocks) {
    if (const int error = counts.check(site, peers.size())) return error;
    if (const int error = displacements.check(site, peers.size())) return error;
    if (const int error = types.check(site, peers.size())) return error;
    if (const int error = site.check_types(types, counts, static_cast<std::int32_t>(peers.size())))
        return error;
    return list<CountsKind>(site, buffer, peers, use, blocks, [&](std::int32_t edge) {
        return Piece{counts[edge], types.of_block(edge, counts[edge]).object, displacements[edge]};
    });
}

/// Finds the edges of this process.
int find_edges(const Site& site, const Neighbours*& edges) {
    if (site.communicator.topology == nullptr) [[unlikely]]
        return site.fail(MPI_ERR_TOPOLOGY, "argument comm: it has no topology");
    edges = &site.communicator.topology->neighbours;
    return MPI_SUCCESS;
}

/// Does the common part of the two forms of allgather.
int gather_from(const Site& site, const Neighbours& edges, In in, InCount count, InType type,
                std::span<const Block> to) {
    Data mine;
    const int blocks = edges.destinations.empty() ? 0 : 1;
    if (const int error = site.measure(in, count, type, blocks, Use::in, mine)) return error;
    for (const Block& block : to)
        if (const int error = site.apart(mine.memory, block)) return error;
    coll::neighbor_allgather(site.schedule, edges, mine.block(), Blocks(to));
    return MPI_SUCCESS;
}

int neighbor_allgather(const Site& site, In in, InCount in_count, InType in_type, Result out,
                       ResultCount out_count, ResultType out_type) {
    std::span<Block> to;
    const Neighbours* edges = nullptr;
    if (const int error = find_edges(site, edges)) return error;
    if (const int error = list_equal(site, out, out_count, out_type, edges->sources, Use::out, to))
        return error;
    return gather_from(site, *edges, in, in_count, in_type, to);
}

int neighbor_allgatherv(const Site& site, In in, InCount in_count, InType in_type, Result out,
                        PerEdge<ResultCounts> counts, PerEdge<Displacements> displacements,
                        ResultType out_type) {
    std::span<Block> to;
    const Neighbours* edges = nullptr;
    if (const int error = find_edges(site, edges)) return error;
    if (const int error =
            list_of(site, out, counts, displacements, out_type, edges->sources, Use::out, to))
        return error;
    return gather_from(site, *edges, in, in_count, in_type, to);
}

int neighbor_alltoall(const Site& site, In in, InCount in_count, InType in_type, Result out,
                      ResultCount out_count, ResultType out_type) {
    std::span<Block> from, to;
    const Neighbours* edges = nullptr;
    if (const int error = find_edges(site, edges)) return error;
    if (const int error =
            list_equal(site, in, in_count, in_type, edges->destinations, Use::in, from))
        return error;
    if (const int error = list_equal(site, out, out_count, out_type, edges->sources, Use::out, to))
        return error;
    if (const int error = site.apart(from, to)) return error;
    coll::neighbor_alltoall(site.schedule, *edges, Blocks(from), Blocks(to));
    return MPI_SUCCESS;
}

int neighbor_alltoallv(const Site& site, In in, PerEdge<InCounts> in_counts,
                       PerEdge<InDisplacements> in_displacements, InType in_type, Result out,
                       PerEdge<ResultCounts> out_counts,
                       PerEdge<ResultDisplacements> out_displacements, ResultType out_type) {
    std::span<Block> from, to;
    const Neighbours* edges = nullptr;
    if (const int error = find_edges(site, edges)) return error;
    if (const int error = list_of(site, in, in_counts, in_displacements, in_type,
                                  edges->destinations, Use::in, from))
        return error;
    if (const int error = list_of(site, out, out_counts, out_displacements, out_type,
                                  edges->sources, Use::out, to))
        return error;
    if (const int error = site.apart(from, to)) return error;
    coll::neighbor_alltoall(site.schedule, *edges, Blocks(from), Blocks(to));
    return MPI_SUCCESS;
}

int neighbor_alltoallw(const Site& site, In in, PerEdge<InCounts> in_counts,
                       PerEdge<InDisplacements> in_displacements, PerEdge<InTypes> in_types,
                       Result out, PerEdge<ResultCounts> out_counts,
                       PerEdge<ResultDisplacements> out_displacements,
                       PerEdge<ResultTypes> out_types) {
    std::span<Block> from, to;
    const Neighbours* edges = nullptr;
    if (const int error = find_edges(site, edges)) return error;
    if (const int error = list_typed(site, in, in_counts, in_displacements, in_types,
                                     edges->destinations, Use::in, from))
        return error;
    if (const int error = list_typed(site, out, out_counts, out_displacements, out_types,
                                     edges->sources, Use::out, to))
        return error;
    if (const int error = site.apart(from, to)) return error;
    coll::neighbor_alltoall(site.schedule, *edges, Blocks(from), Blocks(to));
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

HEDDLE_COLLECTIVE_C(7, Neighbor_allgather, 8, Ineighbor_allgather, 9, Neighbor_allgather_init,
                    neighbor_allgather)
HEDDLE_COLLECTIVE_C(8, Neighbor_allgatherv, 9, Ineighbor_allgatherv, 10, Neighbor_allgatherv_init,
                    neighbor_allgatherv)
HEDDLE_COLLECTIVE_C(7, Neighbor_alltoall, 8, Ineighbor_alltoall, 9, Neighbor_alltoall_init,
                    neighbor_alltoall)
HEDDLE_COLLECTIVE_C(9, Neighbor_alltoallv, 10, Ineighbor_alltoallv, 11, Neighbor_alltoallv_init,
                    neighbor_alltoallv)
HEDDLE_COLLECTIVE_C(9, Neighbor_alltoallw, 10, Ineighbor_alltoallw, 11, Neighbor_alltoallw_init,
                    neighbor_alltoallw)
