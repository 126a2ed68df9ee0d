// SPDX-License-Identifier: BSD-3-Clause
#include "say.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
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

/// The names of signals. sigabbrev_np() is younger than the C libraries that mpiexec runs on.
struct Signal {
    int number;
    std::string_view name;
};
constexpr std::array signals{
    Signal{SIGHUP, "HUP"},   Signal{SIGINT, "INT"},       Signal{SIGQUIT, "QUIT"},
    Signal{SIGILL, "ILL"},   Signal{SIGTRAP, "TRAP"},     Signal{SIGABRT, "ABRT"},
    Signal{SIGBUS, "BUS"},   Signal{SIGFPE, "FPE"},       Signal{SIGKILL, "KILL"},
    Signal{SIGUSR1, "USR1"}, Signal{SIGSEGV, "SEGV"},     Signal{SIGUSR2, "USR2"},
    Signal{SIGPIPE, "PIPE"}, Signal{SIGALRM, "ALRM"},     Signal{SIGTERM, "TERM"},
    Signal{SIGCHLD, "CHLD"}, Signal{SIGCONT, "CONT"},     Signal{SIGSTOP, "STOP"},
    Signal{SIGTSTP, "TSTP"}, Signal{SIGTTIN, "TTIN"},     Signal{SIGTTOU, "TTOU"},
    Signal{SIGURG, "URG"},   Signal{SIGXCPU, "XCPU"},     Signal{SIGXFSZ, "XFSZ"},
    Signal{SIGPROF, "PROF"}, Signal{SIGVTALRM, "VTALRM"}, Signal{SIGWINCH, "WINCH"},
    Signal{SIGIO, "POLL"},   Signal{SIGPWR, "PWR"},       Signal{SIGSYS, "SYS"},
};

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
    const auto* const row = std::find_if(signals.begin(), signals.end(),
                                         [&](const Signal& one) { return one.number == signal; });
    if (row == signals.end()) return fmt::format("signal {}", signal);
    return fmt::format("SIG{} ({})", row->name, lower_first(::strsignal(signal)));
}

std::string error_text(int error) { return lower_first(std::strerror(error)); }

}  // namespace heddle::mpiexec
