// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Buffers in any layout, and communicators in any shape, for collective_random.cpp.
///
/// All data is words of 64 bits. Each follows from (seed, group, rank, index), so that every rank
/// knows what it must find. Senders and receivers describe the same words by different datatypes.

#include <algorithm>
#include <functional>
#include <memory>

#include "collective.hpp"

namespace collective {

/// A datatype of a few words, and their places in an element.
struct Layout {
    MPI_Datatype type;
    std::vector<long> offsets;  ///< in words from the start of the element
    long extent;                ///< in words

    std::size_t words() const { return offsets.size(); }
};

/// Elements in one layout, somewhere in a buffer.
struct Piece {
    const Layout* layout;
    std::size_t elements;
    long at;  ///< words from the buffer's start to the first element's

    std::size_t words() const { return elements * layout->words(); }
    long position(std::size_t word) const {
        const auto element = static_cast<long>(word / layout->words());
        return at + element * layout->extent + layout->offsets[word % layout->words()];
    }
};

/// Memory for some pieces. It notices writes elsewhere.
class Buffer {
public:
    explicit Buffer(std::vector<Piece> all) : pieces(std::move(all)) {
        long least = 0, most = 0;
        for (const Piece& piece : pieces)
            for (std::size_t i = 0; i < piece.words(); ++i) {
                least = std::min(least, piece.position(i));
                most = std::max(most, piece.position(i));
            }
        base_ = guard - least;
        memory_.resize(static_cast<std::size_t>(most + base_ + guard));
        clear();
    }
    void clear() {
        std::fill(memory_.begin(), memory_.end(), Words::canary);
        touched_.assign(memory_.size(), false);
    }
    void* address() { return memory_.data() + base_; }
    Word& word(std::size_t piece, std::size_t i) {
        const auto at = static_cast<std::size_t>(pieces[piece].position(i) + base_);
        touched_[at] = true;
        return memory_[at];
    }
    /// Returns whether the rest is as it was. Call it after word() for all words that may have been
    /// written.
    bool rest_intact() const {
        for (std::size_t i = 0; i < memory_.size(); ++i)
            if (!touched_[i] && memory_[i] != Words::canary) return false;
        return true;
    }

    std::vector<Piece> pieces;

private:
    static constexpr long guard = 8;
    std::vector<Word> memory_;
    std::vector<bool> touched_;
    long base_;
};

/// An array argument, int or wide as the parameter wants it.
class Numbers {
public:
    void add(long value) {
        narrow_.push_back(static_cast<int>(value));
        wide_.push_back(value);
    }
    operator const int*() const { return narrow_.data(); }
    operator const MPI_Count*() const { return wide_.data(); }

private:
    std::vector<int> narrow_;
    std::vector<MPI_Count> wide_;
};

/// A communicator as this rank sees it. Group 0 or 1 of an intercommunicator; else always 0.
struct Shape {
    MPI_Comm comm;
    bool inter = false;
    int group = 0, rank = 0, size = 0;
    int other = 0, others = 0;  ///< the group that messages come from, and its size

    explicit Shape(MPI_Comm c, int of_group = 0) : comm(c), group(of_group) {
        int is_inter = 0;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &size);
        MPI_Comm_test_inter(comm, &is_inter);
        inter = is_inter != 0;
        other = inter ? 1 - group : 0;
        others = size;
        if (inter) MPI_Comm_remote_size(comm, &others);
    }
};

/// Returns word `index` of the data of `rank` of `group` for `to` (or for all ranks) in `round`.
inline Word contribution(std::uint64_t seed, int group, int rank, std::size_t index, int to = 0) {
    return word_of(seed, group * 1000 + rank, index + static_cast<std::size_t>(to) * 1000003);
}

/// Returns the layouts. Operations work on the words of any of them: functions find it by the
/// datatype.
std::vector<Layout>& layouts();

template <Word (*function)(Word, Word)>
void on_layout(void* in, void* inout, int* length, MPI_Datatype* type) {
    for (const Layout& layout : layouts()) {
        if (layout.type != *type) continue;
        for (int e = 0; e < *length; ++e)
            for (const long offset : layout.offsets) {
                const long at = e * layout.extent + offset;
                static_cast<Word*>(inout)[at] =
                    function(static_cast<Word*>(in)[at], static_cast<Word*>(inout)[at]);
            }
        return;
    }
    std::abort();
}
template <Word (*function)(Word, Word)>
void on_layout_c(void* in, void* inout, MPI_Count* length, MPI_Datatype* type) {
    int narrow = static_cast<int>(*length);
    on_layout<function>(in, inout, &narrow, type);
}

}  // namespace collective
