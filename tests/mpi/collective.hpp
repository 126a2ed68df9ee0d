// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The parts that tests of collectives share. Every rank can compute the data of every rank.
/// Buffers notice writes beside them. The results of operations tell in which order they were
/// applied.

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace collective {

using Word = std::uint64_t;

#define CHECK(condition, format, ...)                                                           \
    do {                                                                                        \
        if (!(condition)) {                                                                     \
            int rank_ = -1;                                                                     \
            MPI_Comm_rank(MPI_COMM_WORLD, &rank_);                                              \
            std::fprintf(stderr, "rank %d, %s:%d: %s: " format "\n", rank_, __FILE__, __LINE__, \
                         #condition __VA_OPT__(, ) __VA_ARGS__);                                \
            std::fflush(stderr);                                                                \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                       \
        }                                                                                       \
    } while (false)

/// Returns word `index` of the contribution of `rank` in `round`.
inline Word word_of(std::uint64_t round, int rank, std::size_t index) {
    std::uint64_t x = round * 0x9e3779b97f4a7c15u +
        static_cast<std::uint64_t>(rank) * 0xbf58476d1ce4e5b9u + index * 0x94d049bb133111ebu + 1;
    x ^= x >> 31;
    x *= 0xd6e8feb86659fd93u;
    return x ^ (x >> 29);
}

/// Words between two guards.
class Words {
public:
    explicit Words(std::size_t count) : words_(count + 2 * guard, canary), count_(count) {}
    Word* data() { return words_.data() + guard; }
    Word& operator[](std::size_t i) { return words_[guard + i]; }
    std::size_t size() const { return count_; }
    bool intact() const {
        for (std::size_t i = 0; i < guard; ++i)
            if (words_[i] != canary || words_[guard + count_ + i] != canary) return false;
        return true;
    }
    static constexpr Word canary = 0xc0ffee0123456789u;

private:
    static constexpr std::size_t guard = 4;
    std::vector<Word> words_;
    std::size_t count_;
};

/// Multiplies 2 x 2 matrices of 16-bit numbers: associative, not commutative.
inline Word multiply(Word x, Word y) {
    const auto at = [](Word m, int i) {
        return static_cast<std::uint32_t>(m >> (16 * i)) & 0xffffu;
    };
    Word product = 0;
    for (int row = 0; row < 2; ++row)
        for (int column = 0; column < 2; ++column) {
            const Word value =
                (at(x, 2 * row) * at(y, column) + at(x, 2 * row + 1) * at(y, 2 + column)) & 0xffffu;
            product |= value << (16 * (2 * row + column));
        }
    return product;
}
/// Returns the interval of one rank. Intervals may only be joined to their right neighbour.
inline Word interval(int rank) { return (Word(rank) << 32) | Word(rank); }
inline Word join(Word x, Word y) {
    const Word poison = ~Word{0};
    if (x == poison || y == poison || (x & 0xffffffffu) + 1 != y >> 32) return poison;
    return (x >> 32 << 32) | (y & 0xffffffffu);
}

template <Word (*function)(Word, Word)>
void user_function(void* in, void* inout, int* length, MPI_Datatype* type) {
    if (*type != MPI_UINT64_T) std::abort();
    for (int i = 0; i < *length; ++i)
        static_cast<Word*>(inout)[i] =
            function(static_cast<Word*>(in)[i], static_cast<Word*>(inout)[i]);
}
template <Word (*function)(Word, Word)>
void user_function_c(void* in, void* inout, MPI_Count* length, MPI_Datatype* type) {
    int narrow = static_cast<int>(*length);
    user_function<function>(in, inout, &narrow, type);
}

inline Word add(Word x, Word y) { return x + y; }

struct Operation {
    MPI_Op handle;
    Word (*function)(Word, Word);
    const char* name;
};

class Operations {
public:
    Operations() {
        MPI_Op product, product_c, joined, sum;
        MPI_Op_create(user_function<multiply>, 0, &product);
        MPI_Op_create_c(user_function_c<multiply>, 0, &product_c);
        MPI_Op_create(user_function<join>, 0, &joined);
        MPI_Op_create(user_function<add>, 1, &sum);
        all = {{product, multiply, "matrix product"},
               {product_c, multiply, "matrix product, large count"},
               {joined, join, "joined intervals"},
               {sum, add, "sum of the user"},
               {MPI_SUM, add, "MPI_SUM"}};
    }
    ~Operations() {
        for (Operation& operation : all)
            if (operation.handle != MPI_SUM) MPI_Op_free(&operation.handle);
    }
    std::vector<Operation> all;
};

/// Returns the operand of a rank.
inline Word operand(const Operation& operation, std::uint64_t round, int rank, std::size_t index) {
    return operation.function == join ? interval(rank) : word_of(round, rank, index);
}
/// Returns the combined operands of ranks first to last, one after the other.
inline Word folded(const Operation& operation, std::uint64_t round, int first, int last,
                   std::size_t index) {
    Word result = operand(operation, round, first, index);
    for (int rank = first + 1; rank <= last; ++rank)
        result = operation.function(result, operand(operation, round, rank, index));
    return result;
}

}  // namespace collective
