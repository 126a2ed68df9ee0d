// SPDX-License-Identifier: BSD-3-Clause
#include "api/advice_report.hpp"

#include <string>

#include "api/say.hpp"
#include "p2p/report/advice.hpp"

namespace heddle::api {

void report_advice(objects::Process& process) {
    if (process.settings.advice == tool::Switch::off) return;
    std::string lines;
    for (const std::string& sentence : p2p::advise(p2p::findings_of(process)))
        lines += "  " + sentence + "\n";
    say(process, "advice to", lines.empty() ? "  nothing stands out\n" : lines);
}

}  // namespace heddle::api
