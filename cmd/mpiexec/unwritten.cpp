// SPDX-License-Identifier: BSD-3-Clause
#include "unwritten.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "platform/print_view.hpp"
#include "process_state.hpp"

namespace heddle::mpiexec {

namespace {

using platform::PrintView;

/// The least that has come of a write that was cut off. A pipe with room for a part takes only
/// whole pages, and the bytes of the write beyond them.
constexpr std::size_t least_cut_off = (PrintView::bytes_with_text - sizeof(PrintView)) % 4096;

/// Returns the length of the longest end of `text` with which `other` begins.
std::size_t overlap(std::string_view text, std::string_view other) {
    for (std::size_t n = std::min(text.size(), other.size()); n > 0; --n)
        if (text.substr(text.size() - n) == other.substr(0, n)) return n;
    return 0;
}

bool make_pipe(UniqueFd& out, UniqueFd& in, int flags) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), flags) != 0) return false;
    out = UniqueFd(ends[0]);
    in = UniqueFd(ends[1]);
    return true;
}

bool is_empty(int pipe) {
    int bytes = 0;
    return ::ioctl(pipe, FIONREAD, &bytes) == 0 && bytes == 0;
}

/// Returns false if the process's standard output is known to be another file by now.
bool writes_to(long long process, int stream) {
    struct stat its{}, ours{};
    if (::stat(fmt::format("/proc/{}/fd/1", process).c_str(), &its) != 0) return true;
    return ::fstat(stream, &ours) != 0 || (its.st_dev == ours.st_dev && its.st_ino == ours.st_ino);
}

}  // namespace

bool pages_can_be_seen() {
    UniqueFd out, in;
    auto* const byte = static_cast<char*>(
        ::mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (byte == MAP_FAILED) return false;
    *byte = 'a';
    const iovec one{byte, 1};
    bool seen = make_pipe(out, in, O_CLOEXEC | O_NONBLOCK) && ::vmsplice(in.get(), &one, 1, 0) == 1;
    *static_cast<volatile char*>(byte) = 'b';
    char found = 0;
    seen = seen && ::read(out.get(), &found, 1) == 1 && found == 'b';
    ::munmap(byte, 1);
    return seen;
}

LookingGlass::LookingGlass() { make_pipe(out_, in_, O_CLOEXEC | O_NONBLOCK); }

bool LookingGlass::copy(int pipe, char* to, std::size_t bytes) {
    if (!in_) return false;
    const ssize_t put = ::tee(pipe, in_.get(), bytes, SPLICE_F_NONBLOCK);
    ssize_t got = 0;
    while (got < put) {
        const ssize_t size = ::read(out_.get(), to + got, static_cast<std::size_t>(put - got));
        if (size <= 0) return false;
        got += size;
    }
    return got == static_cast<ssize_t>(bytes);
}

std::unique_ptr<Unwritten> Unwritten::make(LookingGlass& glass, UniqueFd& end) {
#ifdef __GLIBC__
    UniqueFd out;
    if (!make_pipe(out, end, O_CLOEXEC)) return nullptr;
    return std::unique_ptr<Unwritten>(new Unwritten(glass, std::move(out)));
#else  // streams cannot be looked into
    (void)glass, (void)end;
    return nullptr;
#endif
}

std::optional<Unwritten::Head> Unwritten::head() {
#ifdef __GLIBC__
    std::array<char, platform::print_head_bytes> record;
    if (!glass_.copy(pipe_.get(), record.data(), record.size())) return std::nullopt;
    std::FILE stream;
    PrintView view;
    std::memcpy(&stream, record.data(), sizeof stream);
    std::memcpy(static_cast<void*>(&view), record.data() + sizeof stream, sizeof view);
    const auto start = reinterpret_cast<std::uint64_t>(stream._IO_write_base);
    const auto next = reinterpret_cast<std::uint64_t>(stream._IO_write_ptr);
    const bool true_yet = view.is == PrintView::mark && view.over.load() == 0 &&
        view.bytes <= PrintView::bytes_with_text && start == view.text && next >= start &&
        next - start <= view.bytes;
    if (!true_yet) return std::nullopt;
    return Head{next - start, view.bytes, static_cast<long long>(view.process)};
#else
    return std::nullopt;
#endif
}

/// Returns the first `bytes` of the text that was printed and not written.
std::string Unwritten::text(std::size_t bytes) {
    std::string record(platform::print_head_bytes + bytes, '\0');
    if (!glass_.copy(pipe_.get(), record.data(), record.size())) return {};
    record.erase(0, platform::print_head_bytes);
    if (!record.starts_with(shown_)) shown_.clear();  // the program has discarded that
    return record;
}

std::string Unwritten::pass(std::string_view bytes) {
    received_ += static_cast<long long>(bytes.size());
    ran_.reset();
    last_.append(bytes);
    if (last_.size() > PrintView::bytes_with_text)
        last_.erase(0, last_.size() - PrintView::bytes_with_text);
    if (shown_.empty()) return std::string(bytes);
    std::string text = std::exchange(held_, {}).append(bytes);
    if (const std::size_t found = text.find(shown_); found != std::string::npos) {
        text.erase(found, shown_.size());
        shown_.clear();
        return text;
    }
    held_ = text.substr(text.size() - overlap(text, shown_));
    text.resize(text.size() - held_.size());
    return text;
}

/// Returns true if the text in the buffer repeats the last bytes that came.
bool Unwritten::may_have_come(const std::string& text) {
    return !held_.empty() || (shown_.empty() && overlap(last_, text) > 0);
}

/// Returns true if the process has left the write in which it was when the last bytes came.
bool Unwritten::has_run(long long process) {
    const auto state = state_of(process);
    if (!state) return false;
    if (state->letter == 'S') return true;  // it does not wait for room, since the stream is empty
    if (!ran_) ran_ = state->ticks;
    return state->ticks > *ran_ + 1;
}

std::string Unwritten::look(int stream) {
    const std::optional<Head> now = head();
    const std::optional<Seen> before = std::exchange(seen_, std::nullopt);
    if (!now || !is_empty(stream)) return {};
    seen_ = Seen{now->printed, received_};
    if (!before || before->received != received_ || before->printed > now->printed) return {};
    std::string found = text(before->printed);
    if (!is_empty(stream) || found.size() <= shown_.size()) return {};
    if (may_have_come(found) && !has_run(now->process)) return {};
    // If the text is there afterwards, too, it was there at that moment.
    if (!writes_to(now->process, stream) || text(found.size()) != found) return {};
    found.erase(0, shown_.size());
    shown_ += found;
    return std::exchange(held_, {}) + found;
}

std::optional<std::string> Unwritten::rest() {
    const std::optional<Head> now = head();
    if (!now) return std::nullopt;
    std::string found = text(now->printed);
    std::size_t came = now->printed == now->room ? overlap(last_, found) : 0;
    if (came < least_cut_off) came = 0;
    found.erase(0, std::max(shown_.size(), came));
    return came > 0 ? found : std::exchange(held_, {}) + found;
}

}  // namespace heddle::mpiexec
