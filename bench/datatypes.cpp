// SPDX-License-Identifier: BSD-3-Clause

/// Compares MPI_Pack and MPI_Unpack of derived datatypes with loops written by hand for the same
/// data. It also measures the making of a type. Each case has about --bytes bytes of data. The
/// compiler knows what the hand-written loops copy, but not how often and how far apart.

#include <cstddef>
#include <cstring>
#include <functional>
#include <random>

#include "common.hpp"

namespace {

constexpr const char* usage =
    "datatypes --bytes N (of data in each case) --seconds S (of one turn) --repetitions N\n";

struct Plan {
    long bytes;
    double seconds;
    int repetitions;
};

using Copy = std::function<void(char* memory, char* packed)>;

/// Data that both methods move.
struct Case {
    std::string name;
    MPI_Datatype type;
    int count;
    Copy pack, unpack;  ///< by hand
};

struct Particle {
    char kind;
    double place[3];
    int id;
};

template <class Block>
Case vector_of(const std::string& name, MPI_Datatype type, int blocklength, int stride,
               long bytes) {
    const long count = std::max(1L, bytes / static_cast<long>(sizeof(Block)));
    const long step = static_cast<long>(sizeof(Block)) / blocklength * stride;
    MPI_Datatype made;
    MPI_Type_vector(static_cast<int>(count), blocklength, stride, type, &made);
    return {name, made, 1,
            [=](char* memory, char* packed) {
                for (long i = 0; i < count; ++i)
                    std::memcpy(packed + i * sizeof(Block), memory + i * step, sizeof(Block));
            },
            [=](char* memory, char* packed) {
                for (long i = 0; i < count; ++i)
                    std::memcpy(memory + i * step, packed + i * sizeof(Block), sizeof(Block));
            }};
}

Case indexed_block(long bytes) {
    std::vector<int> at(static_cast<std::size_t>(bytes) / 8);
    std::mt19937 random(1);
    int next = 0;
    for (int& one : at) next += 1 + static_cast<int>(random() % 4), one = next;
    MPI_Datatype made;
    MPI_Type_create_indexed_block(static_cast<int>(at.size()), 1, at.data(), MPI_DOUBLE, &made);
    return {"indexed_block: doubles", made, 1,
            [=](char* memory, char* packed) {
                for (std::size_t i = 0; i < at.size(); ++i)
                    std::memcpy(packed + i * 8, memory + at[i] * 8L, 8);
            },
            [=](char* memory, char* packed) {
                for (std::size_t i = 0; i < at.size(); ++i)
                    std::memcpy(memory + at[i] * 8L, packed + i * 8, 8);
            }};
}

Case indexed(long bytes) {
    std::vector<int> at, lengths;
    std::mt19937 random(1);
    int next = 0;
    for (long done = 0; done < bytes / 8; done += lengths.back()) {
        at.push_back(next);
        lengths.push_back(1 + static_cast<int>(random() % 16));
        next += lengths.back() + 1 + static_cast<int>(random() % 4);
    }
    MPI_Datatype made;
    MPI_Type_indexed(static_cast<int>(at.size()), lengths.data(), at.data(), MPI_DOUBLE, &made);
    return {
        "indexed: 1 to 16 doubles", made, 1,
        [=](char* memory, char* packed) {
            for (std::size_t i = 0; i < at.size(); packed += lengths[i] * 8L, ++i)
                std::memcpy(packed, memory + at[i] * 8L, static_cast<std::size_t>(lengths[i]) * 8);
        },
        [=](char* memory, char* packed) {
            for (std::size_t i = 0; i < at.size(); packed += lengths[i] * 8L, ++i)
                std::memcpy(memory + at[i] * 8L, packed, static_cast<std::size_t>(lengths[i]) * 8);
        }};
}

MPI_Datatype particle_type() {
    int lengths[] = {1, 3, 1};
    MPI_Aint places[] = {offsetof(Particle, kind), offsetof(Particle, place),
                         offsetof(Particle, id)};
    MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT}, made;
    MPI_Type_create_struct(3, lengths, places, types, &made);
    return made;
}

Case structures(long bytes) {
    const long count = std::max(1L, bytes / 29);
    return {"struct: char, 3 doubles, int", particle_type(), static_cast<int>(count),
            [=](char* memory, char* packed) {
                for (const char* end = memory + count * sizeof(Particle); memory != end;
                     memory += sizeof(Particle), packed += 29) {
                    std::memcpy(packed, memory + offsetof(Particle, kind), 1);
                    std::memcpy(packed + 1, memory + offsetof(Particle, place), 24);
                    std::memcpy(packed + 25, memory + offsetof(Particle, id), 4);
                }
            },
            [=](char* memory, char* packed) {
                for (const char* end = memory + count * sizeof(Particle); memory != end;
                     memory += sizeof(Particle), packed += 29) {
                    std::memcpy(memory + offsetof(Particle, kind), packed, 1);
                    std::memcpy(memory + offsetof(Particle, place), packed + 1, 24);
                    std::memcpy(memory + offsetof(Particle, id), packed + 25, 4);
                }
            }};
}

/// Makes a case of n x n x `depth` doubles. They lie in the corner of an array twice as wide in
/// every direction.
Case subarray(long bytes, int depth) {
    int n = 2;
    while (8L * (n + 1) * (n + 1) * depth <= bytes) ++n;
    int sizes[] = {2 * n, 2 * n, 2 * depth}, subsizes[] = {n, n, depth}, starts[] = {0, 0, 0};
    MPI_Datatype made;
    MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &made);
    const long row = 8L * depth;
    return {"subarray: n x n x " + std::to_string(depth) + " doubles", made, 1,
            [=](char* memory, char* packed) {
                for (long i = 0; i < n; ++i)
                    for (long j = 0; j < n; ++j, packed += row)
                        for (long k = 0; k < row; k += 8)
                            std::memcpy(packed + k, memory + (i * 2 * n + j) * 2 * row + k, 8);
            },
            [=](char* memory, char* packed) {
                for (long i = 0; i < n; ++i)
                    for (long j = 0; j < n; ++j, packed += row)
                        for (long k = 0; k < row; k += 8)
                            std::memcpy(memory + (i * 2 * n + j) * 2 * row + k, packed + k, 8);
            }};
}

/// Returns the seconds of each call: the fastest of many short turns, which the calls take one
/// after the other. The calls use the processor only, and a disturbance only adds time.
std::vector<double> times_of(const Plan& plan, const std::vector<std::function<void()>>& calls) {
    std::vector<long> often(calls.size(), 1);
    std::vector<double> best(calls.size(), 1e9);
    const auto turn = [&](std::size_t k) {
        const double start = bench::now();
        for (long i = 0; i < often[k]; ++i) calls[k]();
        return bench::now() - start;
    };
    for (std::size_t k = 0; k < calls.size(); ++k)
        while (turn(k) < plan.seconds / 4) often[k] *= 2;
    for (int repetition = 0; repetition < plan.repetitions; ++repetition)
        for (std::size_t k = 0; k < calls.size(); ++k)
            best[k] = std::min(best[k], turn(k) / static_cast<double>(often[k]));
    return best;
}

void measure(const Plan& plan, Case& one) {
    MPI_Type_commit(&one.type);
    MPI_Aint lower = 0, extent = 0;
    int size = 0;
    MPI_Type_get_extent(one.type, &lower, &extent);
    MPI_Pack_size(one.count, one.type, MPI_COMM_WORLD, &size);
    std::vector<char> memory(
        static_cast<std::size_t>(extent) * static_cast<std::size_t>(one.count) + 64, 'm');
    std::vector<char> packed(static_cast<std::size_t>(size), 'p');
    const std::vector<double> times =
        times_of(plan,
                 {[&] {
                      int position = 0;
                      MPI_Pack(memory.data(), one.count, one.type, packed.data(), size, &position,
                               MPI_COMM_WORLD);
                  },
                  [&] { one.pack(memory.data(), packed.data()); },
                  [&] {
                      int position = 0;
                      MPI_Unpack(packed.data(), size, &position, memory.data(), one.count, one.type,
                                 MPI_COMM_WORLD);
                  },
                  [&] { one.unpack(memory.data(), packed.data()); }});
    const double pack = times[0], pack_by_hand = times[1], unpack = times[2],
                 unpack_by_hand = times[3];
    const double megabytes = size / 1e6;
    std::printf(
        "datatypes: %-32s pack %8.0f MB/s, %5.2f of the time by hand; unpack %8.0f MB/s, %5.2f\n",
        one.name.c_str(), megabytes / pack, pack / pack_by_hand, megabytes / unpack,
        unpack / unpack_by_hand);
    std::printf(
        "result bench=datatypes case=\"%s\" bytes=%d pack_MBps=%.0f pack_ratio=%.3f "
        "unpack_MBps=%.0f unpack_ratio=%.3f\n",
        one.name.c_str(), size, megabytes / pack, pack / pack_by_hand, megabytes / unpack,
        unpack / unpack_by_hand);
    MPI_Type_free(&one.type);
}

void measure_making(const Plan& plan) {
    const std::vector<double> times = times_of(plan,
                                               {[] {
                                                    MPI_Datatype type;
                                                    MPI_Type_vector(100, 1, 2, MPI_DOUBLE, &type);
                                                    MPI_Type_commit(&type);
                                                    MPI_Type_free(&type);
                                                },
                                                [] {
                                                    MPI_Datatype type = particle_type();
                                                    MPI_Type_commit(&type);
                                                    MPI_Type_free(&type);
                                                }});
    const double vector = times[0], structure = times[1];
    std::printf("datatypes: made, committed and freed: vector %.0f ns, struct %.0f ns\n",
                vector * 1e9, structure * 1e9);
    std::printf("result bench=datatypes make_vector_ns=%.0f make_struct_ns=%.0f\n", vector * 1e9,
                structure * 1e9);
}

struct Two {
    double values[2];
};
struct Three {
    float values[3];
};
struct Many {
    double values[64];
};

}  // namespace

int main(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    Plan plan{};
    plan.bytes = options.list("bytes", "64K").front();
    plan.seconds = options.real("seconds", 0.001);
    plan.repetitions = static_cast<int>(options.integer("repetitions", 100, 1));
    options.done();
    bench::initialise(&argc, &argv, "single");
    bench::require_ranks(1);

    std::vector<Case> cases;
    cases.push_back(vector_of<Many>("vector: 64 doubles", MPI_DOUBLE, 64, 80, plan.bytes));
    cases.push_back(vector_of<Two>("vector: 2 doubles", MPI_DOUBLE, 2, 5, plan.bytes));
    cases.push_back(vector_of<Three>("vector: 3 floats", MPI_FLOAT, 3, 5, plan.bytes));
    cases.push_back(vector_of<double>("vector: 1 double", MPI_DOUBLE, 1, 3, plan.bytes));
    cases.push_back(vector_of<float>("vector: 1 float", MPI_FLOAT, 1, 3, plan.bytes));
    cases.push_back(indexed_block(plan.bytes));
    cases.push_back(indexed(plan.bytes));
    cases.push_back(structures(plan.bytes));
    cases.push_back(subarray(plan.bytes, 16));
    cases.push_back(subarray(plan.bytes, 1));
    for (Case& one : cases) measure(plan, one);
    measure_making(plan);
    MPI_Finalize();
    return 0;
}
