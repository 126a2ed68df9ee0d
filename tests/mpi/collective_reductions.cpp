// SPDX-License-Identifier: BSD-3-Clause
/// Compares reductions with a fold in the order of ranks, with operations that are not commutative,
/// too.

#include "collective.hpp"

using namespace collective;

namespace {

int rank, size;
MPI_Comm comm;

const std::size_t counts_to_try[] = {0, 1, 2, 5, 64, 1000, 2500, 5000, 20001, 90001};

struct Case {
    std::uint64_t round;
    std::size_t count;
    int root;
    bool in_place;
    bool large;
    const Operation* op;
};

#define T MPI_UINT64_T
#define FORM(X, ...) \
    CHECK((c.large ? MPI_##X##_c(__VA_ARGS__) : MPI_##X(__VA_ARGS__)) == MPI_SUCCESS, "MPI_" #X)

void fill(Words& words, const Case& c) {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = operand(*c.op, c.round, rank, i);
}
/// Checks that `words` holds the results for elements `first` and following, of ranks 0 to `last`.
void expect(Words& words, std::size_t count, std::size_t first, int last, const Case& c,
            const char* what) {
    for (std::size_t i = 0; i < count; ++i)
        CHECK(words[i] == folded(*c.op, c.round, 0, last, first + i),
              "%s with %s: element %zu of %zu, root %d", what, c.op->name, i, count, c.root);
    CHECK(words.intact(), "%s wrote beside its buffer", what);
}
void expect_input(Words& in, const Case& c, const char* what) {
    for (std::size_t i = 0; i < in.size(); ++i)
        CHECK(in[i] == operand(*c.op, c.round, rank, i), "%s wrote to its input", what);
    CHECK(in.intact(), "%s", what);
}
int as_int(std::size_t n) { return static_cast<int>(n); }

void reduce(const Case& c) {
    Words in(c.count), out(rank == c.root ? c.count : 0);
    fill(in, c);
    const bool in_place = rank == c.root && c.in_place;
    if (in_place) fill(out, c);
    FORM(Reduce, in_place ? MPI_IN_PLACE : in.data(), rank == c.root ? out.data() : nullptr,
         as_int(c.count), T, c.op->handle, c.root, comm);
    if (rank == c.root) expect(out, c.count, 0, size - 1, c, "Reduce");
    expect_input(in, c, "Reduce");
}

void allreduce(const Case& c) {
    Words in(c.count), out(c.count);
    fill(in, c);
    if (c.in_place) fill(out, c);
    FORM(Allreduce, c.in_place ? MPI_IN_PLACE : in.data(), out.data(), as_int(c.count), T,
         c.op->handle, comm);
    expect(out, c.count, 0, size - 1, c, "Allreduce");
    expect_input(in, c, "Allreduce");
}

void scan(const Case& c) {
    Words in(c.count), out(c.count);
    fill(in, c);
    if (c.in_place) fill(out, c);
    FORM(Scan, c.in_place ? MPI_IN_PLACE : in.data(), out.data(), as_int(c.count), T, c.op->handle,
         comm);
    expect(out, c.count, 0, rank, c, "Scan");
    expect_input(in, c, "Scan");
}

void exscan(const Case& c) {
    Words in(c.count), out(c.count);
    fill(in, c);
    if (c.in_place) fill(out, c);
    FORM(Exscan, c.in_place ? MPI_IN_PLACE : in.data(), out.data(), as_int(c.count), T,
         c.op->handle, comm);
    if (rank > 0) expect(out, c.count, 0, rank - 1, c, "Exscan");
    expect_input(in, c, "Exscan");
}

/// Checks that an in-place buffer still holds the operand after the result.
void expect_left(Words& out, Words& in, std::size_t after, const Case& c, const char* name) {
    for (std::size_t i = after; c.in_place && i < out.size(); ++i)
        CHECK(out[i] == in[i], "%s has changed word %zu, after a result of %zu", name, i, after);
}

void reduce_scatter_block(const Case& c) {
    const std::size_t all = c.count * static_cast<std::size_t>(size);
    Words in(all), out(c.in_place ? all : c.count);
    fill(in, c);
    if (c.in_place) fill(out, c);
    FORM(Reduce_scatter_block, c.in_place ? MPI_IN_PLACE : in.data(), out.data(), as_int(c.count),
         T, c.op->handle, comm);
    expect(out, c.count, c.count * static_cast<std::size_t>(rank), size - 1, c,
           "Reduce_scatter_block");
    expect_left(out, in, c.count, c, "Reduce_scatter_block");
    expect_input(in, c, "Reduce_scatter_block");
}

void reduce_scatter(const Case& c) {
    std::mt19937 random(static_cast<unsigned>(c.round));
    std::vector<int> counts(size);
    std::size_t all = 0, first = 0;
    for (int r = 0; r < size; ++r) {
        counts[r] = static_cast<int>(random() % 3 == 0 ? 0 : random() % (c.count + 1));
        if (r == rank) first = all;
        all += static_cast<std::size_t>(counts[r]);
    }
    const std::vector<MPI_Count> large(counts.begin(), counts.end());
    const auto mine = static_cast<std::size_t>(counts[rank]);
    Words in(all), out(c.in_place ? all : mine);
    fill(in, c);
    if (c.in_place) fill(out, c);
    const void* from = c.in_place ? MPI_IN_PLACE : in.data();
    if (c.large)
        MPI_Reduce_scatter_c(from, out.data(), large.data(), T, c.op->handle, comm);
    else
        MPI_Reduce_scatter(from, out.data(), counts.data(), T, c.op->handle, comm);
    expect(out, mine, first, size - 1, c, "Reduce_scatter");
    expect_left(out, in, mine, c, "Reduce_scatter");
    expect_input(in, c, "Reduce_scatter");
}

void reduce_local(const Case& c) {
    Words in(c.count), out(c.count);
    fill(in, c);
    for (std::size_t i = 0; i < c.count; ++i) out[i] = operand(*c.op, c.round, rank + 1, i);
    FORM(Reduce_local, in.data(), out.data(), as_int(c.count), T, c.op->handle);
    for (std::size_t i = 0; i < c.count; ++i)
        CHECK(out[i] == folded(*c.op, c.round, rank, rank + 1, i), "Reduce_local with %s",
              c.op->name);
    expect_input(in, c, "Reduce_local");
}

/// Sums of doubles depend on the order of additions: all ranks must get the same bits, each time.
void same_bits_everywhere() {
    for (std::size_t count : {1, 3, 100, 5000, 30000}) {
        std::vector<double> in(count), out(count), again(count), first(count);
        for (std::size_t i = 0; i < count; ++i)
            in[i] = static_cast<double>(word_of(3, rank, i) % 1000003) * 1e-3 +
                (rank % 2 == 0 ? 1e17 : -1e17);
        MPI_Allreduce(in.data(), out.data(), as_int(count), MPI_DOUBLE, MPI_SUM, comm);
        MPI_Allreduce(in.data(), again.data(), as_int(count), MPI_DOUBLE, MPI_SUM, comm);
        first = out;
        MPI_Bcast(first.data(), as_int(count), MPI_DOUBLE, 0, comm);
        CHECK(first == out, "ranks disagree on a sum of doubles");
        CHECK(again == out, "two sums of the same doubles differ");
    }
}

/// Values with their places, in a type with gaps.
void extremes_with_places() {
    struct Pair {
        double value;
        int place;
    };
    std::vector<Pair> in(100), least(100), most(100);
    const auto value = [](int r, std::size_t i) {
        return static_cast<double>(word_of(5, r, i) % 4);
    };
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = {value(rank, i), rank};
    MPI_Allreduce(in.data(), least.data(), 100, MPI_DOUBLE_INT, MPI_MINLOC, comm);
    MPI_Allreduce(in.data(), most.data(), 100, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
    for (std::size_t i = 0; i < in.size(); ++i) {
        Pair low{value(0, i), 0}, high = low;
        for (int r = 1; r < size; ++r) {
            if (value(r, i) < low.value) low = {value(r, i), r};
            if (value(r, i) > high.value) high = {value(r, i), r};
        }
        CHECK(least[i].value == low.value && least[i].place == low.place, "MPI_MINLOC");
        CHECK(most[i].value == high.value && most[i].place == high.place, "MPI_MAXLOC");
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    comm = MPI_COMM_WORLD;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    {
        Operations operations;
        void (*const tests[])(const Case&) = {
            reduce, allreduce, scan, exscan, reduce_scatter_block, reduce_scatter, reduce_local};
        const int rounds = argc > 1 ? std::atoi(argv[1]) : 150;
        std::mt19937 random(11);
        for (int round = 1; round <= rounds; ++round) {
            for (auto test : tests) {
                Case c;
                c.round = random();
                c.count = counts_to_try[random() % std::size(counts_to_try)];
                c.root = static_cast<int>(random() % static_cast<unsigned>(size));
                c.in_place = random() % 2 == 0;
                c.large = random() % 2 == 0;
                c.op = &operations.all[random() % operations.all.size()];
                test(c);
            }
        }
        for (const Operation& operation : operations.all) {
            int commutes = -1;
            MPI_Op_commutative(operation.handle, &commutes);
            CHECK(commutes == (operation.function == add), "%s", operation.name);
        }
    }
    same_bits_everywhere();
    extremes_with_places();
    MPI_Finalize();
    return 0;
}
