// SPDX-License-Identifier: BSD-3-Clause
/// The contract of launch/launcher.hpp, checked for the launcher that has started this program. The
/// program is one rank of SIZE. They run on NODES nodes, each of which gets a memory of its own.
/// Each rank says "rank R conforms".

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include "launch/job.hpp"
#include "launch/launcher.hpp"
#include "launch/share_by_launcher.hpp"
#include "node/board.hpp"
#include "platform/memory.hpp"

namespace {

using heddle::launch::Launcher;

void demand(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(what);
}

/// Returns bytes of a length that depends on the rank and is beyond what a launcher keeps in one
/// piece.
std::string value_of(int rank, std::size_t bytes) {
    std::string value;
    for (std::size_t i = 0; i < bytes; ++i)
        value += static_cast<char>((i * 7 + static_cast<std::size_t>(rank)) % 256);
    return value;
}

void exchange_values(Launcher& launcher) {
    for (const std::size_t bytes : {0U, 1U, 1023U, 1024U, 1025U, 5'000U}) {
        const std::string key = std::string("v").append(std::to_string(bytes));
        launcher.put(key, value_of(launcher.rank(), bytes));
        launcher.fence();
        for (int rank = 0; rank < launcher.size(); ++rank)
            demand(launcher.get(rank, key) == value_of(rank, bytes), "a value is another");
    }
}

void fence_often(Launcher& launcher) {
    for (int i = 0; i < 20; ++i) launcher.fence();
}

/// Checks that the ranks of a node share one memory. Each has the place of its number, and no
/// other.
void share_memory(const std::shared_ptr<Launcher>& launcher, std::size_t nodes) {
    heddle::launch::Job job;
    job.rank = launcher->rank();
    job.size = launcher->size();
    job.launcher = launcher;
    std::atomic<bool> between_nodes{false};
    share_memory_by_launcher(job, [&] { between_nodes = true; });
    demand(job.between_nodes.valid() == (nodes > 1), "work for several nodes is done on one");
    if (job.between_nodes.valid()) job.between_nodes.get();
    demand(between_nodes == (nodes > 1), "work for several nodes is not done");
    demand(job.nodes.empty() == (nodes == 1), "nodes are kept where there is one");
    const auto numbers = job.numbering();
    const auto ranks_here = static_cast<std::size_t>(numbers.here());
    const auto board =
        heddle::platform::map_shared(job.node_descriptor, heddle::node::board_bytes(ranks_here));
    demand(static_cast<bool>(board), "the memory cannot be mapped");
    const auto page = [&](int number) -> heddle::node::Page& {
        return heddle::node::board_page(board.address(), static_cast<std::size_t>(number));
    };
    page(numbers.own()).token = heddle::node::Token::fresh();
    launcher->put("mark", page(numbers.own()).token.text());
    launcher->fence();
    for (int number = 0; number < numbers.here(); ++number)
        demand(page(number).token.text() == launcher->get(numbers.rank_of(number), "mark"),
               "a place has another rank");
}

void check(Launcher& launcher, int size, std::size_t nodes) {
    demand(launcher.size() == size, "the size is another");
    demand(launcher.rank() >= 0 && launcher.rank() < size, "the rank is none");
    const auto map = launcher.node_map();
    demand(map.size() == static_cast<std::size_t>(size), "the node map is not of all ranks");
    demand(std::set(map.begin(), map.end()).size() == nodes, "the nodes are more or less");
    demand(launcher.appnum() <= 0, "the number of the program is another");
    const int universe = launcher.universe_size();
    demand(universe == -1 || universe >= 1, "the size of the universe is none");
    exchange_values(launcher);
    fence_often(launcher);
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 3) return 2;
    const std::shared_ptr<Launcher> launcher = heddle::launch::find_launcher();
    demand(launcher != nullptr, "there is no launcher");
    const auto nodes = static_cast<std::size_t>(std::atoi(argv[2]));
    check(*launcher, std::atoi(argv[1]), nodes);
    share_memory(launcher, nodes);
    demand(heddle::launch::find_launcher() == nullptr, "what it starts would take its place");
    std::printf("rank %d conforms\n", launcher->rank());
    std::fflush(stdout);
    launcher->leave();
    return 0;
} catch (const std::exception& problem) {
    std::fprintf(stderr, "conformance: %s\n", problem.what());
    return 1;
}
