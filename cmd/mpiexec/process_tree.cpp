// SPDX-License-Identifier: BSD-3-Clause
#include "process_tree.hpp"

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "event_loop.hpp"
#include "say.hpp"

namespace heddle::mpiexec {

namespace {

struct CloseFolder {
    void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

/// Returns the parent of `pid`, or 0 if there is no such process.
pid_t parent_of(pid_t pid) {
    std::FILE* file = std::fopen(fmt::format("/proc/{}/stat", pid).c_str(), "re");
    if (file == nullptr) return 0;
    std::array<char, 512> text{};
    const std::size_t size = std::fread(text.data(), 1, text.size() - 1, file);
    std::fclose(file);
    text[size] = '\0';
    // The name itself may contain parentheses.
    const char* after_name = std::strrchr(text.data(), ')');
    char state = 0;
    int parent = 0;
    if (after_name == nullptr || std::sscanf(after_name + 1, " %c %d", &state, &parent) != 2)
        return 0;
    return parent;
}

using ChildrenByParent = std::unordered_map<pid_t, std::vector<pid_t>>;

/// Returns the children of every process. It also works if /proc/PID/task/TID/children is missing.
ChildrenByParent all_children() {
    ChildrenByParent children;
    const std::unique_ptr<DIR, CloseFolder> folder(::opendir("/proc"));
    if (folder == nullptr) return children;
    while (const dirent* entry = ::readdir(folder.get())) {
        const pid_t pid = std::atoi(entry->d_name);
        if (pid <= 0) continue;
        if (const pid_t parent = parent_of(pid); parent > 0) children[parent].push_back(pid);
    }
    return children;
}

void collect(const ChildrenByParent& children, pid_t parent, bool deep,
             const std::vector<pid_t>& spared, std::vector<pid_t>& found) {
    const auto own = children.find(parent);
    if (own == children.end()) return;
    for (pid_t child : own->second) {
        if (std::find(spared.begin(), spared.end(), child) != spared.end()) continue;
        found.push_back(child);
        if (deep) collect(children, child, deep, spared, found);
    }
}

std::vector<pid_t> find(bool deep, const std::vector<pid_t>& spared) {
    std::vector<pid_t> found;
    collect(all_children(), ::getpid(), deep, spared, found);
    return found;
}

bool starts_children(pid_t pid) {
    std::FILE* file = std::fopen(fmt::format("/proc/{}/comm", pid).c_str(), "re");
    if (file == nullptr) return false;
    std::array<char, 32> name{};
    const bool read = std::fgets(name.data(), name.size(), file) != nullptr;
    std::fclose(file);
    name[std::strcspn(name.data(), "\n")] = '\0';
    return read && std::strcmp(name.data(), name_of_children) == 0;
}

void collect_jobs(const ChildrenByParent& children, pid_t parent, std::vector<pid_t>& found) {
    const auto own = children.find(parent);
    if (own == children.end()) return;
    for (pid_t child : own->second) {
        if (starts_children(child))
            found.push_back(child);
        else
            collect_jobs(children, child, found);
    }
}

void wait_for_child(long milliseconds) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    const timespec limit{milliseconds / 1000, milliseconds % 1000 * 1000000};
    ::sigtimedwait(&set, nullptr, &limit);
}

/// Reaps all processes that have ended. Returns false if there are no children any more.
bool reap_all() {
    while (true) {
        const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
        if (pid == 0) return true;
        if (pid < 0) return errno != ECHILD;
    }
}

}  // namespace

void become_subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::vector<pid_t> descendants(bool deep) { return find(deep, {}); }

std::vector<pid_t> jobs_of_children() {
    std::vector<pid_t> found;
    collect_jobs(all_children(), ::getpid(), found);
    return found;
}

int signal_descendants(int signal, const std::vector<pid_t>& spared) {
    const std::vector<pid_t> found = find(true, spared);
    for (pid_t pid : found) ::kill(pid, signal);
    return static_cast<int>(found.size());
}

bool kill_descendants(const std::vector<pid_t>& spared) {
    const long long deadline = now_ms() + 5000;
    while (now_ms() < deadline) {
        if (!reap_all()) return true;
        if (signal_descendants(SIGKILL, spared) == 0) return true;  // the spared ones are left
        wait_for_child(20);  // not longer, since an orphan may become a child without a signal
    }
    return false;
}

int end_without(pid_t child, int signal, const std::vector<pid_t>& spared) {
    say(fmt::format("the launcher's own process {} was ended by {}; the job is killed", child,
                    signal_name(signal)));
    if (!kill_descendants(spared)) say("some processes of the job cannot be killed");
    return 128 + signal;
}

}  // namespace heddle::mpiexec
