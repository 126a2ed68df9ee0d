// SPDX-License-Identifier: BSD-3-Clause
#include "program_waits.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>

namespace heddle::hangs {
namespace {

/// A call of futex, as /proc shows it.
struct Futex {
    std::uint64_t word, operation, value, limit;

    std::uint64_t command() const {
        return operation & ~std::uint64_t{FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME};
    }
    bool waits() const {
        return command() == FUTEX_WAIT || command() == FUTEX_WAIT_BITSET ||
            command() == FUTEX_LOCK_PI;
    }
    bool is_private() const { return (operation & FUTEX_PRIVATE_FLAG) != 0; }
};

std::string path_of(pid_t pid, const std::string& rest) {
    return "/proc/" + std::to_string(pid) + "/" + rest;
}

std::optional<Futex> futex_of(pid_t pid, std::uint32_t thread) {
    std::ifstream file(path_of(pid, "task/" + std::to_string(thread) + "/syscall"));
    std::string line;
    std::getline(file, line);
    long number = 0;
    unsigned long long word = 0, operation = 0, value = 0, limit = 0;
    if (std::sscanf(line.c_str(), "%ld %llx %llx %llx %llx", &number, &word, &operation, &value,
                    &limit) != 5 ||
        number != SYS_futex)
        return {};
    return Futex{word, operation, value & 0xffff'ffffU, limit};
}

/// Returns true if the process catches a signal that may arrive unprovoked, and whose handler could
/// wake a thread.
bool catches_signals(pid_t pid) {
    std::ifstream file(path_of(pid, "status"));
    constexpr const char* label = "SigCgt:";
    unsigned long long caught = ~0ULL;
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(label)) (void)std::sscanf(line.c_str() + 7, "%llx", &caught);
    constexpr int first_real_time = 34;  // the C library uses those below
    for (const int signal : {SIGALRM, SIGVTALRM, SIGPROF, SIGCHLD, SIGIO, SIGUSR1, SIGUSR2})
        if ((caught >> (signal - 1) & 1) != 0) return true;
    return caught >> (first_real_time - 1) != 0;
}

bool is_thread(const Rank& rank, std::uint32_t number) {
    return std::any_of(rank.threads.begin(), rank.threads.end(),
                       [&](const Thread& thread) { return thread.thread == number; });
}

/// Returns the thread that holds the mutex of the GNU C library for which a thread waits. Its
/// memory has the mutex's word, a count, the holder.
std::uint32_t holder_of(const Rank& rank, const Futex& futex) {
    std::uint32_t mutex[3]{};
    iovec local{mutex, sizeof mutex}, remote{reinterpret_cast<void*>(futex.word), sizeof mutex};
    if (::process_vm_readv(rank.pid, &local, 1, &remote, 1, 0) !=
        static_cast<ssize_t>(sizeof mutex))
        return 0;
    constexpr std::uint32_t locked_and_waited_for = 2;
    return mutex[0] == locked_and_waited_for && is_thread(rank, mutex[2]) ? mutex[2] : 0;
}

ProgramWait wait_of(const Rank& rank, const Thread& thread) {
    const std::optional<Futex> futex = futex_of(rank.pid, thread.thread);
    if (!futex || !futex->waits() || futex->limit != 0) return {};
    if (futex->is_private()) return {ProgramWait::Kind::own_process, holder_of(rank, *futex)};
    const auto joined = static_cast<std::uint32_t>(futex->value);
    if (futex->command() == FUTEX_WAIT_BITSET && joined != thread.thread && is_thread(rank, joined))
        return {ProgramWait::Kind::end_of_thread, joined};
    return {};
}

}  // namespace

void look_at_program_waits(Rank& rank) {
    std::optional<bool> doubtful;
    for (Thread& thread : rank.threads) {
        if (thread.state != 'S' || thread.of_library || is_waiting(rank, thread)) continue;
        if (!doubtful) doubtful = catches_signals(rank.pid);
        if (!*doubtful) thread.wait = wait_of(rank, thread);
    }
}

}  // namespace heddle::hangs
