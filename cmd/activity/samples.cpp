// SPDX-License-Identifier: BSD-3-Clause
#include "samples.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "core/thread.hpp"
#include "layout.hpp"
#include "platform/cpu.hpp"

namespace heddle::activity {
namespace {

// The object is another process's, of which only bytes are read.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
constexpr std::size_t call_offset = offsetof(core::Thread, call);
constexpr std::size_t tests_offset = offsetof(core::Thread, tests);
constexpr std::size_t progress_offset = offsetof(core::Thread, progress);
#pragma GCC diagnostic pop

std::string line_of(pid_t pid, std::uint32_t thread, const char* name) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread) + "/" +
                       name);
    std::string line;
    std::getline(file, line);
    return line;
}

/// Returns the time that it has run on a core, in nanoseconds.
std::uint64_t run_time(pid_t pid, std::uint32_t thread) {
    return std::strtoull(line_of(pid, thread, "schedstat").c_str(), nullptr, 10);
}

/// Returns true if the address lies in memory that the processes of a job share.
bool is_of_node(pid_t pid, std::uint64_t address) {
    std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
    for (std::string line; std::getline(maps, line);) {
        std::uint64_t begin = 0, end = 0;
        if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64, &begin, &end) == 2 &&
            address >= begin && address < end)
            return line.find("heddle-node") != std::string::npos;
    }
    return false;
}

enum class Asleep { no, in_mpi, elsewhere };

/// Returns whether the thread sleeps in MPI: at its own slot, or at the bell of its process.
Asleep asleep(pid_t pid, const hangs::Thread& thread) {
    const std::string call = line_of(pid, thread.thread, "syscall");
    int number = 0;
    std::uint64_t address = 0;
    const int read = std::sscanf(call.c_str(), "%d %" SCNx64, &number, &address);
    if (read < 1) return Asleep::no;  // it reads "running", or the kernel does not say
    const std::uint64_t place = thread.call_place - call_offset;
    if (read == 2 && number == SYS_futex &&
        ((address >= place && address < place + sizeof(core::Thread)) || is_of_node(pid, address)))
        return Asleep::in_mpi;
    return Asleep::elsewhere;
}

}  // namespace

std::optional<WaitCounts> wait_counts(pid_t pid, const hangs::Thread& thread) {
    if (thread.call_place < call_offset) return {};
    const std::uint64_t place = thread.call_place - call_offset;
    WaitCounts counts;
    alignas(tool::counters::Progress) std::byte bytes[sizeof(tool::counters::Progress)];
    const iovec local[] = {{&counts.tests, sizeof counts.tests}, {bytes, sizeof bytes}};
    const iovec remote[] = {{reinterpret_cast<void*>(place + tests_offset), sizeof counts.tests},
                            {reinterpret_cast<void*>(place + progress_offset), sizeof bytes}};
    if (::process_vm_readv(pid, local, 2, remote, 2, 0) !=
        static_cast<ssize_t>(sizeof counts.tests + sizeof bytes))
        return {};
    const auto value = [&](std::size_t offset) {
        std::uint64_t number = 0;
        std::memcpy(&number, bytes + offset, sizeof number);
        return number;
    };
    static_assert(sizeof(tool::Counter) == sizeof(std::uint64_t));
    using Progress = tool::counters::Progress;
    counts.polls =
        value(offsetof(Progress, progress_productive)) + value(offsetof(Progress, progress_empty));
    counts.sleeps = value(offsetof(Progress, sleeps)) + value(offsetof(Progress, wakeups));
    return counts;
}

void WaitSampler::look(pid_t pid, const hangs::Thread& thread) {
    first_ = wait_counts(pid, thread);
    run_ = run_time(pid, thread.thread);
}

void WaitSampler::look_again(pid_t pid, const hangs::Thread& thread) {
    const std::optional<WaitCounts> counts = wait_counts(pid, thread);
    if (!counts || !first_) return;
    const bool polls = *counts != *first_;
    const Asleep where = polls ? Asleep::no : asleep(pid, thread);
    if (!polls && where == Asleep::no && run_time(pid, thread.thread) == run_) return;
    ++samples_;
    waits_ += polls || where == Asleep::in_mpi ? 1 : 0;
}

std::optional<double> WaitSampler::share() const {
    if (samples_ == 0) return {};
    return static_cast<double>(waits_) / samples_;
}

std::unique_ptr<Traced> Traced::open(pid_t pid) {
    std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
    for (std::string line; std::getline(maps, line);) {
        if (!line.ends_with(trace::file_ending)) continue;
        const int fd = ::open(line.substr(line.find('/')).c_str(), O_RDONLY | O_CLOEXEC);
        struct stat found{};
        void* memory = MAP_FAILED;
        if (fd >= 0 && ::fstat(fd, &found) == 0 &&
            found.st_size == static_cast<off_t>(sizeof(trace::File)))
            memory = ::mmap(nullptr, sizeof(trace::File), PROT_READ, MAP_SHARED, fd, 0);
        if (fd >= 0) ::close(fd);
        if (memory == MAP_FAILED) return nullptr;
        const auto* file = static_cast<const trace::File*>(memory);
        if (file->magic == trace::file_magic && file->pid != 0)
            return std::unique_ptr<Traced>(new Traced(*file));
        ::munmap(memory, sizeof(trace::File));
        return nullptr;
    }
    return nullptr;
}

Traced::~Traced() { ::munmap(const_cast<trace::File*>(&file_), sizeof(trace::File)); }

std::optional<Traffic> Traced::traffic(std::uint32_t thread) {
    const trace::Ring* ring =
        std::find_if(std::begin(file_.rings), std::end(file_.rings),
                     [&](const trace::Ring& one) { return one.thread == thread; });
    if (ring == std::end(file_.rings)) return {};
    const std::uint64_t now = platform::ticks();
    const std::uint64_t written = ring->written.load(std::memory_order_acquire);
    const auto known = seen_.find(thread);
    const Seen before = known == seen_.end() ? Seen{written, now} : known->second;
    seen_[thread] = {written, now};
    if (known == seen_.end() || now <= before.ticks) return {};
    const std::uint64_t read_ticks = file_.last_ticks.load(std::memory_order_relaxed);
    const std::uint64_t read_real = file_.last_real.load(std::memory_order_relaxed);
    if (read_ticks <= file_.first_ticks) return {};
    const double seconds = static_cast<double>(now - before.ticks) / 1e9 *
        static_cast<double>(read_real - file_.first_real) /
        static_cast<double>(read_ticks - file_.first_ticks);
    const std::uint64_t kept = written > trace::ring_records ? written - trace::ring_records : 0;
    std::uint64_t first = std::max(kept, before.written);
    // Starts with the last call before the new records. It may still have been running then.
    const auto is_call = [&](std::uint64_t i) {
        return ring->records[i % trace::ring_records].kind < trace::kind_received;
    };
    while (first > kept && (first >= before.written || !is_call(first))) --first;
    std::uint64_t inside = 0, end_before = 0;
    Traffic traffic;
    for (std::uint64_t i = first; i < written; ++i) {
        const trace::Record& record = ring->records[i % trace::ring_records];
        const bool is_new = i >= before.written;
        if (is_new && (record.flags & (trace::flag_sends | trace::flag_complete)) != 0)
            traffic.messages += 1;
        if (record.kind >= trace::kind_received) continue;
        if (is_new) traffic.calls += 1 + record.repeats;
        const std::uint64_t begin = std::max({record.begin, before.ticks, end_before});
        const std::uint64_t end = record.end == 0 ? now : std::min(record.end, now);
        if (end <= begin) continue;
        inside += end - begin;
        end_before = end;
        if (record.end == 0) traffic.waits_for = awaited(record);
    }
    traffic.in_mpi =
        std::min(1.0, static_cast<double>(inside) / static_cast<double>(now - before.ticks));
    // Only the number is known of records that were overwritten meanwhile.
    if (written - before.written > trace::ring_records) {
        const double scale = static_cast<double>(written - before.written) /
            static_cast<double>(trace::ring_records);
        traffic.messages *= scale;
        traffic.calls *= scale;
        traffic.in_mpi = std::min(1.0, traffic.in_mpi * scale);
    }
    traffic.messages /= seconds;
    traffic.calls /= seconds;
    return traffic;
}

std::optional<int> Traced::awaited(const trace::Record& record) const {
    if (record.object == 0 || record.object >= trace::most_objects || record.peer < 0 ||
        (record.flags & trace::flag_collective) != 0)
        return {};
    const trace::Object& object = file_.objects[record.object];
    const std::uint64_t place =
        object.first_member + static_cast<std::uint64_t>(static_cast<std::uint32_t>(record.peer));
    if (static_cast<std::uint32_t>(record.peer) >= object.size || place >= trace::most_members ||
        file_.members[place] < 0)
        return {};
    return file_.members[place];
}

std::uint64_t resident_bytes(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
    std::uint64_t size = 0, resident = 0;
    file >> size >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace heddle::activity
