// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Memory for payloads that wait for their receives: blocks of a few sizes, some of which each thread keeps.
///
/// Sizes          powers of two from 64 bytes to 8 KiB. What is larger comes from malloc, and goes back there.
/// Blocks         come from malloc, too, and may be given back by another thread than the one that took them. For
///                each size a thread keeps up to two batches; it exchanges whole batches with the depot of the
///                process, which frees those that are too many.
/// Thread safety  BlockPool: one thread at a time; BlockDepot: any thread.
/// Errors         take() answers nullptr when there is no memory.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "sync/mutex.hpp"

namespace heddle::core {

inline constexpr std::size_t block_sizes = 8;
inline constexpr std::size_t smallest_block = 64;
inline constexpr std::size_t largest_block = smallest_block << (block_sizes - 1);

/// Which size serves so many bytes, at least one; block_sizes or more: none does.
constexpr std::size_t block_size_for(std::size_t bytes) noexcept {
    return static_cast<std::size_t>(std::bit_width((bytes - 1) / smallest_block));
}
/// The memory that take() takes for them.
constexpr std::size_t block_bytes(std::size_t bytes) noexcept {
    return bytes > largest_block ? bytes : smallest_block << block_size_for(bytes);
}

/// A free block.
struct Block {
    Block* next;        ///< in its batch
    Block* next_batch;  ///< of the first block of a batch in the depot
};

/// Blocks in a batch: 8 KiB of them, or one.
constexpr std::size_t batch_of(std::size_t size) noexcept {
    return std::size_t{1} << (block_sizes - 1 - size);
}

class BlockDepot {
public:
    BlockDepot() = default;
    BlockDepot(const BlockDepot&) = delete;
    BlockDepot& operator=(const BlockDepot&) = delete;
    ~BlockDepot() { empty(); }

    /// A whole batch; nullptr: there is none.
    Block* take(std::size_t size) noexcept;
    void give(std::size_t size, Block* batch) noexcept;
    /// Frees all.
    void empty() noexcept;

private:
    static constexpr std::size_t most_batches = 128;  ///< of one size: a mebibyte

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

    /// Memory for `bytes`, at least one.
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
    /// `bytes`: as for take().
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
    /// Of one size: a batch that is being filled or emptied, and perhaps a full one.
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
