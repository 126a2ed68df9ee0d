// SPDX-License-Identifier: BSD-3-Clause
#include "platform/fault_report.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

namespace heddle::platform {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct Fault {
    int number;
    const char* name;
    const char* text;
};
constexpr std::array faults{
    Fault{SIGSEGV, "SIGSEGV", "segmentation fault"},
    Fault{SIGBUS, "SIGBUS", "bus error"},
    Fault{SIGFPE, "SIGFPE", "arithmetic exception"},
    Fault{SIGILL, "SIGILL", "illegal instruction"},
};

std::atomic<WhoAmI> who_am_i{nullptr};
std::atomic<bool> reporting{false};  ///< set by the first thread that dies, which reports

constexpr std::size_t most_frames = 48;
constexpr milliseconds most_for_lines{5000};
constexpr milliseconds most_for_copy{8000};

// ---- In the copy. Nothing here takes memory. ----

void write_line(const char* text) noexcept {
    (void)!::write(STDERR_FILENO, text, std::strlen(text));
}

/// A pipe from the output of addr2line.
class Lines {
public:
    Lines(const char* file, const std::uintptr_t* addresses, std::size_t count) noexcept {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
        if (::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0)
            be_addr2line(ends[1], file, addresses, count);
        ::close(ends[1]);
        output_ = ends[0];
    }
    /// Reads the next line without its end. Returns false if there is none, or it takes too long.
    bool read(char* line, std::size_t room, steady_clock::time_point end) noexcept {
        std::size_t length = 0;
        for (;;) {
            const auto left =
                std::chrono::duration_cast<milliseconds>(end - steady_clock::now()).count();
            pollfd what{output_, POLLIN, 0};
            char letter = 0;
            if (output_ < 0 || left <= 0 || ::poll(&what, 1, static_cast<int>(left)) <= 0 ||
                ::read(output_, &letter, 1) != 1)
                return false;
            if (letter == '\n') break;
            if (length + 1 < room) line[length++] = letter;
        }
        line[length] = 0;
        return true;
    }

private:
    [[noreturn]] static void be_addr2line(int output, const char* file,
                                          const std::uintptr_t* addresses,
                                          std::size_t count) noexcept {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::dup2(output, STDOUT_FILENO);
        const int nothing = ::open("/dev/null", O_RDWR);
        ::dup2(nothing, STDIN_FILENO);
        ::dup2(nothing, STDERR_FILENO);
        std::array<std::array<char, 24>, most_frames> numbers{};
        std::array<const char*, most_frames + 6> words{"addr2line", "-f", "-C", "-e", file};
        for (std::size_t i = 0; i < count; ++i) {
            std::snprintf(numbers[i].data(), numbers[i].size(), "0x%" PRIxPTR, addresses[i]);
            words[5 + i] = numbers[i].data();
        }
        const std::array<const char*, 1> no_variables{nullptr};
        ::execvpe("addr2line", const_cast<char**>(words.data()),
                  const_cast<char**>(no_variables.data()));
        ::_exit(127);
    }

    int output_ = -1;
};

struct Frame {
    std::uintptr_t address = 0;  ///< an instruction in the call
    std::uintptr_t in_file = 0;
    const char* file = nullptr;  ///< nullptr for code that lies in no file
    const char* symbol = nullptr;
};

struct Stack {
    std::uintptr_t fault;  ///< the address of the signal
    std::size_t count = 0;
    bool below = false;  ///< the walk has reached that address
    std::array<Frame, most_frames> frames{};
};

_Unwind_Reason_Code collect_frame(_Unwind_Context* context, void* argument) {
    auto& stack = *static_cast<Stack*>(argument);
    int is_exact = 0;
    const std::uintptr_t address = _Unwind_GetIPInfo(context, &is_exact);
    if (address == stack.fault) stack.below = true;
    if (!stack.below) return _URC_NO_REASON;
    if (stack.count == most_frames || address == 0) return _URC_END_OF_STACK;
    stack.frames[stack.count++].address = is_exact != 0 ? address : address - 1;
    return _URC_NO_REASON;
}

/// Finds the file of a frame: its name, empty for the program itself, and the address in it.
int visit_file(dl_phdr_info* file, std::size_t, void* argument) {
    auto& frame = *static_cast<Frame*>(argument);
    for (int i = 0; i < file->dlpi_phnum; ++i) {
        const auto& part = file->dlpi_phdr[i];
        const std::uintptr_t start = file->dlpi_addr + part.p_vaddr;
        if (part.p_type != PT_LOAD || frame.address < start ||
            frame.address - start >= part.p_memsz)
            continue;
        frame.file = file->dlpi_name == nullptr ? "" : file->dlpi_name;
        frame.in_file = frame.address - file->dlpi_addr;
        return 1;
    }
    return 0;
}

void name(Frame& frame) noexcept {
    ::dl_iterate_phdr(visit_file, &frame);
    Dl_info info{};
    if (::dladdr(reinterpret_cast<void*>(frame.address), &info) != 0) frame.symbol = info.dli_sname;
}

struct Path {
    std::array<char, 1024> text{};
    explicit Path(const char* file) noexcept {
        if (file[0] != 0)
            std::snprintf(text.data(), text.size(), "%s", file);
        else if (::readlink("/proc/self/exe", text.data(), text.size() - 1) < 0)
            text[0] = 0;
    }
    const char* without_folders() const noexcept {
        const char* slash = std::strrchr(text.data(), '/');
        return slash == nullptr ? text.data() : slash + 1;
    }
};

/// Turns "/home/me/ring.c:12 (discriminator 3)" into "ring.c:12". Returns nullptr if nothing is
/// known.
const char* location(char* line) noexcept {
    if (char* const more = std::strchr(line, ' '); more != nullptr) *more = 0;
    const char* const slash = std::strrchr(line, '/');
    const char* const place = slash == nullptr ? line : slash + 1;
    const char* const colon = std::strrchr(place, ':');
    const bool is_known = colon != nullptr && colon[1] >= '1' && colon[1] <= '9' && place[0] != '?';
    return is_known ? place : nullptr;
}

void tell(std::size_t number, const Frame& frame, const Path& path, const char* function,
          const char* place) noexcept {
    std::array<char, 1400> line{};
    if (function == nullptr) function = frame.symbol;
    char* const end = line.data() + line.size() - 2;
    char* at = line.data() +
        std::snprintf(line.data(), 700, "heddle:   #%zu %s%s", number,
                      function == nullptr ? "" : function, function == nullptr ? "" : " ");
    at = std::min(at, line.data() + 699);
    if (place != nullptr)
        std::snprintf(at, static_cast<std::size_t>(end - at), "at %s", place);
    else
        std::snprintf(at, static_cast<std::size_t>(end - at), "in %s+0x%" PRIxPTR,
                      path.without_folders(), frame.in_file);
    std::strcat(line.data(), "\n");
    write_line(line.data());
}

/// Writes adjacent frames of one file, with one query for all of them.
void tell_of_file(const Stack& stack, std::size_t first, std::size_t end,
                  steady_clock::time_point limit) noexcept {
    const Path path(stack.frames[first].file);
    std::array<std::uintptr_t, most_frames> addresses{};
    for (std::size_t i = first; i < end; ++i) addresses[i - first] = stack.frames[i].in_file;
    Lines lines(path.text.data(), addresses.data(), end - first);
    for (std::size_t i = first; i < end; ++i) {
        std::array<char, 512> function{}, place{};
        const bool known = lines.read(function.data(), function.size(), limit) &&
            lines.read(place.data(), place.size(), limit);
        tell(i, stack.frames[i], path, known && function[0] != '?' ? function.data() : nullptr,
             known ? location(place.data()) : nullptr);
    }
}

void tell_frames(Stack& stack) noexcept {
    const auto limit = steady_clock::now() + most_for_lines;
    for (std::size_t i = 0; i < stack.count; ++i) name(stack.frames[i]);
    for (std::size_t first = 0; first < stack.count;) {
        const Frame& frame = stack.frames[first];
        std::size_t end = first + 1;
        while (end < stack.count && stack.frames[end].file == frame.file) ++end;
        if (frame.file != nullptr) {
            tell_of_file(stack, first, end, limit);
        } else {
            std::array<char, 80> line{};
            std::snprintf(line.data(), line.size(),
                          "heddle:   #%zu at 0x%" PRIxPTR ", which is no code\n", first,
                          frame.address);
            write_line(line.data());
        }
        first = end;
    }
}

[[noreturn]] void be_copy(std::uintptr_t fault, std::uintptr_t caller) noexcept {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const Fault& one : faults) std::signal(one.number, SIG_DFL);
    Stack stack{fault};
    // An address without code cannot be unwound. The call that led there is on the stack.
    Frame nowhere{fault};
    name(nowhere);
    if (nowhere.file == nullptr) {
        stack.frames[stack.count++] = nowhere;
        stack.fault = caller;
        if (caller != 0) stack.frames[stack.count++].address = caller - 1;
    } else {
        _Unwind_Backtrace(collect_frame, &stack);
        if (stack.count == 0) stack.frames[stack.count++] = nowhere;
    }
    tell_frames(stack);
    ::_exit(0);
}

// ---- In the process ----

/// Finds the thread's address and stack. After a call to nowhere the return address is on that
/// stack.
void find_place(const ucontext_t& context, std::uintptr_t& fault, std::uintptr_t& stack) noexcept {
#if defined(__x86_64__)
    fault = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
    stack = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
    fault = context.uc_mcontext.pc;
    stack = 0;
#else
    (void)context;
    fault = stack = 0;
#endif
}

std::uintptr_t way_back(const ucontext_t& context, std::uintptr_t stack) noexcept {
#if defined(__aarch64__)
    (void)stack;
    return context.uc_mcontext.regs[30];
#else
    (void)context;
    std::uintptr_t word = 0;
    // The kernel reads it, since the stack itself may be wrong.
    std::array<int, 2> ends{};
    if (stack == 0 || ::pipe2(ends.data(), O_CLOEXEC) != 0) return 0;
    if (::write(ends[1], reinterpret_cast<const void*>(stack), sizeof word) != sizeof word ||
        ::read(ends[0], &word, sizeof word) != sizeof word)
        word = 0;
    ::close(ends[0]);
    ::close(ends[1]);
    return word;
#endif
}

void tell_what(int signal, const siginfo_t& info) noexcept {
    std::array<char, 128> who{};
    if (const WhoAmI ask = who_am_i.load(std::memory_order_acquire); ask != nullptr)
        ask(who.data(), who.size());
    const auto* const fault = std::find_if(faults.begin(), faults.end(),
                                           [&](const Fault& one) { return one.number == signal; });
    std::array<char, 64> where{};
    if (info.si_code > 0)
        std::snprintf(where.data(), where.size(), " at address %p", info.si_addr);
    else
        std::snprintf(where.data(), where.size(), ", sent by process %d",
                      static_cast<int>(info.si_pid));
    std::array<char, 320> line{};
    std::snprintf(line.data(), line.size(), "heddle: %s: %s (%s)%s\n", who.data(), fault->name,
                  fault->text, where.data());
    write_line(line.data());
}

/// Lets a copy of the process report. The end of the copy closes the pipe, which no other process
/// has.
void have_copy_report(std::uintptr_t fault, std::uintptr_t caller) noexcept {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
    // Without SIGCHLD, which the program may handle.
    const auto copy = static_cast<pid_t>(::syscall(SYS_clone, 0, 0, 0, 0, 0));
    if (copy == 0) be_copy(fault, caller);
    ::close(ends[1]);
    if (copy > 0) {
        pollfd what{ends[0], POLLIN, 0};
        if (::poll(&what, 1, static_cast<int>(most_for_copy.count())) == 0) ::kill(copy, SIGKILL);
        while (::waitpid(copy, nullptr, __WALL) < 0 && errno == EINTR) {}
    }
    ::close(ends[0]);
}

/// Reports, then lets the process die. A fault repeats when the handler returns, and a signal that
/// was sent is sent again.
void handle(int signal, siginfo_t* info, void* context) {
    if (reporting.exchange(true))
        while (true) ::pause();  // another thread reports, and ends the process
    const int error = errno;
    std::uintptr_t fault = 0, stack = 0;
    find_place(*static_cast<ucontext_t*>(context), fault, stack);
    tell_what(signal, *info);
    have_copy_report(fault, way_back(*static_cast<ucontext_t*>(context), stack));
    std::signal(signal, SIG_DFL);
    if (info->si_code <= 0) ::syscall(SYS_tgkill, ::getpid(), ::syscall(SYS_gettid), signal);
    errno = error;
}

/// Gives the calling thread a stack for signals, for the overflow of its own. It is never freed:
/// the thread may live as long as the program.
void need_stack() noexcept {
    constexpr std::size_t bytes = 64 << 10;
    stack_t now{};
    if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return;
    const stack_t own{memory, 0, bytes};
    ::sigaltstack(&own, nullptr);
}

}  // namespace

void report_faults(WhoAmI who) noexcept {
    if (who_am_i.exchange(who) != nullptr) return;
    need_stack();
    for (const Fault& one : faults) {
        struct sigaction now{};
        if (::sigaction(one.number, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) != 0 ||
            now.sa_handler != SIG_DFL)
            continue;
        struct sigaction ours{};
        ours.sa_sigaction = handle;
        ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigfillset(&ours.sa_mask);
        ::sigaction(one.number, &ours, nullptr);
    }
}

}  // namespace heddle::platform
