// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "say.hpp"

namespace heddle::mpiexec {

namespace {

constexpr std::size_t longest_line = 1 << 20;        // a longer one is broken
constexpr std::size_t most_queued = 1 << 20;         // more is left with the ranks
constexpr std::size_t most_without_blocking = 4096;  // what a pipe takes when poll() says POLLOUT

/// How much of `text` to write at once: whole lines where they fit.
std::size_t next_chunk(const std::string& text) {
    if (text.size() <= most_without_blocking) return text.size();
    const std::size_t end = text.rfind('\n', most_without_blocking - 1);
    return end == std::string::npos ? most_without_blocking : end + 1;
}

}  // namespace

UniqueFd TaggedOutput::open(int rank, int target) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        throw Failure(exit_failed,
                      fmt::format("cannot start rank {}: pipe: {}", rank, error_text(errno)));
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);  // our end only; the rank's end blocks as usual
    streams_.push_back(std::make_unique<Stream>(
        Stream{UniqueFd(ends[0]), target, fmt::format("[{}] ", rank), {}}));
    if (!paused_) watch(*streams_.back());
    return UniqueFd(ends[1]);
}

void TaggedOutput::watch(Stream& stream) {
    loop_.watch(stream.pipe.get(), POLLIN, [this, &stream] { read(stream); });
}

/// False when there is nothing to read at present.
bool TaggedOutput::read(Stream& stream) {
    std::array<char, 65536> buffer;
    const ssize_t size = ::read(stream.pipe.get(), buffer.data(), buffer.size());
    if (size < 0) return errno == EINTR;
    if (size == 0) {
        end(stream);
        return false;
    }
    stream.unfinished.append(buffer.data(), static_cast<std::size_t>(size));
    take_lines(stream);
    return true;
}

void TaggedOutput::take_lines(Stream& stream) {
    std::string text;
    std::size_t start = 0;
    for (std::size_t end = 0; (end = stream.unfinished.find('\n', start)) != std::string::npos;
         start = end + 1)
        text.append(stream.tag).append(stream.unfinished, start, end + 1 - start);
    stream.unfinished.erase(0, start);
    if (stream.unfinished.size() > longest_line) {
        text.append(stream.tag).append(stream.unfinished).append("\n");
        stream.unfinished.clear();
    }
    if (!text.empty()) add(stream.target, std::move(text));
}

void TaggedOutput::end(Stream& stream) {
    if (!stream.pipe) return;
    if (!stream.unfinished.empty()) add(stream.target, stream.tag + stream.unfinished + "\n");
    stream.unfinished.clear();
    loop_.unwatch(stream.pipe.get());
    stream.pipe.reset();
}

void TaggedOutput::add(int target, std::string text) {
    queued_bytes_ += text.size();
    queue_.push_back(Piece{target, std::move(text)});
    if (queued_bytes_ > most_queued) pause(true);
    await_writable();
}

void TaggedOutput::await_writable() {
    const int wanted = queue_.empty() ? -1 : queue_.front().target;
    if (wanted == awaited_) return;
    if (awaited_ >= 0) loop_.unwatch(awaited_);
    awaited_ = wanted;
    if (wanted >= 0) loop_.watch(wanted, POLLOUT, [this] { write_some(); });
}

void TaggedOutput::write_some() {
    Piece& piece = queue_.front();
    const ssize_t size = ::write(piece.target, piece.text.data(), next_chunk(piece.text));
    if (size < 0 && errno != EINTR && errno != EAGAIN) drop(piece.target);
    if (size > 0) {
        queued_bytes_ -= static_cast<std::size_t>(size);
        piece.text.erase(0, static_cast<std::size_t>(size));
        if (piece.text.empty()) queue_.pop_front();
    }
    if (queued_bytes_ <= most_queued / 2) pause(false);
    await_writable();
}

/// Nobody reads `target` any more: the ranks that write to it are told by a broken pipe.
void TaggedOutput::drop(int target) {
    for (const std::unique_ptr<Stream>& stream : streams_) {
        if (stream->target != target || !stream->pipe) continue;
        loop_.unwatch(stream->pipe.get());
        stream->pipe.reset();
    }
    std::erase_if(queue_, [&](const Piece& piece) { return piece.target == target; });
    queued_bytes_ = 0;
    for (const Piece& piece : queue_) queued_bytes_ += piece.text.size();
}

void TaggedOutput::pause(bool pause) {
    if (pause == paused_) return;
    paused_ = pause;
    for (const std::unique_ptr<Stream>& stream : streams_) {
        if (!stream->pipe) continue;
        if (pause)
            loop_.unwatch(stream->pipe.get());
        else
            watch(*stream);
    }
}

void TaggedOutput::finish() {
    for (const std::unique_ptr<Stream>& stream : streams_) {
        while (stream->pipe && read(*stream)) {}
        end(*stream);
    }
    for (const Piece& piece : queue_) write_all(piece.target, piece.text);
    queue_.clear();
    queued_bytes_ = 0;
    await_writable();
}

}  // namespace heddle::mpiexec
