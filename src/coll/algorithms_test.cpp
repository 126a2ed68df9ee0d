// SPDX-License-Identifier: BSD-3-Clause
/// Every algorithm that a knob can force, in each of its operations, against a plain reference. The
/// cases are each size, in place and not, elements with gaps, and operands that must not change
/// places. All processes are in one address space.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cctype>
#include <cstring>
#include <string>
#include <vector>

#include "coll/select.hpp"
#include "mpi.h"
#include "testing/job.hpp"
#include "tool/knobs.hpp"

namespace heddle::coll {
namespace {

using testing::run_job;

constexpr int most_ranks = 7;
// Numbers of elements: up to 1 MiB, or up to 64 KiB if a sanitizer looks at each access.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int counts[] = {0, 1, 7, 512, 32768};
#else
constexpr int counts[] = {0, 1, 7, 512, 32768, 524288};
#endif

/// x -> a x + b modulo 256: the composition of two depends on their order.
using Element = std::array<unsigned char, 2>;
Element operator*(Element f, Element g) {
    return {static_cast<unsigned char>(f[0] * g[0]),
            static_cast<unsigned char>(f[0] * g[1] + f[1])};
}
Element operator+(Element f, Element g) {
    return {static_cast<unsigned char>(f[0] + g[0]), static_cast<unsigned char>(f[1] + g[1])};
}

constexpr int period = 251;
Element element_of(int rank, int i) {
    const int k = i % period;
    return {static_cast<unsigned char>(2 * (rank * 37 + k * 3) + 1),
            static_cast<unsigned char>(rank * 101 + k * 5)};
}

enum class Combination : bool { sum, composition };
Element combined(Combination how, Element left, Element right) {
    return how == Combination::sum ? left + right : left * right;
}

template <Combination how>
void combine(void* in, void* inout, int* length, MPI_Datatype* type) {
    MPI_Aint lower = 0, extent = 0;
    MPI_Type_get_extent(*type, &lower, &extent);
    for (int i = 0; i < *length; ++i) {
        Element left, right;
        std::memcpy(left.data(), static_cast<char*>(in) + i * extent, sizeof left);
        std::memcpy(right.data(), static_cast<char*>(inout) + i * extent, sizeof right);
        right = combined(how, left, right);
        std::memcpy(static_cast<char*>(inout) + i * extent, right.data(), sizeof right);
    }
}

/// Elements as they lie in a buffer, one after the other or with gaps that must stay untouched.
struct Layout {
    explicit Layout(bool gaps) : step(gaps ? 5 : 2) {
        MPI_Type_contiguous(2, MPI_BYTE, &type);
        if (gaps) {
            MPI_Datatype dense = type;
            MPI_Type_create_resized(dense, 0, step, &type);
            MPI_Type_free(&dense);
        }
        MPI_Type_commit(&type);
    }
    ~Layout() { MPI_Type_free(&type); }
    Layout(const Layout&) = delete;
    Layout& operator=(const Layout&) = delete;

    int step;
    MPI_Datatype type = MPI_DATATYPE_NULL;
};

class Buffer {
public:
    static constexpr unsigned char untouched = 0xee;

    Buffer(const Layout& layout, int elements)
        : step_(layout.step),
          bytes_(static_cast<std::size_t>(step_) * static_cast<std::size_t>(elements + 1),
                 untouched) {}

    void* at(int i) { return bytes_.data() + static_cast<std::ptrdiff_t>(i) * step_; }
    /// Fills `number` elements from `first` on with those of a rank, counted from `offset`.
    void fill(int first, int number, int rank, int offset = 0) {
        for (int i = 0; i < number; ++i) {
            const Element element = element_of(rank, offset + i);
            std::memcpy(at(first + i), element.data(), sizeof element);
        }
    }
    /// Returns the first element from `first` on that is not `wanted(i)`, or has lost its gap.
    /// Returns -1 if there is none.
    template <class Wanted>
    int wrong(int first, int number, Wanted&& wanted) {
        for (int i = 0; i < number; ++i) {
            const Element element = wanted(i);
            const auto* here = static_cast<const unsigned char*>(at(first + i));
            if (std::memcmp(here, element.data(), sizeof element) != 0) return first + i;
            for (int gap = 2; gap < step_; ++gap)
                if (here[gap] != untouched) return first + i;
        }
        return -1;
    }

private:
    int step_;
    std::vector<unsigned char> bytes_;
};

/// One call of the operation, by one rank of a job.
struct Job {
    int rank, ranks;
    const Layout& layout;
    int count;
    bool in_place;
    Combination how = Combination::sum;
    MPI_Op op = MPI_OP_NULL;

    void* send(Buffer& buffer) const { return in_place ? MPI_IN_PLACE : buffer.at(0); }
    auto of(int source, int offset = 0) const {
        return [=](int i) { return element_of(source, offset + i); };
    }
    /// Returns the combination of the elements of all ranks, for each i of a period.
    std::vector<Element> result() const {
        std::vector<Element> all;
        for (int i = 0; i < period; ++i) {
            Element sum = element_of(0, i);
            for (int other = 1; other < ranks; ++other)
                sum = combined(how, sum, element_of(other, i));
            all.push_back(sum);
        }
        return all;
    }
};

int barrier(const Job& job) {
    if (job.count != 0 || job.in_place || job.layout.step != 2) return -1;  // once is enough
    static std::atomic<int> come{0};
    if (job.rank == 0) come = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int call = 1; call <= 20; ++call) {
        ++come;
        MPI_Barrier(MPI_COMM_WORLD);
        if (come < call * job.ranks) return call;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return -1;
}

int bcast(const Job& job) {
    for (int root = 0; root < job.ranks; ++root) {
        Buffer data(job.layout, job.count);
        if (job.rank == root) data.fill(0, job.count, root);
        MPI_Bcast(data.at(0), job.count, job.layout.type, root, MPI_COMM_WORLD);
        if (const int at = data.wrong(0, job.count, job.of(root)); at >= 0) return at;
    }
    return -1;
}

int reduce(const Job& job) {
    const std::vector<Element> result = job.result();
    for (int root = 0; root < job.ranks; ++root) {
        const bool in_place = job.in_place && job.rank == root;
        Buffer in(job.layout, job.count), out(job.layout, job.count);
        (in_place ? out : in).fill(0, job.count, job.rank);
        MPI_Reduce(in_place ? MPI_IN_PLACE : in.at(0), out.at(0), job.count, job.layout.type,
                   job.op, root, MPI_COMM_WORLD);
        if (job.rank != root) continue;
        const int at = out.wrong(
            0, job.count, [&](int i) { return result[static_cast<std::size_t>(i % period)]; });
        if (at >= 0) return at;
    }
    return -1;
}

int allreduce(const Job& job) {
    const std::vector<Element> result = job.result();
    Buffer in(job.layout, job.count), out(job.layout, job.count);
    (job.in_place ? out : in).fill(0, job.count, job.rank);
    MPI_Allreduce(job.send(in), out.at(0), job.count, job.layout.type, job.op, MPI_COMM_WORLD);
    return out.wrong(0, job.count,
                     [&](int i) { return result[static_cast<std::size_t>(i % period)]; });
}

/// Checks blocks of all ranks one after the other, each with its rank's elements. Returns the first
/// wrong element, or -1.
int wrong_block(const Job& job, Buffer& all) {
    for (int source = 0; source < job.ranks; ++source)
        if (const int at = all.wrong(source * job.count, job.count, job.of(source)); at >= 0)
            return at;
    return -1;
}

int gather(const Job& job) {
    const int root = job.ranks / 2;
    const bool in_place = job.in_place && job.rank == root;
    Buffer in(job.layout, job.count), out(job.layout, job.count * job.ranks);
    if (in_place)
        out.fill(root * job.count, job.count, root);
    else
        in.fill(0, job.count, job.rank);
    MPI_Gather(in_place ? MPI_IN_PLACE : in.at(0), job.count, job.layout.type, out.at(0), job.count,
               job.layout.type, root, MPI_COMM_WORLD);
    return job.rank == root ? wrong_block(job, out) : -1;
}

int scatter(const Job& job) {
    const int root = job.ranks / 2;
    const bool in_place = job.in_place && job.rank == root;
    Buffer in(job.layout, job.count * job.ranks), out(job.layout, job.count);
    if (job.rank == root)
        for (int to = 0; to < job.ranks; ++to) in.fill(to * job.count, job.count, to);
    MPI_Scatter(in.at(0), job.count, job.layout.type, in_place ? MPI_IN_PLACE : out.at(0),
                job.count, job.layout.type, root, MPI_COMM_WORLD);
    return in_place ? -1 : out.wrong(0, job.count, job.of(job.rank));
}

int allgather(const Job& job) {
    Buffer in(job.layout, job.count), out(job.layout, job.count * job.ranks);
    if (job.in_place)
        out.fill(job.rank * job.count, job.count, job.rank);
    else
        in.fill(0, job.count, job.rank);
    MPI_Allgather(job.send(in), job.count, job.layout.type, out.at(0), job.count, job.layout.type,
                  MPI_COMM_WORLD);
    return wrong_block(job, out);
}

/// Blocks of different lengths, the last one first.
struct Lengths {
    explicit Lengths(const Job& job) {
        int at = 0;
        for (int rank = job.ranks - 1; rank >= 0; --rank) {
            lengths.insert(lengths.begin(), job.count - job.count / 3 * (rank % 3));
            places.insert(places.begin(), at);
            at += job.count + 1;
        }
    }
    std::vector<int> lengths, places;
};

int allgatherv(const Job& job) {
    const Lengths all(job);
    const auto me = static_cast<std::size_t>(job.rank);
    Buffer in(job.layout, job.count), out(job.layout, (job.count + 1) * job.ranks);
    if (job.in_place)
        out.fill(all.places[me], all.lengths[me], job.rank);
    else
        in.fill(0, all.lengths[me], job.rank);
    MPI_Allgatherv(job.send(in), all.lengths[me], job.layout.type, out.at(0), all.lengths.data(),
                   all.places.data(), job.layout.type, MPI_COMM_WORLD);
    for (std::size_t from = 0; from < all.places.size(); ++from) {
        const int at =
            out.wrong(all.places[from], all.lengths[from], job.of(static_cast<int>(from)));
        if (at >= 0) return at;
    }
    return -1;
}

/// Checks an exchange. The block from one rank to another has the elements of the sender, counted
/// from the number of the receiver.
template <class Call>
int exchange(const Job& job, Call&& call) {
    const int stride = job.count + 1;
    Buffer in(job.layout, stride * job.ranks), out(job.layout, stride * job.ranks);
    for (int to = 0; to < job.ranks; ++to)
        (job.in_place ? out : in).fill(to * stride, job.count, job.rank, to);
    call(in, out, stride);
    for (int from = 0; from < job.ranks; ++from) {
        const int at = out.wrong(from * stride, job.count, job.of(from, job.rank));
        if (at >= 0) return at;
    }
    return -1;
}

int alltoall(const Job& job) {
    // One element more than count: blocks stand one after the other.
    return exchange(job, [&](Buffer& in, Buffer& out, int stride) {
        for (int to = 0; to < job.ranks; ++to)
            (job.in_place ? out : in).fill(to * stride + job.count, 1, job.rank, to);
        MPI_Alltoall(job.send(in), stride, job.layout.type, out.at(0), stride, job.layout.type,
                     MPI_COMM_WORLD);
    });
}

int alltoallv(const Job& job) {
    return exchange(job, [&](Buffer& in, Buffer& out, int stride) {
        std::vector<int> lengths(static_cast<std::size_t>(job.ranks), job.count), places;
        for (int to = 0; to < job.ranks; ++to) places.push_back(to * stride);
        MPI_Alltoallv(job.send(in), lengths.data(), places.data(), job.layout.type, out.at(0),
                      lengths.data(), places.data(), job.layout.type, MPI_COMM_WORLD);
    });
}

int alltoallw(const Job& job) {
    return exchange(job, [&](Buffer& in, Buffer& out, int stride) {
        const auto ranks = static_cast<std::size_t>(job.ranks);
        std::vector<int> lengths(ranks, job.count), places;
        const std::vector<MPI_Datatype> types(ranks, job.layout.type);
        for (int to = 0; to < job.ranks; ++to) places.push_back(to * stride * job.layout.step);
        MPI_Alltoallw(job.send(in), lengths.data(), places.data(), types.data(), out.at(0),
                      lengths.data(), places.data(), types.data(), MPI_COMM_WORLD);
    });
}

using Check = int (*)(const Job&);  ///< returns the wrong element, or -1 if there is none
Check check_of(Collective what) {
    switch (what) {
        case Collective::barrier: return barrier;
        case Collective::bcast: return bcast;
        case Collective::reduce: return reduce;
        case Collective::allreduce: return allreduce;
        case Collective::gather: return gather;
        case Collective::scatter: return scatter;
        case Collective::allgather: return allgather;
        case Collective::allgatherv: return allgatherv;
        case Collective::alltoall: return alltoall;
        case Collective::alltoallv: return alltoallv;
        case Collective::alltoallw: return alltoallw;
        default: return nullptr;  // there is no knob
    }
}

void check_layout(Check check, bool combines, int rank, int ranks, bool gaps) {
    const Layout layout(gaps);
    MPI_Op sum, composition;
    MPI_Op_create(combine<Combination::sum>, 1, &sum);
    MPI_Op_create(combine<Combination::composition>, 0, &composition);
    for (const int count : counts)
        for (const bool in_place : {false, true}) {
            Job job{rank, ranks, layout, count, in_place, Combination::sum, sum};
            EXPECT_EQ(check(job), -1)
                << ranks << " ranks, rank " << rank << ", " << count << " elements"
                << (gaps ? " with gaps" : "") << (in_place ? ", in place" : "");
            if (!combines) continue;
            job.how = Combination::composition;
            job.op = composition;
            EXPECT_EQ(check(job), -1)
                << ranks << " ranks, rank " << rank << ", " << count << " elements in order"
                << (gaps ? " with gaps" : "") << (in_place ? ", in place" : "");
        }
    MPI_Op_free(&sum);
    MPI_Op_free(&composition);
}

class Algorithms : public ::testing::TestWithParam<const Algorithm*> {};

TEST_P(Algorithms, give_what_a_plain_reference_gives) {
    const Algorithm& algorithm = *GetParam();
    const bool combines =
        algorithm.what == Collective::reduce || algorithm.what == Collective::allreduce;
    std::string knob("heddle_coll_");
    for (const char letter : name_of(algorithm.what))
        knob += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    ASSERT_EQ(tool::ask_for(knob, algorithm.name), "");
    ASSERT_EQ(forced(algorithm.what, tool::settings_now()), &algorithm);
    for (int ranks = 1; ranks <= most_ranks; ++ranks)
        run_job(ranks, 1, [&](int rank, int) {
            for (const bool gaps : {false, true})
                check_layout(check_of(algorithm.what), combines, rank, ranks, gaps);
        });
    ASSERT_EQ(tool::ask_for(knob, "auto"), "");
}

std::vector<const Algorithm*> all_with_a_knob() {
    std::vector<const Algorithm*> all;
    for (const Algorithm& algorithm : algorithms())
        if (check_of(algorithm.what) != nullptr) all.push_back(&algorithm);
    return all;
}

INSTANTIATE_TEST_SUITE_P(All, Algorithms, ::testing::ValuesIn(all_with_a_knob()),
                         [](const auto& info) {
                             std::string name(name_of(info.param->what));
                             name += "_" + std::string(info.param->name);
                             for (char& letter : name)
                                 if (letter == '-') letter = '_';
                             return name;
                         });

}  // namespace
}  // namespace heddle::coll
