// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/program_threads.hpp"

#include <system_error>

#include "p2p/node_worker.hpp"

namespace heddle::p2p {

void ProgramThreads::count(int change) noexcept {
    change > 0 ? lone_thread_.arrive() : lone_thread_.leave();
    find_out_about_cores();
}

void ProgramThreads::find_out_about_cores() noexcept {
    cores_.find_out(static_cast<int>(lone_thread_.threads()) - network_workers_.load(relaxed));
}

/// Starts the worker. If there can be no other thread, no report follows, since no user asked for
/// it by name.
void ProgramThreads::start_worker() noexcept {
    look_for_late_processes();
    if (!cores_.one_is_spare()) return;
    NodeWorker* const worker = to_start_.exchange(nullptr, acq_rel);
    if (worker == nullptr) return;
    try {
        worker->start();
    } catch (const std::system_error&) {}
}

}  // namespace heddle::p2p
