// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The shared file pointer (MPI 5.0, 14.4.4): a number of etypes that all processes of a file have
/// in common.
///
/// On one node it lies in a segment of the node's memory. Processes of several nodes have a window
/// for it, in the memory of rank 0.
///
/// Errors         functions that return int return an MPI error code that has been raised.

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/thread.hpp"
#include "objects/communicator.hpp"
#include "objects/window.hpp"

namespace heddle::io {

class SharedPointer {
public:
    SharedPointer(objects::Process& process, objects::Communicator& communicator) noexcept
        : process_(process), communicator_(communicator) {}
    ~SharedPointer();
    SharedPointer(const SharedPointer&) = delete;
    SharedPointer& operator=(const SharedPointer&) = delete;

    /// Makes the pointer. Collective. On one node rank 0 has taken `segment` and told all, or there
    /// is none.
    int begin(core::Thread& thread, const node::Segment& segment);
    /// Frees the pointer. Collective, before the communicator is freed.
    int end(core::Thread& thread);

    /// Returns whether this process has it.
    bool is_there() const noexcept;

    /// Adds `etypes`. `before` receives the old value.
    int fetch_add(core::Thread& thread, std::int64_t etypes, std::int64_t& before);
    int store(core::Thread& thread, std::int64_t etypes);
    int load(core::Thread& thread, std::int64_t& etypes) { return fetch_add(thread, 0, etypes); }

private:
    int in_window(core::Thread& thread, MPI_Op operation, std::int64_t operand,
                  std::int64_t& before);

    objects::Process& process_;
    objects::Communicator& communicator_;
    node::Segment segment_;
    std::shared_ptr<const platform::Mapping> mapping_;
    std::atomic<std::int64_t>* word_ = nullptr;
    objects::Window* window_ = nullptr;
};

}  // namespace heddle::io
