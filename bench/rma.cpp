// SPDX-License-Identifier: BSD-3-Clause

/// Measures one-sided communication from rank 0 to rank 1, which sleeps in a barrier meanwhile.
///
///   calls  single operations, in ns: put and flush, get and flush, fetch and op, compare and swap,
///          lock with a put and unlock; and the rate of large puts.
///   rate   threads of rank 0 put (or get) messages of a size to places of their own on one window.
///          They flush after a number of them. Each thread flushes for itself, or one for all (P1,
///          RMA-MT: 1,000 of them; P2, section 5.2). The figure is millions of operations in a
///          second, of all threads.
///   sync   fences, and post, start, complete and wait, of both ranks.
///   large  puts and gets beside memcpy(): each call is followed by a memcpy() between private
///          buffers of that size, so that both meet the same machine. The figure is the median of
///          the ratios: 1 is as fast, less is slower than memcpy().

#include <barrier>
#include <cstdint>
#include <cstring>
#include <functional>
#include <thread>

#include "common.hpp"

namespace {

constexpr const char* usage =
    "rma --measure calls|rate|sync|large --window allocate|create --repetitions N --rounds N\n"
    "    --threads N --bytes B --operation put|get --flush each|one --batch N   (rate)\n"
    "2 ranks\n";

struct Plan {
    std::string measure, window, operation, flush;
    int repetitions, rounds, threads;
    int bytes;
    int batch;  ///< operations of a thread before a flush
};

/// A window of this number of bytes on rank 1.
class Window {
public:
    Window(const Plan& plan, std::size_t bytes) : own_(plan.window == "create" ? bytes : 0) {
        if (plan.window == "create") {
            MPI_Win_create(own_.data(), static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL,
                           MPI_COMM_WORLD, &win);
        } else {
            char* memory = nullptr;
            MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                             &memory, &win);
            std::memset(memory, 0, bytes);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    ~Window() { MPI_Win_free(&win); }
    Window(const Window&) = delete;
    Window& operator=(const Window&) = delete;
    MPI_Win win = MPI_WIN_NULL;

private:
    std::vector<char> own_;
};

/// Returns the ns of one call of `operation`: the median of repetitions after one to warm up.
double time_of(const Plan& plan, int rounds, const std::function<void()>& operation) {
    std::vector<double> times;
    for (int repetition = 0; repetition <= plan.repetitions; ++repetition) {
        const double start = bench::now();
        for (int round = 0; round < rounds; ++round) operation();
        if (repetition > 0) times.push_back((bench::now() - start) / rounds * 1e9);
    }
    return bench::median(times);
}

void report(const Plan& plan, const char* operation, std::size_t bytes, double ns) {
    if (bench::rank() != 0) return;
    std::printf("%-28s %8zu bytes %12.1f ns\n", operation, bytes, ns);
    std::printf("result bench=rma operation=%s window=%s bytes=%zu ns=%.2f gb_per_s=%.3f\n",
                operation, plan.window.c_str(), bytes, ns, static_cast<double>(bytes) / ns);
}

void measure_calls(const Plan& plan) {
    constexpr std::size_t most = std::size_t{16} << 20;
    Window window(plan, most);
    MPI_Win win = window.win;
    if (bench::rank() == 0) {
        std::vector<char> data(most, 1);
        std::int64_t value = 1, other = 0;
        const int rounds = plan.rounds;
        MPI_Win_lock_all(0, win);
        report(plan, "put_flush", 8, time_of(plan, rounds, [&] {
                   MPI_Put(&value, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
                   MPI_Win_flush(1, win);
               }));
        report(plan, "get_flush", 8, time_of(plan, rounds, [&] {
                   MPI_Get(&other, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
                   MPI_Win_flush(1, win);
               }));
        report(plan, "fetch_and_op", 8, time_of(plan, rounds, [&] {
                   MPI_Fetch_and_op(&value, &other, MPI_INT64_T, 1, 8, MPI_SUM, win);
                   MPI_Win_flush(1, win);
               }));
        report(plan, "compare_and_swap", 8, time_of(plan, rounds, [&] {
                   MPI_Compare_and_swap(&value, &other, &other, MPI_INT64_T, 1, 16, win);
                   MPI_Win_flush(1, win);
               }));
        for (const std::size_t bytes : {std::size_t{1} << 20, most}) {
            const int few = std::max(1, static_cast<int>((std::size_t{64} << 20) / bytes));
            const int count = static_cast<int>(bytes);
            report(plan, "put_large", bytes, time_of(plan, few, [&] {
                       MPI_Put(data.data(), count, MPI_BYTE, 1, 0, count, MPI_BYTE, win);
                       MPI_Win_flush(1, win);
                   }));
            report(plan, "get_large", bytes, time_of(plan, few, [&] {
                       MPI_Get(data.data(), count, MPI_BYTE, 1, 0, count, MPI_BYTE, win);
                       MPI_Win_flush(1, win);
                   }));
        }
        MPI_Win_unlock_all(win);
        report(plan, "lock_put_unlock", 8, time_of(plan, rounds, [&] {
                   MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
                   MPI_Put(&value, 8, MPI_BYTE, 1, 0, 8, MPI_BYTE, win);
                   MPI_Win_unlock(1, win);
               }));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

void measure_rate(const Plan& plan) {
    const auto each = static_cast<std::size_t>(std::max(plan.bytes, 64));
    Window window(plan, each * static_cast<std::size_t>(plan.threads));
    MPI_Win win = window.win;
    if (bench::rank() == 0) {
        MPI_Win_lock_all(0, win);
        const bool puts = plan.operation == "put";
        std::barrier together(plan.threads);
        std::vector<double> times(static_cast<std::size_t>(plan.repetitions) + 1);
        const auto work = [&](int me) {
            std::vector<char> data(each, 1);
            const auto place = static_cast<MPI_Aint>(each) * me;
            for (double& time : times) {
                together.arrive_and_wait();
                const double start = bench::now();
                for (int round = 0; round < plan.rounds / plan.batch + 1; ++round) {
                    for (int i = 0; i < plan.batch; ++i) {
                        if (puts)
                            MPI_Put(data.data(), plan.bytes, MPI_BYTE, 1, place, plan.bytes,
                                    MPI_BYTE, win);
                        else
                            MPI_Get(data.data(), plan.bytes, MPI_BYTE, 1, place, plan.bytes,
                                    MPI_BYTE, win);
                    }
                    if (plan.flush == "each") MPI_Win_flush(1, win);
                    if (plan.flush == "one") {
                        together.arrive_and_wait();
                        if (me == 0) MPI_Win_flush(1, win);
                        together.arrive_and_wait();
                    }
                }
                together.arrive_and_wait();
                if (me == 0) time = bench::now() - start;
            }
        };
        std::vector<std::thread> threads;
        for (int me = 1; me < plan.threads; ++me) threads.emplace_back(work, me);
        work(0);
        for (std::thread& one : threads) one.join();
        times.erase(times.begin());
        const double operations =
            static_cast<double>(plan.threads) * plan.batch * (plan.rounds / plan.batch + 1);
        const double rate = operations / bench::median(times) * 1e-6;
        std::printf("%d threads, %d bytes, %s, flush by %s: %.3f M/s\n", plan.threads, plan.bytes,
                    plan.operation.c_str(), plan.flush.c_str(), rate);
        std::printf(
            "result bench=rma threads=%d bytes=%d operation=%s flush=%s batch=%d window=%s "
            "rate=%.4f\n",
            plan.threads, plan.bytes, plan.operation.c_str(), plan.flush.c_str(), plan.batch,
            plan.window.c_str(), rate);
        MPI_Win_unlock_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

double seconds_of(const std::function<void()>& operation) {
    const double start = bench::now();
    operation();
    return bench::now() - start;
}

void compare_with_memcpy(const Plan& plan, const char* name, std::size_t bytes,
                         const std::function<void()>& operation) {
    std::vector<char> from(bytes, 1), to(bytes, 2);
    std::vector<double> times, ratios;
    const int rounds = std::max(3, std::min(plan.rounds, static_cast<int>((1 << 28) / bytes)));
    for (int round = -2; round < rounds; ++round) {
        const double took = seconds_of(operation);
        const double plain = seconds_of([&] {
            std::memcpy(to.data(), from.data(), bytes);
            from[static_cast<std::size_t>(round + 2) % bytes] =
                to[bytes / 2];  // so that the copy is complete
        });
        if (round < 0) continue;
        times.push_back(took * 1e9);
        ratios.push_back(plain / took);
    }
    const double ratio = bench::median(ratios), ns = bench::median(times);
    std::printf("%-10s %10zu bytes %12.1f ns, %.2f of memcpy\n", name, bytes, ns, ratio);
    std::printf("result bench=rma operation=%s window=%s bytes=%zu ns=%.2f of_memcpy=%.3f\n", name,
                plan.window.c_str(), bytes, ns, ratio);
}

void measure_large(const Plan& plan) {
    constexpr std::size_t most = std::size_t{16} << 20;
    Window window(plan, most);
    MPI_Win win = window.win;
    if (bench::rank() == 0) {
        std::vector<char> data(most, 1);
        MPI_Win_lock_all(0, win);
        for (std::size_t bytes = std::size_t{64} << 10; bytes <= most; bytes *= 4) {
            const int count = static_cast<int>(bytes);
            compare_with_memcpy(plan, "put", bytes, [&] {
                MPI_Put(data.data(), count, MPI_BYTE, 1, 0, count, MPI_BYTE, win);
                MPI_Win_flush(1, win);
            });
            compare_with_memcpy(plan, "get", bytes, [&] {
                MPI_Get(data.data(), count, MPI_BYTE, 1, 0, count, MPI_BYTE, win);
                MPI_Win_flush(1, win);
            });
        }
        MPI_Win_unlock_all(win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

void measure_sync(const Plan& plan) {
    Window window(plan, 64);
    MPI_Win win = window.win;
    MPI_Group world, other;
    const int partner = 1 - bench::rank();
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &partner, &other);
    MPI_Win_fence(0, win);
    report(plan, "fence", 0, time_of(plan, plan.rounds / 100 + 1, [&] { MPI_Win_fence(0, win); }));
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    report(plan, "post_start_complete_wait", 0, time_of(plan, plan.rounds / 100 + 1, [&] {
               MPI_Win_post(other, 0, win);
               MPI_Win_start(other, 0, win);
               MPI_Win_complete(win);
               MPI_Win_wait(win);
           }));
    report(plan, "allocate_free", 0, time_of(plan, 100, [&] {
               MPI_Win made;
               void* memory;
               MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &made);
               MPI_Win_free(&made);
           }));
    MPI_Group_free(&other);
    MPI_Group_free(&world);
}

}  // namespace

int main(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    Plan plan;
    plan.measure = options.choice("measure", "calls", {"calls", "rate", "sync", "large"});
    plan.window = options.choice("window", "allocate", {"allocate", "create"});
    plan.operation = options.choice("operation", "put", {"put", "get"});
    plan.flush = options.choice("flush", "each", {"each", "one"});
    plan.repetitions = static_cast<int>(options.integer("repetitions", 5, 1));
    plan.rounds = static_cast<int>(options.integer("rounds", 100000, 1));
    plan.threads = static_cast<int>(options.integer("threads", 1, 1, 256));
    plan.bytes = static_cast<int>(options.integer("bytes", 8, 1));
    plan.batch = static_cast<int>(options.integer("batch", 1000, 1));
    options.done();
    bench::initialise(&argc, &argv, "multiple");
    bench::require_ranks(2);
    if (plan.measure == "calls") measure_calls(plan);
    if (plan.measure == "rate") measure_rate(plan);
    if (plan.measure == "sync") measure_sync(plan);
    if (plan.measure == "large") measure_large(plan);
    MPI_Finalize();
}
