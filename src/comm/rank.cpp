// SPDX-License-Identifier: BSD-3-Clause
#include "comm/rank.hpp"

#include <mutex>
#include <stdexcept>
#include <utility>

namespace heddle::comm {

Rank::Rank(launch::Job joined)
    : Process(std::move(joined)), recycling_(contexts, freed_contexts, job.rank) {
    recycling = &recycling_;
}

Rank::Rank(launch::Job joined, transport::shm::Node mapped)
    : Process(std::move(joined), std::move(mapped)),
      recycling_(contexts, freed_contexts, job.rank) {
    recycling = &recycling_;
}

objects::Process& need_process_of_program() {
    // Two sessions may be opened at once.
    static std::mutex& lock = *new std::mutex;
    if (objects::Process* process = objects::process_of_program();
        process != nullptr && process->is_copy())
        throw std::runtime_error(objects::forked_text);
    std::lock_guard guard(lock);
    if (objects::Process* process = objects::process_of_program()) return *process;
    auto& process = *new Rank(launch::join());  // never destroyed: threads may outlive main()
    objects::be_process_of_program(process);
    return process;
}

}  // namespace heddle::comm
