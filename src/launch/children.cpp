// SPDX-License-Identifier: BSD-3-Clause
#include "launch/children.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launch/children_info.hpp"
#include "launch/children_wire.hpp"
#include "launch/variables.hpp"
#include "platform/grandchild.hpp"
#include "platform/shared_memory.hpp"

namespace heddle::launch {
namespace {

/// A descriptor that closes itself.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) noexcept : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(other.take()) {}
    Descriptor& operator=(Descriptor&&) = delete;
    ~Descriptor() {
        if (number_ >= 0) close(number_);
    }

    int get() const noexcept { return number_; }
    int take() noexcept { return std::exchange(number_, -1); }

private:
    int number_ = -1;
};

[[noreturn]] void fail(const char* step, int error) {
    throw std::runtime_error(platform::why_refused(step, error));
}

Descriptor checked(int number, const char* step) {
    if (number < 0) fail(step, errno);
    return Descriptor(number);
}

struct Ends {
    Descriptor ours, theirs;
};
Ends control_sockets() {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
        fail("socketpair", errno);
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Descriptor file_with(const std::string& bytes) {
    Descriptor file = checked(memfd_create("heddle-children", MFD_CLOEXEC), "memfd_create");
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t size = write(file.get(), bytes.data() + done, bytes.size() - done);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) fail("write", errno);
        done += static_cast<std::size_t>(size);
    }
    return file;
}

/// Returns a descriptor by which mpiexec notices the end of this process. It does so even if a
/// forked child of this process keeps the control socket. Returns none if the kernel is older than
/// 5.3.
Descriptor own_process() noexcept {
    const long number = syscall(SYS_pidfd_open, getpid(), 0);
    return Descriptor(number < 0 ? -1 : static_cast<int>(number));
}

/// The environment of this process, with the options that only its mpiexec gets.
class ChildEnvironment {
public:
    ChildEnvironment() : options_(std::string(spawn_options_variable) + "=" + spawn_options()) {
        for (char** entry = environ; *entry != nullptr; ++entry)
            if (!std::string_view(*entry).starts_with(std::string(spawn_options_variable) + "="))
                entries_.push_back(*entry);
        if (options_.back() != '=') entries_.push_back(options_.data());
        entries_.push_back(nullptr);
    }
    ChildEnvironment(const ChildEnvironment&) = delete;
    ChildEnvironment& operator=(const ChildEnvironment&) = delete;

    char* const* entries() const noexcept { return entries_.data(); }

private:
    std::string options_;
    std::vector<char*> entries_;
};

/// Returns the folder of this library; empty if it cannot be found out.
std::filesystem::path own_folder() {
    Dl_info own;
    if (dladdr(reinterpret_cast<void*>(&own_process), &own) == 0 || own.dli_fname == nullptr)
        return {};
    std::error_code error;
    return std::filesystem::canonical(own.dli_fname, error).parent_path();
}

std::string refused(const platform::StartRefusal& refusal, const std::string& mpiexec) {
    if (std::strcmp(refusal.step, "execve") == 0)
        return "cannot run " + mpiexec + ": " + std::strerror(refusal.error) +
            (refusal.error == E2BIG ? " (the environment is too long)" : "");
    if (std::strcmp(refusal.step, "clone") == 0 && refusal.error == EAGAIN)
        return "no further process can be started: " + std::string(std::strerror(EAGAIN)) +
            " (limits on processes are 'ulimit -u' and the container's)";
    return platform::why_refused(refusal.step, refusal.error);
}

void start(const std::string& mpiexec, int control, int description) {
    const Descriptor nothing = checked(open("/dev/null", O_RDONLY | O_CLOEXEC), "/dev/null");
    const Descriptor self = own_process();
    std::string name = "heddle-children";
    std::string mode = "--children";
    const std::array<char*, 3> arguments{name.data(), mode.data(), nullptr};
    const std::array<int, 6> descriptors{nothing.get(), STDOUT_FILENO, STDERR_FILENO,
                                         control,       description,   self.get()};
    static_assert(control_descriptor == 3 && description_descriptor == 4 && parent_descriptor == 5);
    const ChildEnvironment environment;
    const platform::StartRefusal refusal = platform::start_grandchild(
        {mpiexec.c_str(), arguments.data(), environment.entries(), descriptors});
    if (refusal.step != nullptr) throw std::runtime_error(refused(refusal, mpiexec));
}

Description describe(const std::vector<Command>& commands, const std::vector<int>& numbers,
                     const std::string& parent) {
    Description description;
    description.parent = parent;
    for (std::size_t i = 0; i < commands.size(); ++i) {
        Description::One& one = description.commands.emplace_back();
        one.processes = numbers[i];
        one.command.push_back(commands[i].program);
        one.command.insert(one.command.end(), commands[i].arguments.begin(),
                           commands[i].arguments.end());
        one.info = complete_info(commands[i].info);
        add_without_effect(one.info, description.without_effect);
    }
    return description;
}

}  // namespace

std::string find_mpiexec(const std::string& setting) {
    if (setting != "auto") return setting;
    const std::filesystem::path folder = own_folder();
    const std::filesystem::path found =
        (folder / HEDDLE_BINDIR_FROM_LIBDIR / "mpiexec").lexically_normal();
    if (!folder.empty() && access(found.c_str(), X_OK) == 0) return found;
    throw std::runtime_error("there is no mpiexec where this library was installed (" +
                             found.string() +
                             "), by which processes are started; HEDDLE_MPIEXEC names another");
}

Children::Children(const std::vector<Command>& commands, const std::string& parent,
                   const std::string& mpiexec) {
    for (const Command& command : commands) numbers_.push_back(number_to_start(command));
    if (size() == 0) throw std::runtime_error("no process is to be started");
    const Descriptor description =
        file_with(write_description(describe(commands, numbers_, parent)));
    Ends control = control_sockets();
    start(mpiexec, control.theirs.get(), description.get());
    control_ = control.ours.take();
}

Children::Children(Children&& other) noexcept
    : numbers_(std::move(other.numbers_)), control_(std::exchange(other.control_, -1)) {}

Children& Children::operator=(Children&& other) noexcept {
    std::swap(numbers_, other.numbers_);
    std::swap(control_, other.control_);
    return *this;
}

Children::~Children() {
    if (control_ >= 0) close(control_);
}

int Children::size() const noexcept { return std::accumulate(numbers_.begin(), numbers_.end(), 0); }

std::optional<ChildReport> Children::read() {
    if (control_ < 0) return std::nullopt;
    std::array<char, longest_report> record;
    ssize_t size = 0;
    do {
        size = recv(control_, record.data(), record.size(), MSG_DONTWAIT);
    } while (size < 0 && errno == EINTR);
    if (size < 0 && errno == EAGAIN) return std::nullopt;
    if (size <= 0) return over("mpiexec, which has started the processes, was ended");
    auto report = read_report({record.data(), static_cast<std::size_t>(size)});
    if (!report) return over("mpiexec is of another version than the library");
    if (report->kind == ChildReport::Kind::ended) (void)over({});
    return report;
}

ChildReport Children::over(std::string reason) noexcept {
    close(std::exchange(control_, -1));
    ChildReport report;
    report.exit_code = 1;
    report.reason = std::move(reason);
    return report;
}

void Children::release() noexcept {
    if (control_ < 0) return;
    while (send(control_, &release_word, 1, MSG_NOSIGNAL) < 0 && errno == EINTR) {}
}

}  // namespace heddle::launch
