// SPDX-License-Identifier: BSD-3-Clause
#include "rma/piece.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "objects/process.hpp"
#include "rma/elements.hpp"
#include "testing/job.hpp"

namespace {

using heddle::objects::Builtin;
using heddle::rma::ElementOperation;
using heddle::rma::Piece;

const std::array handles{MPI_INT8_T,   MPI_UINT8_T, MPI_INT16_T,  MPI_UINT16_T, MPI_INT32_T,
                         MPI_UINT32_T, MPI_INT64_T, MPI_UINT64_T, MPI_FLOAT,    MPI_DOUBLE};
constexpr std::array operations{Builtin::sum,     Builtin::product, Builtin::max,
                                Builtin::min,     Builtin::replace, Builtin::no_op,
                                Builtin::bit_and, Builtin::bit_or,  Builtin::bit_xor};

/// Calls body(element) within MPI, for each datatype.
template <class Body>
void with_each_type(Body body) {
    heddle::testing::run_job(1, 1, [&](int, int) {
        heddle::objects::Process& process = *heddle::objects::attached_thread()->process;
        for (MPI_Datatype handle : handles) body(*process.datatype(handle));
    });
}

/// The elements have any size and lie at any place of a word. The old values may be wanted or not.
TEST(Piece, atomic_changes_are_those_in_place) {
    std::mt19937 random(5);
    std::array<std::byte, 2048> origin, one, other, result, expected;
    heddle::rma::RowLock lock;
    with_each_type([&](const heddle::objects::Datatype& element) {
        const auto size = static_cast<std::size_t>(element.size);
        for (Builtin builtin : operations) {
            const ElementOperation operation = heddle::rma::operation_on(builtin, element);
            if (operation.kernel == nullptr) continue;
            for (int round = 0; round < 60; ++round) {
                for (auto* bytes : {&origin, &one})
                    for (std::byte& byte : *bytes)
                        byte = static_cast<std::byte>(random() % 64);  // no NaN
                other = one;
                const std::size_t from = random() % 12 * size;
                const std::size_t shift = random() % size;  // the origin lies anywhere
                const std::size_t count = random() % (1800 / size);
                if (count == 0) continue;
                const bool wants = builtin == Builtin::no_op || random() % 2 == 0;
                const auto piece = [&](auto& target, auto& old) {
                    return Piece{reinterpret_cast<std::uintptr_t>(target.data() + from),
                                 origin.data() + shift, wants ? old.data() : nullptr,
                                 static_cast<std::int64_t>(count)};
                };
                result = expected = {};
                heddle::rma::apply_atomically(lock, 0, operation, piece(one, result));
                heddle::rma::apply_in_place(operation, piece(other, expected));
                ASSERT_EQ(one, other) << "operation " << static_cast<int>(builtin);
                ASSERT_EQ(result, expected);
            }
        }
    });
}

/// Several threads add rows of elements, and single ones, to the same memory: no sum is lost.
TEST(Piece, changes_of_several_threads_are_all_there) {
    constexpr std::size_t threads = 4, elements = 203, rounds = 400;
    with_each_type([&](const heddle::objects::Datatype& element) {
        const ElementOperation operation = heddle::rma::operation_on(Builtin::sum, element);
        const auto size = static_cast<std::size_t>(element.size);
        alignas(8) std::array<std::byte, 8 * elements> memory{};
        std::array<std::byte, 8> one{};
        one[0] = std::byte{1};
        if (element.handle == MPI_FLOAT) std::memcpy(one.data(), std::array{1.0F}.data(), 4);
        if (element.handle == MPI_DOUBLE) std::memcpy(one.data(), std::array{1.0}.data(), 8);
        std::vector<std::byte> ones(elements * size), expected(elements * size);
        for (std::size_t i = 0; i < elements; ++i) std::memcpy(&ones[i * size], one.data(), size);
        const auto at = [&](std::size_t first, std::size_t count) {
            return Piece{reinterpret_cast<std::uintptr_t>(&memory[first * size]), ones.data(),
                         nullptr, static_cast<std::int64_t>(count)};
        };
        heddle::rma::RowLock lock;
        std::vector<std::thread> all;
        for (std::size_t me = 0; me < threads; ++me)
            all.emplace_back([&, me] {
                const auto number = static_cast<std::uint32_t>(me);
                for (std::size_t round = 0; round < rounds; ++round) {
                    if (me == 0)
                        for (std::size_t i = 0; i < elements; ++i)
                            heddle::rma::apply_atomically(lock, number, operation, at(i, 1));
                    else
                        heddle::rma::apply_atomically(lock, number, operation, at(0, elements));
                }
            });
        for (std::thread& thread : all) thread.join();
        for (std::size_t round = 0; round < threads * rounds; ++round)
            operation.kernel(ones.data(), expected.data(), expected.data(), elements);
        EXPECT_EQ(std::memcmp(memory.data(), expected.data(), expected.size()), 0) << element.name;
    });
}

}  // namespace
