// SPDX-License-Identifier: BSD-3-Clause
#include "snapshot.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "launch/thread_names.hpp"
#include "program_waits.hpp"

namespace heddle::hangs {
namespace {

namespace fs = std::filesystem;
using std::memory_order_acquire;
using std::memory_order_relaxed;

std::int64_t now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// Ends the text, and makes it fit for a line.
template <std::size_t bytes>
void make_text_fit(char (&text)[bytes]) {
    text[bytes - 1] = '\0';
    for (char& c : text) {
        if (c == '\0') break;
        if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
    }
}

/// The limit on attempts. A rank that was killed while it wrote leaves an odd version for ever.
constexpr int most_attempts = 100;

/// Reads an entry once. Returns nothing if it is free, not written yet or was written meanwhile.
std::optional<Waiting> read_once(const node::Blocked& entry) {
    const std::uint32_t version = entry.version.load(memory_order_acquire);
    const std::uint32_t owner = entry.owner.load(memory_order_acquire);
    if (owner == 0 || version % 2 != 0) return {};
    Waiting found;
    found.thread = owner;
    found.version = version;
    std::memcpy(&found.what, &entry.what, sizeof found.what);
    // The fence keeps the reads above before the second look at version.
    std::atomic_thread_fence(memory_order_acquire);
    if (entry.version.load(memory_order_relaxed) != version || found.what.since_ns == 0) return {};
    found.seconds =
        static_cast<double>(std::max<std::int64_t>(0, now_ns() - found.what.since_ns)) / 1e9;
    make_fit(found.what);
    return found;
}

std::string first_line(const fs::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// Reads `bytes` of the memory of a process into `to`. Returns false if the kernel refuses.
bool read_memory(pid_t pid, std::uint64_t address, void* to, std::size_t bytes) {
    iovec local{to, bytes}, remote{reinterpret_cast<void*>(address), bytes};
    return ::process_vm_readv(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

/// Returns the name of an MPI function, or an empty text if there is none at the address.
std::string function_name(pid_t pid, std::uint64_t address) {
    char text[48]{};
    // The memory may end with the text.
    for (std::size_t bytes = sizeof text - 1; bytes >= 8 && text[0] == '\0'; bytes /= 2)
        if (!read_memory(pid, address, text, bytes)) text[0] = '\0';
    const std::string name(text, ::strnlen(text, sizeof text));
    const bool plain = std::all_of(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    return plain && name.starts_with("MPI_") ? name : std::string();
}

void look_at_memory(Thread& thread, pid_t pid, const node::Attached& entry) {
    thread.attached = true;
    const std::uint32_t of_library = entry.of_library.load(memory_order_relaxed);
    thread.of_library = of_library != 0;
    thread.is_counted = of_library == node::of_library_and_counted;
    thread.call_place = entry.call.load(memory_order_relaxed);
    std::uint64_t call = 0;
    const std::uint64_t tests = entry.tests.load(memory_order_relaxed);
    if (!read_memory(pid, entry.call.load(memory_order_relaxed), &call, sizeof call)) return;
    thread.call = function_name(pid, call);
    (void)read_memory(pid, tests, &thread.tests, sizeof thread.tests);
}

/// The values of a node::Tested.
struct TestedValues {
    std::uint32_t version = 0;
    std::uint32_t tests = 0;
    node::WaitsFor what{};
};
static_assert(sizeof(TestedValues) == sizeof(node::Tested));

/// Reads a note once. Returns nothing if it was written meanwhile.
std::optional<TestedValues> read_tested(pid_t pid, std::uint64_t address) {
    TestedValues found;
    std::uint32_t version = 0;
    if (!read_memory(pid, address, &version, sizeof version) ||
        !read_memory(pid, address, &found, sizeof found) || found.version % 2 != 0 ||
        found.version != version || !read_memory(pid, address, &version, sizeof version) ||
        found.version != version)
        return {};
    return found;
}

/// Returns what the thread tests for in vain. Returns nothing if its note is old: it has written
/// none for a second, and has tested more often than threads do between two notes.
std::optional<Waiting> tested_by(pid_t pid, const Thread& thread, const node::Attached& entry) {
    constexpr double recent = 1;
    constexpr std::uint32_t most_tests = 64;
    const std::uint64_t address = entry.tested.load(memory_order_acquire);
    if (address == 0 || thread.tests == 0) return {};
    std::optional<TestedValues> found;
    for (int i = 0; i < most_attempts && !found; ++i) found = read_tested(pid, address);
    if (!found) return {};
    Waiting poller;
    poller.thread = thread.thread;
    poller.version = found->version;
    poller.what = found->what;
    poller.seconds = static_cast<double>(now_ns() - found->what.since_ns) / 1e9;
    if (poller.seconds > recent && thread.tests - found->tests > most_tests) return {};
    make_fit(poller.what);
    return poller;
}

std::uint64_t number_after(const std::string& text, const char* label) {
    const std::size_t at = text.find(label);
    return at == std::string::npos
        ? 0
        : std::strtoull(text.c_str() + at + std::strlen(label), nullptr, 10);
}

/// Returns the kernel's view of a thread, or nothing if it has gone.
std::optional<Thread> thread_at(const fs::path& folder) {
    const std::string stat = first_line(folder / "stat");
    const std::size_t after_name = stat.rfind(')');
    Thread thread;
    unsigned long long user = 0, system = 0;
    if (after_name == std::string::npos ||
        std::sscanf(stat.c_str() + after_name + 1,
                    " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &thread.state, &user,
                    &system) != 3)
        return {};
    thread.thread =
        static_cast<std::uint32_t>(std::strtoul(folder.filename().c_str(), nullptr, 10));
    thread.ticks = user + system;
    // These threads wait for no event of MPI.
    thread.of_library = thread.is_counted = launch::is_of_library(first_line(folder / "comm"));
    std::ifstream file(folder / "status");
    std::ostringstream status;
    status << file.rdbuf();
    thread.switches = number_after(status.str(), "\nvoluntary_ctxt_switches:") +
        number_after(status.str(), "\nnonvoluntary_ctxt_switches:");
    return thread;
}

const node::Attached* entry_of(const node::Page& page, std::uint32_t thread) {
    for (const node::Attached& entry : page.attached)
        if (entry.owner.load(memory_order_acquire) == thread) return &entry;
    return nullptr;
}

std::vector<Thread> threads_of(pid_t pid, const node::Page& page) {
    std::vector<Thread> threads;
    std::error_code error;
    const fs::path tasks = "/proc/" + std::to_string(pid) + "/task";
    for (fs::directory_iterator task(tasks, error), end; !error && task != end;
         task.increment(error)) {
        std::optional<Thread> thread = thread_at(task->path());
        if (!thread) continue;
        if (const node::Attached* entry = entry_of(page, thread->thread))
            look_at_memory(*thread, pid, *entry);
        threads.push_back(*thread);
    }
    return threads;
}

/// Returns the thread's name if it differs from the process's.
std::string own_name(pid_t pid, std::uint32_t thread) {
    const fs::path process = "/proc/" + std::to_string(pid);
    const std::string name = first_line(process / "task" / std::to_string(thread) / "comm");
    return name == first_line(process / "comm") ? std::string() : name;
}

}  // namespace

void make_fit(node::WaitsFor& what) {
    make_text_fit(what.call);
    for (node::AwaitedEvent& event : what.listed) {
        make_text_fit(event.communicator);
        make_text_fit(event.detail);
        if (static_cast<std::size_t>(event.kind) >= node::awaited_kinds)
            event.kind = node::AwaitedKind::unknown;
    }
}

void make_fit(node::UnexpectedMessages& messages) {
    for (node::UnexpectedMessage& message : messages.listed) make_text_fit(message.communicator);
}

Traffic traffic_on(const node::Page& page) {
    const node::Traffic& counters = node::traffic_of(page);
    Traffic traffic;
    traffic.is_counted = counters.is_counted.load(memory_order_relaxed) != 0;
    traffic.taken = counters.taken.load(memory_order_relaxed);
    for (std::size_t group = 0; group < node::traffic_groups; ++group)
        traffic.sent[group] = counters.sent[group].load(memory_order_relaxed) +
            counters.sent_in_queue[group].load(memory_order_relaxed);
    return traffic;
}

std::vector<Waiting> waiting_on(const node::Page& page) {
    std::vector<Waiting> result;
    for (const node::Blocked& entry : page.blocked) {
        for (int i = 0; i < most_attempts && entry.owner.load(memory_order_relaxed) != 0; ++i) {
            if (std::optional<Waiting> found = read_once(entry)) {
                result.push_back(std::move(*found));
                break;
            }
        }
    }
    return result;
}

node::UnexpectedMessages unexpected_on(const node::Page& page) {
    for (int i = 0; i < most_attempts; ++i) {
        const std::uint32_t version = page.unexpected_version.load(memory_order_acquire);
        node::UnexpectedMessages found{};
        std::memcpy(&found, &page.unexpected, sizeof found);
        // as in read_once()
        std::atomic_thread_fence(memory_order_acquire);
        if (version % 2 != 0 || page.unexpected_version.load(memory_order_relaxed) != version)
            continue;
        make_fit(found);
        return found;
    }
    return {};
}

void look_at(Rank& rank, const node::Page& page) {
    rank.phase = page.phase.load(memory_order_acquire);
    rank.thread_level = page.thread_level.load(memory_order_relaxed);
    rank.more_waiting = page.not_listed.load(memory_order_relaxed);
    rank.waiting = waiting_on(page);
    rank.unexpected = unexpected_on(page);
    rank.traffic = traffic_on(page);
    rank.threads = threads_of(rank.pid, page);
    for (const Thread& thread : rank.threads)
        if (const node::Attached* entry = entry_of(page, thread.thread))
            if (std::optional<Waiting> poller = tested_by(rank.pid, thread, *entry))
                rank.pollers.push_back(std::move(*poller));
    look_at_program_waits(rank);
    for (Waiting* waiting : waiting_and_pollers(rank))
        waiting->name = own_name(rank.pid, waiting->thread);
}

double longest_wait(const Snapshot& snapshot) {
    double longest = 0;
    for (const Rank& rank : snapshot.ranks)
        for (const Waiting& waiting : rank.waiting) longest = std::max(longest, waiting.seconds);
    return longest;
}

bool is_waiting(const Rank& rank, const Thread& thread) {
    return std::any_of(rank.waiting.begin(), rank.waiting.end(),
                       [&](const Waiting& waiting) { return waiting.thread == thread.thread; });
}

}  // namespace heddle::hangs
