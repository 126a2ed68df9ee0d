// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmi.hpp"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <stdexcept>
#include <unistd.h>

namespace heddle::launch {
namespace {

/// The value of `key` in a line "cmd=... key=value ..."; empty if it is not there.
std::string field(const std::string& line, const std::string& key) {
    const std::string wanted = " " + key + "=";
    const std::size_t at = (" " + line).find(wanted);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + wanted.size() - 1;
    return line.substr(begin, line.find(' ', begin) - begin);
}

/// False if nothing comes, nor the end, for so long.
bool waits_for_bytes(int descriptor, int milliseconds) noexcept {
    pollfd what{descriptor, POLLIN, 0};
    return poll(&what, 1, milliseconds) > 0;
}

}  // namespace

PmiClient::PmiClient(int descriptor) : descriptor_(descriptor) {
    ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
    store_ = field(ask("cmd=get_my_kvsname", "my_kvsname"), "kvsname");
}

void PmiClient::put(const std::string& key, const std::string& value) {
    ask("cmd=put kvsname=" + store_ + " key=" + key + " value=" + value, "put_result");
}

std::string PmiClient::get(const std::string& key) {
    return field(ask("cmd=get kvsname=" + store_ + " key=" + key, "get_result"), "value");
}

void PmiClient::barrier() { ask("cmd=barrier_in", "barrier_out"); }

void PmiClient::finalize() noexcept {
    try {
        ask("cmd=finalize", "finalize_ack");
    } catch (const std::exception&) {
        // The launcher has gone; so shall we.
    }
}

void PmiClient::abort(int code) noexcept {
    try {
        send("cmd=abort exitcode=" + std::to_string(code) + "\n");
        // Some launchers lose the word of a process that is gone when they come to read it.
        for (char bytes[512];
             waits_for_bytes(descriptor_, 5'000) && read(descriptor_, bytes, sizeof bytes) > 0;) {}
    } catch (const std::exception&) {
        // The exit that follows tells it as well.
    }
}

std::string PmiClient::ask(const std::string& command, const std::string& expected) {
    send(command + "\n");
    const std::string reply = receive();
    const std::string rc = field(reply, "rc");
    if (field(reply, "cmd") != expected || (!rc.empty() && rc != "0"))
        throw std::runtime_error("the launcher answered '" + reply + "' to '" + command +
                                 "' (PMI-1)");
    return reply;
}

void PmiClient::send(const std::string& line) {
    for (std::size_t sent = 0; sent < line.size();) {
        const ssize_t n = write(descriptor_, line.data() + sent, line.size() - sent);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            throw std::runtime_error(std::string("cannot reach the launcher: ") +
                                     std::strerror(errno));
        sent += static_cast<std::size_t>(n);
    }
}

std::string PmiClient::receive() {
    for (;;) {
        if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
            std::string line = received_.substr(0, end);
            received_.erase(0, end + 1);
            return line;
        }
        char bytes[2048];
        const ssize_t n = read(descriptor_, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) throw std::runtime_error("the launcher has closed the connection (PMI-1)");
        received_.append(bytes, static_cast<std::size_t>(n));
    }
}

}  // namespace heddle::launch
