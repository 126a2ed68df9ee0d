// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmi.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <stdexcept>
#include <unistd.h>
#include <vector>

#include "launch/pieces.hpp"

namespace heddle::launch {
namespace {

constexpr std::size_t longest_own_key = 64;
/// Processes on a host that is cut off end so long after its peers were found silent
/// (transport::Patience).
constexpr std::chrono::milliseconds longest_abort{3'000};
/// The patience for each name in an error. Either the launcher's part on this host has it, or no
/// part has.
constexpr std::chrono::milliseconds patience_for_names{2'000};
constexpr const char* host_key = "host";
constexpr std::size_t most_hosts_named = 8, longest_host_name = 256;

/// Returns the value of `key` in a line "cmd=... key=value ..."; empty if it is not there.
std::string field(const std::string& line, const std::string& key) {
    const std::string wanted = " " + key + "=";
    const std::size_t at = (" " + line).find(wanted);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + wanted.size() - 1;
    return line.substr(begin, line.find(' ', begin) - begin);
}

/// Returns the number that a text is, or -1.
int whole(const std::string& text) noexcept {
    int value = -1;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    return read.ec == std::errc{} && read.ptr == end ? value : -1;
}

/// Returns false if neither bytes nor the end come for so long.
bool waits_for_bytes(int descriptor, std::chrono::milliseconds patience) noexcept {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + patience;
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
        pollfd what{descriptor, POLLIN, 0};
        const int found = poll(&what, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
        if (found > 0) return true;
        if (found == 0 || errno != EINTR) return false;
    }
}

std::string own_host_name() {
    char name[longest_host_name] = "";
    return gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? name : "a host";
}

}  // namespace

Pmi::Pmi(int descriptor, int rank, int size, std::chrono::milliseconds patience)
    : descriptor_(descriptor), rank_(rank), size_(size), patience_(patience) {
    begin();
}

Pmi::Pmi(int descriptor, const std::string& id)
    : descriptor_(descriptor), patience_(usual_patience) {
    ask("cmd=initack pmiid=" + id, "initack");
    // Three lines that come without a question: size, rank and debug.
    for (int lines = 0; lines < 3; ++lines) {
        const std::string line = receive();
        if (const std::string size = field(line, "size"); !size.empty()) size_ = whole(size);
        if (const std::string rank = field(line, "rank"); !rank.empty()) rank_ = whole(rank);
    }
    if (rank_ < 0 || rank_ >= size_)
        throw std::runtime_error("the launcher says that this is rank " + std::to_string(rank_) +
                                 " of " + std::to_string(size_) + " (PMI-1)");
    begin();
}

/// The descriptor goes with the process: the launcher takes its end for the end of the rank.
Pmi::~Pmi() = default;

void Pmi::begin() {
    ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
    const std::string limits = ask("cmd=get_maxes", "maxes");
    longest_key_ = static_cast<std::size_t>(std::max(0, whole(field(limits, "keylen_max"))));
    // Some launchers count the end of a value among its bytes.
    longest_value_ = static_cast<std::size_t>(std::max(1, whole(field(limits, "vallen_max")))) - 1;
    store_ = field(ask("cmd=get_my_kvsname", "my_kvsname"), "kvsname");
    // Slurm takes lines no longer than the values that it promises to keep.
    const std::size_t rest =
        std::strlen("cmd=put kvsname= key= value=\n") + store_.size() + longest_own_key;
    longest_value_ -= std::min(longest_value_, rest);
    hang_up_.emplace(descriptor_, rank_);
    if (size_ > 1) put(host_key, own_host_name());
}

int Pmi::appnum() { return whole(field(ask_perhaps("cmd=get_appnum"), "appnum")); }

/// Returns the size, or -1: Hydra answers -1 if it does not know.
int Pmi::universe_size() { return whole(field(ask_perhaps("cmd=get_universe_size"), "size")); }

NodeMap Pmi::node_map() {
    const std::string text =
        field(ask_perhaps("cmd=get kvsname=" + store_ + " key=PMI_process_mapping"), "value");
    NodeMap map = read_process_mapping(text, size_);
    if (map.empty() && !text.empty())
        throw std::runtime_error("the launcher says that ranks are on nodes as '" + text +
                                 "', which is not understood (PMI-1)");
    node_text_ = text;
    return map;
}

std::string Pmi::key_of(int rank, const std::string& key, std::size_t piece) const {
    const std::string full =
        "heddle-" + std::to_string(rank) + "-" + key + "-" + std::to_string(piece);
    if (full.size() >= std::min(longest_key_, longest_own_key))
        throw std::runtime_error("the launcher keeps no key as long as '" + full + "' (PMI-1)");
    return full;
}

void Pmi::put(const std::string& key, const std::string& value) {
    const std::vector<std::string> pieces = cut(value, longest_value_);
    for (std::size_t i = 0; i < pieces.size(); ++i)
        ask("cmd=put kvsname=" + store_ + " key=" + key_of(rank_, key, i) + " value=" + pieces[i],
            "put_result");
}

std::string Pmi::get(int rank, const std::string& key) {
    return put_together([&](std::size_t piece) {
        return field(
            ask("cmd=get kvsname=" + store_ + " key=" + key_of(rank, key, piece), "get_result"),
            "value");
    });
}

void Pmi::fence() {
    in_first_fence_ = fences_ == 0;
    ask("cmd=barrier_in", "barrier_out");
    in_first_fence_ = false;
    ++fences_;
}

void Pmi::leave() noexcept {
    hang_up_->expect();
    try {
        ask("cmd=finalize", "finalize_ack");
    } catch (const std::exception&) {
        // The launcher has gone; this process goes, too.
    }
    left_ = true;
}

void Pmi::abort(int code) noexcept {
    hang_up_->expect();
    try {
        send("cmd=abort exitcode=" + std::to_string(code) + "\n");
        // Some launchers lose the word of a process that is gone when they come to read it.
        for (char bytes[512]; waits_for_bytes(descriptor_, longest_abort) &&
             read(descriptor_, bytes, sizeof bytes) > 0;) {}
    } catch (const std::exception&) {
        // The exit that follows tells it as well.
    }
}

std::string Pmi::ask_perhaps(const std::string& command) {
    send(command + "\n");
    const std::string reply = receive();
    const std::string rc = field(reply, "rc");
    return rc.empty() || rc == "0" ? reply : std::string();
}

std::string Pmi::ask(const std::string& command, const std::string& expected) {
    send(command + "\n");
    const std::string reply = receive();
    const std::string rc = field(reply, "rc");
    if (field(reply, "cmd") != expected || (!rc.empty() && rc != "0"))
        throw std::runtime_error("the launcher answered '" + reply + "' to '" + command +
                                 "' (PMI-1)");
    return reply;
}

void Pmi::send(const std::string& line) {
    if (left_) throw std::runtime_error("the launcher has been left");
    for (std::size_t sent = 0; sent < line.size();) {
        const ssize_t n = write(descriptor_, line.data() + sent, line.size() - sent);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            throw std::runtime_error(std::string("cannot reach the launcher: ") +
                                     std::strerror(errno));
        sent += static_cast<std::size_t>(n);
    }
}

std::string Pmi::receive() {
    for (;;) {
        if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
            std::string line = received_.substr(0, end);
            received_.erase(0, end + 1);
            return line;
        }
        await_bytes();
        char bytes[2048];
        const ssize_t n = read(descriptor_, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) throw std::runtime_error("the launcher has closed the connection (PMI-1)");
        received_.append(bytes, static_cast<std::size_t>(n));
    }
}

void Pmi::await_bytes() {
    if (waits_for_bytes(descriptor_, given_up_ ? patience_for_names : patience_)) return;
    if (!in_first_fence_) give_up();
    std::fprintf(stderr,
                 "heddle: rank %d waits in MPI_Init for ranks that have not come to it for %lld s: "
                 "they do something "
                 "else, or a host is cut off\n",
                 rank_, static_cast<long long>(patience_.count() / 1000));
    while (!waits_for_bytes(descriptor_, patience_)) {}
}

void Pmi::give_up() {
    if (given_up_) throw std::runtime_error("the launcher does not answer (PMI-1)");
    given_up_ = true;
    received_.clear();
    const std::string hosts = fences_ == 0 ? std::string() : other_hosts();
    throw std::runtime_error("the launcher has not answered for " +
                             std::to_string(patience_.count() / 1000) + " s (PMI-1)" +
                             (hosts.empty() ? "" : ": a host is cut off, or stopped, of " + hosts));
}

std::string Pmi::other_hosts() {
    const NodeMap nodes = read_process_mapping(node_text_, size_);
    std::string text;
    std::size_t named = 0;
    for (std::size_t first = 0; first < nodes.size(); ++first) {
        const std::int32_t node = nodes[first];
        const auto begin = nodes.begin();
        if (node == nodes[static_cast<std::size_t>(rank_)] ||
            std::find(begin, begin + static_cast<std::ptrdiff_t>(first), node) !=
                begin + static_cast<std::ptrdiff_t>(first))
            continue;
        if (++named > most_hosts_named) return text + " and others";
        if (!text.empty()) text += ", ";
        try {
            text += get(static_cast<int>(first), host_key);
        } catch (const std::exception&) {
            text += "a host";
        }
        text += " (rank " + std::to_string(first) + ")";
    }
    return text;
}

}  // namespace heddle::launch
