// SPDX-License-Identifier: BSD-3-Clause
#include "node_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <stdexcept>

#include "platform/shared_memory.hpp"
#include "say.hpp"

namespace heddle::mpiexec {

namespace {

using std::memory_order_acquire;
using std::memory_order_relaxed;

[[noreturn]] void fail(const std::string& why) {
    throw Failure(exit_failed, fmt::format("cannot make the shared memory of the ranks: {}", why));
}

/// Calls a function of the library, whose errors are sentences.
template <class Function>
auto checked(Function&& function) {
    try {
        return function();
    } catch (const std::runtime_error& problem) {
        fail(problem.what());
    }
}

/// A text that ends in NUL or with its array; what would break a line of a report becomes '?'.
template <std::size_t size>
std::string bounded(const char (&text)[size]) {
    std::string result(text, ::strnlen(text, size));
    for (char& c : result)
        if (static_cast<unsigned char>(c) < ' ') c = '?';
    return result;
}

std::int64_t now_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// One reading of an entry; nothing when it is free or was written meanwhile.
std::optional<BlockedThread> read_once(const launch::Blocked& entry) {
    const std::uint32_t version = entry.version.load(memory_order_acquire);
    const std::uint32_t owner = entry.owner.load(memory_order_acquire);
    if (owner == 0 || version % 2 != 0) return {};
    const std::int64_t since = entry.since_ns.load(memory_order_relaxed);
    BlockedThread result{owner,
                         static_cast<double>(std::max<std::int64_t>(0, now_ns() - since)) / 1e9,
                         bounded(entry.text)};
    // The fence keeps the reads above before the second look at version.
    std::atomic_thread_fence(memory_order_acquire);
    if (entry.version.load(memory_order_relaxed) != version) return {};
    return result;
}

}  // namespace

NodeMemory::NodeMemory(int ranks)
    : file_(checked([&] { return launch::NodeFile::of(ranks, launch::Token::fresh()); })),
      fd_(out_of_the_way(UniqueFd(checked([&] { return launch::create_node_file(file_); })))),
      bytes_(launch::board_bytes(file_.ranks)) {
    board_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd_.get(), 0);
    if (board_ == MAP_FAILED) fail(platform::why_refused("mmap", errno));
}

std::string NodeMemory::name_for_ranks() const {
    return fmt::format("{}:{}", fd(), file_.token.text());
}

NodeMemory::~NodeMemory() { ::munmap(board_, bytes_); }

const launch::Page& NodeMemory::page(int rank) const {
    return launch::board_page(board_, static_cast<std::size_t>(rank));
}

launch::Phase NodeMemory::phase(int rank) const {
    return page(rank).phase.load(memory_order_acquire);
}
int NodeMemory::abort_code(int rank) const {
    return page(rank).abort_code.load(memory_order_relaxed);
}
std::string NodeMemory::abort_reason(int rank) const { return bounded(page(rank).abort_reason); }

std::vector<BlockedThread> NodeMemory::blocked(int rank) const {
    constexpr int attempts = 100;  // a rank killed while writing leaves an odd version for ever
    std::vector<BlockedThread> result;
    for (const launch::Blocked& entry : page(rank).blocked) {
        for (int i = 0; i < attempts && entry.owner.load(memory_order_relaxed) != 0; ++i) {
            if (std::optional<BlockedThread> found = read_once(entry)) {
                result.push_back(std::move(*found));
                break;
            }
        }
    }
    return result;
}

}  // namespace heddle::mpiexec
