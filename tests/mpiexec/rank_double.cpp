// SPDX-License-Identifier: BSD-3-Clause
/// A rank without MPI, for tests of the launcher. It carries out its arguments one by one:
///
///   R@word                only in rank R.
///   say:TEXT              prints the text; error:TEXT to standard error; print:TEXT without
///                         newline.
///   echo                  copies standard input.
///   cpus                  prints how many hardware threads it may use, and which.
///   init finalize         messages of PMI-1; answers are printed. So are barrier, put:K=V, get:K,
///                         ask:LINE.
///   abort:N               PMI's abort, then waits.
///   board:STAGE           started, initialized, closed or finalized.
///   board-abort:N:REASON  says on the board that this rank aborts with N, and why.
///   block:CALL:PEER:TAG   writes a blocked entry, 3 seconds old, of a receive; PEER self: of a
///                         send to itself.
///   exit:N raise:N wait   exits with N, dies by signal N, or waits for ever.
///   ignore:N until:N      ignores signal N; waits for signal N and says so.
///   child                 starts a process that sleeps, in the rank's process group.
///   daemon                starts one in a session of its own, orphaned.
///   stubborn-daemon       the same, ignoring SIGTERM.

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "node/board.hpp"

namespace {

namespace node = heddle::node;

int number(const char* variable) {
    const char* text = std::getenv(variable);
    return text == nullptr ? -1 : std::atoi(text);
}

void say(const std::string& text) {
    const std::string line = text + "\n";
    (void)!::write(STDOUT_FILENO, line.data(), line.size());
}

std::string ask(const std::string& question) {
    const int fd = number("PMI_FD");
    const std::string line = question + "\n";
    if (::write(fd, line.data(), line.size()) < 0) return "broken";
    std::string answer;
    char c = 0;
    while (::read(fd, &c, 1) == 1 && c != '\n') answer += c;
    return answer;
}

node::Page& page() {
    static void* board =
        ::mmap(nullptr, node::board_bytes(static_cast<std::size_t>(number("PMI_SIZE"))),
               PROT_READ | PROT_WRITE, MAP_SHARED, number(node::node_descriptor_variable), 0);
    if (board == MAP_FAILED) std::abort();
    return node::board_page(board, static_cast<std::size_t>(number("PMI_RANK")));
}

void block(const std::string& text) {
    static int used = 0;
    node::Blocked& entry = page().blocked[used++];
    const std::size_t peer = text.find(':') + 1, tag = text.find(':', peer) + 1;
    const bool to_self = text.compare(peer, 4, "self") == 0;
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    entry.version.fetch_or(1);
    node::WaitsFor& what = entry.what;
    what.since_ns = (static_cast<std::int64_t>(now.tv_sec) - 3) * 1'000'000'000 + now.tv_nsec;
    node::put_text(what.call, text.substr(0, peer - 1).c_str());
    node::AwaitedEvent& event = *what.add();
    event.kind = to_self ? node::AwaitedKind::send : node::AwaitedKind::receive;
    event.to_self = to_self;
    event.context = 2;
    event.peer = event.world_peer = to_self ? number("PMI_RANK") : std::atoi(text.c_str() + peer);
    event.tag = std::atoi(text.c_str() + tag);
    entry.owner = static_cast<std::uint32_t>(::gettid());
    entry.version.fetch_add(1);
}

[[noreturn]] void wait_for_ever() {
    while (true) ::pause();
}

void start(bool daemon, bool stubborn) {
    const pid_t pid = ::fork();
    if (pid != 0) return;
    if (daemon) {
        ::setsid();
        if (::fork() != 0) ::_exit(0);
    }
    if (stubborn) ::signal(SIGTERM, SIG_IGN);
    say("child " + std::to_string(::getpid()));
    ::close(STDOUT_FILENO);
    ::close(STDERR_FILENO);
    wait_for_ever();
}

void print_cpus() {
    cpu_set_t set;
    ::sched_getaffinity(0, sizeof set, &set);
    std::string line = std::to_string(CPU_COUNT(&set)) + ":";
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) line += " " + std::to_string(cpu);
    say("cpus " + line);
}

void copy_input() {
    char buffer[4096];
    ssize_t size = 0;
    while ((size = ::read(STDIN_FILENO, buffer, sizeof buffer)) > 0)
        (void)!::write(STDOUT_FILENO, buffer, static_cast<std::size_t>(size));
}

/// Dies by the signal, even if a sanitizer would rather report it.
void die_by(int signal) {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

void wait_for_signal(int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    say("ready");
    int got = 0;
    ::sigwait(&set, &got);
    say("got signal " + std::to_string(got));
}

void set_phase(const std::string& name) {
    page().phase = name == "initialized" ? node::Phase::initialized
        : name == "finalized"            ? node::Phase::finalized
        : name == "closed"               ? node::Phase::closed
                                         : node::Phase::started;
}

void board_abort(const std::string& value) {
    const std::size_t colon = value.find(':');
    page().abort_code = std::atoi(value.c_str());
    std::strncpy(page().abort_reason, value.c_str() + colon + 1, sizeof page().abort_reason - 1);
    page().phase = node::Phase::aborted;
}

void put(const std::string& pair) {
    const std::size_t equals = pair.find('=');
    say(ask("cmd=put kvsname=k key=" + pair.substr(0, equals) +
            " value=" + pair.substr(equals + 1)));
}

void carry_out(const std::string& word, const std::string& value) {
    const int n = std::atoi(value.c_str());
    if (word == "say")
        say(value);
    else if (word == "error")
        (void)!::write(STDERR_FILENO, (value + "\n").data(), value.size() + 1);
    else if (word == "print")
        (void)!::write(STDOUT_FILENO, value.data(), value.size());
    else if (word == "echo")
        copy_input();
    else if (word == "cpus")
        print_cpus();
    else if (word == "init")
        ask("cmd=init pmi_version=1 pmi_subversion=1");
    else if (word == "finalize")
        ask("cmd=finalize");
    else if (word == "barrier")
        ask("cmd=barrier_in");
    else if (word == "put")
        put(value);
    else if (word == "get")
        say(ask("cmd=get kvsname=k key=" + value));
    else if (word == "ask")
        say(ask(value));
    else if (word == "abort") {
        (void)ask("cmd=abort exitcode=" + value);
        wait_for_ever();
    } else if (word == "board")
        set_phase(value);
    else if (word == "board-abort")
        board_abort(value);
    else if (word == "block")
        block(value);
    else if (word == "exit")
        ::_exit(n);
    else if (word == "raise")
        die_by(n);
    else if (word == "wait")
        wait_for_ever();
    else if (word == "ignore")
        ::signal(n, SIG_IGN);
    else if (word == "until")
        wait_for_signal(n);
    else if (word == "child")
        start(false, false);
    else if (word == "daemon")
        start(true, false);
    else if (word == "stubborn-daemon")
        start(true, true);
    else {
        std::fprintf(stderr, "rank_double: what is '%s'?\n", word.c_str());
        ::_exit(99);
    }
}

}  // namespace

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        std::string word = argv[i];
        const std::size_t at = word.find('@');
        if (at != std::string::npos && word.find(':') > at) {
            if (std::atoi(word.c_str()) != number("PMI_RANK")) continue;
            word.erase(0, at + 1);
        }
        const std::size_t colon = word.find(':');
        carry_out(word.substr(0, colon), colon == std::string::npos ? "" : word.substr(colon + 1));
    }
    return 0;
}
