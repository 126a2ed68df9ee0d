// SPDX-License-Identifier: BSD-3-Clause
#include "launch/job.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>

#include "launch/launcher.hpp"
#include "launch/share_by_launcher.hpp"
#include "launch/variables.hpp"
#include "node/board.hpp"
#include "node/file.hpp"
#include "platform/cores.hpp"
#include "platform/memory.hpp"
#include "platform/printing.hpp"
#include "platform/shared_memory.hpp"

namespace heddle::launch {
namespace {

/// Keeps the descriptors and their names from programs that this one starts.
void keep_from_children(int node_descriptor) {
    const char* pmi = std::getenv("PMI_FD");
    if (pmi != nullptr && platform::is_socket(std::atoi(pmi)))
        platform::close_on_exec(std::atoi(pmi));
    platform::close_on_exec(node_descriptor);
    keep_variables_from_children();
}

Job alone() {
    Job job;
    job.universe_size = platform::cores().allowed;  // it can start others here
    const node::File file = node::File::of(1, node::Token::fresh());
    try {
        job.node_descriptor = node::create_file(file);
    } catch (const std::runtime_error& problem) {
        throw std::runtime_error(std::string("no shared memory: ") + problem.what());
    }
    claim_rank(job.node_descriptor, file, 0);
    return job;
}

/// The memory that Heddle's mpiexec has handed down: DESCRIPTOR:TOKEN.
struct Handed {
    int descriptor;
    node::Token token;

    Handed(const char* variable, const std::string& text) {
        const std::size_t colon = text.find(':');
        const char* const end = text.data() + std::min(colon, text.size());
        const auto token_there =
            colon == std::string::npos ? std::nullopt : node::Token::from(text.substr(colon + 1));
        if (!token_there || std::from_chars(text.data(), end, descriptor).ptr != end)
            throw std::runtime_error(std::string(variable) + "=" + text +
                                     " is not what mpiexec of this version says");
        token = *token_there;
    }
};

/// Joins by the memory that mpiexec has handed down. If another process has the place already, that
/// process has started this program, or shares an environment with it: this is a job of its own.
Job by_descriptor(const std::string& text) {
    Job job;
    const RankInJob who = rank_in_job();
    job.rank = who.rank;
    job.size = who.size;
    const Handed handed(node::node_descriptor_variable, text);
    const node::File file = node::File::of(job.size, handed.token);
    if (const std::string wrong = what_else(handed.descriptor, file); !wrong.empty())
        throw std::runtime_error("descriptor " + std::to_string(handed.descriptor) +
                                 " is not the memory of the job that " +
                                 node::node_descriptor_variable + " names: " + wrong +
                                 " (something between mpiexec and this program has closed it, or "
                                 "the variable is of another program)");
    const std::uint32_t before =
        claim_rank(handed.descriptor, file, static_cast<std::size_t>(job.rank));
    if (before != 0) {
        std::fprintf(
            stderr,
            "heddle: this program is a job of its own: rank %d of %d is process %u already\n",
            job.rank, job.size, before);
        keep_from_children(handed.descriptor);
        return alone();
    }
    job.node_descriptor = handed.descriptor;
    job.board_is_read = true;
    if (std::getenv("PMI_APPNUM") != nullptr) job.appnum = number_in("PMI_APPNUM");
    if (std::getenv("PMI_UNIVERSE_SIZE") != nullptr)
        job.universe_size = number_in("PMI_UNIVERSE_SIZE");
    keep_from_children(handed.descriptor);
    return job;
}

/// Returns the page of the keeper that has started this process. The keeper must have said so, and
/// no other process may have the page. It is advice for a report: if anything is wrong with it, the
/// job goes on without it.
node::Page* page_of_keeper() noexcept {
    // The place stays this process's when MPI is opened again. Not unmapped: threads may look at it
    // to the end.
    static auto& board = *new platform::Mapping;
    const auto own_page = [] { return board ? &node::board_page(board.address(), 0) : nullptr; };
    const char* text = std::getenv(node::keeper_descriptor_variable);
    if (text == nullptr || board) return own_page();
    try {
        const Handed handed(node::keeper_descriptor_variable, text);
        unsetenv(node::keeper_descriptor_variable);  // not for programs that this one starts
        const node::File file = node::File::of(1, handed.token);
        if (!what_else(handed.descriptor, file).empty()) return nullptr;
        platform::close_on_exec(handed.descriptor);
        if (claim_rank(handed.descriptor, file, 0) != 0) return nullptr;
        board = platform::map_shared(handed.descriptor, node::board_bytes(file.ranks));
    } catch (const std::runtime_error&) {
        return nullptr;
    }
    return own_page();
}

Job by_launcher(std::unique_ptr<Launcher> launcher, std::function<void()> between_nodes) {
    Job job;
    job.rank = launcher->rank();
    job.size = launcher->size();
    job.appnum = launcher->appnum();
    job.universe_size = launcher->universe_size();
    job.launcher = std::move(launcher);
    job.keeper_page = page_of_keeper();
    share_memory_by_launcher(job, std::move(between_nodes));
    return job;
}

}  // namespace

Job join(std::function<void()> between_nodes) {
    if (const char* handed = std::getenv(node::node_descriptor_variable))
        return by_descriptor(handed);
    if (auto launcher = find_launcher())
        return by_launcher(std::move(launcher), std::move(between_nodes));
    return alone();
}

void leave(Job& job) noexcept {
    if (job.launcher) job.launcher->leave();
    job.launcher.reset();
}

void abort(Job& job, int code, const std::string& reason) noexcept {
    std::fflush(stdout);
    if (!job.board_is_read) std::fprintf(stderr, "heddle: %s\n", reason.c_str());
    std::fflush(nullptr);
    if (job.launcher) {
        // A launcher that ends the job forwards the output that it has read until then.
        platform::wait_until_read(STDERR_FILENO, 1'000);
        job.launcher->abort(code);
    }
    _exit((code & 0xff) == 0 ? 1 : code & 0xff);
}

}  // namespace heddle::launch
