// SPDX-License-Identifier: BSD-3-Clause
#include "api/advice_report.hpp"

#include <string>
#include <unistd.h>

#include "p2p/advice.hpp"

namespace heddle::api {

void report_advice(objects::Process& process) {
    if (process.settings.advice == tool::Switch::off) return;
    std::string text =
        "heddle: advice to rank " + std::to_string(process.rank()) + " of " + std::to_string(process.size()) + "\n";
    const std::vector<std::string> sentences = p2p::advise(p2p::findings_of(process));
    for (const std::string& sentence : sentences) text += "  " + sentence + "\n";
    if (sentences.empty()) text += "  nothing stands out\n";
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

}  // namespace heddle::api
