// SPDX-License-Identifier: BSD-3-Clause
#include "input.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "say.hpp"

namespace heddle::mpiexec {

Input::Input(const Job& job, int ranks) : nothing_(::open("/dev/null", O_RDWR | O_CLOEXEC)) {
    if (!nothing_) throw Failure(exit_failed, fmt::format("/dev/null: {}", error_text(errno)));
    if (job.input == InputTo::nobody) return;
    if (job.input == InputTo::all_ranks) {
        for (int rank = 0; rank < ranks; ++rank) add_pipe(rank);
    } else if (::isatty(STDIN_FILENO) == 1) {
        add_pipe(job.input_rank);
    } else {
        direct_rank_ = job.input_rank;
    }
}

void Input::add_pipe(int rank) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw Failure(exit_failed,
                      fmt::format("standard input of rank {}: pipe: {}", rank, error_text(errno)));
    ::fcntl(ends[1], F_SETFL, O_NONBLOCK);  // the launcher's end only
    sinks_.push_back(Sink{rank, UniqueFd(ends[0]), UniqueFd(ends[1]), {}});
}

int Input::descriptor(int rank) const {
    if (rank == direct_rank_) return STDIN_FILENO;
    for (const Sink& sink : sinks_)
        if (sink.rank == rank && sink.from) return sink.from.get();
    return nothing_.get();
}

void Input::handed_over(int rank) {
    for (Sink& sink : sinks_)
        if (sink.rank == rank) sink.from.reset();
}

void Input::be_keeper() {
    for (Sink& sink : sinks_) sink.to.reset();
}

void Input::be_guard(EventLoop& loop) {
    loop_ = &loop;
    for (Sink& sink : sinks_) {
        sink.from.reset();
        watch(sink);
    }
    watch_source();
}

void Input::resume() {
    if (loop_ != nullptr) watch_source();
}

bool Input::all_taken() const {
    return std::all_of(sinks_.begin(), sinks_.end(),
                       [](const Sink& sink) { return sink.pending.empty(); });
}

void Input::watch_source() {
    const bool wanted =
        std::any_of(sinks_.begin(), sinks_.end(), [](const Sink& s) { return bool(s.to); });
    if (watching_ || at_end_ || !wanted || !all_taken()) return;
    watching_ = true;
    loop_->watch(STDIN_FILENO, POLLIN, [this] { read_source(); });
}

void Input::read_source() {
    static std::array<char, 65536> buffer;  // the stack may be smaller
    const ssize_t size = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) return;
    loop_->unwatch(STDIN_FILENO);
    watching_ = false;
    // SIGTTIN is blocked: in the background a terminal answers EIO. resume() tries again.
    if (size < 0 && errno == EIO && ::isatty(STDIN_FILENO) == 1) return;
    at_end_ = size <= 0;
    for (Sink& sink : sinks_) {
        if (!sink.to) continue;
        if (size > 0) sink.pending.append(buffer.data(), static_cast<std::size_t>(size));
        write_pending(sink);
    }
    watch_source();
}

/// Watches for room if something is pending, and always for the reader's end.
void Input::watch(Sink& sink) {
    loop_->unwatch(sink.to.get());
    const short events = sink.pending.empty() ? 0 : POLLOUT;
    loop_->watch(sink.to.get(), events, [this, &sink] {
        if (sink.pending.empty())
            close(sink);
        else
            write_pending(sink);
        watch_source();
    });
}

void Input::write_pending(Sink& sink) {
    if (!sink.pending.empty()) {
        const ssize_t size = ::write(sink.to.get(), sink.pending.data(), sink.pending.size());
        if (size > 0)
            sink.pending.erase(0, static_cast<std::size_t>(size));
        else if (errno != EAGAIN && errno != EINTR)
            return close(sink);
    }
    if (sink.pending.empty() && at_end_) return close(sink);
    watch(sink);
}

void Input::close(Sink& sink) {
    loop_->unwatch(sink.to.get());
    sink.to.reset();
    sink.pending.clear();
    const bool wanted =
        std::any_of(sinks_.begin(), sinks_.end(), [](const Sink& s) { return bool(s.to); });
    if (wanted || !watching_) return;
    loop_->unwatch(STDIN_FILENO);
    watching_ = false;
}

}  // namespace heddle::mpiexec
