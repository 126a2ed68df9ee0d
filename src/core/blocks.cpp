// SPDX-License-Identifier: BSD-3-Clause
#include "core/blocks.hpp"

#include <cstdlib>
#include <mutex>
#include <utility>

namespace heddle::core {
namespace {

void free_list(Block* block) noexcept {
    while (block != nullptr) std::free(std::exchange(block, block->next));
}

}  // namespace

Block* BlockDepot::take(std::size_t size) noexcept {
    Batches& batches = batches_[size];
    std::lock_guard guard(batches.lock);
    Block* batch = batches.first;
    if (batch == nullptr) return nullptr;
    batches.first = batch->next_batch;
    --batches.count;
    return batch;
}

void BlockDepot::give(std::size_t size, Block* batch) noexcept {
    Batches& batches = batches_[size];
    {
        std::lock_guard guard(batches.lock);
        if (batches.count < most_batches) {
            batch->next_batch = std::exchange(batches.first, batch);
            ++batches.count;
            return;
        }
    }
    free_list(batch);
}

void BlockDepot::empty() noexcept {
    for (std::size_t size = 0; size < block_sizes; ++size)
        while (Block* batch = take(size)) free_list(batch);
}

BlockPool::~BlockPool() {
    for (Kept& kept : kept_) {
        free_list(kept.open);
        free_list(kept.full);
    }
}

/// Takes a block if there is no open batch.
std::byte* BlockPool::take_more(std::size_t size, BlockDepot& depot) noexcept {
    Kept& kept = kept_[size];
    Block* batch = std::exchange(kept.full, nullptr);
    if (batch == nullptr) batch = depot.take(size);
    if (batch == nullptr) return take_large(smallest_block << size);
    kept.open = batch->next;
    kept.count = batch_of(size) - 1;
    return reinterpret_cast<std::byte*>(batch);
}

/// Closes the open batch, which has become a whole one.
void BlockPool::close_batch(std::size_t size, BlockDepot& depot) noexcept {
    Kept& kept = kept_[size];
    if (kept.full != nullptr) depot.give(size, kept.full);
    kept.full = std::exchange(kept.open, nullptr);
    kept.count = 0;
}

void BlockPool::drain(BlockDepot& depot) noexcept {
    for (std::size_t size = 0; size < block_sizes; ++size) {
        Kept& kept = kept_[size];
        free_list(std::exchange(kept.open, nullptr));
        kept.count = 0;
        if (kept.full != nullptr) depot.give(size, std::exchange(kept.full, nullptr));
    }
}

std::byte* BlockPool::take_large(std::size_t bytes) noexcept {
    return static_cast<std::byte*>(std::malloc(bytes));
}

void BlockPool::give_large(std::byte* memory) noexcept { std::free(memory); }

}  // namespace heddle::core
