// SPDX-License-Identifier: BSD-3-Clause
#include "rma/piece.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace heddle::rma {

namespace {

using objects::Builtin;
using objects::Place;
using Word = std::uint64_t;

/// Returns `count` elements of a piece, from element `from` on.
Piece part_of(const ElementOperation& operation, const Piece& piece, std::int64_t from,
              std::int64_t count) noexcept {
    const auto moved = [&](auto* begin) {
        return begin == nullptr ? nullptr : begin + from * operation.step;
    };
    return {objects::moved(piece.target, static_cast<std::uint64_t>(from), operation.step),
            moved(piece.origin), moved(piece.result), count};
}

void apply_one_by_one(const ElementOperation& operation, const Piece& piece) noexcept {
    for (std::int64_t i = 0; i < piece.count; ++i) {
        const Piece one = part_of(operation, piece, i, 1);
        apply_to_element(operation, one.target, one.origin, one.result);
    }
}

std::atomic_ref<Word> word_at(Place place) noexcept {
    return std::atomic_ref<Word>(*reinterpret_cast<Word*>(place));
}

/// Words of a piece that consists of whole words, up to `most` at a time.
class Words {
public:
    static constexpr std::size_t most = 64;

    Words(const ElementOperation& operation, const Piece& piece) noexcept
        : operation_(operation),
          piece_(piece),
          count_(static_cast<std::size_t>(piece.count) * operation.bytes / sizeof(Word)),
          elements_(sizeof(Word) / operation.bytes) {
        if (piece.origin != nullptr)
            std::memcpy(given_.data(), piece.origin, count_ * sizeof(Word));
    }

    /// Replaces the values if the caller does not want the old ones.
    void replace() noexcept {
        for (std::size_t i = 0; i < count_; ++i) target(i).store(given_[i], release);
    }
    void read() noexcept {
        for (std::size_t i = 0; i < count_; ++i) before_[i] = target(i).load(acquire);
        give_result();
    }
    /// Computes all values as if no other thread changed them, and stores them. Computes a value
    /// again if another thread has changed it meanwhile.
    void change() noexcept {
        for (std::size_t i = 0; i < count_; ++i) before_[i] = after_[i] = target(i).load(acquire);
        if (operation_.builtin == Builtin::replace)
            std::copy_n(given_.begin(), count_, after_.begin());
        else
            apply(0, count_);
        for (std::size_t i = 0; i < count_; ++i)
            // A value that stays the same need not be stored: it was there when it was loaded.
            if (after_[i] != before_[i]) store(i);
        give_result();
    }

private:
    std::atomic_ref<Word> target(std::size_t i) const noexcept {
        return word_at(piece_.target + i * sizeof(Word));
    }
    void apply(std::size_t from, std::size_t words) noexcept {
        auto* const changed = reinterpret_cast<std::byte*>(&after_[from]);
        operation_.kernel(reinterpret_cast<const std::byte*>(&given_[from]), changed, changed,
                          words * elements_);
    }
    void store(std::size_t i) noexcept {
        while (!target(i).compare_exchange_strong(before_[i], after_[i], acq_rel, acquire)) {
            if (operation_.builtin == Builtin::replace) continue;
            after_[i] = before_[i];
            apply(i, 1);
        }
    }
    void give_result() noexcept {
        if (piece_.result != nullptr)
            std::memcpy(piece_.result, before_.data(), count_ * sizeof(Word));
    }

    const ElementOperation& operation_;
    const Piece& piece_;
    const std::size_t count_, elements_;
    std::array<Word, most> given_, before_, after_;  // NOLINT: as far as they are used
};

void apply_to_words(const ElementOperation& operation, const Piece& piece) noexcept {
    const auto most = static_cast<std::int64_t>(Words::most * sizeof(Word) / operation.bytes);
    for (std::int64_t done = 0; done < piece.count; done += most) {
        const Piece part = part_of(operation, piece, done, std::min(most, piece.count - done));
        Words words(operation, part);
        if (operation.builtin == Builtin::no_op)
            words.read();
        else if (operation.builtin == Builtin::replace && part.result == nullptr)
            words.replace();
        else
            words.change();
    }
}

}  // namespace

void apply_atomically(const ElementOperation& operation, const Piece& piece) noexcept {
    const auto per_word = static_cast<std::int64_t>(sizeof(Word) / operation.bytes);
    const auto bytes_before = static_cast<std::int64_t>(-piece.target % sizeof(Word));
    const std::int64_t before =
        std::min(piece.count, bytes_before / static_cast<std::int64_t>(operation.bytes));
    const std::int64_t whole = (piece.count - before) / per_word * per_word;
    const std::int64_t after = piece.count - before - whole;
    apply_one_by_one(operation, part_of(operation, piece, 0, before));
    apply_to_words(operation, part_of(operation, piece, before, whole));
    apply_one_by_one(operation, part_of(operation, piece, before + whole, after));
}

namespace {

/// Applies the operation to elements that end in padding. There may be no memory for the padding of
/// the last one, so kernels work on copies.
void apply_to_padded(const ElementOperation& operation, const Piece& piece) noexcept {
    constexpr std::size_t largest = 2 * sizeof(long double);
    for (std::int64_t i = 0; i < piece.count; ++i) {
        const std::int64_t at = i * operation.step;
        alignas(largest) std::byte origin[largest] = {}, changed[largest] = {};
        auto* target = reinterpret_cast<std::byte*>(piece.target) + at;
        std::memcpy(changed, target, operation.bytes);
        if (piece.result != nullptr) std::memcpy(piece.result + at, changed, operation.bytes);
        if (operation.builtin == objects::Builtin::no_op) continue;
        std::memcpy(origin, piece.origin + at, operation.bytes);
        operation.kernel(origin, changed, changed, 1);
        std::memcpy(target, changed, operation.bytes);
    }
}

}  // namespace

void apply_in_place(const ElementOperation& operation, const Piece& piece) noexcept {
    if (operation.step != static_cast<std::int64_t>(operation.bytes))
        return apply_to_padded(operation, piece);
    auto* target = reinterpret_cast<std::byte*>(piece.target);
    if (piece.result != nullptr)
        std::memmove(piece.result, target, bytes_of(operation, piece.count));
    if (operation.builtin != objects::Builtin::no_op)
        operation.kernel(piece.origin, target, target, static_cast<std::size_t>(piece.count));
}

void swap_in_place(objects::Place target, const std::byte* origin, const std::byte* compare,
                   std::byte* result, std::uint64_t bytes) noexcept {
    auto* place = reinterpret_cast<std::byte*>(target);
    std::memmove(result, place, bytes);
    if (std::memcmp(result, compare, bytes) == 0) std::memcpy(place, origin, bytes);
}

}  // namespace heddle::rma
