// SPDX-License-Identifier: BSD-3-Clause
/// Attaches threads of the program to their process, and detaches them.
///
/// A thread is attached when it first calls MPI, and detached when it ends. The end is noticed by a
/// key of the threads library. The key's destructor runs after those of thread-local objects, and
/// may be set again. So destructors may call MPI: the thread is then attached anew, and detached in
/// the next round of destructors. After PTHREAD_DESTRUCTOR_ITERATIONS rounds the library is not
/// told of the thread's end. The next thread that is attached after that end finds it.

#include <cerrno>
#include <climits>
#include <csignal>
#include <mutex>
#include <pthread.h>
#include <stdexcept>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "objects/process.hpp"
#include "platform/sanitizers.hpp"

namespace heddle::objects {

constinit thread_local core::Thread* current_thread = nullptr;

namespace {

/// The calling thread, between attach() and its end.
constinit thread_local core::Thread* attached __attribute__((tls_model("initial-exec"))) = nullptr;
/// Times that the thread has been detached: if it still runs after that, it is ending.
constinit thread_local int rounds __attribute__((tls_model("initial-exec"))) = 0;

void give_back(core::Thread& thread) {
    Process& process = *thread.process;
    thread.requests.drain(process.requests);
    process.see_off(thread);
    thread.next = nullptr;
    if (thread.attached != nullptr) thread.attached->owner.store(0, release);
    thread.attached = nullptr;
    thread.last_failure.error_class = MPI_SUCCESS;
    process.threads.give(&thread);
}

/// Writes on the board where to look for what the thread does.
void announce(core::Thread& thread) noexcept {
    thread.attached = nullptr;
    if (thread.page == nullptr) return;
    // Users count their own threads. Threads of the library that came before do not count.
    thread.number = thread.of_library ? 0 : thread.page->ever_attached.fetch_add(1, relaxed);
    for (node::Attached& entry : thread.page->attached) {
        std::uint32_t free = 0;
        if (entry.owner.load(relaxed) != 0 ||
            !entry.owner.compare_exchange_strong(free, thread.system_id, acq_rel, relaxed))
            continue;
        entry.of_library.store(thread.of_library ? 1 : 0, relaxed);
        entry.call.store(reinterpret_cast<std::uintptr_t>(&thread.call), relaxed);
        entry.tests.store(reinterpret_cast<std::uintptr_t>(&thread.tests), relaxed);
        entry.tested.store(reinterpret_cast<std::uintptr_t>(thread.tested.get()), relaxed);
        thread.attached = &entry;
        return;
    }
}

extern "C" void heddle_detach(void* thread) {
    const platform::LibraryCode library;
    current_thread = nullptr;
    attached = nullptr;
    ++rounds;
    give_back(*static_cast<core::Thread*>(thread));
}

struct Key {
    pthread_key_t key;
    Key() {
        if (pthread_key_create(&key, heddle_detach) != 0)
            throw std::runtime_error("no key for thread-specific data is left (PTHREAD_KEYS_MAX)");
    }
};

/// Threads whose end the library will not be told of.
class LastRound {
public:
    void add(core::Thread& thread) {
        std::lock_guard guard(lock_);
        threads_.push_back(&thread);
    }
    void give_back_ended() {
        std::lock_guard guard(lock_);
        std::erase_if(threads_, [](core::Thread* thread) {
            if (syscall(SYS_tgkill, getpid(), thread->system_id, 0) == 0 || errno != ESRCH)
                return false;
            give_back(*thread);
            return true;
        });
    }

private:
    std::mutex lock_;
    std::vector<core::Thread*> threads_;
};
LastRound& last_round() {
    static LastRound& threads = *new LastRound;  // never destroyed: threads outlive main()
    return threads;
}

pthread_key_t key() {
    static const Key& made = *new Key;
    return made.key;
}

/// Arranges that the end of the thread is noticed.
void notice_end_of(core::Thread& thread) {
    if (rounds >= PTHREAD_DESTRUCTOR_ITERATIONS - 1) return last_round().add(thread);
    if (pthread_setspecific(key(), &thread) != 0) throw std::bad_alloc();
}

}  // namespace

core::Thread* attached_thread() noexcept { return attached; }

void forget_attached_thread() noexcept {
    if (attached == nullptr) return;
    current_thread = nullptr;
    attached = nullptr;
    pthread_setspecific(key(), nullptr);
}

core::Thread& attach(Process& process, bool of_library) {
    if (attached != nullptr && attached->process == &process) return *attached;
    last_round().give_back_ended();
    core::Thread* thread = process.threads.take();
    if (thread == nullptr) throw std::runtime_error("too many threads have called MPI");
    thread->process = &process;
    thread->system_id = static_cast<std::uint32_t>(syscall(SYS_gettid));
    node::Page* const read = process.job.keeper_page;
    thread->page =
        read != nullptr ? read : &process.node.page(static_cast<std::size_t>(process.number()));
    thread->patience = {};
    thread->collective = 0;
    thread->of_library = of_library;
    notice_end_of(*thread);
    announce(*thread);
    if (platform::races_are_sought()) thread->requests.watch();
    if (process.welcome(*thread)) current_thread = thread;
    attached = thread;
    return *thread;
}

}  // namespace heddle::objects
