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

/// Both processes run in the memory of this one, whose calling thread stands still meanwhile, as vfork() has it. So they
/// allocate nothing, take no lock and call nothing of the program. Sanitizers need memory of their own: ThreadSanitizer
/// watches what they call, and AddressSanitizer notes of their stacks what nobody takes back, since exec does not return.
/// A lock of a sanitizer that another thread held stays held in that copy: what sanitizers intercept is asked of the kernel.
constexpr std::size_t stack_bytes = std::size_t{256} << 10;
int standing_still() noexcept {
    const bool is_watched = &__tsan_acquire != nullptr || leaks_are_sought();
    return CLONE_VFORK | (is_watched ? 0 : CLONE_VM);
}

/// In memory that is shared in any case.
struct Start {
    const Grandchild& child;
    std::byte* stack;  ///< of the grandchild, its end
    StartRefusal refusal;

    void refuse(const char* step) noexcept { refusal = {step, errno}; }
};

/// Not _exit(), at which sanitizers look at a stack that they do not know.
void end(int code) noexcept {
    for (;;) syscall(SYS_exit_group, code);
}

constexpr std::size_t signal_set_bytes = NSIG / CHAR_BIT;  ///< of the kernel's sigset_t

/// Exec would keep what is ignored, and run what is caught until then. The C library refuses to speak of the signals
/// that it uses itself, which somebody else may have had ignored: the kernel is asked.
void forget_handlers() noexcept {
    using Action =
        std::array<unsigned long,
                   8>;  // the kernel's struct sigaction, or more; the handler comes first
    constexpr Action by_default{};
    Action hangup{};
    const bool is_for_all =  // as nohup(1) has it
        syscall(SYS_rt_sigaction, SIGHUP, nullptr, hangup.data(), signal_set_bytes) == 0 &&
        hangup.front() == reinterpret_cast<std::uintptr_t>(SIG_IGN);
    for (int signal = 1; signal < NSIG; ++signal)
        if (signal != SIGHUP || !is_for_all)
            syscall(SYS_rt_sigaction, signal, by_default.data(), nullptr, signal_set_bytes);
}

/// Out of each other's way first, then into their places.
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
    // Kernels before 5.9 do not know it: mpiexec closes what was not closed on exec.
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
    // The lower stack begins with what both write to and this process reads.
    auto* const lower = static_cast<std::byte*>(stacks) + stack_bytes;
    Start& start = *new (stacks) Start{child, lower + stack_bytes, {}};
    {
        const WithoutSignals until_both_are_gone;
        // A child that tells its end by no signal is none to wait() and SIGCHLD of the program.
        const pid_t pid = clone(start_and_end, lower, standing_still(), &start);
        if (pid < 0) start.refuse("clone");
        while (pid > 0 && waitpid(pid, nullptr, __WCLONE) < 0 && errno == EINTR) {}
    }
    const StartRefusal refusal = start.refusal;
    munmap(stacks, 2 * stack_bytes);
    return refusal;
}

}  // namespace heddle::platform
