// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Memory for payloads that wait for their receives: blocks of a few sizes. Each thread keeps some.
///
/// Sizes          powers of two from 64 bytes to 8 KiB. Larger memory comes from malloc and goes
///                back there.
/// Blocks         come from malloc, too. A thread may give back blocks that another thread took.
///                For each size a thread keeps up to two batches. It exchanges whole batches with
///                the depot of the process, which frees surplus batches.
/// Thread safety  BlockPool: one thread at a time; BlockDepot: any thread.
/// Errors         take() returns nullptr if there is no memory.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "sync/mutex.hpp"

namespace heddle::core {

inline constexpr std::size_t block_sizes = 8;
inline constexpr std::size_t smallest_block = 64;
inline constexpr std::size_t largest_block = smallest_block << (block_sizes - 1);

/// Returns the size that holds `bytes`, at least one. Returns block_sizes or more if none does.
constexpr std::size_t block_size_for(std::size_t bytes) noexcept {
    return static_cast<std::size_t>(std::bit_width((bytes - 1) / smallest_block));
}
/// Returns the bytes of memory that take() takes for them.
constexpr std::size_t block_bytes(std::size_t bytes) noexcept {
    return bytes > largest_block ? bytes : smallest_block << block_size_for(bytes);
}

/// A free block.
struct Block {
    Block* next;        ///< the next one in its batch
    Block* next_batch;  ///< used in the first block of a batch in the depot
};

/// Returns the blocks in a batch: 8 KiB of them, or one.
constexpr std::size_t batch_of(std::size_t size) noexcept {
    return std::size_t{1} << (block_sizes - 1 - size);
}

class BlockDepot {
public:
    BlockDepot() = default;
    BlockDepot(const BlockDepot&) = delete;
    BlockDepot& operator=(const BlockDepot&) = delete;
    ~BlockDepot() { empty(); }

    /// Returns a whole batch, or nullptr if there is none.
    Block* take(std::size_t size) noexcept;
    void give(std::size_t size, Block* batch) noexcept;
    /// Frees all batches.
    void empty() noexcept;

private:
    static constexpr std::size_t most_batches = 128;  ///< for each size: a mebibyte

    struct alignas(64) Batches {
        sync::Mutex lock;
        Block* first = nullptr;
        std::size_t count = 0;
    };
    std::array<Batches, block_sizes> batches_;
};

class BlockPool {
public:
    BlockPool() = default;
    BlockPool(const BlockPool&) = delete;
    BlockPool& operator=(const BlockPool&) = delete;
    ~BlockPool();

    /// Returns memory for `bytes`, at least one.
    std::byte* take(std::size_t bytes, BlockDepot& depot) noexcept {
        if (bytes > largest_block) [[unlikely]]
            return take_large(bytes);
        const std::size_t size = block_size_for(bytes);
        Kept& kept = kept_[size];
        if (kept.open == nullptr) [[unlikely]]
            return take_more(size, depot);
        --kept.count;
        Block* block = kept.open;
        kept.open = block->next;
        return reinterpret_cast<std::byte*>(block);
    }
    /// Takes back memory. `bytes` is as in take().
    void give(std::byte* memory, std::size_t bytes, BlockDepot& depot) noexcept {
        if (bytes > largest_block) [[unlikely]]
            return give_large(memory);
        const std::size_t size = block_size_for(bytes);
        Kept& kept = kept_[size];
        auto* block = reinterpret_cast<Block*>(memory);
        block->next = kept.open;
        kept.open = block;
        if (++kept.count == batch_of(size)) [[unlikely]]
            close_batch(size, depot);
    }
    /// Gives all blocks back.
    void drain(BlockDepot& depot) noexcept;

private:
    /// For one size: a batch that is being filled or emptied, and perhaps a full one.
    struct Kept {
        Block* open = nullptr;
        Block* full = nullptr;
        std::size_t count = 0;  ///< blocks in `open`
    };

    std::byte* take_more(std::size_t size, BlockDepot& depot) noexcept;
    void close_batch(std::size_t size, BlockDepot& depot) noexcept;
    static std::byte* take_large(std::size_t bytes) noexcept;
    static void give_large(std::byte* memory) noexcept;

    std::array<Kept, block_sizes> kept_;
};

}  // namespace heddle::core
