// SPDX-License-Identifier: BSD-3-Clause
/// Collective communication (MPI 5.0, 6): blocking, on intracommunicators.

#include "api/collective_arguments.hpp"
#include "api/entry.hpp"
#include "coll/collectives.hpp"
#include "coll/run.hpp"

namespace heddle::api {
namespace {

using coll::Block;
using coll::Blocks;
using coll::Collective;
using coll::Schedule;
using objects::Reduction;

/// The calling thread and the communicator of a collective call, and the checks that need both.
struct Site {
    Thread& thread;
    Communicator& communicator;

    int fail(int error_class, const std::string& detail) const {
        return objects::fail(thread, &communicator, error_class, detail);
    }
    int supported() const {
        if (communicator.remote == nullptr) [[likely]]
            return MPI_SUCCESS;
        return fail(MPI_ERR_UNSUPPORTED_OPERATION, "not supported yet on an intercommunicator");
    }
    /// Whether elements lie one after the other. (The seam for datatypes with gaps: what is built on
    /// this moves bytes.)
    int dense(const objects::Datatype& type, const char* name) const {
        const bool predefined = reinterpret_cast<std::uintptr_t>(type.handle) < 1024;
        if (type.contiguous || predefined) [[likely]]
            return MPI_SUCCESS;
        return fail(MPI_ERR_UNSUPPORTED_OPERATION,
                    std::string("argument ") + name + ": collectives do not support " +
                        "datatypes with gaps yet");
    }
    template <class Buffer>
    int present(const Buffer& buffer, bool needed) const {
        if (buffer.address == nullptr && needed) [[unlikely]]
            return fail(MPI_ERR_BUFFER,
                        std::string("argument ") + Buffer::name + ": a null pointer");
        if (is_in_place(buffer.address)) [[unlikely]]
            return fail(
                MPI_ERR_BUFFER,
                std::string("argument ") + Buffer::name + ": MPI_IN_PLACE is not allowed here");
        return MPI_SUCCESS;
    }
    /// A buffer with `blocks` blocks of count elements; answers the bytes of one.
    template <class Buffer, class CountKind, class TypeKind>
    int measure(const Buffer& buffer, const CountKind& count, const TypeKind& type,
                std::int64_t blocks, std::uint64_t& bytes) const {
        std::int64_t one = 0, all = 0;
        if (__builtin_mul_overflow(count.value, type->extent, &one) ||
            __builtin_mul_overflow(one, blocks, &all)) [[unlikely]]
            return fail(MPI_ERR_COUNT,
                        std::string("argument ") + CountKind::name +
                            ": the buffer has more than 2^63 bytes");
        if (const int error = present(buffer, all != 0)) return error;
        bytes = static_cast<std::uint64_t>(one);
        return dense(*type, TypeKind::name);
    }
    /// The same where count and type have not been checked.
    template <class Buffer, class CountKind, class TypeKind>
    int check_and_measure(const Buffer& buffer, const Later<CountKind>& count,
                          const Later<TypeKind>& type, std::int64_t blocks,
                          std::uint64_t& bytes) const {
        if (const int error = count.check(thread, communicator)) return error;
        if (const int error = type.check(thread, communicator)) return error;
        return measure(buffer, count, type, blocks, bytes);
    }
    /// Blocks of different sizes; the list lies in the schedule.
    template <class Buffer, class CountsKind, class DisplacementsKind, class TypeKind>
    int check_and_list(const Buffer& buffer, const Later<CountsKind>& counts,
                       const Later<DisplacementsKind>& displacements, const Later<TypeKind>& type,
                       Schedule& schedule, std::span<Block>& list) const {
        if (const int error = counts.check(thread, communicator)) return error;
        if (const int error = displacements.check(thread, communicator)) return error;
        if (const int error = type.check(thread, communicator)) return error;
        if (const int error = dense(*type, TypeKind::name)) return error;
        list = schedule.scratch_of<Block>(static_cast<std::size_t>(schedule.size));
        bool needed = false;
        for (std::int32_t rank = 0; rank < schedule.size; ++rank) {
            auto& block = list[static_cast<std::size_t>(rank)];
            std::int64_t bytes = 0;
            if (__builtin_mul_overflow(counts[rank], type->extent, &bytes)) [[unlikely]]
                return fail(MPI_ERR_COUNT,
                            std::string("argument ") + CountsKind::name +
                                ": a block has more than 2^63 bytes");
            block = {writable(buffer.address) + displacements[rank] * type->extent,
                     static_cast<std::uint64_t>(bytes)};
            needed = needed || bytes != 0;
        }
        return present(buffer, needed);
    }
    int reducible(const Reduction& reduction) const {
        if (reduction.defined()) [[likely]]
            return MPI_SUCCESS;
        return objects::fail(thread, &communicator, MPI_ERR_OP, undefined(reduction));
    }
    static std::string undefined(const Reduction& reduction) {
        return std::string("argument op: ") + reduction.operation->name + " is not defined for " +
               (reduction.type->name.empty() ? "a derived datatype" : reduction.type->name);
    }
    /// A process sends to itself no more than it expects of itself.
    int fits(std::uint64_t sent, std::uint64_t expected) const {
        if (sent <= expected) [[likely]]
            return MPI_SUCCESS;
        return fail(MPI_ERR_TRUNCATE,
                    "this process sends itself " + std::to_string(sent) + " bytes and expects " +
                        std::to_string(expected));
    }

    /// Steps name memory that some of them write to.
    static std::byte* writable(const std::byte* data) noexcept {
        return const_cast<std::byte*>(data);
    }
};

// Names for what the signatures below are full of.
using SendCountLater = Later<InCount>;
using SendTypeLater = Later<InType>;
using ReceiveCountLater = Later<ResultCount>;
using ReceiveTypeLater = Later<ResultType>;

int barrier(Thread& thread, Comm comm) {
    const Site site{thread, *comm};
    if (const int error = site.supported()) return error;
    Schedule schedule(*comm, tag_of(Collective::barrier));
    coll::barrier(schedule);
    return coll::run(thread, schedule);
}

int bcast(Thread& thread, BcastBuffer buffer, Count count, Type type, Root root, Comm comm) {
    const Site site{thread, *comm};
    std::uint64_t bytes = 0;
    if (const int error = site.supported()) return error;
    if (const int error = site.measure(buffer, count, type, 1, bytes)) return error;
    Schedule schedule(*comm, tag_of(Collective::bcast));
    coll::bcast(schedule, buffer.address, bytes, root.rank);
    return coll::run(thread, schedule);
}

// --- reductions ---

/// What reductions with one count for all ranks have in common: checks, then `write` with the two
/// buffers; `result` says whether this process gets one, `blocks` how many the input has.
template <class Write>
int reduction(const Site& site, Collective what, In in, Result out, Count count, Type type, Op op,
              bool result, std::int64_t blocks, Write&& write) {
    if (const int error = site.supported()) return error;
    const Reduction reduction(*op, *type);
    if (const int error = site.reducible(reduction)) return error;
    const bool in_place = is_in_place(in.address);
    std::uint64_t bytes = 0;
    if (result)
        if (const int error = site.measure(out, count, type, in_place ? blocks : 1, bytes))
            return error;
    if (!result || !in_place)
        if (const int error = site.measure(in, count, type, blocks, bytes)) return error;
    Schedule schedule(site.communicator, tag_of(what));
    schedule.reduction = reduction;
    write(schedule, in_place ? out.address : in.address, result ? out.address : nullptr,
          static_cast<std::uint64_t>(count.value));
    return coll::run(site.thread, schedule);
}

int reduce(Thread& thread, In in, Result out, Count count, Type type, Op op, Root root, Comm comm) {
    return reduction({thread, *comm}, Collective::reduce, in, out, count, type, op,
                     comm->rank == root.rank, 1,
                     [&](Schedule& schedule, const std::byte* from, std::byte* to,
                         std::uint64_t n) { coll::reduce(schedule, from, to, n, root.rank); });
}

int allreduce(Thread& thread, In in, Result out, Count count, Type type, Op op, Comm comm) {
    return reduction({thread, *comm}, Collective::allreduce, in, out, count, type, op, true, 1,
                     coll::allreduce);
}

int scan(Thread& thread, In in, Result out, Count count, Type type, Op op, Comm comm) {
    return reduction({thread, *comm}, Collective::scan, in, out, count, type, op, true, 1,
                     coll::scan);
}

/// Rank 0 has no result, and its buffer is not looked at unless its operand is there.
int exscan(Thread& thread, In in, Result out, Count count, Type type, Op op, Comm comm) {
    return reduction({thread, *comm}, Collective::exscan, in, out, count, type, op,
                     comm->rank != 0 || is_in_place(in.address), 1, coll::exscan);
}

int reduce_scatter_block(Thread& thread, In in, Result out, ResultCount count, Type type, Op op,
                         Comm comm) {
    const Count same(*thread.process, count.value);
    return reduction({thread, *comm}, Collective::reduce_scatter_block, in, out, same, type, op,
                     true, comm->peers,
                     [](Schedule& schedule, const std::byte* from, std::byte* to, std::uint64_t n) {
                         const auto size = static_cast<std::size_t>(schedule.size);
                         const auto starts = schedule.scratch_of<std::uint64_t>(size + 1);
                         for (std::size_t i = 0; i <= size; ++i) starts[i] = i * n;
                         coll::reduce_scatter(schedule, from, to, starts);
                     });
}

int reduce_scatter(Thread& thread, In in, Result out, ResultCounts counts, Type type, Op op,
                   Comm comm) {
    const Site site{thread, *comm};
    if (const int error = site.supported()) return error;
    const Reduction reduction(*op, *type);
    if (const int error = site.reducible(reduction)) return error;
    Schedule schedule(*comm, tag_of(Collective::reduce_scatter));
    schedule.reduction = reduction;
    const auto starts =
        schedule.scratch_of<std::uint64_t>(static_cast<std::size_t>(schedule.size) + 1);
    std::int64_t total = 0;
    for (std::int32_t rank = 0; rank < schedule.size; ++rank) {
        starts[static_cast<std::size_t>(rank)] = static_cast<std::uint64_t>(total);
        if (__builtin_add_overflow(total, counts[rank], &total)) total = -1;
        if (total < 0)
            return site.fail(MPI_ERR_COUNT, "argument recvcounts: more than 2^63 elements in all");
    }
    starts[static_cast<std::size_t>(schedule.size)] = static_cast<std::uint64_t>(total);
    const bool in_place = is_in_place(in.address);
    const Count all(*thread.process, total);
    const Count mine(*thread.process, counts[comm->rank]);
    std::uint64_t bytes = 0;
    if (const int error = site.measure(out, in_place ? all : mine, type, 1, bytes)) return error;
    if (!in_place)
        if (const int error = site.measure(in, all, type, 1, bytes)) return error;
    coll::reduce_scatter(schedule, in_place ? out.address : in.address, out.address, starts);
    return coll::run(thread, schedule);
}

int reduce_local(Thread& thread, LocalIn in, LocalResult inout, Count count, Type type, Op op) {
    const Reduction reduction(*op, *type);
    if (!reduction.defined())
        return objects::fail(thread, nullptr, MPI_ERR_OP, Site::undefined(reduction));
    if (is_in_place(in.address) || is_in_place(inout.address))
        return objects::fail(thread, nullptr, MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed here");
    if ((in.address == nullptr || inout.address == nullptr) && count.value != 0)
        return objects::fail(thread, nullptr, MPI_ERR_BUFFER,
                             "argument inbuf or inoutbuf: a null pointer");
    reduction.combine(in.address, inout.address, static_cast<std::size_t>(count.value));
    return MPI_SUCCESS;
}

// --- gather, scatter ---

int gather(Thread& thread, In in, SendCountLater in_count, SendTypeLater in_type, Result out,
           ReceiveCountLater out_count, ReceiveTypeLater out_type, Root root, Comm comm) {
    const Site site{thread, *comm};
    if (const int error = site.supported()) return error;
    const bool is_root = comm->rank == root.rank;
    const bool in_place = is_root && is_in_place(in.address);
    std::uint64_t sent = 0, expected = 0;
    if (is_root)
        if (const int error =
                site.check_and_measure(out, out_count, out_type, comm->peers, expected))
            return error;
    if (!in_place)
        if (const int error = site.check_and_measure(in, in_count, in_type, 1, sent)) return error;
    if (is_root)
        if (const int error = site.fits(sent, expected)) return error;
    Schedule schedule(*comm, tag_of(Collective::gather));
    const Blocks all(out.address, expected);
    coll::gather(schedule, in_place ? all[root.rank] : Block{site.writable(in.address), sent}, all,
                 root.rank);
    return coll::run(thread, schedule);
}

int gatherv(Thread& thread, In in, SendCountLater in_count, SendTypeLater in_type, Result out,
            Later<ResultCounts> counts, Later<Displacements> displacements,
            ReceiveTypeLater out_type, Root root, Comm comm) {
    const Site site{thread, *comm};
    if (const int error = site.supported()) return error;
    const bool is_root = comm->rank == root.rank;
    const bool in_place = is_root && is_in_place(in.address);
    Schedule schedule(*comm, tag_of(Collective::gatherv));
    std::span<Block> list;
    std::uint64_t sent = 0;
    if (is_root)
        if (const int error =
                site.check_and_list(out, counts, displacements, out_type, schedule, list))
            return error;
    if (!in_place)
        if (const int error = site.check_and_measure(in, in_count, in_type, 1, sent)) return error;
    const Blocks all(list);
    if (is_root)
        if (const int error = site.fits(sent, all[root.rank].bytes)) return error;
    coll::gatherv(schedule, in_place ? all[root.rank] : Block{site.writable(in.address), sent}, all,
                  root.rank);
    return coll::run(thread, schedule);
}

int scatter(Thread& thread, In in, SendCountLater in_count, SendTypeLater in_type, Result out,
            ReceiveCountLater out_count, ReceiveTypeLater out_type, Root root, Comm comm) {
    const Site site{thread, *comm};
    if (const int error = site.supported()) return error;
    const bool is_root = comm->rank == root.rank;
    const bool in_place = is_root && is_in_place(out.address);
    std::uint64_t sent = 0, expected = 0;
    if (is_root)
        if (const int error = site.check_and_measure(in, in_count, in_type, comm->peers, sent))
            return error;
    if (!in_place)
        if (const int error = site.check_and_measure(out, out_count, out_type, 1, expected))
            return error;
    if (is_root && !in_place)
        if (const int error = site.fits(sent, expected)) return error;
    Schedule schedule(*comm, tag_of(Collective::scatter));
    const Blocks all(site.writable(in.address), sent);
    const std::uint64_t mine = is_root ? sent : expected;
    coll::scatter(schedule, all, in_place ? all[root.rank] : Block{out.address, mine}, root.rank);
    return coll::run(thread, schedule);
}

int scatterv(Thread& thread, In in, Later<InCounts> counts, Later<Displacements> displacements,
             SendTypeLater in_type, Result out, ReceiveCountLater out_count,
             ReceiveTypeLater out_type, Root root, Comm comm) {
    const Site site{thread, *comm};
    if (const int error = site.supported()) return error;
    const bool is_root = comm->rank == root.rank;
    const bool in_place = is_root && is_in_place(out.address);
    Schedule schedule(*comm, tag_of(Collective::scatterv));
    std::span<Block> list;
    std::uint64_t expected = 0;
    if (is_root)
        if (const int error =
                site.check_and_list(in, counts, displacements, in_type, schedule, list))
            return error;
    if (!in_place)
        if (const int error = site.check_and_measure(out, out_count, out_type, 1, expected))
            return error;
    const Blocks all(list);
    if (is_root && !in_place)
        if (const int error = site.fits(all[root.rank].bytes, expected)) return error;
    const std::uint64_t mine = is_root ? all[root.rank].bytes : expected;
    coll::scatterv(schedule, all, in_place ? all[root.rank] : Block{out.address, mine}, root.rank);
    return coll::run(thread, schedule);
}

int allgather(Thread& thread, In in, SendCountLater in_count, SendTypeLater in_type, Result out,
              ResultCount out_count, ResultType out_type, Comm comm) {
    const Site site{thread, *comm};
    if (const int error = site.supported()) return error;
    std::uint64_t sent = 0, expected = 0;
    if (const int error = site.measure(out, out_count, out_type, comm->peers, expected))
        return error;
    const Blocks all(out.address, expected);
    Block mine = all[comm->rank];
    if (!is_in_place(in.address)) {
        if (const int error = site.check_and_measure(in, in_count, in_type, 1, sent)) return error;
        if (const int error = site.fits(sent, expected)) return error;
        mine = {site.writable(in.address), sent};
    }
    Schedule schedule(*comm, tag_of(Collective::allgather));
    coll::allgather(schedule, mine, all);
    return coll::run(thread, schedule);
}

int allgatherv(Thread& thread, In in, SendCountLater in_count, SendTypeLater in_type, Result out,
               Later<ResultCounts> counts, Later<Displacements> displacements,
               ReceiveTypeLater out_type, Comm comm) {
    const Site site{thread, *comm};
    if (const int error = site.supported()) return error;
    Schedule schedule(*comm, tag_of(Collective::allgatherv));
    std::span<Block> list;
    if (const int error = site.check_and_list(out, counts, displacements, out_type, schedule, list))
        return error;
    const Blocks all(list);
    Block mine = all[comm->rank];
    if (!is_in_place(in.address)) {
        std::uint64_t sent = 0;
        if (const int error = site.check_and_measure(in, in_count, in_type, 1, sent)) return error;
        if (const int error = site.fits(sent, mine.bytes)) return error;
        mine = {site.writable(in.address), sent};
    }
    coll::allgather(schedule, mine, all);
    return coll::run(thread, schedule);
}

int alltoall(Thread& thread, In in, SendCountLater in_count, SendTypeLater in_type, Result out,
             ResultCount out_count, ResultType out_type, Comm comm) {
    const Site site{thread, *comm};
    if (const int error = site.supported()) return error;
    const bool in_place = is_in_place(in.address);
    std::uint64_t sent = 0, expected = 0;
    if (const int error = site.measure(out, out_count, out_type, comm->peers, expected))
        return error;
    if (!in_place) {
        if (const int error = site.check_and_measure(in, in_count, in_type, comm->peers, sent))
            return error;
        if (const int error = site.fits(sent, expected)) return error;
    }
    Schedule schedule(*comm, tag_of(Collective::alltoall));
    const Blocks to(out.address, expected);
    const Blocks from = in_place ? to : Blocks(site.writable(in.address), sent);
    coll::alltoall(schedule, Collective::alltoall, from, to, in_place);
    return coll::run(thread, schedule);
}

int alltoallv(Thread& thread, In in, Later<InCounts> in_counts,
              Later<InDisplacements> in_displacements, SendTypeLater in_type, Result out,
              Later<ResultCounts> out_counts, Later<ResultDisplacements> out_displacements,
              ReceiveTypeLater out_type, Comm comm) {
    const Site site{thread, *comm};
    if (const int error = site.supported()) return error;
    Schedule schedule(*comm, tag_of(Collective::alltoallv));
    const auto me = static_cast<std::size_t>(comm->rank);
    const bool in_place = is_in_place(in.address);
    std::span<Block> to;
    if (const int error =
            site.check_and_list(out, out_counts, out_displacements, out_type, schedule, to))
        return error;
    std::span<Block> from = to;
    if (!in_place) {
        if (const int error =
                site.check_and_list(in, in_counts, in_displacements, in_type, schedule, from))
            return error;
        if (const int error = site.fits(from[me].bytes, to[me].bytes)) return error;
    }
    coll::alltoall(schedule, Collective::alltoallv, Blocks(from), Blocks(to), in_place);
    return coll::run(thread, schedule);
}

/// Blocks of Alltoallw: displacements are bytes, and each block has a type.
template <class Buffer, class CountsKind, class DisplacementsKind, class TypesKind>
int list_typed(const Site& site, const Buffer& buffer, const Later<CountsKind>& counts,
               const Later<DisplacementsKind>& displacements, const Later<TypesKind>& types,
               Schedule& schedule, std::span<Block>& list) {
    if (const int error = counts.check(site.thread, site.communicator)) return error;
    if (const int error = displacements.check(site.thread, site.communicator)) return error;
    if (const int error = types.check(site.thread, site.communicator)) return error;
    list = schedule.scratch_of<Block>(static_cast<std::size_t>(schedule.size));
    bool needed = false;
    for (std::int32_t rank = 0; rank < schedule.size; ++rank) {
        const Type type = types[rank];
        if (const int error = site.dense(*type, TypesKind::name)) return error;
        std::int64_t bytes = 0;
        if (__builtin_mul_overflow(counts[rank], type->extent, &bytes)) [[unlikely]]
            return site.fail(
                MPI_ERR_COUNT,
                std::string("argument ") + CountsKind::name + ": a block has more than 2^63 bytes");
        list[static_cast<std::size_t>(rank)] = {site.writable(buffer.address) + displacements[rank],
                                                static_cast<std::uint64_t>(bytes)};
        needed = needed || bytes != 0;
    }
    return site.present(buffer, needed);
}

int alltoallw(Thread& thread, In in, Later<InCounts> in_counts,
              Later<InDisplacements> in_displacements, Later<InTypes> in_types, Result out,
              Later<ResultCounts> out_counts, Later<ResultDisplacements> out_displacements,
              Later<ResultTypes> out_types, Comm comm) {
    const Site site{thread, *comm};
    if (const int error = site.supported()) return error;
    Schedule schedule(*comm, tag_of(Collective::alltoallw));
    const auto me = static_cast<std::size_t>(comm->rank);
    const bool in_place = is_in_place(in.address);
    std::span<Block> to;
    if (const int error =
            list_typed(site, out, out_counts, out_displacements, out_types, schedule, to))
        return error;
    std::span<Block> from = to;
    if (!in_place) {
        if (const int error =
                list_typed(site, in, in_counts, in_displacements, in_types, schedule, from))
            return error;
        if (const int error = site.fits(from[me].bytes, to[me].bytes)) return error;
    }
    coll::alltoall(schedule, Collective::alltoallw, Blocks(from), Blocks(to), in_place);
    return coll::run(thread, schedule);
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(1, Barrier, barrier)
MPI_ENTRY_C(5, Bcast, bcast)
MPI_ENTRY_C(7, Reduce, reduce)
MPI_ENTRY_C(6, Allreduce, allreduce)
MPI_ENTRY_C(6, Scan, scan)
MPI_ENTRY_C(6, Exscan, exscan)
MPI_ENTRY_C(6, Reduce_scatter_block, reduce_scatter_block)
MPI_ENTRY_C(6, Reduce_scatter, reduce_scatter)
MPI_ENTRY_C(5, Reduce_local, reduce_local)
MPI_ENTRY_C(8, Gather, gather)
MPI_ENTRY_C(9, Gatherv, gatherv)
MPI_ENTRY_C(8, Scatter, scatter)
MPI_ENTRY_C(9, Scatterv, scatterv)
MPI_ENTRY_C(7, Allgather, allgather)
MPI_ENTRY_C(8, Allgatherv, allgatherv)
MPI_ENTRY_C(7, Alltoall, alltoall)
MPI_ENTRY_C(9, Alltoallv, alltoallv)
MPI_ENTRY_C(9, Alltoallw, alltoallw)
