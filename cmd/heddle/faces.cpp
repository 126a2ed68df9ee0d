// SPDX-License-Identifier: BSD-3-Clause
#include "faces.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "binary.hpp"
#include "subcommands.hpp"

namespace heddle::cmd {
namespace {

namespace fs = std::filesystem;

bool is_mpi(std::string_view library) {
    for (const std::string_view name : {"libmpi", "libmpich", "libopen-rte", "libopen-pal"})
        if (library.starts_with(name)) return true;
    return false;
}

/// Returns the program's path. Looks in PATH for a name without a slash.
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

fs::path folder_of_libraries() { return folder_of_faces().parent_path().parent_path(); }

/// The language that a library of MPI serves, by its name.
enum class Language { c, cxx, fortran, other };
Language language_of(std::string_view library) {
    for (const std::string_view name :
         {"libmpifort", "libmpichfort", "libmpi_mpifh", "libmpi_usempi"})
        if (library.starts_with(name)) return Language::fortran;
    for (const std::string_view name : {"libmpi_cxx", "libmpicxx", "libmpichcxx"})
        if (library.starts_with(name)) return Language::cxx;
    for (const std::string_view name : {"libmpi_abi.so", "libmpi.so", "libmpich.so"})
        if (library.starts_with(name)) return Language::c;
    return Language::other;
}

/// Returns the library here that serves one of that name, or an empty path if none does.
fs::path server_of(const std::string& library) {
    const bool is_standard =
        library.starts_with("libmpi_abi.so") || library.starts_with("libmpifort_abi.so");
    fs::path path = (is_standard ? folder_of_libraries() : folder_of_faces()) / library;
    return fs::exists(path) ? path : fs::path();
}

/// A library of MPI that a binary needs.
struct Needed {
    std::string name;
    Language language;
    fs::path path;  ///< the file that serves it; empty if none does
    void* loaded;
};
std::vector<Needed> mpi_libraries(const Binary& binary) {
    std::vector<Needed> result;
    for (const std::string& name : binary.needed()) {
        if (!is_mpi(name)) continue;
        Needed& library =
            result.emplace_back(Needed{name, language_of(name), server_of(name), nullptr});
        if (library.path.empty()) continue;
        library.loaded = dlopen(library.path.c_str(), RTLD_LAZY | RTLD_LOCAL);
        if (library.loaded == nullptr)
            fail("heddle",
                 fmt::format("{} cannot be loaded: {}", library.path.native(), dlerror()));
    }
    return result;
}

/// Returns the symbols that none of the libraries has.
std::vector<std::string> missing(const std::vector<std::string>& symbols,
                                 const std::vector<Needed>& libraries) {
    std::vector<std::string> result;
    for (const std::string& name : symbols)
        if (std::none_of(libraries.begin(), libraries.end(), [&](const Needed& library) {
                return library.loaded != nullptr && dlsym(library.loaded, name.c_str()) != nullptr;
            }))
            result.push_back(name);
    return result;
}

/// Returns a symbol in its readable form, such as MPI::Comm::Comm().
std::string readable(const std::string& symbol) {
    int status = 0;
    char* name = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
    std::string result = status == 0 ? name : symbol;
    std::free(name);
    return result;
}

/// Prints which file serves the library, and which symbols of its language are missing there.
/// Returns false if any is.
bool say(const Needed& library, const std::vector<std::string>& absent) {
    if (library.path.empty())
        fmt::print("  {:<24} nobody here: Heddle has no library of that name\n", library.name);
    else if (server_of(library.name).parent_path() == folder_of_libraries())
        fmt::print("  {:<24} the standard ABI, which Heddle has\n", library.name);
    else
        fmt::print("  {:<24} {}\n", library.name, library.path.native());
    for (const std::string& name : absent) fmt::print("  {:<24} lacks {}\n", "", readable(name));
    return !library.path.empty() && absent.empty();
}

/// Prints the symbols that are missing for a language without a library in the binary. Returns
/// false if any is. A library that is named may need the other: libmpifort.so.12 has libmpi.so.12
/// below it.
bool say_unnamed(const char* language, const std::vector<std::string>& absent) {
    if (absent.empty()) return true;
    fmt::print("  It names no library for MPI's {}, and needs of it:\n", language);
    for (const std::string& name : absent) fmt::print("  {:<24} {}\n", "", readable(name));
    return false;
}

/// Returns false if something is missing, after printing it.
bool check_libraries(const Binary& binary, const std::vector<Needed>& libraries) {
    bool served = true;
    std::vector<std::string> of_c = missing(binary.undefined(), libraries);
    std::vector<std::string> of_fortran = missing(binary.undefined_of_fortran(), libraries);
    std::vector<std::string> of_cxx = missing(binary.undefined_of_cxx(), libraries);
    for (const Needed& library : libraries) {
        std::vector<std::string> absent;
        if (library.language == Language::c) absent.swap(of_c);
        if (library.language == Language::fortran) absent.swap(of_fortran);
        if (library.language == Language::cxx) absent.swap(of_cxx);
        served = say(library, library.path.empty() ? std::vector<std::string>() : absent) && served;
    }
    if (libraries.empty()) return true;
    const bool c_is_there = say_unnamed("functions for C", of_c);
    const bool cxx_is_there = say_unnamed("bindings for C++", of_cxx);
    return say_unnamed("procedures for Fortran", of_fortran) && c_is_there && cxx_is_there &&
        served;
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
        fail("heddle", fmt::format("{} is no program or library for this machine", path.native()));
    fmt::print("{}\n", path.native());
    const std::vector<Needed> libraries = mpi_libraries(binary);
    const bool served = check_libraries(binary, libraries);
    if (libraries.empty())
        fmt::print("  needs no MPI library itself; its libraries or what it loads later may\n");
    if (!binary.search_path().empty())
        fmt::print("  It looks for libraries in {} first: start it with `heddle run`.\n",
                   binary.search_path());
    if (!served) throw Failed{1};
}

void run_on_face(const std::vector<std::string>& command) {
    if (command.empty()) fail("heddle", "run: which program?");
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
    fail("heddle", fmt::format("{} cannot be started: {}", words.front(), std::strerror(errno)));
}

}  // namespace heddle::cmd
