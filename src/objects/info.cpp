// SPDX-License-Identifier: BSD-3-Clause
#include "objects/info.hpp"

#include <cstdlib>
#include <fstream>
#include <new>
#include <sys/utsname.h>
#include <unistd.h>

namespace heddle::objects {
namespace {

/// Returns the program's own arguments, independently of where main() keeps them.
std::vector<std::string> arguments_of_program() {
    std::vector<std::string> arguments;
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    for (std::string one; std::getline(file, one, '\0');) arguments.push_back(one);
    return arguments;
}

Info& environment() {
    static Info& info = []() -> Info& {
        Info& made = make_info();
        describe_environment(made, arguments_of_program());
        return made;
    }();
    return info;
}

}  // namespace

void Info::set(std::string_view key, std::string_view value) {
    for (auto& [k, v] : entries)
        if (k == key) return void(v = value);
    entries.emplace_back(key, value);
}

bool Info::erase(std::string_view key) {
    return std::erase_if(entries, [&](const auto& entry) { return entry.first == key; }) != 0;
}

core::Arena<Info>& infos() noexcept {
    // Never destroyed: info objects may be used after main().
    static core::Arena<Info>& all = *new core::Arena<Info>(std::size_t{1} << 20);
    return all;
}

std::mutex& info_lock() noexcept {
    static std::mutex& lock = *new std::mutex;
    return lock;
}

Info* find_info(MPI_Info handle) noexcept {
    if (handle == MPI_INFO_ENV) return &environment();
    if (!infos().contains(handle)) return nullptr;
    auto* info = reinterpret_cast<Info*>(handle);
    return info->is(core::Kind::info) ? info : nullptr;
}

Info& make_info() {
    Info* info = infos().take();
    if (info == nullptr) throw std::bad_alloc();
    info->references.store(1, relaxed);
    info->kind.store(core::Kind::info, relaxed);
    return *info;
}

void free_info(Info& info) noexcept {
    {
        std::lock_guard guard(info_lock());
        info.kind.store(core::Kind::none, relaxed);
        decltype(info.entries)().swap(info.entries);  // an assignment of {} would keep the memory
        info.next = nullptr;
    }
    infos().give(&info);
}

void describe_environment(Info& info, const std::vector<std::string>& arguments) {
    if (!arguments.empty()) info.set("command", arguments.front());
    std::string rest;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        if (i > 1) rest += ' ';
        rest += arguments[i];
    }
    if (!rest.empty() && rest.size() < MPI_MAX_INFO_VAL) info.set("argv", rest);
    if (const char* size = std::getenv("PMI_SIZE")) info.set("maxprocs", size);
    char host[MPI_MAX_INFO_VAL] = "";
    if (gethostname(host, sizeof host - 1) == 0) info.set("host", host);
    utsname system{};
    if (uname(&system) == 0) info.set("arch", system.machine);
    char folder[MPI_MAX_INFO_VAL] = "";
    if (getcwd(folder, sizeof folder) != nullptr) info.set("wdir", folder);
    info.set("thread_level", "MPI_THREAD_MULTIPLE");
}

}  // namespace heddle::objects
