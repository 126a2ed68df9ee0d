// SPDX-License-Identifier: BSD-3-Clause
#include "call_sites.hpp"

#include <elf.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <vector>

#include "lines.hpp"

namespace heddle::hangs {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Returns the file's own address of the byte at `offset`. Returns 0 if it is no ELF file for this
/// kind of machine.
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
        for (const Waiting* waiting : waiting_and_pollers(rank)) {
            const std::uint64_t address = waiting->what.called_from;
            if (address == 0) continue;
            Site& site = sites_[{rank.pid, address}];
            // The call lies before its return address.
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
        std::vector<std::uint64_t> addresses;
        for (const std::uint64_t offset : offsets) addresses.push_back(address_in(file, offset));
        const std::vector<std::string> lines = lines_of(file, addresses, end);
        std::size_t next = 0;
        for (const std::uint64_t offset : offsets) found[{file, offset}] = lines[next++];
    }
    for (Rank& rank : snapshot.ranks)
        for (Waiting* waiting : waiting_and_pollers(rank)) {
            const auto site = sites_.find({rank.pid, waiting->what.called_from});
            if (site != sites_.end() && !site->second.file.empty())
                waiting->location = found[site->second];
        }
}

}  // namespace heddle::hangs
