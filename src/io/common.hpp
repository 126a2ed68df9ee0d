// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// State that the files of one process share: representations of the program, and the threads that
/// move data while the program computes. The first file makes it.

#include <memory>
#include <mutex>

#include "io/representation.hpp"
#include "io/workers.hpp"

namespace heddle::objects {
class Process;
}

namespace heddle::io {

struct Common {
    explicit Common(objects::Process& process) : workers(process, most_workers) {}

    static constexpr int most_workers = 4;
    Representations representations;
    Workers workers;
};

/// Returns the shared state. Throws std::bad_alloc.
std::shared_ptr<Common> common_of(objects::Process& process);

}  // namespace heddle::io
