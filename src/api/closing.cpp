// SPDX-License-Identifier: BSD-3-Clause
#include "api/closing.hpp"

#include <cstdio>
#include <string>

#include "api/advice_report.hpp"
#include "api/counter_report.hpp"
#include "launch/job.hpp"
#include "p2p/engine.hpp"

namespace heddle::api {

void close(objects::Process& process) {
    if (!process.close()) return;
    report_counters(process);
    report_advice(process);
    if (const std::string problem = process.engine->close_recording(); !problem.empty())
        std::fprintf(stderr, "heddle: recording of rank %d: %s\n", process.rank(), problem.c_str());
    launch::leave(process.job);
}

}  // namespace heddle::api
