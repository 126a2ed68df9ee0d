// SPDX-License-Identifier: BSD-3-Clause
#include "platform/printing.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <new>
#include <stdio_ext.h>

#include "platform/print_view.hpp"
#include "platform/shared_memory.hpp"

namespace heddle::platform {
namespace {

std::atomic<bool> output_protected{false};
std::atomic<PrintView*> shown{nullptr};

/// Switches to line buffering. glibc allows this at any time, although C does not, and keeps the
/// text in the buffer.
void print_line_by_line() noexcept {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::fflush(stdout);
}

/// Takes the pipe that mpiexec names, for this program only. Returns -1 if there is none, or the
/// descriptor is another file by now.
int take_pipe() noexcept {
    const char* text = std::getenv(print_pipe_variable);
    if (text == nullptr) return -1;
    char* colon = nullptr;
    const int descriptor = static_cast<int>(std::strtol(text, &colon, 10));
    const unsigned long long number = *colon == ':' ? std::strtoull(colon + 1, nullptr, 10) : 0;
    unsetenv(print_pipe_variable);
    struct stat found{};
    const bool same =
        ::fstat(descriptor, &found) == 0 && S_ISFIFO(found.st_mode) && found.st_ino == number;
    return same ? descriptor : -1;
}

#ifdef __GLIBC__

/// Ends the view before a fork. After it this process would print to other pages than those that
/// mpiexec sees.
void show_no_more() noexcept {
    PrintView* const view = shown.exchange(nullptr, std::memory_order_relaxed);
    if (view == nullptr) return;
    // A thread that is printing now keeps the stream. Its text then comes when the buffer is full.
    if (ftrylockfile(stdout) == 0) {
        if (reinterpret_cast<std::uint64_t>(stdout->_IO_buf_base) == view->text)
            print_line_by_line();
        funlockfile(stdout);
    }
    view->over.store(1, std::memory_order_release);
}

/// Puts the stream and its new buffer into the pipe. The caller holds the stream's lock.
bool hand_over(int pipe, void* memory) noexcept {
    auto* const view = new (memory) PrintView;
    char* const text = reinterpret_cast<char*>(view + 1);
    view->text = reinterpret_cast<std::uint64_t>(text);
    view->bytes = PrintView::bytes_with_text - sizeof(PrintView);
    view->process = static_cast<std::uint64_t>(::getpid());
    std::memset(text, 0, view->bytes);  // creates the pages
    if (std::setvbuf(stdout, text, _IOFBF, view->bytes) != 0) return false;
    const std::array<iovec, 2> parts{
        {{stdout, sizeof(std::FILE)}, {memory, PrintView::bytes_with_text}}};
    if (::vmsplice(pipe, parts.data(), parts.size(), SPLICE_F_NONBLOCK) !=
        static_cast<ssize_t>(print_record_bytes))
        return false;
    shown.store(view, std::memory_order_relaxed);
    return true;
}

bool show(int pipe) noexcept {
    if (std::fwide(stdout, 0) > 0) return false;  // wide characters have a buffer of their own
    void* const memory = ::mmap(nullptr, PrintView::bytes_with_text, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return false;
    flockfile(stdout);
    const bool done =
        hand_over(pipe, memory);  // the stream keeps the buffer, even if it is not seen
    funlockfile(stdout);
    if (done) pthread_atfork(show_no_more, nullptr, nullptr);
    return done;
}

#else

bool show(int) noexcept { return false; }

#endif

}  // namespace

void protect_output() noexcept {
    const int pipe = take_pipe();
    std::fflush(stdout);
    // A stream without a buffer, as the program wanted it, stays so.
    if (__fbufsize(stdout) != 1 && (pipe < 0 || !show(pipe))) print_line_by_line();
    if (pipe >= 0) ::close(pipe);
    output_protected.store(true,
                           std::memory_order_relaxed);  // guards nothing: a late look is harmless
}

void flush_output() noexcept {
    if (!output_protected.load(std::memory_order_relaxed)) return;
    // Checked without the lock. A piece that another thread is printing is flushed by that thread.
    if (__fpending(stdout) == 0 || ftrylockfile(stdout) != 0) return;
    fflush_unlocked(stdout);
    funlockfile(stdout);
}

void wait_until_read(int descriptor, int milliseconds) noexcept {
    for (; milliseconds > 0; --milliseconds) {
        int left = 0;
        // FIONREAD counts bytes in a pipe. SIOCOUTQ counts bytes that a socket has sent and its
        // peer has not taken.
        const bool known = is_socket(descriptor) ? ioctl(descriptor, SIOCOUTQ, &left) == 0
                                                 : ioctl(descriptor, FIONREAD, &left) == 0;
        if (!known || left == 0) return;
        usleep(1000);
    }
}

}  // namespace heddle::platform
