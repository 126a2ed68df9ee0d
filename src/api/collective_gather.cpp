// SPDX-License-Identifier: BSD-3-Clause
/// Gather, scatter and allgather (MPI 5.0, 6.5 to 6.7).

#include "api/collective_forms.hpp"

namespace heddle::api {
namespace {

using coll::Block;
using coll::Blocks;
using coll::Collective;

// Short names for kinds that the signatures below repeat.
using SendCountLater = Later<InCount>;
using SendTypeLater = Later<InType>;
using ReceiveCountLater = Later<ResultCount>;
using ReceiveTypeLater = Later<ResultType>;

/// Returns the root's own block among all, if it has one.
Block own_of(const Site& site, Part part, std::span<const Block> all) noexcept {
    return part.root && part.member ? all[static_cast<std::size_t>(site.schedule.rank)] : Block{};
}

/// Does the common part of the forms of gather: `all` at the root, `mine` at members.
int gather_blocks(const Site& site, Collective what, Part part, bool in_place, Block mine,
                  const Blocks& all, Root root) {
    if (site.inter()) {
        coll::inter::gather(site.schedule, mine, all, root.rank);
        return MPI_SUCCESS;
    }
    const Block own = part.root ? all[root.rank] : mine;
    if (const int error = site.fits(in_place ? 0 : mine.bytes, own.bytes)) return error;
    coll::gather(site.schedule, what, in_place ? own : mine, all, root.rank);
    return MPI_SUCCESS;
}

int gather(const Site& site, In in, SendCountLater in_count, SendTypeLater in_type, Result out,
           ReceiveCountLater out_count, ReceiveTypeLater out_type, Root root) {
    const Part part = site.part(root);
    const bool in_place = part.root && site.in_place(in.address);
    Data all, mine;
    if (part.root)
        if (const int error = site.measure(out, out_count, out_type, site.schedule.size,
                                           in_place ? Use::own_in : Use::out, all))
            return error;
    if (part.member && !in_place)
        if (const int error = site.measure(in, in_count, in_type, 1, Use::in, mine)) return error;
    if (const int error = site.apart(mine.memory, all.memory)) return error;
    return gather_blocks(site, Collective::gather, part, in_place, mine.block(), all.blocks(),
                         root);
}

int gatherv(const Site& site, In in, SendCountLater in_count, SendTypeLater in_type, Result out,
            Later<ResultCounts> counts, Later<Displacements> displacements,
            ReceiveTypeLater out_type, Root root) {
    const Part part = site.part(root);
    const bool in_place = part.root && site.in_place(in.address);
    std::span<Block> all;
    Data mine;
    if (part.root)
        if (const int error = site.list(out, counts, displacements, out_type,
                                        in_place ? Use::own_in : Use::out, all))
            return error;
    if (part.member && !in_place)
        if (const int error = site.measure(in, in_count, in_type, 1, Use::in, mine)) return error;
    if (const int error = site.apart(own_of(site, part, all), mine.memory)) return error;
    return gather_blocks(site, Collective::gatherv, part, in_place, mine.block(), Blocks(all),
                         root);
}

/// Does the common part of the forms of scatter.
int scatter_blocks(const Site& site, Collective what, Part part, bool in_place, const Blocks& all,
                   Block mine, Root root) {
    if (site.inter()) {
        coll::inter::scatter(site.schedule, all, mine, root.rank);
        return MPI_SUCCESS;
    }
    if (part.root) {
        const Block own = all[root.rank];
        if (const int error = site.fits(in_place ? 0 : own.bytes, mine.bytes)) return error;
        mine = {in_place ? own.data : mine.data, own.bytes};
    }
    coll::scatter(site.schedule, what, all, mine, root.rank);
    return MPI_SUCCESS;
}

int scatter(const Site& site, In in, SendCountLater in_count, SendTypeLater in_type, Result out,
            ReceiveCountLater out_count, ReceiveTypeLater out_type, Root root) {
    const Part part = site.part(root);
    const bool in_place = part.root && site.in_place(out.address);
    Data all, mine;
    if (part.root)
        if (const int error = site.measure(in, in_count, in_type, site.schedule.size, Use::in, all))
            return error;
    if (part.member && !in_place)
        if (const int error = site.measure(out, out_count, out_type, 1, Use::out, mine))
            return error;
    if (const int error = site.apart(all.memory, mine.memory)) return error;
    return scatter_blocks(site, Collective::scatter, part, in_place, all.blocks(), mine.block(),
                          root);
}

int scatterv(const Site& site, In in, Later<InCounts> counts, Later<Displacements> displacements,
             SendTypeLater in_type, Result out, ReceiveCountLater out_count,
             ReceiveTypeLater out_type, Root root) {
    const Part part = site.part(root);
    const bool in_place = part.root && site.in_place(out.address);
    std::span<Block> all;
    Data mine;
    if (part.root)
        if (const int error = site.list(in, counts, displacements, in_type, Use::in, all))
            return error;
    if (part.member && !in_place)
        if (const int error = site.measure(out, out_count, out_type, 1, Use::out, mine))
            return error;
    if (const int error = site.apart(own_of(site, part, all), mine.memory)) return error;
    return scatter_blocks(site, Collective::scatterv, part, in_place, Blocks(all), mine.block(),
                          root);
}

/// Does the common part of the forms of allgather. If `in_place`, this process's block is in its
/// place. `taken` is the memory of the result.
int allgather_blocks(const Site& site, In in, const SendCountLater& in_count,
                     const SendTypeLater& in_type, bool in_place, const Blocks& all, Block taken) {
    Data mine;
    if (!in_place)
        if (const int error = site.measure(in, in_count, in_type, 1, Use::in, mine)) return error;
    if (const int error = site.apart(mine.memory, taken)) return error;
    if (site.inter()) {
        coll::inter::allgather(site.schedule, mine.block(), all);
        return MPI_SUCCESS;
    }
    const Block own = all[site.schedule.rank];
    if (const int error = site.fits(mine.bytes, own.bytes)) return error;
    coll::allgather(site.schedule, in_place ? own : mine.block(), all);
    return MPI_SUCCESS;
}

int allgather(const Site& site, In in, SendCountLater in_count, SendTypeLater in_type, Result out,
              ResultCount out_count, ResultType out_type) {
    const bool in_place = site.in_place(in.address);
    Data all;
    if (const int error = site.measure(out, out_count, out_type, site.schedule.size,
                                       in_place ? Use::own_in : Use::out, all))
        return error;
    return allgather_blocks(site, in, in_count, in_type, in_place, all.blocks(), all.memory);
}

int allgatherv(const Site& site, In in, SendCountLater in_count, SendTypeLater in_type, Result out,
               Later<ResultCounts> counts, Later<Displacements> displacements,
               ReceiveTypeLater out_type) {
    const bool in_place = site.in_place(in.address);
    std::span<Block> all;
    if (const int error =
            site.list(out, counts, displacements, out_type, in_place ? Use::own_in : Use::out, all))
        return error;
    return allgather_blocks(site, in, in_count, in_type, in_place, Blocks(all),
                            own_of(site, {!site.inter(), true}, all));
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
