// SPDX-License-Identifier: BSD-3-Clause
#include "api/closing.hpp"

#include "api/counter_report.hpp"
#include "launch/job.hpp"

namespace heddle::api {

void close(objects::Process& process) {
    if (!process.close()) return;
    report_counters(process);
    launch::leave(process.job);
}

}  // namespace heddle::api
