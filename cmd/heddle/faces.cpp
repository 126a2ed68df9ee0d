// SPDX-License-Identifier: BSD-3-Clause
#include "faces.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "subcommands.hpp"

namespace heddle::cmd {
namespace {

namespace fs = std::filesystem;

/// What an ELF file says of libraries and symbols, read without loading it.
class Binary {
public:
    explicit Binary(const fs::path& path) {
        std::ifstream file(path, std::ios::binary);
        bytes_.assign(std::istreambuf_iterator<char>(file), {});
        const Elf64_Ehdr* head = at<Elf64_Ehdr>(0);
        if (head == nullptr || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
            head->e_ident[EI_CLASS] != ELFCLASS64)
            return;
        valid_ = true;
        for (std::size_t i = 0; i < head->e_shnum; ++i)
            if (const auto* section = at<Elf64_Shdr>(head->e_shoff + i * sizeof(Elf64_Shdr)))
                sections_.push_back(*section);
        read();
    }

    bool valid() const { return valid_; }
    const std::vector<std::string>& needed() const { return needed_; }
    const std::string& search_path() const { return search_path_; }
    /// Symbols of MPI that another library must define.
    const std::vector<std::string>& undefined() const { return undefined_; }

private:
    template <class T>
    const T* at(std::size_t offset) const {
        return offset + sizeof(T) <= bytes_.size()
            ? reinterpret_cast<const T*>(bytes_.data() + offset)
            : nullptr;
    }
    std::string text(const Elf64_Shdr& strings, std::size_t offset) const {
        const std::size_t place = strings.sh_offset + offset;
        if (place >= bytes_.size()) return {};
        return {bytes_.data() + place, ::strnlen(bytes_.data() + place, bytes_.size() - place)};
    }
    void read() {
        for (const Elf64_Shdr& section : sections_) {
            if (section.sh_link >= sections_.size()) continue;
            const Elf64_Shdr& strings = sections_[section.sh_link];
            if (section.sh_type == SHT_DYNAMIC) read_dynamic(section, strings);
            if (section.sh_type == SHT_DYNSYM) read_symbols(section, strings);
        }
    }
    void read_dynamic(const Elf64_Shdr& section, const Elf64_Shdr& strings) {
        for (std::size_t i = 0; i < section.sh_size; i += sizeof(Elf64_Dyn)) {
            const auto* entry = at<Elf64_Dyn>(section.sh_offset + i);
            if (entry == nullptr) return;
            if (entry->d_tag == DT_NEEDED) needed_.push_back(text(strings, entry->d_un.d_val));
            if (entry->d_tag == DT_RPATH) search_path_ = text(strings, entry->d_un.d_val);
        }
    }
    void read_symbols(const Elf64_Shdr& section, const Elf64_Shdr& strings) {
        constexpr std::array<std::string_view, 6> prefixes{"MPI_",  "PMPI_", "MPIX_",
                                                           "ompi_", "orte_", "OMPI_"};
        for (std::size_t i = 0; i < section.sh_size; i += sizeof(Elf64_Sym)) {
            const auto* symbol = at<Elf64_Sym>(section.sh_offset + i);
            if (symbol == nullptr) return;
            if (symbol->st_shndx != SHN_UNDEF || ELF64_ST_BIND(symbol->st_info) == STB_WEAK)
                continue;
            const std::string name = text(strings, symbol->st_name);
            for (const std::string_view prefix : prefixes)
                if (name.starts_with(prefix)) undefined_.push_back(name);
        }
    }

    std::vector<char> bytes_;
    std::vector<Elf64_Shdr> sections_;
    std::vector<std::string> needed_, undefined_;
    std::string search_path_;
    bool valid_ = false;
};

[[noreturn]] void leave(const std::string& problem) {
    fmt::print(stderr, "heddle: {}\n", problem);
    throw Failed{1};
}

bool is_mpi(std::string_view library) {
    for (const std::string_view name : {"libmpi", "libmpich", "libopen-rte", "libopen-pal"})
        if (library.starts_with(name)) return true;
    return false;
}

/// A program that is given by its name alone is looked for in PATH.
fs::path find_program(const std::string& name) {
    if (name.find('/') != std::string::npos) return name;
    const char* path = std::getenv("PATH");
    std::string_view rest = path == nullptr ? "" : path;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        const fs::path candidate = fs::path(rest.substr(0, end)) / name;
        if (::access(candidate.c_str(), X_OK) == 0) return candidate;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return name;
}

/// Symbols that the face does not have.
std::vector<std::string> missing(const Binary& binary, const fs::path& face) {
    std::vector<std::string> result;
    void* const library = dlopen(face.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) leave(fmt::format("{} cannot be loaded: {}", face.native(), dlerror()));
    for (const std::string& name : binary.undefined())
        if (dlsym(library, name.c_str()) == nullptr) result.push_back(name);
    return result;
}

/// Says which library of MPI the binary needs, and who serves it; false if nobody does.
bool check_library(const Binary& binary, const std::string& library) {
    if (library.starts_with("libmpi_abi.so")) {
        fmt::print("  {:<24} the standard ABI, which Heddle has\n", library);
        return true;
    }
    const fs::path face = folder_of_faces() / library;
    if (!fs::exists(face)) {
        fmt::print("  {:<24} nobody here: Heddle has no library of that name\n", library);
        return false;
    }
    const std::vector<std::string> absent = missing(binary, face);
    fmt::print("  {:<24} {}\n", library, face.native());
    for (const std::string& name : absent) fmt::print("  {:<24} lacks {}\n", "", name);
    return absent.empty();
}

}  // namespace

fs::path folder_of_faces() {
    const fs::path bin = fs::canonical("/proc/self/exe").parent_path();
    return (bin / HEDDLE_LIBDIR_FROM_BINDIR / "heddle/faces").lexically_normal();
}

std::vector<std::string> faces() {
    std::vector<std::string> result;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_of_faces(), error))
        result.push_back(entry.path().filename().string());
    std::sort(result.begin(), result.end());
    return result;
}

void check_program(const std::string& name) {
    const fs::path path = find_program(name);
    const Binary binary(path);
    if (!binary.valid())
        leave(fmt::format("{} is no program or library for this machine", path.native()));
    fmt::print("{}\n", path.native());
    bool served = true;
    bool any = false;
    for (const std::string& library : binary.needed()) {
        if (!is_mpi(library)) continue;
        any = true;
        served = check_library(binary, library) && served;
    }
    if (!any)
        fmt::print("  needs no MPI library itself; its libraries or what it loads later may\n");
    if (!binary.search_path().empty())
        fmt::print("  It looks for libraries in {} first: start it with `heddle run`.\n",
                   binary.search_path());
    if (!served) throw Failed{1};
}

void run_on_face(const std::vector<std::string>& command) {
    if (command.empty()) leave("run: which program?");
    std::vector<std::string> words = command;
    const fs::path path = find_program(words.front());
    const Binary binary(path);
    for (const std::string& library : binary.needed()) {
        const fs::path face = folder_of_faces() / library;
        if (!is_mpi(library) || !fs::exists(face)) continue;
        const char* given = std::getenv("LD_PRELOAD");
        const std::string all = given == nullptr ? face.native() : face.native() + ":" + given;
        ::setenv("LD_PRELOAD", all.c_str(), 1);
        break;
    }
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execvp(argv.front(), argv.data());
    leave(fmt::format("{} cannot be started: {}", words.front(), std::strerror(errno)));
}

}  // namespace heddle::cmd
