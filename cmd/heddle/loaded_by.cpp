// SPDX-License-Identifier: BSD-3-Clause
#include "loaded_by.hpp"

#include <elf.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace heddle::cmd {
namespace {

/// Returns the loader that an ELF file names, or an empty text if it names none.
std::string interpreter(std::ifstream& file) {
    Elf64_Ehdr head{};
    file.read(reinterpret_cast<char*>(&head), sizeof head);
    if (!file || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64)
        return {};
    for (int i = 0; i < head.e_phnum; ++i) {
        Elf64_Phdr part{};
        file.seekg(static_cast<std::streamoff>(head.e_phoff + i * sizeof part));
        file.read(reinterpret_cast<char*>(&part), sizeof part);
        if (!file || part.p_type != PT_INTERP) continue;
        std::array<char, 4096> path{};
        file.seekg(static_cast<std::streamoff>(part.p_offset));
        file.read(
            path.data(),
            static_cast<std::streamsize>(std::min<Elf64_Xword>(part.p_filesz, path.size() - 1)));
        return path.data();
    }
    return {};
}

/// Returns the output of `loader --list program`.
std::string list(const std::string& loader, const std::string& program) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return {};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    std::vector<std::string> words{loader, "--list", program};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, loader.c_str(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t size = 0;
         error == 0 && (size = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
        text.append(buffer.data(), static_cast<std::size_t>(size));
    ::close(ends[0]);
    if (error == 0) ::waitpid(pid, nullptr, 0);
    return text;
}

bool is_mpi_library(const std::string& name) {
    for (const char* const one : {"libmpi_abi.so", "libmpi.so", "libmpich.so", "libmpi_cray.so"})
        if (name.starts_with(one)) return true;
    return false;
}

}  // namespace

LoadedBy mpi_loaded_by(const std::string& program) {
    std::ifstream file(program, std::ios::binary);
    if (!file) return {{}, {}, std::strerror(errno)};
    const std::string loader = interpreter(file);
    if (loader.empty()) return {{}, {}, "a script, or a program without shared libraries"};
    const std::string path = program.find('/') == std::string::npos ? "./" + program : program;
    // "\tlibmpi_abi.so.1 => /path/libmpi_abi.so.1 (0x...)", or "=> not found".
    std::istringstream lines(list(loader, path));
    for (std::string line; std::getline(lines, line);) {
        const std::size_t arrow = line.find(" => ");
        const std::size_t end = std::min(line.rfind(" ("), line.size());
        const std::size_t start = std::min(line.find_first_not_of(" \t"), line.size());
        const std::string name = line.substr(start, std::min(arrow, end) - start);
        const std::string target =
            arrow == std::string::npos ? "" : line.substr(arrow + 4, end - arrow - 4);
        const std::string last = name.substr(name.rfind('/') + 1);
        if (!is_mpi_library(last)) continue;
        const std::string found = target.starts_with('/') ? target
            : name.starts_with('/')                       ? name
                                                          : "";
        std::error_code error;
        return {last, found.empty() ? "" : std::filesystem::weakly_canonical(found, error), {}};
    }
    return {};
}

}  // namespace heddle::cmd
