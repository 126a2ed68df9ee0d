// SPDX-License-Identifier: BSD-3-Clause
#include "clocks.hpp"

#include <array>
#include <cstdint>
#include <ctime>

#include "mpi.h"
#include "platform/cpu.hpp"

namespace heddle::trace {
namespace {

constexpr int round_trips = 16;

std::uint64_t real_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
        static_cast<std::uint64_t>(now.tv_nsec);
}

struct Reading {
    std::uint64_t ticks, real;
};

/// Reads both clocks at one time. It takes the reading that was interrupted least out of several.
Reading read_both() noexcept {
    Reading best{};
    std::uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < 8; ++i) {
        const std::uint64_t before = platform::ordered_ticks();
        const std::uint64_t real = real_ns();
        const std::uint64_t after = platform::ordered_ticks();
        if (after - before >= shortest) continue;
        shortest = after - before;
        best = {before + shortest / 2, real};
    }
    return best;
}

/// Returns the offset of this process's clock against rank 0 of `leaders`.
std::int64_t offset_to_first(MPI_Comm leaders, int rank) noexcept {
    std::int64_t best = 0;
    std::uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < round_trips; ++i) {
        std::uint64_t theirs = 0;
        if (rank == 0) continue;
        const std::uint64_t before = real_ns();
        PMPI_Send(nullptr, 0, MPI_BYTE, 0, 0, leaders);
        PMPI_Recv(&theirs, 1, MPI_UINT64_T, 0, 0, leaders, MPI_STATUS_IGNORE);
        const std::uint64_t after = real_ns();
        if (after - before >= shortest) continue;
        shortest = after - before;
        best = static_cast<std::int64_t>(theirs) -
            static_cast<std::int64_t>(before + (after - before) / 2);
    }
    return best;
}

void answer(MPI_Comm leaders, int size) noexcept {
    for (int rank = 1; rank < size; ++rank)
        for (int i = 0; i < round_trips; ++i) {
            PMPI_Recv(nullptr, 0, MPI_BYTE, rank, 0, leaders, MPI_STATUS_IGNORE);
            const std::uint64_t now = real_ns();
            PMPI_Send(&now, 1, MPI_UINT64_T, rank, 0, leaders);
        }
}

}  // namespace

void measure_clock(File& file) noexcept {
    const Reading first = read_both();
    file.first_ticks = first.ticks;
    file.first_real = first.real;
    // If the process is killed soon, this is its second reading.
    while (real_ns() - first.real < 100'000) {}
    renew_clock(file);
}

void renew_clock(File& file) noexcept {
    const Reading now = read_both();
    file.last_ticks.store(now.ticks, std::memory_order_relaxed);
    file.last_real.store(now.real, std::memory_order_relaxed);
}

void align_clock(File& file, int which) noexcept {
    MPI_Comm node = MPI_COMM_NULL, leaders = MPI_COMM_NULL;
    if (PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) !=
        MPI_SUCCESS)
        return;
    int rank_of_node = 0, node_size = 0;
    PMPI_Comm_rank(node, &rank_of_node);
    PMPI_Comm_size(node, &node_size);
    std::int64_t found = 0;
    if (node_size < file.size &&
        PMPI_Comm_split(MPI_COMM_WORLD, rank_of_node == 0 ? 0 : MPI_UNDEFINED, 0, &leaders) ==
            MPI_SUCCESS) {
        if (leaders != MPI_COMM_NULL) {
            int rank = 0, size = 0;
            PMPI_Comm_rank(leaders, &rank);
            PMPI_Comm_size(leaders, &size);
            if (rank == 0)
                answer(leaders, size);
            else
                found = offset_to_first(leaders, rank);
            PMPI_Comm_free(&leaders);
        }
        PMPI_Bcast(&found, 1, MPI_INT64_T, 0, node);
        file.correction[which] = found;
        file.corrected_at[which] = real_ns();
    }
    PMPI_Comm_free(&node);
}

}  // namespace heddle::trace
