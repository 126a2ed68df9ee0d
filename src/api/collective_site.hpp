// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The parts of a collective call: the calling thread, the communicator, and the schedule that is
/// being written. It also has the checks that need them. (Each argument alone checks itself.)

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "api/collective_arguments.hpp"
#include "coll/collectives.hpp"

namespace heddle::api {

/// The use of a buffer by a call.
enum class Use : std::uint8_t {
    in,      ///< reads it
    out,     ///< fills it
    own_in,  ///< fills it, except for the block of this process, which is there already
    in_out,  ///< reads and fills it
};

/// A buffer of equal blocks, or a packed copy of it.
struct Data {
    std::byte* address = nullptr;
    std::uint64_t bytes = 0;  ///< of one block, in the form in which it travels
    /// The program's memory that is surely touched: all, or the first byte if there are gaps.
    coll::Block memory{};

    coll::Block block() const noexcept { return {address, bytes}; }
    coll::Blocks blocks() const noexcept { return {address, bytes}; }
};

/// A part in a collective. The root has all blocks or the result, a member has a block or an
/// operand. On an intracommunicator the root is a member. On an intercommunicator some processes
/// are neither.
struct Part {
    bool root;
    bool member;
};

struct Site {
    Thread& thread;
    coll::Schedule& schedule;
    Communicator& communicator;

    Site(Thread& thread, coll::Schedule& schedule) noexcept
        : thread(thread), schedule(schedule), communicator(schedule.communicator) {}

    int fail(int error_class, const std::string& detail) const {
        return objects::fail(thread, &communicator, error_class, detail);
    }
    bool inter() const noexcept { return communicator.remote != nullptr; }
    /// Returns the process's part in an operation with a root.
    Part part(const Root& root) const noexcept {
        if (inter()) [[unlikely]]
            return {root.rank == MPI_ROOT, root.rank >= 0};
        return {communicator.rank == root.rank, true};
    }
    /// Returns whether an argument is MPI_IN_PLACE, and may be.
    bool in_place(const void* address) const noexcept { return is_in_place(address) && !inter(); }

    /// The need for memory at the address of a buffer. `data`: the buffer has elements. `memory`:
    /// the address cannot be MPI_BOTTOM, a null pointer, with addresses in a type or displacements.
    struct Need {
        bool data = false;
        bool memory = false;
    };
    template <class Buffer>
    int present(const Buffer& buffer, Need need) const {
        if (is_memory(buffer.address) || !need.data || (buffer.address == nullptr && !need.memory))
            [[likely]]
            return MPI_SUCCESS;
        return fail(MPI_ERR_BUFFER,
                    std::string("argument ") + Buffer::name + ": " + no_memory(buffer.address));
    }
    /// Measures a buffer with `blocks` blocks of count elements. If `packed`, elements travel in
    /// packed form.
    template <class Buffer, class CountKind, class TypeKind>
    int measure(const Buffer& buffer, const CountKind& count, const TypeKind& type,
                std::int64_t blocks, Use use, bool packed, Data& data) const {
        std::int64_t one = 0, all = 0;
        if (__builtin_mul_overflow(count.value, type->extent, &one) ||
            __builtin_mul_overflow(one, blocks, &all)) [[unlikely]]
            return fail(MPI_ERR_COUNT,
                        std::string("argument ") + CountKind::name +
                            ": the buffer has more than 2^63 bytes");
        if (const int error = present(buffer, {all != 0, !packed})) return error;
        data = {writable(buffer.address), static_cast<std::uint64_t>(one), {}};
        if (type->size != 0 && all != 0)
            data.memory = {data.address + type->true_lower_bound,
                           type->contiguous ? static_cast<std::uint64_t>(all) : 1};
        if (packed) [[unlikely]]
            pack(*type, static_cast<std::uint64_t>(count.value), blocks, use, data);
        return MPI_SUCCESS;
    }
    template <class Buffer, class CountKind, class TypeKind>
    int measure(const Buffer& buffer, const CountKind& count, const TypeKind& type,
                std::int64_t blocks, Use use, Data& data) const {
        return measure(buffer, count, type, blocks, use, !type->contiguous, data);
    }
    /// Does the same if count and type have not been checked.
    template <class Buffer, class CountKind, class TypeKind>
    int measure(const Buffer& buffer, const Later<CountKind>& count,
                const Later<TypeKind>& any_type, std::int64_t blocks, Use use, Data& data) const {
        Later<TypeKind> type = any_type;
        if (const int error = count.check(thread, communicator)) return error;
        if (count.value == 0 && type.object == nullptr) type.let_pass(*thread.process);
        if (const int error = type.check(thread, communicator)) return error;
        return measure(buffer, static_cast<const CountKind&>(count),
                       static_cast<const TypeKind&>(type), blocks, use, !type->contiguous, data);
    }
    /// Lists blocks of different sizes. The list lies in the schedule.
    template <class Buffer, class CountsKind, class DisplacementsKind, class TypeKind>
    int list(const Buffer& buffer, const Later<CountsKind>& counts,
             const Later<DisplacementsKind>& displacements, const Later<TypeKind>& type, Use use,
             std::span<coll::Block>& blocks) const {
        if (const int error = counts.check(thread, communicator)) return error;
        if (const int error = displacements.check(thread, communicator)) return error;
        if (const int error = type.check(thread, communicator)) return error;
        return list_blocks<CountsKind>(buffer, use, blocks, counts, [&](std::int32_t rank) {
            return std::pair(type.object, displacements[rank] * type->extent);
        });
    }
    /// Lists the blocks of Alltoallw: displacements are bytes, and each block has a type.
    template <class Buffer, class CountsKind, class DisplacementsKind, class TypesKind>
    int list_typed(const Buffer& buffer, const Later<CountsKind>& counts,
                   const Later<DisplacementsKind>& displacements, const Later<TypesKind>& types,
                   Use use, std::span<coll::Block>& blocks) const {
        if (const int error = counts.check(thread, communicator)) return error;
        if (const int error = displacements.check(thread, communicator)) return error;
        if (const int error = types.check(thread, communicator)) return error;
        if (const int error = check_types(types, counts, schedule.size)) return error;
        return list_blocks<CountsKind>(buffer, use, blocks, counts, [&](std::int32_t rank) {
            return std::pair(types.of_block(rank, counts[rank]).object, displacements[rank]);
        });
    }
    template <class TypesKind>
    int check_types(const TypesKind& types, const Values& counts, std::int32_t blocks) const {
        for (std::int32_t i = 0; i < blocks; ++i) {
            const Type type = types.of_block(i, counts[i]);
            if (const int error = type.error(nullptr))
                return refuse(thread, &communicator, error, TypesKind::name,
                              "index " + std::to_string(i) + ": " + type.wrong(nullptr));
        }
        return MPI_SUCCESS;
    }
    /// Lists blocks. `place` returns type and offset of a rank's block.
    template <class CountsKind, class Buffer, class Place>
    int list_blocks(const Buffer& buffer, Use use, std::span<coll::Block>& blocks,
                    const Values& counts, Place&& place) const {
        blocks = schedule.scratch_of<coll::Block>(static_cast<std::size_t>(schedule.size));
        Need need;
        for (std::int32_t rank = 0; rank < schedule.size; ++rank) {
            const auto [type, offset] = place(rank);
            const Use of_block = use != Use::own_in ? use
                : rank == schedule.rank             ? Use::in_out
                                                    : Use::out;
            if (const int error = block<CountsKind>(buffer, counts[rank], *type, offset, of_block,
                                                    blocks[static_cast<std::size_t>(rank)], need))
                return error;
        }
        return present(buffer, need);
    }
    /// Measures a block of its own size, and adds its needs to `need`.
    template <class CountKind, class Buffer>
    int block(const Buffer& buffer, std::int64_t count, const objects::Datatype& type,
              std::int64_t offset, Use use, coll::Block& block, Need& need) const {
        std::int64_t bytes = 0;
        if (__builtin_mul_overflow(count, type.extent, &bytes)) [[unlikely]]
            return fail(
                MPI_ERR_COUNT,
                std::string("argument ") + CountKind::name + ": a block has more than 2^63 bytes");
        Data data{writable(buffer.address) + offset, static_cast<std::uint64_t>(bytes), {}};
        need.data = need.data || bytes != 0;
        if (type.contiguous) [[likely]]
            need.memory = need.memory || (bytes != 0 && offset == 0);
        else
            pack(type, static_cast<std::uint64_t>(count), 1, use, data);
        block = data.block();
        return MPI_SUCCESS;
    }
    /// Replaces `blocks` blocks of count elements by a packed copy.
    [[gnu::cold]] void pack(const objects::Datatype& type, std::uint64_t count, std::int64_t blocks,
                            Use use, Data& data) const;
    /// Checks that the memory that a call reads and the memory that it fills do not overlap.
    /// MPI_IN_PLACE is for calls that have one buffer.
    int apart(const coll::Block& in, const coll::Block& out) const {
        const bool overlap = in.bytes != 0 && out.bytes != 0 && in.data < out.data + out.bytes &&
            out.data < in.data + in.bytes;
        if (!overlap) [[likely]]
            return MPI_SUCCESS;
        return fail(MPI_ERR_BUFFER,
                    inter() ? "arguments sendbuf and recvbuf: they overlap"
                            : "arguments sendbuf and recvbuf: they overlap, and "
                              "neither is MPI_IN_PLACE");
    }
    /// Does the same for lists, block by block. This finds a buffer that is passed twice.
    int apart(std::span<const coll::Block> in, std::span<const coll::Block> out) const {
        for (std::size_t i = 0; i < std::min(in.size(), out.size()); ++i)
            if (const int error = apart(in[i], out[i])) return error;
        return MPI_SUCCESS;
    }
    /// Checks that a process sends to itself no more than it expects of itself.
    int fits(std::uint64_t sent, std::uint64_t expected) const {
        if (sent <= expected) [[likely]]
            return MPI_SUCCESS;
        return fail(MPI_ERR_TRUNCATE,
                    "this process sends itself " + std::to_string(sent) + " bytes and expects " +
                        std::to_string(expected));
    }

    /// Returns writable memory. Steps name memory that some of them write to.
    static std::byte* writable(const std::byte* data) noexcept {
        return const_cast<std::byte*>(data);
    }
};

}  // namespace heddle::api
