// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Makes strings of JSON.

#include <cstdio>
#include <string>

namespace heddle {

/// Returns `text` as a string of JSON, with its quotes.
inline std::string json_string(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        if (static_cast<unsigned char>(c) >= ' ') {
            result += c;
            continue;
        }
        char code[8];
        std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
        result += code;
    }
    return result + '"';
}

}  // namespace heddle
