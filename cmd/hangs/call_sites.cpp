// SPDX-License-Identifier: BSD-3-Clause
#include "call_sites.hpp"

#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

extern char** environ;

namespace heddle::hangs {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::string without_folders(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string hexadecimal(std::uint64_t value) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "0x%" PRIx64, value);
    return text.data();
}

/// The address that the file itself has for a place in it; 0 if it is no ELF file of this machine's kind.
std::uint64_t address_in(const std::string& file, std::uint64_t offset) {
    std::ifstream in(file, std::ios::binary);
    Elf64_Ehdr header{};
    if (!in.read(reinterpret_cast<char*>(&header), sizeof header) ||
        std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr))
        return 0;
    in.seekg(static_cast<std::streamoff>(header.e_phoff));
    for (int i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment{};
        if (!in.read(reinterpret_cast<char*>(&segment), sizeof segment)) return 0;
        if (segment.p_type == PT_LOAD && offset >= segment.p_offset &&
            offset - segment.p_offset < segment.p_filesz)
            return offset - segment.p_offset + segment.p_vaddr;
    }
    return 0;
}

/// A program whose output is read; it is gone when the object is.
class Child {
public:
    explicit Child(std::vector<std::string> words) {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        if (::posix_spawnp(&pid_, arguments[0], &actions, &attributes, arguments.data(), environ) !=
            0)
            pid_ = -1;
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
        ::close(ends[1]);
        output_ = ends[0];
    }
    ~Child() {
        if (output_ >= 0) ::close(output_);
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// All that it writes until it ends, or until `end`.
    std::string read_until(steady_clock::time_point end) const {
        std::string text;
        while (pid_ > 0) {
            const auto left =
                std::chrono::duration_cast<milliseconds>(end - steady_clock::now()).count();
            pollfd what{output_, POLLIN, 0};
            if (left <= 0 || ::poll(&what, 1, static_cast<int>(left)) <= 0) break;
            std::array<char, 4096> bytes{};
            const ssize_t count = ::read(output_, bytes.data(), bytes.size());
            if (count <= 0) break;
            text.append(bytes.data(), static_cast<std::size_t>(count));
        }
        return text;
    }

private:
    pid_t pid_ = -1;
    int output_ = -1;
};

/// "/home/me/ring.c:12 (discriminator 3)" becomes "ring.c:12"; "??:0" nothing.
std::string location_in(const std::string& line) {
    const std::string place = line.substr(0, line.find(' '));
    const std::size_t colon = place.rfind(':');
    if (colon == std::string::npos || place.starts_with("??") ||
        std::atoi(place.c_str() + colon + 1) <= 0)
        return {};
    return without_folders(place);
}

}  // namespace

CallSites::Site CallSites::find(pid_t pid, std::uint64_t address) {
    std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
    for (std::string line; std::getline(maps, line);) {
        std::uint64_t begin = 0, end = 0, offset = 0;
        int name = 0;
        if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &begin,
                        &end, &offset, &name) < 3)
            continue;
        if (address < begin || address >= end) continue;
        const std::string file = line.substr(static_cast<std::size_t>(name));
        return file.starts_with('/') ? Site{file, address - begin + offset} : Site{};
    }
    return {};
}

CallSites::CallSites(const Snapshot& snapshot) {
    for (const Rank& rank : snapshot.ranks)
        for (const Waiting& waiting : rank.waiting) {
            const std::uint64_t address = waiting.what.called_from;
            if (address == 0) continue;
            Site& site = sites_[{rank.pid, address}];
            // The call itself ends before the address at which it comes back.
            if (site.file.empty()) site = find(rank.pid, address - 1);
        }
}

void CallSites::resolve(Snapshot& snapshot, milliseconds limit) const {
    const steady_clock::time_point end = steady_clock::now() + limit;
    std::map<std::string, std::set<std::uint64_t>> wanted;
    for (const auto& [from, site] : sites_)
        if (!site.file.empty()) wanted[site.file].insert(site.offset);
    std::map<Site, std::string> found;
    for (const auto& [file, offsets] : wanted) {
        std::vector<std::string> words{"addr2line", "-e", file};
        for (const std::uint64_t offset : offsets)
            words.push_back(hexadecimal(address_in(file, offset)));
        std::istringstream lines(Child(std::move(words)).read_until(end));
        for (const std::uint64_t offset : offsets) {
            std::string line;
            std::getline(lines, line);
            std::string location = location_in(line);
            if (location.empty())
                location = without_folders(file) + "+" + hexadecimal(address_in(file, offset));
            found[{file, offset}] = location;
        }
    }
    for (Rank& rank : snapshot.ranks)
        for (Waiting& waiting : rank.waiting) {
            const auto site = sites_.find({rank.pid, waiting.what.called_from});
            if (site != sites_.end() && !site->second.file.empty())
                waiting.location = found[site->second];
        }
}

}  // namespace heddle::hangs
