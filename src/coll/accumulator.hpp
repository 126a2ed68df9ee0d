// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The running result of a reduction, and the buffers it moves through.
///
/// It starts as the input, which is only read. The next operand is received into spare(). An
/// operation writes its result into the memory of its right operand. So the side of the new operand
/// decides which of the two buffers holds the result.

#include "coll/schedule.hpp"

namespace heddle::coll {

class Accumulator {
public:
    /// Begins with `in`. `out` is the final place of the result and serves as a buffer. It is
    /// nullptr if there is no such place.
    Accumulator(Schedule& schedule, const std::byte* in, std::byte* out,
                std::uint64_t count) noexcept
        : schedule_(schedule),
          in_(in),
          count_(count),
          bytes_(count * schedule.reduction.element_bytes) {
        if (out == nullptr) return;
        if (in == out) value_ = out;  // in place: the input may be overwritten
        buffers_[0] = out;
    }

    const std::byte* value() const noexcept { return value_ != nullptr ? value_ : in_; }
    std::uint64_t bytes() const noexcept { return bytes_; }
    std::uint64_t count() const noexcept { return count_; }

    /// Returns a buffer that is not in use. It stays the same until the next combination.
    std::byte* spare() {
        std::byte*& free = value_ != nullptr && value_ == buffers_[0] ? buffers_[1] : buffers_[0];
        if (free == nullptr) free = schedule_.scratch(bytes_);
        return free;
    }
    /// value = value op spare
    void combine_right() {
        std::byte* operand = spare();
        schedule_.combine(value(), operand, count_);
        value_ = operand;
    }
    /// value = spare op value
    void combine_left() {
        std::byte* operand = spare();
        if (value_ == nullptr) {
            std::byte*& other = operand == buffers_[0] ? buffers_[1] : buffers_[0];
            if (other == nullptr) other = schedule_.scratch(bytes_);
            schedule_.copy(in_, other, bytes_);
            value_ = other;
        }
        schedule_.combine(operand, value_, count_);
    }
    void finish(std::byte* out) { schedule_.copy(value(), out, bytes_); }

private:
    Schedule& schedule_;
    const std::byte* in_;
    std::uint64_t count_;
    std::uint64_t bytes_;
    std::byte* value_ = nullptr;  ///< one of the buffers; nullptr: still the input
    std::byte* buffers_[2] = {};
};

}  // namespace heddle::coll
