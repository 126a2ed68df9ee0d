// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A line of the PMI-1 wire protocol: "cmd=put kvsname=k key=a value=b".

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

namespace heddle::mpiexec {

class PmiMessage {
public:
    /// Parses a line without its newline. `value=` takes the rest of the line, blanks included.
    explicit PmiMessage(std::string_view line) {
        while (!line.empty()) {
            const std::size_t equals = line.find('=');
            if (equals == std::string_view::npos) return;
            const std::string name(line.substr(0, equals));
            line.remove_prefix(equals + 1);
            const std::size_t end =
                name == "value" ? line.size() : std::min(line.find(' '), line.size());
            fields_[name] = line.substr(0, end);
            line.remove_prefix(end);
            line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        }
    }

    /// Returns the field called `name`, or an empty text if there is none.
    [[nodiscard]] std::string operator[](const std::string& name) const {
        const auto found = fields_.find(name);
        return found == fields_.end() ? std::string() : found->second;
    }

private:
    std::map<std::string, std::string> fields_;
};

}  // namespace heddle::mpiexec
