// SPDX-License-Identifier: BSD-3-Clause
#include "say.hpp"

#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace heddle::mpiexec {

namespace {

std::string lower_first(std::string text) {
    if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
        text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    return text;
}

}  // namespace

bool write_all(int fd, std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t done = ::write(fd, text.data(), text.size());
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(done));
    }
    return true;
}

void say(std::string_view text) { write_all(STDERR_FILENO, fmt::format("mpiexec: {}\n", text)); }

std::string printable(std::string_view text) {
    constexpr std::size_t longest = 60;
    std::string shown(text.substr(0, longest));
    for (char& c : shown)
        if (c < ' ' || c > '~') c = '?';
    return text.size() > longest ? shown + "..." : shown;
}

std::string signal_name(int signal) {
    const char* name = sigabbrev_np(signal);
    const char* meaning = sigdescr_np(signal);
    if (name == nullptr) return fmt::format("signal {}", signal);
    return fmt::format("SIG{} ({})", name, lower_first(meaning == nullptr ? "" : meaning));
}

std::string error_text(int error) { return lower_first(std::strerror(error)); }

}  // namespace heddle::mpiexec
