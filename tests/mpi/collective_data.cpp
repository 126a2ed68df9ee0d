// SPDX-License-Identifier: BSD-3-Clause
/// Collectives that move data, over random counts, roots, displacements, in place or not. Every
/// rank knows what every rank sends, and so what it must find.

#include "collective.hpp"

using namespace collective;

namespace {

int rank, size;
MPI_Comm comm;

const std::size_t counts_to_try[] = {0, 1, 2, 3, 8, 65, 300, 1025, 3000, 20000};

struct Case {
    std::uint64_t round;
    std::size_t count;  ///< words of a block
    int root;
    bool in_place;
    bool large;  ///< use the large-count form
};

void fill(Words& words, std::size_t at, std::size_t count, std::uint64_t round, int from,
          std::size_t first = 0) {
    for (std::size_t i = 0; i < count; ++i) words[at + i] = word_of(round, from, first + i);
}
void expect(Words& words, std::size_t at, std::size_t count, std::uint64_t round, int from,
            std::size_t first, const char* what) {
    for (std::size_t i = 0; i < count; ++i)
        CHECK(words[at + i] == word_of(round, from, first + i),
              "%s: word %zu of %zu from rank %d in round %llu", what, i, count, from,
              static_cast<unsigned long long>(round));
    CHECK(words.intact(), "%s wrote beside its buffer", what);
}

#define FORM(X, ...) \
    CHECK((c.large ? MPI_##X##_c(__VA_ARGS__) : MPI_##X(__VA_ARGS__)) == MPI_SUCCESS, "MPI_" #X)

int as_int(std::size_t n) { return static_cast<int>(n); }
#define N as_int(c.count)
#define T MPI_UINT64_T

void bcast(const Case& c) {
    Words data(c.count);
    if (rank == c.root) fill(data, 0, c.count, c.round, c.root);
    FORM(Bcast, data.data(), N, T, c.root, comm);
    expect(data, 0, c.count, c.round, c.root, 0, "Bcast");
}

void gather(const Case& c) {
    Words in(c.count), out(rank == c.root ? c.count * size : 0);
    fill(in, 0, c.count, c.round, rank);
    if (rank == c.root) {
        if (c.in_place) fill(out, c.count * rank, c.count, c.round, rank);
        FORM(Gather, c.in_place ? MPI_IN_PLACE : in.data(), N, T, out.data(), N, T, c.root, comm);
        for (int r = 0; r < size; ++r) expect(out, c.count * r, c.count, c.round, r, 0, "Gather");
    } else {  // insignificant arguments are nonsense
        FORM(Gather, in.data(), N, T, nullptr, -5, MPI_DATATYPE_NULL, c.root, comm);
    }
}

void scatter(const Case& c) {
    Words in(rank == c.root ? c.count * size : 0), out(c.count);
    if (rank == c.root) {
        for (int r = 0; r < size; ++r) fill(in, c.count * r, c.count, c.round, r);
        FORM(Scatter, in.data(), N, T, c.in_place ? MPI_IN_PLACE : out.data(), N, T, c.root, comm);
        if (!c.in_place) expect(out, 0, c.count, c.round, rank, 0, "Scatter");
        CHECK(in.intact(), "Scatter");
    } else {
        FORM(Scatter, nullptr, -5, MPI_DATATYPE_NULL, out.data(), N, T, c.root, comm);
        expect(out, 0, c.count, c.round, rank, 0, "Scatter");
    }
}

void allgather(const Case& c) {
    Words in(c.count), out(c.count * size);
    fill(in, 0, c.count, c.round, rank);
    if (c.in_place) {
        fill(out, c.count * rank, c.count, c.round, rank);
        FORM(Allgather, MPI_IN_PLACE, -5, MPI_DATATYPE_NULL, out.data(), N, T, comm);
    } else {
        FORM(Allgather, in.data(), N, T, out.data(), N, T, comm);
    }
    for (int r = 0; r < size; ++r) expect(out, c.count * r, c.count, c.round, r, 0, "Allgather");
}

/// Returns the first word of the data from `from` to `to`.
std::size_t first_for(int to) { return static_cast<std::size_t>(to) * 1000003; }

void alltoall(const Case& c) {
    Words in(c.count * size), out(c.count * size);
    Words& source = c.in_place ? out : in;
    for (int r = 0; r < size; ++r) fill(source, c.count * r, c.count, c.round, rank, first_for(r));
    if (c.in_place)
        FORM(Alltoall, MPI_IN_PLACE, -5, MPI_DATATYPE_NULL, out.data(), N, T, comm);
    else
        FORM(Alltoall, in.data(), N, T, out.data(), N, T, comm);
    for (int r = 0; r < size; ++r)
        expect(out, c.count * r, c.count, c.round, r, first_for(rank), "Alltoall");
}

/// Blocks of random sizes with gaps between them, out of order. The same on every rank for a seed.
struct Uneven {
    std::vector<int> counts, places;
    std::vector<MPI_Count> large_counts;
    std::vector<MPI_Aint> large_places;
    std::size_t total = 0;

    Uneven(std::mt19937& random, std::size_t most) : counts(size), places(size) {
        std::vector<int> order(size);
        for (int i = 0; i < size; ++i) order[i] = i;
        for (int i = size - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
        for (int r : order) {
            counts[r] = static_cast<int>(random() % 4 == 0 ? 0 : random() % (most + 1));
            total += random() % 5;
            places[r] = static_cast<int>(total);
            total += counts[r];
        }
        finish();
    }
    void finish() {
        large_counts.assign(counts.begin(), counts.end());
        large_places.assign(places.begin(), places.end());
    }
    /// Returns whether nothing was written between the blocks.
    bool gaps_intact(Words& words) const {
        std::vector<bool> used(words.size());
        for (int r = 0; r < size; ++r)
            for (int i = 0; i < counts[r]; ++i) used[places[r] + i] = true;
        for (std::size_t i = 0; i < words.size(); ++i)
            if (!used[i] && words[i] != Words::canary) return false;
        return true;
    }
};

void gatherv(const Case& c) {
    std::mt19937 random(static_cast<unsigned>(c.round));
    const Uneven u(random, c.count);
    const auto mine = static_cast<std::size_t>(u.counts[rank]);
    Words in(mine), out(rank == c.root ? u.total : 0);
    fill(in, 0, mine, c.round, rank);
    if (rank == c.root && c.in_place) fill(out, u.places[rank], mine, c.round, rank);
    const void* from = rank == c.root && c.in_place ? MPI_IN_PLACE : in.data();
    if (c.large)
        MPI_Gatherv_c(from, u.counts[rank], T, out.data(), u.large_counts.data(),
                      u.large_places.data(), T, c.root, comm);
    else if (rank == c.root)
        MPI_Gatherv(from, u.counts[rank], T, out.data(), u.counts.data(), u.places.data(), T,
                    c.root, comm);
    else
        MPI_Gatherv(from, u.counts[rank], T, nullptr, nullptr, nullptr, MPI_DATATYPE_NULL, c.root,
                    comm);
    if (rank != c.root) return;
    for (int r = 0; r < size; ++r) expect(out, u.places[r], u.counts[r], c.round, r, 0, "Gatherv");
    CHECK(u.gaps_intact(out), "Gatherv");
}

void scatterv(const Case& c) {
    std::mt19937 random(static_cast<unsigned>(c.round));
    const Uneven u(random, c.count);
    const auto mine = static_cast<std::size_t>(u.counts[rank]);
    Words in(rank == c.root ? u.total : 0), out(mine);
    if (rank == c.root)
        for (int r = 0; r < size; ++r) fill(in, u.places[r], u.counts[r], c.round, r);
    const bool in_place = rank == c.root && c.in_place;
    void* to = in_place ? MPI_IN_PLACE : out.data();
    if (c.large)
        MPI_Scatterv_c(in.data(), u.large_counts.data(), u.large_places.data(), T, to,
                       u.counts[rank], T, c.root, comm);
    else
        MPI_Scatterv(in.data(), u.counts.data(), u.places.data(), T, to, u.counts[rank], T, c.root,
                     comm);
    if (!in_place) expect(out, 0, mine, c.round, rank, 0, "Scatterv");
}

void allgatherv(const Case& c) {
    std::mt19937 random(static_cast<unsigned>(c.round));
    const Uneven u(random, c.count);
    const auto mine = static_cast<std::size_t>(u.counts[rank]);
    Words in(mine), out(u.total);
    fill(in, 0, mine, c.round, rank);
    if (c.in_place) fill(out, u.places[rank], mine, c.round, rank);
    const void* from = c.in_place ? MPI_IN_PLACE : in.data();
    if (c.large)
        MPI_Allgatherv_c(from, u.counts[rank], T, out.data(), u.large_counts.data(),
                         u.large_places.data(), T, comm);
    else
        MPI_Allgatherv(from, u.counts[rank], T, out.data(), u.counts.data(), u.places.data(), T,
                       comm);
    for (int r = 0; r < size; ++r)
        expect(out, u.places[r], u.counts[r], c.round, r, 0, "Allgatherv");
    CHECK(u.gaps_intact(out), "Allgatherv");
}

/// The sizes of all messages, which every rank knows: matrix[from][to].
struct Exchange {
    std::vector<std::vector<int>> matrix;
    Uneven out, in;

    Exchange(std::mt19937& random, std::size_t most, bool symmetric)
        : matrix(size, std::vector<int>(size)), out(random, 0), in(random, 0) {
        for (auto& row : matrix)
            for (int& n : row) n = static_cast<int>(random() % 4 == 0 ? 0 : random() % (most + 1));
        if (symmetric)
            for (int i = 0; i < size; ++i)
                for (int j = 0; j < i; ++j) matrix[i][j] = matrix[j][i];
        out.total = in.total = 0;
        for (int r = 0; r < size; ++r) {
            place(out, r, matrix[rank][r], random() % 3);
            place(in, size - 1 - r, matrix[size - 1 - r][rank], random() % 3);
        }
        out.finish();
        in.finish();
    }
    static void place(Uneven& u, int r, int count, std::size_t gap) {
        u.total += gap;
        u.counts[r] = count;
        u.places[r] = static_cast<int>(u.total);
        u.total += static_cast<std::size_t>(count);
    }
};

void alltoallv(const Case& c) {
    std::mt19937 random(static_cast<unsigned>(c.round));
    const Exchange e(random, c.count, c.in_place);
    Words in(e.out.total), out(e.in.total);
    for (int r = 0; r < size; ++r) {
        if (c.in_place)
            fill(out, e.in.places[r], e.in.counts[r], c.round, rank, first_for(r));
        else
            fill(in, e.out.places[r], e.out.counts[r], c.round, rank, first_for(r));
    }
    if (c.large)
        MPI_Alltoallv_c(c.in_place ? MPI_IN_PLACE : in.data(), e.out.large_counts.data(),
                        e.out.large_places.data(), T, out.data(), e.in.large_counts.data(),
                        e.in.large_places.data(), T, comm);
    else if (c.in_place)
        MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, out.data(),
                      e.in.counts.data(), e.in.places.data(), T, comm);
    else
        MPI_Alltoallv(in.data(), e.out.counts.data(), e.out.places.data(), T, out.data(),
                      e.in.counts.data(), e.in.places.data(), T, comm);
    for (int r = 0; r < size; ++r)
        expect(out, e.in.places[r], e.in.counts[r], c.round, r, first_for(rank), "Alltoallv");
    CHECK(e.in.gaps_intact(out), "Alltoallv");
}

/// Even ranks send their blocks as words; the receivers take them as bytes.
void alltoallw(const Case& c) {
    std::mt19937 random(static_cast<unsigned>(c.round));
    Exchange e(random, c.count, c.in_place);
    Words in(e.out.total), out(e.in.total);
    std::vector<MPI_Datatype> out_types(size, T), in_types(size);
    for (int r = 0; r < size; ++r) {
        if (c.in_place)
            fill(out, e.in.places[r], e.in.counts[r], c.round, rank, first_for(r));
        else
            fill(in, e.out.places[r], e.out.counts[r], c.round, rank, first_for(r));
    }
    Uneven bytes = e.in;
    for (int r = 0; r < size; ++r) {
        in_types[r] = r % 2 == 0 ? MPI_BYTE : T;
        if (r % 2 == 0) bytes.counts[r] *= 8;
        bytes.places[r] *= 8;
        e.out.places[r] *= 8;
    }
    bytes.finish();
    e.out.finish();
    if (c.large)
        MPI_Alltoallw_c(c.in_place ? MPI_IN_PLACE : in.data(), e.out.large_counts.data(),
                        e.out.large_places.data(), out_types.data(), out.data(),
                        bytes.large_counts.data(), bytes.large_places.data(), in_types.data(),
                        comm);
    else
        MPI_Alltoallw(c.in_place ? MPI_IN_PLACE : in.data(), e.out.counts.data(),
                      e.out.places.data(), out_types.data(), out.data(), bytes.counts.data(),
                      bytes.places.data(), in_types.data(), comm);
    for (int r = 0; r < size; ++r)
        expect(out, e.in.places[r], e.in.counts[r], c.round, r, first_for(rank), "Alltoallw");
    CHECK(e.in.gaps_intact(out), "Alltoallw");
}

/// No rank leaves before the last has come. Each rank in turn comes late and says when it came.
void barrier(const Case& c) {
    const double before = MPI_Wtime();
    if (rank == c.root)
        while (MPI_Wtime() - before < 0.0005) {}
    double came = MPI_Wtime();
    MPI_Barrier(comm);
    const double left = MPI_Wtime();
    MPI_Bcast(&came, 1, MPI_DOUBLE, c.root, comm);
    CHECK(left >= came, "left the barrier %g s before the last came", came - left);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    void (*const tests[])(const Case&) = {bcast,     gather,    scatter,  allgather,
                                          alltoall,  gatherv,   scatterv, allgatherv,
                                          alltoallv, alltoallw, barrier};
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 120;
    std::mt19937 random(7);
    for (int round = 1; round <= rounds; ++round) {
        for (auto test : tests) {
            Case c;
            c.round = random();
            c.count = counts_to_try[random() % std::size(counts_to_try)];
            c.root = static_cast<int>(random() % static_cast<unsigned>(size));
            c.in_place = random() % 2 == 0;
            c.large = random() % 2 == 0;
            test(c);
        }
    }
    MPI_Finalize();
    return 0;
}
