// SPDX-License-Identifier: BSD-3-Clause
#include "launch/share_by_launcher.hpp"

#include <future>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "launch/launcher.hpp"
#include "node/file.hpp"
#include "platform/place.hpp"

namespace heddle::launch {
namespace {

constexpr const char* key = "node";
constexpr const char* token_key = "job";

/// The place of the memory of a node's first rank. That rank publishes it as
/// MACHINE,NAMESPACE,PID,DESCRIPTOR,TOKEN.
struct Whereabouts {
    platform::Place place;
    std::string path;
    node::Token token;

    Whereabouts(int rank, const std::string& text) {
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
        const auto read = node::Token::from(token_text);
        if (!read || !is_number(pid) || !is_number(descriptor))
            throw std::runtime_error("rank " + std::to_string(rank) + " says '" + text +
                                     "' of its memory, which is not what this version says");
        token = *read;
        path = "/proc/" + pid + "/fd/" + descriptor;
    }
    static std::string print(int descriptor, const node::Token& token) {
        const platform::Place here = platform::place_here();
        return here.machine + "," + here.pid_namespace + "," + std::to_string(getpid()) + "," +
            std::to_string(descriptor) + "," + token.text();
    }
};

/// Returns the node map. A job on one node needs none, even if the launcher tells it.
NodeMap nodes_of(Launcher& launcher) {
    NodeMap map = launcher.node_map();
    return has_several_nodes(map) ? map : NodeMap{};
}

/// Refuses a rank in another place. Ranks of a node share memory, and a launcher that does not tell
/// nodes is taken to have one.
void refuse_another_place(int first, const platform::Place& of_first) {
    const platform::Place here = platform::place_here();
    const std::string other = "than rank " + std::to_string(first);
    if (here.machine != of_first.machine)
        throw std::runtime_error("it runs on another machine " + other +
                                 ", but the launcher does not show them on two hosts");
    if (here.pid_namespace != of_first.pid_namespace)
        throw std::runtime_error("it runs in another PID namespace (container) " + other +
                                 ", whose memory it cannot find; Heddle's mpiexec hands it down");
}

node::File make(Job& job, int ranks_here) {
    const node::File file = node::File::of(ranks_here, node::Token::fresh());
    job.node_descriptor = node::create_file(file);
    if (ranks_here > 1) job.launcher->put(key, Whereabouts::print(job.node_descriptor, file.token));
    return file;
}

node::File find(Job& job, int first, int ranks_here) {
    const Whereabouts there(first, job.launcher->get(first, key));
    refuse_another_place(first, there.place);
    const node::File file = node::File::of(ranks_here, there.token);
    job.node_descriptor = node::open_file(there.path, file);
    return file;
}

void begin(Job& job, std::function<void()> task) try {
    if (!job.nodes.empty() && task)
        job.between_nodes = std::async(std::launch::async, std::move(task));
} catch (const std::system_error&) {
    // There is no thread to be had. The caller that needs the work will do it.
}

void claim(const Job& job, const node::File& file, int place) {
    if (const std::uint32_t before =
            claim_rank(job.node_descriptor, file, static_cast<std::size_t>(place)))
        throw std::runtime_error("process " + std::to_string(before) +
                                 " has taken its place already");
}

/// Chooses the token that tells strangers from ranks of a job on several nodes. Rank 0 chooses it
/// before the fence, and all read it after.
void choose_token(const Job& job) {
    if (job.rank == 0 && !job.nodes.empty())
        job.launcher->put(token_key, node::Token::fresh().text());
}
void read_token(Job& job) {
    if (job.nodes.empty()) return;
    const auto token = node::Token::from(job.launcher->get(0, token_key));
    if (!token) throw std::runtime_error("rank 0 has published no token of the job");
    job.token = *token;
}

}  // namespace

void share_memory_by_launcher(Job& job, std::function<void()> between_nodes) try {
    job.nodes = nodes_of(*job.launcher);
    begin(job, std::move(between_nodes));
    const Numbering numbers = job.numbering();
    const int first = numbers.rank_of(0);
    node::File file{};
    if (job.rank == first) file = make(job, numbers.here());
    choose_token(job);
    job.launcher->fence();
    if (job.rank != first) file = find(job, first, numbers.here());
    claim(job, file, numbers.own());
    read_token(job);
    // Until now the first rank is still there to be opened. Between nodes the fence of the
    // addresses follows.
    if (job.nodes.empty()) job.launcher->fence();
} catch (const std::runtime_error& problem) {
    abort(job, 1,
          "rank " + std::to_string(job.rank) +
              " cannot share memory with the others: " + problem.what());
}

}  // namespace heddle::launch
