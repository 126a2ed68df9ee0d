// SPDX-License-Identifier: BSD-3-Clause
#include "api/closing.hpp"

#include <cstdio>
#include <mutex>
#include <string>

#include "api/advice_report.hpp"
#include "api/counter_report.hpp"
#include "comm/finalize.hpp"
#include "p2p/engine.hpp"
#include "platform/sanitizers.hpp"

namespace heddle::api {

void close(core::Thread& thread) {
    objects::Process& process = *thread.process;
    // One call after the other, so that the last one knows that it is the last.
    std::lock_guard guard(process.closing);
    if (process.is_last_use()) comm::hand_over_everything(thread);
    if (!process.close()) return;
    report_counters(process);
    report_advice(process);
    if (const std::string problem = process.engine->close_recording(); !problem.empty())
        std::fprintf(stderr, "heddle: recording of rank %d: %s\n", process.rank(), problem.c_str());
    if (platform::leaks_are_sought()) comm::forget_buffers(process);
    process.give_memory_back(thread);
    // Not earlier: the launcher may have to tell where the processes are that must learn that this
    // one rests.
    process.leave_launcher();
}

}  // namespace heddle::api
