// SPDX-License-Identifier: BSD-3-Clause
#include "parent_link.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "say.hpp"

namespace heddle::mpiexec {

namespace {

/// Moves `fd` above the numbers that scripts use, and closes it on exec. Returns an empty
/// descriptor if `fd` is none.
UniqueFd take_over(int fd) {
    return ::fcntl(fd, F_GETFD) < 0 ? UniqueFd() : out_of_the_way(UniqueFd(fd));
}

bool is_control(int fd) {
    int type = 0;
    socklen_t bytes = sizeof type;
    return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_SEQPACKET;
}

}  // namespace

ParentLink::ParentLink() {
    if (!is_control(launch::control_descriptor))
        throw Failure(exit_usage, "--children is for MPI_Comm_spawn, which starts mpiexec itself");
    close_from(launch::parent_descriptor + 1);
    control_ = take_over(launch::control_descriptor);
    description_ = take_over(launch::description_descriptor);
    process_ = take_over(launch::parent_descriptor);
    ucred peer{};
    socklen_t bytes = sizeof peer;
    if (::getsockopt(control_.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0)
        parent_ = peer.pid;
}

launch::Description ParentLink::description() const {
    struct stat found{};
    std::string bytes;
    if (::fstat(description_.get(), &found) == 0)
        bytes.resize(static_cast<std::size_t>(found.st_size));
    const ssize_t size = ::pread(description_.get(), bytes.data(), bytes.size(), 0);
    auto description = size == found.st_size ? launch::read_description(bytes) : std::nullopt;
    if (!description)
        throw Failure(exit_failed,
                      "this mpiexec and the library of the program that starts "
                      "processes are of different versions");
    return *std::move(description);
}

void ParentLink::watch(EventLoop& loop, std::function<void()> gone) {
    loop_ = &loop;
    gone_ = std::move(gone);
    loop.watch(control_.get(), POLLIN, [this] { hear(); });
    // If the parent has forked, another process may keep the connection open.
    if (process_) loop.watch(process_.get(), POLLIN, [this] { hear_end(); });
}

void ParentLink::hear() {
    char word = 0;
    ssize_t size = ::recv(control_.get(), &word, 1, MSG_DONTWAIT);
    // A parent that ended with unread reports resets the connection. The reset is reported before
    // the parent's own words.
    if (size < 0 && errno == ECONNRESET) size = ::recv(control_.get(), &word, 1, MSG_DONTWAIT);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
    loop_->unwatch(control_.get());
    if (process_) loop_->unwatch(process_.get());
    if (size != 1 || word != launch::release_word) std::exchange(gone_, nullptr)();
}

/// Handles the end of the parent, which may have written before.
void ParentLink::hear_end() {
    pollfd said{control_.get(), POLLIN, 0};
    if (::poll(&said, 1, 0) > 0) return hear();
    loop_->unwatch(control_.get());
    loop_->unwatch(process_.get());
    std::exchange(gone_, nullptr)();
}

void ParentLink::not_started(int command, int error, std::string text) {
    launch::ChildReport report{launch::ChildReport::Kind::not_started};
    report.command = command;
    report.error = error;
    report.reason = std::move(text);
    send(report);
}

void ParentLink::ended_early(int command, int rank, int status, std::string text) {
    launch::ChildReport report{launch::ChildReport::Kind::ended_early};
    report.command = command;
    report.rank = rank;
    if (WIFEXITED(status)) report.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) report.signal = WTERMSIG(status);
    report.reason = std::move(text);
    send(report);
}

void ParentLink::ended(int exit_code, std::string reason) {
    launch::ChildReport report{launch::ChildReport::Kind::ended};
    report.exit_code = exit_code;
    report.reason = std::move(reason);
    send(report);
}

std::string ParentLink::whose_child() const {
    return fmt::format(", a child of process {}", parent_);
}

void ParentLink::send(const launch::ChildReport& report) {
    const std::string record = launch::write_report(report);
    (void)::send(control_.get(), record.data(), record.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace heddle::mpiexec
