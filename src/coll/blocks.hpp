// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The places of each process's data in a buffer that has a block for every process.

#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::coll {

struct Block {
    std::byte* data;
    std::uint64_t bytes;
};

class Blocks {
public:
    /// Equal blocks, one after the other.
    Blocks(std::byte* first, std::uint64_t bytes) noexcept : first_(first), bytes_(bytes) {}
    /// Any blocks; the list outlives this object.
    explicit Blocks(std::span<const Block> blocks) noexcept : list_(blocks.data()) {}

    Block operator[](std::int32_t rank) const noexcept {
        const auto i = static_cast<std::size_t>(rank);
        return list_ == nullptr ? Block{first_ + i * bytes_, bytes_} : list_[i];
    }
    bool regular() const noexcept { return list_ == nullptr; }

private:
    std::byte* first_ = nullptr;
    std::uint64_t bytes_ = 0;
    const Block* list_ = nullptr;
};

}  // namespace heddle::coll
