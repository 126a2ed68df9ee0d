// SPDX-License-Identifier: BSD-3-Clause
#include "node/file.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <unistd.h>

#include "node/board.hpp"
#include "node/layout.hpp"
#include "platform/limits.hpp"
#include "platform/memory.hpp"
#include "platform/shared_memory.hpp"

namespace heddle::node {
namespace {

FileHeader header_of(const File& file, std::size_t bytes) noexcept {
    return {board_magic, bytes, file.ranks, file.token};
}

std::size_t least_bytes(const File& file) noexcept { return node::Layout::of(file.ranks).bytes(0); }

/// Returns how large the file is made. Stages, rings of payload and segments are a luxury.
std::size_t most_bytes(const File& file) {
    const std::string why =
        platform::limit_that_forbids({.file = node::Layout::of(file.ranks).bytes(0)});
    if (!why.empty())
        throw std::runtime_error("a job of " + std::to_string(file.ranks) +
                                 " ranks does not fit: " + why);
    return node::Layout::most_bytes(file.ranks, platform::most_file_bytes());
}

}  // namespace

File File::of(int ranks, const Token& token) {
    constexpr std::size_t most = node::most_processes;
    const auto processes = static_cast<std::size_t>(ranks);
    if (processes > most)
        throw std::runtime_error(std::to_string(ranks) +
                                 " ranks are too many for one machine: at most " +
                                 std::to_string(most) + " can share memory");
    return {processes, token};
}

int create_file(const File& file) {
    const char* step = "";
    const std::size_t bytes = most_bytes(file);
    const int descriptor = platform::create_shared_memory("heddle-node", bytes, step);
    if (descriptor < 0) throw std::runtime_error(platform::why_refused(step, errno));
    const FileHeader header = header_of(file, bytes);
    if (pwrite(descriptor, &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header))
        return descriptor;
    const int error = errno;
    close(descriptor);
    throw std::runtime_error(platform::why_refused("write", error));
}

std::string what_else(int descriptor, const File& file) {
    const std::size_t bytes = platform::shared_memory_bytes(descriptor);
    if (bytes < least_bytes(file))
        return errno == EBADF
            ? "it is not open"
            : "it is no memory of " + std::to_string(file.ranks) + " ranks of this version";
    FileHeader found{};
    if (pread(descriptor, &found, sizeof found, 0) != static_cast<ssize_t>(sizeof found))
        return std::string("it cannot be read: ") + std::strerror(errno);
    return found == header_of(file, bytes) ? "" : "it is the memory of another job";
}

int open_file(const std::string& path, const File& file) {
    const int descriptor = platform::open_shared_memory(path, least_bytes(file));
    if (descriptor < 0)
        throw std::runtime_error(
            path +
            (errno == EINVAL ? " is something else" : std::string(": ") + std::strerror(errno)));
    const std::string wrong = what_else(descriptor, file);
    if (wrong.empty()) return descriptor;
    close(descriptor);
    throw std::runtime_error(path + ": " + wrong);
}

std::uint32_t claim_rank(int descriptor, const File& file, std::size_t rank) {
    const platform::Mapping board = platform::map_shared(descriptor, board_bytes(file.ranks));
    if (!board) throw std::runtime_error(platform::why_refused("mmap", errno));
    std::uint32_t nobody = 0;
    board_page(board.address(), rank)
        .pid.compare_exchange_strong(nobody, static_cast<std::uint32_t>(getpid()));
    return nobody;
}

}  // namespace heddle::node
