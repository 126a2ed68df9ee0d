// SPDX-License-Identifier: BSD-3-Clause
#include "node_memory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
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

/// Calls a function of the library and turns its errors into Failure.
template <class Function>
auto checked(Function&& function) {
    try {
        return function();
    } catch (const std::runtime_error& problem) {
        fail(problem.what());
    }
}

/// Returns a text that ends at NUL or with its array. Characters that would break a line become
/// '?'.
template <std::size_t size>
std::string bounded(const char (&text)[size]) {
    std::string result(text, ::strnlen(text, size));
    for (char& c : result)
        if (static_cast<unsigned char>(c) < ' ') c = '?';
    return result;
}

}  // namespace

NodeMemory::NodeMemory(int ranks)
    : file_(checked([&] { return node::File::of(ranks, node::Token::fresh()); })),
      fd_(out_of_the_way(UniqueFd(checked([&] { return node::create_file(file_); })))),
      bytes_(node::board_bytes(file_.ranks)) {
    board_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd_.get(), 0);
    if (board_ == MAP_FAILED) fail(platform::why_refused("mmap", errno));
}

std::string NodeMemory::name_for_ranks() const {
    return fmt::format("{}:{}", fd(), file_.token.text());
}

NodeMemory::~NodeMemory() { ::munmap(board_, bytes_); }

const node::Page& NodeMemory::page(int rank) const {
    return node::board_page(board_, static_cast<std::size_t>(rank));
}

node::Phase NodeMemory::phase(int rank) const {
    return page(rank).phase.load(memory_order_acquire);
}
int NodeMemory::abort_code(int rank) const {
    return page(rank).abort_code.load(memory_order_relaxed);
}
std::string NodeMemory::abort_reason(int rank) const { return bounded(page(rank).abort_reason); }

}  // namespace heddle::mpiexec
