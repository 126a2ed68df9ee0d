// SPDX-License-Identifier: BSD-3-Clause
#include "launch/job.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include "launch/board.hpp"
#include "launch/launchers.hpp"
#include "launch/node_file.hpp"
#include "launch/pmi.hpp"
#include "launch/share_by_pmi.hpp"
#include "platform/shared_memory.hpp"

namespace heddle::launch {
namespace {

int number(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr) throw std::runtime_error(std::string(variable) + " is missing");
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < 0 || value > 1'000'000)
        throw std::runtime_error(std::string(variable) + "=" + text + " is not a number of ranks");
    return static_cast<int>(value);
}

void read_rank(Job& job) {
    job.rank = number("PMI_RANK");
    job.size = number("PMI_SIZE");
    if (job.rank >= job.size)
        throw std::runtime_error("PMI_RANK=" + std::to_string(job.rank) + " is no rank of " +
                                 std::to_string(job.size));
}

/// Programs that this one starts are not ranks of the job: neither the descriptors nor their names are for
/// them. Which rank they come from they may know.
void keep_from_children(int node_descriptor) {
    const char* pmi = std::getenv("PMI_FD");
    if (pmi != nullptr && platform::is_socket(std::atoi(pmi)))
        platform::close_on_exec(std::atoi(pmi));
    if (node_descriptor >= 0) platform::close_on_exec(node_descriptor);
    unsetenv("PMI_FD");
    unsetenv(node_descriptor_variable);
}

/// The number may be all that is left of a connection, and that of a file by now, which is not to be written to.
int launcher_descriptor() {
    const int descriptor = number("PMI_FD");
    if (platform::is_socket(descriptor)) return descriptor;
    throw std::runtime_error(
        "PMI_FD=" + std::to_string(descriptor) +
        " is no connection to a launcher (something between it and this program has closed it, "
        "or the variable is of another program)");
}

Job alone() {
    Job job;
    const NodeFile file = NodeFile::of(1, Token::fresh());
    try {
        job.node_descriptor = create_node_file(file);
    } catch (const std::runtime_error& problem) {
        throw std::runtime_error(std::string("no shared memory: ") + problem.what());
    }
    claim_rank(job.node_descriptor, file, 0);
    return job;
}

/// What Heddle's mpiexec has handed down: DESCRIPTOR:TOKEN.
struct Handed {
    int descriptor;
    Token token;

    explicit Handed(const std::string& text) {
        const std::size_t colon = text.find(':');
        const char* const end = text.data() + std::min(colon, text.size());
        const auto token_there =
            colon == std::string::npos ? std::nullopt : Token::from(text.substr(colon + 1));
        if (!token_there || std::from_chars(text.data(), end, descriptor).ptr != end)
            throw std::runtime_error(std::string(node_descriptor_variable) + "=" + text +
                                     " is not what mpiexec of this version says");
        token = *token_there;
    }
};

/// By the memory that mpiexec has handed down. Where another process has the place already, this is a program
/// that it has started, or one of several that share an environment: a job of its own.
Job by_descriptor(const std::string& text) {
    Job job;
    read_rank(job);
    const Handed handed(text);
    const NodeFile file = NodeFile::of(job.size, handed.token);
    if (const std::string wrong = what_else(handed.descriptor, file); !wrong.empty())
        throw std::runtime_error("descriptor " + std::to_string(handed.descriptor) +
                                 " is not the memory of the job that " + node_descriptor_variable +
                                 " names: " + wrong +
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
    if (std::getenv("PMI_APPNUM") != nullptr) job.appnum = number("PMI_APPNUM");
    keep_from_children(handed.descriptor);
    return job;
}

}  // namespace

Job join() {
    if (const char* handed = std::getenv(node_descriptor_variable)) return by_descriptor(handed);
    if (std::getenv("PMI_FD") != nullptr) {
        Job job;
        read_rank(job);
        job.pmi = std::make_shared<PmiClient>(launcher_descriptor());
        keep_from_children(-1);
        share_memory_by_pmi(job);
        return job;
    }
    refuse_other_launchers();
    return alone();
}

void leave(Job& job) noexcept {
    if (job.pmi) job.pmi->finalize();
    job.pmi.reset();
}

void abort(Job& job, int code, const std::string& reason) noexcept {
    std::fflush(stdout);
    if (!job.board_is_read) std::fprintf(stderr, "heddle: %s\n", reason.c_str());
    std::fflush(nullptr);
    if (job.pmi) job.pmi->abort(code);
    _exit((code & 0xff) == 0 ? 1 : code & 0xff);
}

}  // namespace heddle::launch
