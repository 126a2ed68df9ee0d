// SPDX-License-Identifier: BSD-3-Clause
#include "launch/share_by_launcher.hpp"

#include <sstream>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include "launch/launcher.hpp"
#include "launch/node_file.hpp"
#include "platform/place.hpp"

namespace heddle::launch {
namespace {

constexpr const char* key = "node";

/// Where rank 0 has the memory: what it publishes, as MACHINE,NAMESPACE,PID,DESCRIPTOR,TOKEN.
struct Whereabouts {
    platform::Place place;
    std::string path;
    Token token;

    explicit Whereabouts(const std::string& text) {
        std::istringstream fields(text);
        std::string pid, descriptor, token_text;
        std::getline(fields, place.machine, ',');
        std::getline(fields, place.pid_namespace, ',');
        std::getline(fields, pid, ',');
        std::getline(fields, descriptor, ',');
        std::getline(fields, token_text);
        const auto is_number = [](const std::string& digits) {
            return !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
        };
        const auto read = Token::from(token_text);
        if (!read || !is_number(pid) || !is_number(descriptor))
            throw std::runtime_error("rank 0 says '" + text +
                                     "' of its memory, which is not what this version says");
        token = *read;
        path = "/proc/" + pid + "/fd/" + descriptor;
    }
    static std::string print(int descriptor, const Token& token) {
        const platform::Place here = platform::place_here();
        return here.machine + "," + here.pid_namespace + "," + std::to_string(getpid()) + "," +
            std::to_string(descriptor) + "," + token.text();
    }
};

/// Ranks that wait for each other before they find this out would hang.
void refuse_several_nodes(Job& job) {
    const std::size_t nodes = count_nodes(job.launcher->node_map());
    if (nodes <= 1) return;
    abort(job, 1,
          "rank " + std::to_string(job.rank) + " is in a job on " + std::to_string(nodes) +
              " hosts; ranks on several hosts are not connected yet: no network transport");
}

void refuse_another_place(const platform::Place& rank_0) {
    const platform::Place here = platform::place_here();
    if (here.machine != rank_0.machine)
        throw std::runtime_error(
            "it runs on another machine than rank 0; ranks share memory, so all of them must "
            "run on one machine");
    if (here.pid_namespace != rank_0.pid_namespace)
        throw std::runtime_error(
            "it runs in another PID namespace (container) than rank 0, where it cannot find "
            "rank 0's memory; Heddle's mpiexec hands it down");
}

NodeFile make(Job& job) {
    const NodeFile file = NodeFile::of(job.size, Token::fresh());
    job.node_descriptor = create_node_file(file);
    job.launcher->put(key, Whereabouts::print(job.node_descriptor, file.token));
    return file;
}

NodeFile find(Job& job) {
    const Whereabouts there(job.launcher->get(0, key));
    refuse_another_place(there.place);
    const NodeFile file = NodeFile::of(job.size, there.token);
    job.node_descriptor = open_node_file(there.path, file);
    return file;
}

void claim(const Job& job, const NodeFile& file) {
    if (const std::uint32_t before =
            claim_rank(job.node_descriptor, file, static_cast<std::size_t>(job.rank)))
        throw std::runtime_error("process " + std::to_string(before) +
                                 " has taken its place already");
}

}  // namespace

void share_memory_by_launcher(Job& job) try {
    refuse_several_nodes(job);
    NodeFile file{};
    if (job.rank == 0) file = make(job);
    job.launcher->fence();
    if (job.rank != 0) file = find(job);
    claim(job, file);
    job.launcher->fence();  // rank 0 is still there to be opened until now
} catch (const std::runtime_error& problem) {
    abort(job, 1,
          "rank " + std::to_string(job.rank) +
              " cannot share memory with the others: " + problem.what());
}

}  // namespace heddle::launch
