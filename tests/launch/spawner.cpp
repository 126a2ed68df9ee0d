// SPDX-License-Identifier: BSD-3-Clause
/// A parent without MPI, for tests of launch::Children. It starts the commands of its arguments,
/// and prints the reports.
///
///   spawner [OPTIONS] [-info KEY VALUE]... N PROGRAM [ARGUMENT]... [THEN ...]
///     -release          the children outlive it: it ends when they have started
///     -release-at-once  it ends before they have started
///     -destroy          gives up the object when they have started, and waits for its own end
///                       (SIGTERM)
///     -stay             waits for its own end (SIGTERM) after the last report
///     -times N          runs N times, one after the other
///     -threads N        runs N times at once
///     -forked           a child that it forks keeps its descriptors
///     -words N          each command has N further arguments
///     -handler          counts SIGCHLD and the children that wait() finds, and says it
///
/// It says when each has started, "hears" lines for reports, and in the end "descriptors
/// before:after".

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "launch/children.hpp"

namespace {

using heddle::launch::Children;
using heddle::launch::ChildReport;
using heddle::launch::Command;

struct Options {
    bool release = false, release_at_once = false, destroy = false, stay = false, forked = false,
         handler = false;
    int times = 1, threads = 1, words = 0;
};

volatile std::sig_atomic_t children_seen = 0;

void say(const std::string& text) {
    const std::string line = text + "\n";
    (void)!::write(STDOUT_FILENO, line.data(), line.size());
}

int open_descriptors() {
    DIR* folder = ::opendir("/proc/self/fd");
    int count = -3;  // not counting ".", ".." and the folder itself
    while (::readdir(folder) != nullptr) ++count;
    ::closedir(folder);
    return count;
}

/// Returns the line of a report.
std::string shown(const ChildReport& report) {
    constexpr const char* kinds[] = {"started", "not_started", "ended_early", "ended"};
    return std::string(kinds[static_cast<int>(report.kind)]) +
        " command=" + std::to_string(report.command) + " rank=" + std::to_string(report.rank) +
        " code=" + std::to_string(report.exit_code) + " signal=" + std::to_string(report.signal) +
        " error=" + std::to_string(report.error) + " reason=" + report.reason;
}

/// Reads until a report of one of the kinds has come.
ChildReport await(Children& children, ChildReport::Kind kind) {
    while (true) {
        pollfd one{children.descriptor(), POLLIN, 0};
        ::poll(&one, 1, -1);
        while (const std::optional<ChildReport> report = children.read()) {
            say("hears " + shown(*report));
            if (report->kind == kind || report->kind == ChildReport::Kind::ended) return *report;
        }
    }
}

[[noreturn]] void wait_for_end() {
    while (true) ::pause();
}

std::string mpiexec() {
    const char* named = std::getenv("HEDDLE_MPIEXEC");
    return heddle::launch::find_mpiexec(named == nullptr ? "auto" : named);
}

void run(const std::vector<Command>& commands, const Options& options) try {
    Children children(commands, "the port of the parent", mpiexec());
    if (options.forked && ::fork() == 0) wait_for_end();
    if (options.release_at_once) return children.release();
    const ChildReport first = await(children, ChildReport::Kind::started);
    if (options.release) return children.release();
    if (options.destroy) return;
    if (first.kind == ChildReport::Kind::started) await(children, ChildReport::Kind::ended);
} catch (const std::runtime_error& error) {
    say(std::string("refused: ") + error.what());
}

void run_often(const std::vector<Command>& commands, const Options& options) {
    for (int i = 0; i < options.times; ++i) {
        std::vector<std::thread> threads;
        for (int j = 1; j < options.threads; ++j)
            threads.emplace_back([&] { run(commands, options); });
        run(commands, options);
        for (std::thread& one : threads) one.join();
    }
}

Options read_options(char**& word, Command& command) {
    Options options;
    for (; *word != nullptr && **word == '-'; ++word) {
        const std::string name = *word;
        if (name == "-release")
            options.release = true;
        else if (name == "-release-at-once")
            options.release_at_once = true;
        else if (name == "-destroy")
            options.destroy = true;
        else if (name == "-stay")
            options.stay = true;
        else if (name == "-forked")
            options.forked = true;
        else if (name == "-handler")
            options.handler = true;
        else if (name == "-times")
            options.times = std::atoi(*++word);
        else if (name == "-threads")
            options.threads = std::atoi(*++word);
        else if (name == "-words")
            options.words = std::atoi(*++word);
        else if (name == "-info") {
            command.info.emplace_back(word[1], word[2]);
            word += 2;
        }
    }
    return options;
}

}  // namespace

int main(int, char** argv) {
    std::vector<Command> commands(1);
    char** word = argv + 1;
    const Options options = read_options(word, commands[0]);
    for (bool first = true; *word != nullptr; first = false) {
        if (!first) {
            commands.emplace_back();
            read_options(word, commands.back());
        }
        Command& command = commands.back();
        command.maxprocs = std::atoi(*word++);
        command.program = *word++;
        for (; *word != nullptr && std::strcmp(*word, "THEN") != 0; ++word)
            command.arguments.emplace_back(*word);
        if (*word != nullptr) ++word;
        for (int i = 0; i < options.words; ++i)
            command.arguments.push_back("word" + std::to_string(i));
    }
    if (options.handler) ::signal(SIGCHLD, [](int) { children_seen = children_seen + 1; });
    const int before = open_descriptors();
    run_often(commands, options);
    say("descriptors " + std::to_string(before) + ":" + std::to_string(open_descriptors()));
    if (options.handler) {
        const bool found = ::waitpid(-1, nullptr, WNOHANG) >= 0;
        say("children seen " + std::to_string(children_seen) + (found ? " and found" : ""));
    }
    if (options.stay || options.destroy) wait_for_end();
    return 0;
}
