// SPDX-License-Identifier: BSD-3-Clause
/// All-to-all exchanges (MPI 5.0, 6.8).

#include "api/collective_forms.hpp"

namespace heddle::api {
namespace {

using coll::Block;
using coll::Blocks;
using coll::Collective;

/// Does the common part of the three. In place, `from` is the same as `to`.
int exchange(const Site& site, Collective what, const Blocks& from, const Blocks& to,
             bool in_place) {
    if (site.inter()) {
        coll::inter::alltoall(site.schedule, from, to);
        return MPI_SUCCESS;
    }
    const std::int32_t me = site.schedule.rank;
    if (const int error = site.fits(from[me].bytes, to[me].bytes)) return error;
    coll::alltoall(site.schedule, what, from, to, in_place);
    return MPI_SUCCESS;
}

int alltoall(const Site& site, In in, Later<InCount> in_count, Later<InType> in_type, Result out,
             ResultCount out_count, ResultType out_type) {
    const bool in_place = site.in_place(in.address);
    const std::int32_t size = site.schedule.size;
    Data from, to;
    if (const int error =
            site.measure(out, out_count, out_type, size, in_place ? Use::in_out : Use::out, to))
        return error;
    if (!in_place)
        if (const int error = site.measure(in, in_count, in_type, size, Use::in, from))
            return error;
    if (const int error = site.apart(from.memory, to.memory)) return error;
    return exchange(site, Collective::alltoall, in_place ? to.blocks() : from.blocks(), to.blocks(),
                    in_place);
}

int alltoallv(const Site& site, In in, Later<InCounts> in_counts,
              Later<InDisplacements> in_displacements, Later<InType> in_type, Result out,
              Later<ResultCounts> out_counts, Later<ResultDisplacements> out_displacements,
              Later<ResultType> out_type) {
    const bool in_place = site.in_place(in.address);
    std::span<Block> from, to;
    if (const int error = site.list(out, out_counts, out_displacements, out_type,
                                    in_place ? Use::in_out : Use::out, to))
        return error;
    if (!in_place)
        if (const int error = site.list(in, in_counts, in_displacements, in_type, Use::in, from))
            return error;
    if (const int error = site.apart(from, to)) return error;
    return exchange(site, Collective::alltoallv, Blocks(in_place ? to : from), Blocks(to),
                    in_place);
}

int alltoallw(const Site& site, In in, Later<InCounts> in_counts,
              Later<InDisplacements> in_displacements, Later<InTypes> in_types, Result out,
              Later<ResultCounts> out_counts, Later<ResultDisplacements> out_displacements,
              Later<ResultTypes> out_types) {
    const bool in_place = site.in_place(in.address);
    std::span<Block> from, to;
    if (const int error = site.list_typed(out, out_counts, out_displacements, out_types,
                                          in_place ? Use::in_out : Use::out, to))
        return error;
    if (!in_place)
        if (const int error =
                site.list_typed(in, in_counts, in_displacements, in_types, Use::in, from))
            return error;
    if (const int error = site.apart(from, to)) return error;
    return exchange(site, Collective::alltoallw, Blocks(in_place ? to : from), Blocks(to),
                    in_place);
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

HEDDLE_COLLECTIVE_C(7, Alltoall, 8, Ialltoall, 9, Alltoall_init, alltoall)
HEDDLE_COLLECTIVE_C(9, Alltoallv, 10, Ialltoallv, 11, Alltoallv_init, alltoallv)
HEDDLE_COLLECTIVE_C(9, Alltoallw, 10, Ialltoallw, 11, Alltoallw_init, alltoallw)
