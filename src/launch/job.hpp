// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The job of this process, and the memory that it shares with the other ranks on its node.
///
/// mpiexec of Heddle hands down shared memory (node/board.hpp) and PMI_RANK, PMI_SIZE. Ranks of
/// another launcher (launch/launcher.hpp) on one node tell each other where their memory is. A
/// program that is started alone is a job of one.

#include <functional>
#include <future>
#include <memory>
#include <string>

#include "launch/numbering.hpp"
#include "node/token.hpp"

namespace heddle::node {
struct Page;
}

namespace heddle::launch {

class Launcher;

struct Job {
    int rank = 0;
    int size = 1;
    int appnum = -1;             ///< number of this program among the launcher's; -1: not told
    int universe_size = -1;      ///< the most processes that there can be; -1: not known
    NodeMap nodes;               ///< empty: all ranks are on one node
    int node_descriptor = -1;    ///< shared memory of the ranks of this node
    bool board_is_read = false;  ///< the launcher reports the contents of the board
    /// The page in which a keeper reads which thread is blocked; nullptr if there is no keeper.
    node::Page* keeper_page = nullptr;
    /// The token of the whole job if it has been told; otherwise that of the node's memory.
    node::Token token;
    /// The task that join() was given; not valid on one node.
    std::shared_future<void> between_nodes;
    /// The launcher to say good-bye to; empty if there is none.
    std::shared_ptr<Launcher> launcher;

    Numbering numbering() const {
        return nodes.empty() ? Numbering(rank, size) : Numbering(rank, nodes);
    }
};

/// Joins the job. Throws std::runtime_error with a sentence that names the problem, also if there
/// is a launcher that is not understood. A thread of its own runs `between_nodes` as soon as the
/// launcher says that the job is on several nodes. It runs beside the exchange with the other
/// ranks, and does long work that only such a job needs.
Job join(std::function<void()> between_nodes = {});

/// Tells the launcher that this process leaves the job in order. Does nothing the second time.
void leave(Job& job) noexcept;

/// Ends the whole job: tells the launcher, and exits with `code` (1 if its low byte is zero). The
/// reason goes to stderr, unless the launcher has it from the board.
[[noreturn]] void abort(Job& job, int code, const std::string& reason) noexcept;

}  // namespace heddle::launch
