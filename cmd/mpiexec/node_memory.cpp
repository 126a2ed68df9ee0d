// SPDX-License-Identifier: BSD-3-Clause
#include "node_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>

#include "say.hpp"

namespace heddle::mpiexec {

namespace {

using std::memory_order_acquire;
using std::memory_order_relaxed;

[[noreturn]] void fail(const char* what) {
    throw Failure(
        exit_failed,
        fmt::format("cannot make the shared memory of the ranks: {}: {}", what, error_text(errno)));
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
    : bytes_(static_cast<std::size_t>(ranks) * launch::board_page_bytes) {
    fd_ = out_of_the_way(UniqueFd(::memfd_create("heddle-node", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
    if (!fd_) fail("memfd_create");
    if (::ftruncate(fd_.get(), static_cast<off_t>(bytes_)) != 0) fail("ftruncate");
    ::fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK);  // without it only a hostile rank could hurt us
    board_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd_.get(), 0);
    if (board_ == MAP_FAILED) fail("mmap");
}

NodeMemory::~NodeMemory() { ::munmap(board_, bytes_); }

const launch::Page& NodeMemory::page(int rank) const {
    return launch::board_page(board_, static_cast<std::size_t>(rank));
}

launch::Stage NodeMemory::stage(int rank) const {
    return page(rank).stage.load(memory_order_acquire);
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
