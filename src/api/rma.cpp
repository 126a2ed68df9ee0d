// SPDX-License-Identifier: BSD-3-Clause
/// One-sided operations (MPI 5.0, 12.3). Each is over when its call returns, except those on
/// targets of other nodes, which flushes complete. Calls with a request hand out a complete one.

#include "api/direct.hpp"
#include "api/entry.hpp"
#include "api/messages.hpp"
#include "api/rma_arguments.hpp"
#include "api/rma_short.hpp"
#include "rma/accumulate.hpp"
#include "rma/far_targets.hpp"
#include "rma/gathered.hpp"
#include "rma/locking.hpp"
#include "rma/transfer.hpp"

namespace heddle::api {
namespace {

using objects::Builtin;
using rma::Local;
using rma::Remote;

/// Checks an unusual address. Dense data must be in memory; data with gaps may be relative to
/// MPI_BOTTOM.
[[gnu::cold, gnu::noinline]] int check_unusual(Thread& thread, objects::Window& window,
                                               const char* argument, const Local& local) {
    const bool nothing = local.count == 0 || local.type->size == 0;
    if (nothing || (!local.type->contiguous && is_memory_or_null(local.address)))
        return MPI_SUCCESS;
    return refuse(thread, window, MPI_ERR_BUFFER, argument, no_memory(local.address));
}
[[gnu::always_inline]] inline int check_buffer(Thread& thread, objects::Window& window,
                                               const char* argument, const Local& local) {
    if (is_memory(local.address)) [[likely]]
        return MPI_SUCCESS;
    return check_unusual(thread, window, argument, local);
}

Local local_of(const std::byte* buffer, Count count, Type type) noexcept {
    return {const_cast<std::byte*>(buffer), count.value, type.object};  // only read
}

/// Checks an argument that was not checked before, since it may not matter.
template <class Kind>
int check_later(Thread& thread, Win win, const Kind& kind) {
    const int error = kind.Kind::error(win->communicator);
    return error == MPI_SUCCESS
        ? MPI_SUCCESS
        : refuse(thread, *win, error, Kind::name, kind.wrong(win->communicator));
}

// --- put and get ---

[[gnu::always_inline]] inline int put(Thread& thread, OriginBuffer buffer, OriginCount count,
                                      OriginType type, TargetRank rank, Displacement displacement,
                                      TargetCount target_count, TargetType target_type, Win win) {
    if (rank.null()) [[unlikely]]
        return MPI_SUCCESS;
    const Local from = local_of(buffer.address, count, type);
    if (const int error = check_buffer(thread, *win, OriginBuffer::name, from)) return error;
    return rma::put(thread, *win, from,
                    {rank.rank, displacement.value, target_count.value, target_type.object});
}

[[gnu::always_inline]] inline int get(Thread& thread, OriginRoom buffer, OriginCount count,
                                      OriginType type, TargetRank rank, Displacement displacement,
                                      TargetCount target_count, TargetType target_type, Win win) {
    if (rank.null()) [[unlikely]]
        return MPI_SUCCESS;
    const Local to = local_of(buffer.address, count, type);
    if (const int error = check_buffer(thread, *win, OriginRoom::name, to)) return error;
    return rma::get(thread, *win, to,
                    {rank.rank, displacement.value, target_count.value, target_type.object});
}

// --- accumulates ---

int only_fetching(Thread& thread, Win win, Op op) {
    return refuse(thread, *win, MPI_ERR_OP, Op::name,
                  std::string(op->name) + " is for operations that fetch");
}

int accumulate(Thread& thread, OriginBuffer buffer, OriginCount count, OriginType type,
               TargetRank rank, Displacement displacement, TargetCount target_count,
               TargetType target_type, Op op, Win win) {
    if (rank.null()) return MPI_SUCCESS;
    if (op->builtin == Builtin::no_op) return only_fetching(thread, win, op);
    const Local from = local_of(buffer.address, count, type);
    if (const int error = check_buffer(thread, *win, OriginBuffer::name, from)) return error;
    return rma::accumulate(thread, *win, *op, &from, nullptr,
                           {rank.rank, displacement.value, target_count.value, target_type.object});
}

/// An argument that is not significant for MPI_NO_OP.
template <class Kind>
struct Perhaps : Kind {
    using Kind::Kind;
    int error(const Communicator*) const noexcept { return MPI_SUCCESS; }
};

int get_accumulate(Thread& thread, OriginBuffer buffer, Perhaps<OriginCount> count,
                   Perhaps<OriginType> type, ResultBuffer result, RmaResultCount result_count,
                   RmaResultType result_type, TargetRank rank, Displacement displacement,
                   TargetCount target_count, TargetType target_type, Op op, Win win) {
    if (rank.null()) return MPI_SUCCESS;
    const bool gives = op->builtin != Builtin::no_op;
    const Local to = local_of(result.address, result_count, result_type);
    if (const int error = check_buffer(thread, *win, ResultBuffer::name, to)) return error;
    const Remote there{rank.rank, displacement.value, target_count.value, target_type.object};
    if (!gives) return rma::accumulate(thread, *win, *op, nullptr, &to, there);
    if (const int error = check_later<OriginCount>(thread, win, count)) return error;
    if (const int error = check_later<OriginType>(thread, win, type)) return error;
    const Local from = local_of(buffer.address, count, type);
    if (const int error = check_buffer(thread, *win, OriginBuffer::name, from)) return error;
    return rma::accumulate(thread, *win, *op, &from, &to, there);
}

HEDDLE_NAMED(ElementType, Type, "datatype")

int no_element(Thread& thread, Win win, ElementType) {
    return refuse(thread, *win, MPI_ERR_TYPE, ElementType::name, "not a predefined datatype");
}

int check_element(Thread& thread, Win win, const char* argument, const void* address) {
    if (is_memory(address)) [[likely]]
        return MPI_SUCCESS;
    return refuse(thread, *win, MPI_ERR_BUFFER, argument, no_memory(address));
}

int fetch_and_op(Thread& thread, OriginBuffer buffer, ResultBuffer result, ElementType type,
                 TargetRank rank, Displacement displacement, Op op, Win win) {
    if (rank.null()) [[unlikely]]
        return MPI_SUCCESS;
    if (!objects::is_predefined(*type)) return no_element(thread, win, type);
    if (const int error = check_element(thread, win, ResultBuffer::name, result.address))
        return error;
    if (op->builtin != Builtin::no_op)
        if (const int error = check_element(thread, win, OriginBuffer::name, buffer.address))
            return error;
    return rma::fetch_and_op(thread, *win, *op, buffer.address, result.address,
                             {rank.rank, displacement.value, 1, type.object});
}

HEDDLE_NAMED(CompareBuffer, SendBuffer, "compare_addr")

int compare_and_swap(Thread& thread, OriginBuffer buffer, CompareBuffer compare,
                     ResultBuffer result, ElementType type, TargetRank rank,
                     Displacement displacement, Win win) {
    if (rank.null()) return MPI_SUCCESS;
    if (!thread.process->plain_types.of(type->handle).compares)
        return refuse(thread, *win, MPI_ERR_TYPE, ElementType::name,
                      "not a predefined datatype of integers, logicals or bytes");
    for (const auto& [argument, address] :
         {std::pair<const char*, const void*>{OriginBuffer::name, buffer.address},
          {CompareBuffer::name, compare.address},
          {ResultBuffer::name, result.address}})
        if (const int error = check_element(thread, win, argument, address)) return error;
    return rma::compare_and_swap(thread, *win, buffer.address, compare.address, result.address,
                                 {rank.rank, displacement.value, 1, type.object});
}

// --- with a request ---

/// Checks that the target is locked. Calls with a request are for epochs of locks only (MPI 5.0,
/// 12.3.5).
int check_locked(Thread& thread, TargetRank rank, Win win) {
    if (rank.null() || rma::is_locked(*win, rank.rank)) return MPI_SUCCESS;
    return rma::not_locked(thread, *win, rank.rank);
}

/// Waits until data of a far target are there, and operations that were only begun are over. Called
/// before the request is handed out.
int done_here(Thread& thread, int error, TargetRank rank, Win win) {
    if (error != MPI_SUCCESS || rank.null()) return error;
    if (!win->targets[rank.rank].far) return rma::flush_gathered(thread, *win, rank.rank);
    return win->far->flush_local(thread, rank.rank);
}

/// Hands out a complete request, since the operation is over.
int hand_out_complete(Thread& thread, int error, Out<MPI_Request> request) {
    if (error != MPI_SUCCESS) return error;
    *request = reinterpret_cast<MPI_Request>(&engine_of(thread).requests().completed_send());
    return MPI_SUCCESS;
}

int rput(Thread& thread, OriginBuffer buffer, OriginCount count, OriginType type, TargetRank rank,
         Displacement displacement, TargetCount target_count, TargetType target_type, Win win,
         Out<MPI_Request> request) {
    if (const int error = check_locked(thread, rank, win)) return error;
    return hand_out_complete(
        thread,
        put(thread, buffer, count, type, rank, displacement, target_count, target_type, win),
        request);
}

int rget(Thread& thread, OriginRoom buffer, OriginCount count, OriginType type, TargetRank rank,
         Displacement displacement, TargetCount target_count, TargetType target_type, Win win,
         Out<MPI_Request> request) {
    if (const int error = check_locked(thread, rank, win)) return error;
    const int error =
        get(thread, buffer, count, type, rank, displacement, target_count, target_type, win);
    return hand_out_complete(thread, done_here(thread, error, rank, win), request);
}

int raccumulate(Thread& thread, OriginBuffer buffer, OriginCount count, OriginType type,
                TargetRank rank, Displacement displacement, TargetCount target_count,
                TargetType target_type, Op op, Win win, Out<MPI_Request> request) {
    if (const int error = check_locked(thread, rank, win)) return error;
    return hand_out_complete(thread,
                             accumulate(thread, buffer, count, type, rank, displacement,
                                        target_count, target_type, op, win),
                             request);
}

int rget_accumulate(Thread& thread, OriginBuffer buffer, Perhaps<OriginCount> count,
                    Perhaps<OriginType> type, ResultBuffer result, RmaResultCount result_count,
                    RmaResultType result_type, TargetRank rank, Displacement displacement,
                    TargetCount target_count, TargetType target_type, Op op, Win win,
                    Out<MPI_Request> request) {
    if (const int error = check_locked(thread, rank, win)) return error;
    const int error = get_accumulate(thread, buffer, count, type, result, result_count, result_type,
                                     rank, displacement, target_count, target_type, op, win);
    return hand_out_complete(thread, done_here(thread, error, rank, win), request);
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY_SHORT_C(8, Put, short_ways::put, put)
MPI_ENTRY_SHORT_C(8, Get, short_ways::get, get)
MPI_ENTRY_SHORT_C(9, Accumulate, short_ways::tried<short_ways::accumulate>, accumulate)
MPI_ENTRY_C(12, Get_accumulate, get_accumulate)
MPI_ENTRY_SHORT(7, Fetch_and_op, short_ways::tried<short_ways::fetch_and_op>, fetch_and_op)
MPI_ENTRY_SHORT(7, Compare_and_swap, short_ways::tried<short_ways::compare_and_swap>,
                compare_and_swap)
MPI_ENTRY_C(9, Rput, rput)
MPI_ENTRY_C(9, Rget, rget)
MPI_ENTRY_C(10, Raccumulate, raccumulate)
MPI_ENTRY_C(13, Rget_accumulate, rget_accumulate)

namespace heddle::api::direct {
namespace {

/// Returns a window for the short path, which finds nothing by an unusual handle.
template <class Abi>
[[gnu::always_inline]] inline MPI_Win quick_window(typename Abi::Win raw) noexcept {
    MPI_Win standard = nullptr;
    if (!Abi::quickly(standard, raw)) [[unlikely]]
        return nullptr;
    return standard;
}

/// Takes the short path with handles of the standard ABI, or the face's long one.
template <class Abi, int number, auto short_way, class Address>
[[gnu::always_inline]] inline int transfer(Address buffer, int count, typename Abi::Type type,
                                           int rank, MPI_Aint displacement, int target_count,
                                           typename Abi::Type target_type, typename Abi::Win win) {
    const auto long_way = [=]() __attribute__((always_inline)) {
        using Call = int(Address, int, typename Abi::Type, int, MPI_Aint, int, typename Abi::Type,
                         typename Abi::Win);
        return reinterpret_cast<Call*>(face.long_calls[number])(
            buffer, count, type, rank, displacement, target_count, target_type, win);
    };
    if (type != target_type || count < 0 || is_unseen_constant<Abi>(buffer)) [[unlikely]]
        return long_way();
    MPI_Datatype standard = nullptr;
    if (!Abi::is_predefined(standard, type)) [[unlikely]]
        return long_way();
    // These come from int, and are not negative: the short path need not check the product for
    // overflow.
    const std::int64_t elements = static_cast<unsigned>(count);
    const std::int64_t target_elements = static_cast<unsigned>(target_count);
    return short_way(long_way, buffer, elements, standard, rank, displacement, target_elements,
                     standard, quick_window<Abi>(win));
}

constexpr auto put_shortly = [](auto... arguments) __attribute__((always_inline)) {
    return short_ways::put(arguments...);
};
constexpr auto get_shortly = [](auto... arguments) __attribute__((always_inline)) {
    return short_ways::get(arguments...);
};

}  // namespace

template <class Abi>
int Calls<Abi>::Put(const void* origin, int count, Type type, int rank, MPI_Aint displacement,
                    int target_count, Type target_type, Win win) {
    return transfer<Abi, heddle_direct_Put, put_shortly>(origin, count, type, rank, displacement,
                                                         target_count, target_type, win);
}
template <class Abi>
int Calls<Abi>::Get(void* origin, int count, Type type, int rank, MPI_Aint displacement,
                    int target_count, Type target_type, Win win) {
    return transfer<Abi, heddle_direct_Get, get_shortly>(origin, count, type, rank, displacement,
                                                         target_count, target_type, win);
}

#define INSTANCES(Abi)                                                                       \
    template int Calls<Abi>::Put(const void*, int, Abi::Type, int, MPI_Aint, int, Abi::Type, \
                                 Abi::Win);                                                  \
    template int Calls<Abi>::Get(void*, int, Abi::Type, int, MPI_Aint, int, Abi::Type, Abi::Win);
INSTANCES(Integers)
INSTANCES(Addresses)

}  // namespace heddle::api::direct
