// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A function for each collective. It makes buffers, fills them, calls, and knows the expected
/// result.

#include "collective_cases.hpp"

namespace collective {

enum class Form { blocking, nonblocking, persistent };

/// A call that has been made, or is to be made.
struct Call {
    const char* name = "";
    const Shape* shape;
    Form form;
    bool large;
    bool in_place;
    std::uint64_t seed;
    int root, root_group;
    std::size_t units;  ///< of six words, in a block
    const Operation* op;
    MPI_Request request = MPI_REQUEST_NULL;
    std::shared_ptr<Buffer> in, out;
    std::function<void()> fill, check;  ///< buffers before and after

    int group() const { return shape->group; }
    int rank() const { return shape->rank; }
    int others() const { return shape->others; }
    bool rooted_here() const { return !shape->inter || group() == root_group; }
    bool is_root() const { return rooted_here() && rank() == root; }
    /// Returns the argument for the root.
    int root_argument() const {
        if (!shape->inter || !rooted_here()) return root;
        return is_root() ? MPI_ROOT : MPI_PROC_NULL;
    }
    /// Returns whether this is a process of the root's group that has no part.
    bool idle() const { return shape->inter && rooted_here() && !is_root(); }
};

/// The generator from which the calling thread draws layouts: each rank has its own.
extern thread_local std::mt19937 layout_choice;

/// The functions of all collectives. Each makes buffers and functions that fill and check them.
/// Then it fills them and calls. The first are for every communicator, the others for
/// intracommunicators.
extern int (*const everywhere[15])(Call&);
extern int (*const within[2])(Call&);

void reduce_locally(const Shape& shape, const std::vector<Operation>& operations);

}  // namespace collective
