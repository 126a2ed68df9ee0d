// SPDX-License-Identifier: BSD-3-Clause
/// Gather, scatter and allgather (MPI 5.0, 6.5 to 6.7).

#include "api/collective_forms.hpp"

namespace heddle::api {
namespace {

using coll::Block;
using coll::Blocks;

// Names for what the signatures below are full of.
using SendCountLater = Later<InCount>;
using SendTypeLater = Later<InType>;
using ReceiveCountLater = Later<ResultCount>;
using ReceiveTypeLater = Later<ResultType>;

int gather(const Site& site, In in, SendCountLater in_count, SendTypeLater in_type, Result out,
           ReceiveCountLater out_count, ReceiveTypeLater out_type, Root root) {
    const bool is_root = site.is(root);
    const bool in_place = is_root && is_in_place(in.address);
    Data all, mine;
    if (is_root)
        if (const int error = site.measure(out, out_count, out_type, site.schedule.size,
                                           in_place ? Use::own_in : Use::out, all))
            return error;
    if (!in_place)
        if (const int error = site.measure(in, in_count, in_type, 1, Use::in, mine)) return error;
    if (is_root)
        if (const int error = site.fits(mine.bytes, all.bytes)) return error;
    coll::gather(site.schedule, in_place ? all.blocks()[root.rank] : mine.block(), all.blocks(),
                 root.rank);
    return MPI_SUCCESS;
}

int gatherv(const Site& site, In in, SendCountLater in_count, SendTypeLater in_type, Result out,
            Later<ResultCounts> counts, Later<Displacements> displacements,
            ReceiveTypeLater out_type, Root root) {
    const bool is_root = site.is(root);
    const bool in_place = is_root && is_in_place(in.address);
    std::span<Block> list;
    Data mine;
    if (is_root)
        if (const int error = site.list(out, counts, displacements, out_type,
                                        in_place ? Use::own_in : Use::out, list))
            return error;
    if (!in_place)
        if (const int error = site.measure(in, in_count, in_type, 1, Use::in, mine)) return error;
    const Blocks all(list);
    if (is_root)
        if (const int error = site.fits(mine.bytes, all[root.rank].bytes)) return error;
    coll::gatherv(site.schedule, in_place ? all[root.rank] : mine.block(), all, root.rank);
    return MPI_SUCCESS;
}

int scatter(const Site& site, In in, SendCountLater in_count, SendTypeLater in_type, Result out,
            ReceiveCountLater out_count, ReceiveTypeLater out_type, Root root) {
    const bool is_root = site.is(root);
    const bool in_place = is_root && is_in_place(out.address);
    Data all, mine;
    if (is_root)
        if (const int error =
                site.measure(in, in_count, in_type, site.schedule.size, Use::in, all))
            return error;
    if (!in_place)
        if (const int error = site.measure(out, out_count, out_type, 1, Use::out, mine))
            return error;
    if (is_root && !in_place)
        if (const int error = site.fits(all.bytes, mine.bytes)) return error;
    const std::uint64_t bytes = is_root ? all.bytes : mine.bytes;
    coll::scatter(site.schedule, all.blocks(),
                  in_place ? all.blocks()[root.rank] : Block{mine.address, bytes}, root.rank);
    return MPI_SUCCESS;
}

int scatterv(const Site& site, In in, Later<InCounts> counts, Later<Displacements> displacements,
             SendTypeLater in_type, Result out, ReceiveCountLater out_count,
             ReceiveTypeLater out_type, Root root) {
    const bool is_root = site.is(root);
    const bool in_place = is_root && is_in_place(out.address);
    std::span<Block> list;
    Data mine;
    if (is_root)
        if (const int error = site.list(in, counts, displacements, in_type, Use::in, list))
            return error;
    if (!in_place)
        if (const int error = site.measure(out, out_count, out_type, 1, Use::out, mine))
            return error;
    const Blocks all(list);
    if (is_root && !in_place)
        if (const int error = site.fits(all[root.rank].bytes, mine.bytes)) return error;
    const std::uint64_t bytes = is_root ? all[root.rank].bytes : mine.bytes;
    coll::scatterv(site.schedule, all, in_place ? all[root.rank] : Block{mine.address, bytes},
                   root.rank);
    return MPI_SUCCESS;
}

int allgather(const Site& site, In in, SendCountLater in_count, SendTypeLater in_type, Result out,
              ResultCount out_count, ResultType out_type) {
    const bool in_place = is_in_place(in.address);
    Data all, mine;
    if (const int error = site.measure(out, out_count, out_type, site.schedule.size,
                                       in_place ? Use::own_in : Use::out, all))
        return error;
    if (!in_place) {
        if (const int error = site.measure(in, in_count, in_type, 1, Use::in, mine)) return error;
        if (const int error = site.fits(mine.bytes, all.bytes)) return error;
    }
    coll::allgather(site.schedule, in_place ? all.blocks()[site.schedule.rank] : mine.block(),
                    all.blocks());
    return MPI_SUCCESS;
}

int allgatherv(const Site& site, In in, SendCountLater in_count, SendTypeLater in_type, Result out,
               Later<ResultCounts> counts, Later<Displacements> displacements,
               ReceiveTypeLater out_type) {
    const bool in_place = is_in_place(in.address);
    std::span<Block> list;
    Data mine;
    if (const int error = site.list(out, counts, displacements, out_type,
                                    in_place ? Use::own_in : Use::out, list))
        return error;
    const Blocks all(list);
    const Block place = all[site.schedule.rank];
    if (!in_place) {
        if (const int error = site.measure(in, in_count, in_type, 1, Use::in, mine)) return error;
        if (const int error = site.fits(mine.bytes, place.bytes)) return error;
    }
    coll::allgather(site.schedule, in_place ? place : mine.block(), all);
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

HEDDLE_COLLECTIVE_C(8, Gather, 9, Igather, 10, Gather_init, gather)
HEDDLE_COLLECTIVE_C(9, Gatherv, 10, Igatherv, 11, Gatherv_init, gatherv)
HEDDLE_COLLECTIVE_C(8, Scatter, 9, Iscatter, 10, Scatter_init, scatter)
HEDDLE_COLLECTIVE_C(9, Scatterv, 10, Iscatterv, 11, Scatterv_init, scatterv)
HEDDLE_COLLECTIVE_C(7, Allgather, 8, Iallgather, 9, Allgather_init, allgather)
HEDDLE_COLLECTIVE_C(8, Allgatherv, 9, Iallgatherv, 10, Allgatherv_init, allgatherv)
