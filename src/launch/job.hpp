// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Which job this process belongs to, and what it shares with the others on its node.
///
/// mpiexec of Heddle hands down shared memory (node/board.hpp) and PMI_RANK, PMI_SIZE. Ranks of another
/// launcher (launch/launcher.hpp) on one node tell each other where their memory is. A program that is started
/// alone is a job of one.

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
    int appnum = -1;             ///< which of the launcher's programs this is; -1: not said
    int universe_size = -1;      ///< how many processes there can be; -1: not known
    NodeMap nodes;               ///< empty: all ranks are on one node
    int node_descriptor = -1;    ///< shared memory of the ranks of this node
    bool board_is_read = false;  ///< the launcher reports what stands on the board
    node::Page* keeper_page =
        nullptr;  ///< where somebody else reads who is blocked; nullptr: nobody does
    node::Token
        token;  ///< of the whole job, where somebody has told it; else that of the node's memory
    std::shared_future<void> between_nodes;  ///< what join() was given to do; not valid on one node
    std::shared_ptr<Launcher> launcher;      ///< to say good-bye to; empty if nobody listens

    Numbering numbering() const {
        return nodes.empty() ? Numbering(rank, size) : Numbering(rank, nodes);
    }
};

/// Joins the job. Throws std::runtime_error with a sentence that says what is wrong, also when a
/// launcher is there that is not understood. A thread of its own does `between_nodes` as soon as the launcher says
/// that the job is on several nodes, beside the exchange with the others: what takes long and only such a job needs.
Job join(std::function<void()> between_nodes = {});

/// Tells the launcher that this process leaves the job in order. Nothing the second time.
void leave(Job& job) noexcept;

/// Ends the whole job: tells the launcher, and exits with `code` (1 if its low byte is zero). The
/// reason goes to stderr, unless the launcher has it from the board.
[[noreturn]] void abort(Job& job, int code, const std::string& reason) noexcept;

}  // namespace heddle::launch
