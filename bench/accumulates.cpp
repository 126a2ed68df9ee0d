// SPDX-License-Identifier: BSD-3-Clause

/// Measures MPI_Accumulate and MPI_Get_accumulate, each completed by MPI_Win_flush. All ranks but
/// the last one call them at the same time. The target is the same memory of the last rank, under
/// shared locks. Figures are the mean time of a call: the median of the repetitions, of the slowest
/// origin.

#include "common.hpp"

namespace {

constexpr const char* usage =
    "accumulates --call accumulate|get_accumulate --type char|int|long|float|double\n"
    "            --op sum|max|replace --sizes B,... --window allocate|create|exclusive\n"
    "            (exclusive: memory of MPI_Win_allocate, under exclusive locks)\n"
    "            --seconds S (of a repetition) --repetitions N\n2 ranks or more\n";

struct Call {
    bool fetches;
    MPI_Datatype type;
    MPI_Op op;
};

/// The memory of the last rank, and how it is reached.
class Target {
public:
    Target(const std::string& kind, std::size_t bytes) : exclusive_(kind == "exclusive") {
        const auto size = static_cast<MPI_Aint>(is_here() ? bytes : 0);
        if (kind == "create") {
            memory_.resize(static_cast<std::size_t>(size));
            MPI_Win_create(memory_.data(), size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
        } else {
            void* memory = nullptr;
            MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window_);
            std::fill_n(static_cast<char*>(memory), size, char{0});
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    ~Target() { MPI_Win_free(&window_); }
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    bool is_here() const { return rank_ == bench::rank(); }
    bool exclusive() const { return exclusive_; }
    void lock() const {
        MPI_Win_lock(exclusive_ ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, rank_, 0, window_);
    }
    void unlock() const { MPI_Win_unlock(rank_, window_); }
    void access(const Call& call, const std::vector<char>& data, std::vector<char>& old,
                int count) const {
        if (call.fetches)
            MPI_Get_accumulate(data.data(), count, call.type, old.data(), count, call.type, rank_,
                               0, count, call.type, call.op, window_);
        else
            MPI_Accumulate(data.data(), count, call.type, rank_, 0, count, call.type, call.op,
                           window_);
        MPI_Win_flush(rank_, window_);
    }

private:
    const int rank_ = bench::ranks() - 1;
    const bool exclusive_;
    std::vector<char> memory_;
    MPI_Win window_ = MPI_WIN_NULL;
};

/// Returns the seconds of a call, when all origins make `calls` of them at the same time. An
/// exclusive lock is taken for each call, so that origins take turns.
double repetition(const Target& target, const Call& call, const std::vector<char>& data,
                  std::vector<char>& old, int count, int calls) {
    const bool exclusive = target.exclusive();
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = 0;
    if (!target.is_here()) {
        const double start = bench::now();
        if (!exclusive) target.lock();
        for (int i = 0; i < calls; ++i) {
            if (exclusive) target.lock();
            target.access(call, data, old, count);
            if (exclusive) target.unlock();
        }
        if (!exclusive) target.unlock();
        seconds = (bench::now() - start) / calls;
    }
    double slowest = 0;
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

MPI_Datatype type_named(const std::string& name) {
    if (name == "char") return MPI_CHAR;
    if (name == "int") return MPI_INT;
    if (name == "long") return MPI_LONG;
    return name == "float" ? MPI_FLOAT : MPI_DOUBLE;
}
MPI_Op op_named(const std::string& name) {
    if (name == "sum") return MPI_SUM;
    return name == "max" ? MPI_MAX : MPI_REPLACE;
}

struct Plan {
    std::string call, type, op, window;
    std::vector<long> sizes;
    double seconds;
    int repetitions;
};

void measure_all(const Plan& plan) {
    const Call call{plan.call == "get_accumulate", type_named(plan.type), op_named(plan.op)};
    int element = 0;
    MPI_Type_size(call.type, &element);
    const auto most =
        static_cast<std::size_t>(*std::max_element(plan.sizes.begin(), plan.sizes.end()));
    const Target target(plan.window, most);
    const std::vector<char> data(most);
    std::vector<char> old(most);
    for (const long bytes : plan.sizes) {
        const auto measure = [&](int calls) {
            return repetition(target, call, data, old, static_cast<int>(bytes / element), calls);
        };
        measure(3);
        const int calls = std::max(3, static_cast<int>(plan.seconds / measure(5)));
        std::vector<double> times;
        for (int i = 0; i < plan.repetitions; ++i) times.push_back(measure(calls));
        if (bench::rank() != 0) continue;
        const double us = bench::median(times) * 1e6;
        const int origins = bench::ranks() - 1;
        std::printf("%-14s %-7s %-7s %8ld B, %d origins: %10.3f us\n", plan.call.c_str(),
                    plan.type.c_str(), plan.op.c_str(), bytes, origins, us);
        std::printf(
            "result bench=accumulates call=%s type=%s op=%s window=%s origins=%d bytes=%ld "
            "call_us=%.4f\n",
            plan.call.c_str(), plan.type.c_str(), plan.op.c_str(), plan.window.c_str(), origins,
            bytes, us);
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    Plan plan;
    plan.call = options.choice("call", "accumulate", {"accumulate", "get_accumulate"});
    plan.type = options.choice("type", "double", {"char", "int", "long", "float", "double"});
    plan.op = options.choice("op", "sum", {"sum", "max", "replace"});
    plan.window = options.choice("window", "allocate", {"allocate", "create", "exclusive"});
    plan.sizes = options.list("sizes", "8,128,2K,32K,512K,4M");
    plan.seconds = options.real("seconds", 0.01);
    plan.repetitions = static_cast<int>(options.integer("repetitions", 9, 1));
    options.done();
    bench::initialise(&argc, &argv, "single");
    if (bench::ranks() < 2) bench::fail("needs 2 ranks or more");
    measure_all(plan);
    MPI_Finalize();
}
