// SPDX-License-Identifier: BSD-3-Clause
#include "signal_pipe.hpp"

#include <array>
#include <cerrno>
#include <csignal>

#include "say.hpp"

namespace heddle::mpiexec {

namespace {

int to_keeper = -1;
volatile std::sig_atomic_t told_to_end = 0;

void tell_keeper(int signal) {
    const int error = errno;
    if (asks_to_end(signal)) told_to_end = 1;
    const auto byte = static_cast<unsigned char>(signal);
    (void)!::write(to_keeper, &byte, 1);
    errno = error;
}

}  // namespace

bool asks_to_end(int signal) noexcept {
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

UniqueFd signals_to_keeper(std::initializer_list<int> more) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw Failure(exit_failed, fmt::format("pipe: {}", error_text(errno)));
    to_keeper = ends[1];
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT})
        ::signal(signal, tell_keeper);
    for (const int signal : more) ::signal(signal, tell_keeper);
    return UniqueFd(ends[0]);
}

bool was_told_to_end() noexcept { return told_to_end != 0; }

}  // namespace heddle::mpiexec
