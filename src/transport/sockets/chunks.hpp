// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Memory into which connections read, and the receipts of the batches in it.
///
/// Chunk          room for several batches. A connection has one while there is something in it
///                that is not over. So connections that say nothing cost no memory, and what comes
///                next goes where the caches are warm.
/// Receipt        the operation of one batch that was handed out, until release().
/// Limits         so many batches may be handed out at once. While some are, so many chunks may be
///                in use: they are memory of a receiver that takes nothing.

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "transport/sockets/hello.hpp"
#include "transport/wire.hpp"

namespace heddle::transport::sockets {

inline constexpr std::size_t most_frame = sizeof(Frame) + most_batch;
inline constexpr std::size_t chunk_bytes = 4 * most_frame;

class Incoming;

struct Chunk {
    std::unique_ptr<std::byte[]> bytes;
    Incoming* owner = nullptr;  ///< nullptr: it has gone
    unsigned unreleased = 0;    ///< batches in it that were handed out
};

struct Receipt : Operation {
    Chunk* chunk = nullptr;    ///< nullptr: the batch lies in a ring
    Incoming* from = nullptr;  ///< the connection with that ring
    std::uint64_t end = 0;     ///< end of the batch, in the ring
    bool is_over = false;      ///< released, but not all before it in the ring are
    Receipt* next = nullptr;   ///< next free one, or next one of the same ring
};

class Chunks {
public:
    static constexpr std::size_t most_in_use = 64;
    static constexpr std::size_t most_free = 8;
    static constexpr unsigned most_unreleased = 1024;

    /// Returns nullptr if there is none for now.
    Chunk* take(Incoming& owner) noexcept try {
        if (in_use_ >= most_in_use && unreleased_ != 0) return nullptr;
        if (free_.empty()) {
            free_.reserve(most_free);  // so that put() need not
            auto made = std::make_unique<Chunk>();
            made->bytes = std::make_unique_for_overwrite<std::byte[]>(chunk_bytes);
            free_.push_back(std::move(made));
        }
        Chunk* const chunk = free_.back().release();
        free_.pop_back();
        ++in_use_;
        chunk->owner = &owner;
        return chunk;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    void put(Chunk& chunk) noexcept {
        std::unique_ptr<Chunk> owner(&chunk);
        --in_use_;
        if (free_.size() < most_free) free_.push_back(std::move(owner));
    }

    bool has_handed_out() const noexcept { return unreleased_ != 0; }
    bool may_hand_out() const noexcept { return unreleased_ < most_unreleased; }
    /// Returns a receipt for a batch in the chunk, or in a ring. Returns nullptr if there is no
    /// memory.
    Receipt* hand_out(Chunk* chunk) noexcept {
        if (free_receipts_ == nullptr && !make_receipt()) return nullptr;
        Receipt* const receipt = std::exchange(free_receipts_, free_receipts_->next);
        receipt->what = Operation::What::receive;
        receipt->chunk = chunk;
        receipt->next = nullptr;
        receipt->is_over = false;
        if (chunk != nullptr) ++chunk->unreleased;
        ++unreleased_;
        return receipt;
    }
    /// Returns the chunk if nothing of it is handed out any more, else nullptr.
    Chunk* take_back(Receipt& receipt) noexcept {
        receipt.next = std::exchange(free_receipts_, &receipt);
        --unreleased_;
        if (receipt.chunk == nullptr || --receipt.chunk->unreleased != 0) return nullptr;
        return receipt.chunk;
    }

private:
    bool make_receipt() noexcept try {
        receipts_.push_back(std::make_unique<Receipt>());
        free_receipts_ = receipts_.back().get();
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }

    std::vector<std::unique_ptr<Chunk>> free_;
    std::vector<std::unique_ptr<Receipt>> receipts_;
    Receipt* free_receipts_ = nullptr;
    std::size_t in_use_ = 0;
    unsigned unreleased_ = 0;
};

}  // namespace heddle::transport::sockets
