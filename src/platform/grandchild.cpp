// SPDX-License-Identifier: BSD-3-Clause
#include "platform/grandchild.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <new>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/sanitizers.hpp"
#include "platform/signals.hpp"

namespace heddle::platform {
namespace {

/// Both processes run in the memory of this one, whose calling thread is suspended meanwhile, as
/// with vfork(). So they allocate nothing, take no lock and call no function of the program.
///
/// Sanitizers need memory of their own. ThreadSanitizer watches their calls. AddressSanitizer
/// records their stacks, and exec does not return to remove that. If another thread held a
/// sanitizer's lock, it stays held in the copy. So functions that sanitizers intercept are replaced
/// by system calls.
constexpr std::size_t stack_bytes = std::size_t{256} << 10;
int standing_still() noexcept {
    const bool is_watched = &__tsan_acquire != nullptr || leaks_are_sought();
    return CLONE_VFORK | (is_watched ? 0 : CLONE_VM);
}

/// Data for both processes, in memory that is shared in any case.
struct Start {
    const Grandchild& child;
    std::byte* stack;  ///< the end of the grandchild's stack
    StartRefusal refusal;

    void refuse(const char* step) noexcept { refusal = {step, errno}; }
};

/// Ends the process. At _exit() sanitizers would check a stack that they do not know.
void end(int code) noexcept {
    for (;;) syscall(SYS_exit_group, code);
}

constexpr std::size_t signal_set_bytes = NSIG / CHAR_BIT;  ///< size of the kernel's sigset_t

/// Resets all signals. Exec would keep ignored ones, and handlers would run until then. The C
/// library refuses to access signals that it uses itself, although the program may ignore them:
/// system calls do.
void forget_handlers() noexcept {
    using Action =
        std::array<unsigned long,
                   8>;  // large enough for the kernel's struct sigaction, whose handler comes first
    constexpr Action by_default{};
    Action hangup{};
    const bool is_for_all =  // ignored for all processes, as by nohup(1)
        syscall(SYS_rt_sigaction, SIGHUP, nullptr, hangup.data(), signal_set_bytes) == 0 &&
        hangup.front() == reinterpret_cast<std::uintptr_t>(SIG_IGN);
    for (int signal = 1; signal < NSIG; ++signal)
        if (signal != SIGHUP || !is_for_all)
            syscall(SYS_rt_sigaction, signal, by_default.data(), nullptr, signal_set_bytes);
}

/// Moves the descriptors to free numbers first, then to their places.
bool arrange(std::span<const int> descriptors) noexcept {
    constexpr int most = 16;
    std::array<int, most> moved{};
    const int count = static_cast<int>(descriptors.size());
    for (int i = 0; i < count; ++i) {
        const int from = descriptors[static_cast<std::size_t>(i)];
        int& to = moved[static_cast<std::size_t>(i)];
        to = from < 0 ? -1 : fcntl(from, F_DUPFD_CLOEXEC, count);
        if (from >= 0 && to < 0 && errno != EBADF) return false;
    }
    for (int i = 0; i < count; ++i) {
        const int from = moved[static_cast<std::size_t>(i)];
        if (from < 0)
            close(i);
        else if (dup2(from, i) < 0)
            return false;
    }
    // Kernels before 5.9 do not have it. mpiexec itself closes descriptors that were not closed on
    // exec.
    syscall(SYS_close_range, static_cast<unsigned>(count), ~0U, 0U);
    return true;
}

int become(void* argument) noexcept {
    auto& start = *static_cast<Start*>(argument);
    forget_handlers();
    if (!arrange(start.child.descriptors)) {
        start.refuse("dup");
        end(127);
    }
    constexpr std::array<unsigned char, signal_set_bytes> none{};
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, none.data(), nullptr, signal_set_bytes);
    execve(start.child.file, start.child.arguments, start.child.environment);
    start.refuse("execve");
    end(127);
    return 0;
}

int start_and_end(void* argument) noexcept {
    auto& start = *static_cast<Start*>(argument);
    const pid_t pid = clone(become, start.stack, standing_still() | SIGCHLD, argument);
    if (pid < 0) start.refuse("clone");
    if (pid > 0 && start.refusal.step != nullptr) syscall(SYS_wait4, pid, nullptr, 0, nullptr);
    end(0);
    return 0;
}

}  // namespace

StartRefusal start_grandchild(const Grandchild& child) noexcept {
    void* const stacks = mmap(nullptr, 2 * stack_bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stacks == MAP_FAILED) return {"mmap", errno};
    // The lower stack begins with the data that both write and this process reads.
    auto* const lower = static_cast<std::byte*>(stacks) + stack_bytes;
    Start& start = *new (stacks) Start{child, lower + stack_bytes, {}};
    {
        const WithoutSignals until_both_are_gone;
        // A child without a signal at its end is invisible to the program's wait() and SIGCHLD.
        const pid_t pid = clone(start_and_end, lower, standing_still(), &start);
        if (pid < 0) start.refuse("clone");
        while (pid > 0 && waitpid(pid, nullptr, __WCLONE) < 0 && errno == EINTR) {}
    }
    const StartRefusal refusal = start.refusal;
    munmap(stacks, 2 * stack_bytes);
    return refusal;
}

}  // namespace heddle::platform
