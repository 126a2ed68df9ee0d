// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include "process_state.hpp"
#include "say.hpp"

namespace heddle::mpiexec {

namespace {

constexpr std::size_t longest_line = 1 << 20;        // longer ones are broken
constexpr std::size_t most_queued = 1 << 20;         // the rest stays with the ranks
constexpr std::size_t most_without_blocking = 4096;  // a pipe takes it after POLLOUT
constexpr std::size_t little = 4096;                 // a stream with less rests
constexpr long long rest_ms = 5;
constexpr long long unfinished_ms = 100;
constexpr long long few_ticks = 3;  // of processor time, a hundredth of a second each
constexpr long long look_ms = 40;   // the pause between two looks for unwritten text; the second
                                    // finds it

/// Returns true for a file, since writing to one never waits for a reader.
bool is_file(int fd) {
    struct stat found{};
    return ::fstat(fd, &found) == 0 && S_ISREG(found.st_mode);
}

/// Returns how much of `text` to write to `target` at once: whole lines if they fit.
std::size_t next_chunk(int target, const std::string& text) {
    if (text.size() <= most_without_blocking || is_file(target)) return text.size();
    const std::size_t end = text.rfind('\n', most_without_blocking - 1);
    return end == std::string::npos ? most_without_blocking : end + 1;
}

/// Returns true for files, pipes and sockets. Other targets have no lines to mix, or the program
/// itself must query them.
bool can_be_passed_on(const struct stat& found) {
    return S_ISREG(found.st_mode) || S_ISFIFO(found.st_mode) || S_ISSOCK(found.st_mode);
}

}  // namespace

PassedOn::PassedOn(const Job& job) {
    struct stat out{}, err{};
    const bool known = ::fstat(STDOUT_FILENO, &out) == 0 && ::fstat(STDERR_FILENO, &err) == 0;
    const bool tagged = job.tag_output || job.time_output;
    output =
        job.output_file.empty() && (tagged || (known && !job.raw_output && can_be_passed_on(out)));
    error = (job.merge_output ? output : job.error_file.empty()) &&
        (tagged || (known && !job.raw_output && can_be_passed_on(err)));
    same = output && error && known && out.st_dev == err.st_dev && out.st_ino == err.st_ino;
    if (job.merge_output) error = same = output;
    // If a rank asks a launcher to end the job, the rank's last words must have reached the
    // launcher itself.
    if (job.children == Children::rank && !job.tag_output && !same) error = false;
}

Output::Ends Output::open(int rank) {
    Ends ends{{}, {}, {}, STDOUT_FILENO, STDERR_FILENO};
    if (!job_.output_file.empty()) {
        ends.pipe = files_.open(job_.output_file, first_rank_ + rank);
        ends.output = ends.pipe.get();
    } else if (passed_on_.output) {
        ends.pipe = add_stream(rank, STDOUT_FILENO);
        ends.output = ends.pipe.get();
        if (pages_can_be_seen_) ends.pages = add_pages(*streams_.back());
    }
    if (passed_on_.same || job_.merge_output) {
        ends.error = ends.output;
    } else if (!job_.error_file.empty()) {
        ends.error_pipe = files_.open(job_.error_file, first_rank_ + rank);
        ends.error = ends.error_pipe.get();
    } else if (passed_on_.error) {
        ends.error_pipe = add_stream(rank, STDERR_FILENO);
        ends.error = ends.error_pipe.get();
    }
    return ends;
}

UniqueFd Output::add_stream(int rank, int target) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw Failure(exit_failed,
                      fmt::format("cannot start rank {}: pipe: {}", rank, error_text(errno)));
    // Only the launcher's end; the rank's end blocks as usual.
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    auto stream = std::make_unique<Stream>();
    stream->pipe = UniqueFd(ends[0]);
    stream->rank = rank;
    stream->target = target;
    if (job_.tag_output) stream->tag = fmt::format("[{}] ", first_rank_ + rank);
    watch_if_due(*streams_.emplace_back(std::move(stream)));
    return UniqueFd(ends[1]);
}

UniqueFd Output::add_pages(Stream& stream) {
    UniqueFd end;
    stream.unwritten = Unwritten::make(glass_, end);
    if (!stream.unwritten) return end;  // no descriptors: the rank prints line by line
    loop_.watch(stream.unwritten->fd(), POLLIN, [this, &stream] {
        loop_.unwatch(stream.unwritten->fd());
        stream.shows = true;
        look(stream);
    });
    return end;
}

void Output::watch_if_due(Stream& stream) {
    const bool due = stream.pipe && !paused_ && stream.rests_until == never;
    if (due == stream.watched) return;
    stream.watched = due;
    if (due)
        loop_.watch(stream.pipe.get(), POLLIN, [this, &stream] { read(stream); });
    else
        loop_.unwatch(stream.pipe.get());
}

/// Returns false if there is nothing to read at present.
bool Output::read(Stream& stream) {
    static std::array<char, 65536> buffer;  // the stack may be smaller
    const ssize_t size = ::read(stream.pipe.get(), buffer.data(), buffer.size());
    if (size < 0) return errno == EINTR;
    if (size == 0) {
        end(stream);
        return false;
    }
    const std::string_view came(buffer.data(), static_cast<std::size_t>(size));
    if (stream.unwritten)
        stream.unfinished += stream.unwritten->pass(came);
    else
        stream.unfinished += came;
    take_lines(stream);
    note_unfinished(stream, tagged_);
    if (static_cast<std::size_t>(size) < little && stream.pipe) {
        stream.rests_until = now_ms() + rest_ms;
        watch_if_due(stream);
    }
    return true;
}

void Output::look(Stream& stream) {
    look_at_ = now_ms() + look_ms;
    if (paused_ || !stream.pipe) return;
    read(stream);  // may find its end
    if (stream.pipe) add_unwritten(stream, stream.unwritten->look(stream.pipe.get()));
}

void Output::add_unwritten(Stream& stream, const std::string& text) {
    if (text.empty()) return;
    stream.unfinished += text;
    take_lines(stream);
    note_unfinished(stream, tagged_);
}

/// Adds the text that the rank left unwritten. If other ranks go on to write, an unfinished line is
/// ended.
void Output::add_rest(Stream& stream) {
    if (std::optional<std::string> text = stream.unwritten->rest()) {
        const bool alone = streams_.front()->rank == streams_.back()->rank;
        const std::string& last = text->empty() ? stream.unfinished : *text;
        if (!alone && !last.empty() && last.back() != '\n') *text += '\n';
        add_unwritten(stream, *text);
    }
    if (!stream.shows) loop_.unwatch(stream.unwritten->fd());
    stream.unwritten.reset();
}

void Output::rank_started(int rank, pid_t process) {
    for (const std::unique_ptr<Stream>& stream : streams_)
        if (stream->rank == rank) stream->process = process;
}

void Output::rank_ended(int rank) {
    for (const std::unique_ptr<Stream>& stream : streams_) {
        if (stream->rank != rank || !stream->unwritten) continue;
        while (!paused_ && stream->pipe && read(*stream)) {}
        if (paused_ || !stream->pipe) continue;  // end() does it, or has done it
        add_rest(*stream);
    }
}

/// Returns the beginning of a line.
std::string Output::tag_now(const Stream& stream) const {
    if (!job_.time_output) return stream.tag;
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    ::localtime_r(&now, &local);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S ", &local);
    return text.data() + stream.tag;
}

void Output::take_lines(Stream& stream) {
    std::string text;
    std::size_t start = 0;
    if (tagged_) {
        const std::string tag = tag_now(stream);
        for (std::size_t end = 0; (end = stream.unfinished.find('\n', start)) != std::string::npos;
             start = end + 1)
            text.append(tag).append(stream.unfinished, start, end + 1 - start);
    } else {
        start = stream.unfinished.rfind('\n') + 1;  // 0 where there is none
        text.assign(stream.unfinished, 0, start);
    }
    stream.unfinished.erase(0, start);
    if (!text.empty()) add(stream.target, std::move(text));
    if (stream.unfinished.size() > longest_line) take_unfinished(stream);
}

void Output::note_unfinished(Stream& stream, bool tagged) {
    stream.unfinished_at = stream.unfinished.empty() || tagged ? never : now_ms();
    stream.ticks_then = never;
}

/// Passes an unfinished line on if nothing has come after it for a while.
void Output::consider_unfinished(Stream& stream) {
    while (!paused_ && stream.pipe && read(stream)) {}  // the launcher itself may be late
    if (stream.unfinished_at == never || now_ms() < stream.unfinished_at + unfinished_ms) return;
    if (may_go_on(stream))
        stream.unfinished_at = now_ms();
    else
        take_unfinished(stream);
}

/// Returns true if the rank neither sleeps nor has run since. It was then kept from ending its
/// line.
bool Output::may_go_on(Stream& stream) {
    const std::optional<ProcessState> state = state_of(stream.process);
    if (!state || state->waits()) return false;
    if (stream.ticks_then == never) stream.ticks_then = state->ticks;
    return state->ticks <= stream.ticks_then + few_ticks;
}

void Output::take_unfinished(Stream& stream) {
    if (!stream.unfinished.empty())
        add(stream.target,
            tagged_ ? tag_now(stream) + stream.unfinished + "\n" : stream.unfinished);
    stream.unfinished.clear();
    stream.unfinished_at = never;
}

void Output::end(Stream& stream) {
    if (!stream.pipe) return;
    if (stream.unwritten) add_rest(stream);
    take_unfinished(stream);
    stream.rests_until = never;
    if (std::exchange(stream.watched, false)) loop_.unwatch(stream.pipe.get());
    stream.pipe.reset();
}

long long Output::milliseconds_to_wait() const {
    long long next = never;
    const auto consider = [&](long long time) {
        if (time != never && (next == never || time < next)) next = time;
    };
    for (const std::unique_ptr<Stream>& stream : streams_) {
        if (!paused_) consider(stream->rests_until);
        if (stream->unfinished_at != never) consider(stream->unfinished_at + unfinished_ms);
        if (!paused_ && stream->unwritten && stream->shows) consider(look_at_);
    }
    return next == never ? never : std::max(0LL, next - now_ms());
}

void Output::expire() {
    const long long now = now_ms();
    const bool looks = look_at_ != never && now >= look_at_;
    for (const std::unique_ptr<Stream>& stream : streams_) {
        if (looks && stream->unwritten && stream->shows) look(*stream);
        if (stream->rests_until != never && now >= stream->rests_until) {
            stream->rests_until = never;
            watch_if_due(*stream);
        }
        if (stream->unfinished_at != never && now >= stream->unfinished_at + unfinished_ms)
            consider_unfinished(*stream);
    }
}

void Output::add(int target, std::string text) {
    if (lost_[static_cast<std::size_t>(target)]) return;
    queued_bytes_ += text.size();
    queue_.push_back(Piece{target, std::move(text)});
    if (queued_bytes_ > most_queued) pause(true);
    await_writable();
}

void Output::await_writable() {
    const int wanted = queue_.empty() ? -1 : queue_.front().target;
    if (wanted == awaited_) return;
    if (awaited_ >= 0) loop_.unwatch(awaited_);
    awaited_ = wanted;
    if (wanted >= 0) loop_.watch(wanted, POLLOUT, [this] { write_some(); });
}

void Output::write_some() {
    Piece& piece = queue_.front();
    const ssize_t size =
        ::write(piece.target, piece.text.data(), next_chunk(piece.target, piece.text));
    if (size < 0 && errno != EINTR && errno != EAGAIN) {
        give_up(piece.target, errno);
    } else if (size > 0) {
        queued_bytes_ -= static_cast<std::size_t>(size);
        piece.text.erase(0, static_cast<std::size_t>(size));
        if (piece.text.empty()) queue_.pop_front();
    }
    if (queued_bytes_ <= most_queued / 2) pause(false);
    await_writable();
}

/// Gives `target` up, since it takes no more. If its reader has gone, a broken pipe tells the
/// ranks. A full disk is no reason to end them.
void Output::give_up(int target, int error) {
    lost_[static_cast<std::size_t>(target)] = true;
    std::erase_if(queue_, [&](const Piece& piece) { return piece.target == target; });
    queued_bytes_ = 0;
    for (const Piece& piece : queue_) queued_bytes_ += piece.text.size();
    if (error != EPIPE) {
        failed_ = true;
        return say(fmt::format("cannot write standard {}: {}; what ranks write there is lost",
                               target == STDOUT_FILENO ? "output" : "error", error_text(error)));
    }
    for (const std::unique_ptr<Stream>& stream : streams_)
        if (stream->target == target) end(*stream);
}

void Output::pause(bool pause) {
    if (pause == paused_) return;
    paused_ = pause;
    for (const std::unique_ptr<Stream>& stream : streams_) watch_if_due(*stream);
}

void Output::catch_up() {
    for (const std::unique_ptr<Stream>& stream : streams_)
        while (!paused_ && stream->pipe && read(*stream)) {}
    const auto takes_more = [](int target) {
        pollfd one{target, POLLOUT, 0};
        return ::poll(&one, 1, 0) > 0;
    };
    while (!queue_.empty() && takes_more(queue_.front().target)) write_some();
}

void Output::finish() {
    for (const std::unique_ptr<Stream>& stream : streams_) {
        while (stream->pipe && read(*stream)) {}
        end(*stream);
    }
    while (!queue_.empty()) {
        const int target = queue_.front().target;
        if (write_all(target, queue_.front().text))
            queue_.pop_front();
        else
            give_up(target, errno);
    }
    queued_bytes_ = 0;
    await_writable();
}

}  // namespace heddle::mpiexec
