// SPDX-License-Identifier: BSD-3-Clause
/// The two methods by which processes find launchers that speak PMI-1.

#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <netdb.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "launch/all.hpp"
#include "launch/pmi.hpp"
#include "launch/variables.hpp"
#include "platform/shared_memory.hpp"

namespace heddle::launch {
namespace {

/// Refuses a descriptor that is no connection. The number may be that of a file by now, which must
/// not be written to.
[[noreturn]] void refuse_descriptor(int descriptor) {
    throw std::runtime_error(
        "PMI_FD=" + std::to_string(descriptor) +
        " is no connection to a launcher (something between it and this program has closed it, "
        "or the variable is of another program)");
}

[[noreturn]] void refuse_port(const std::string& port, const std::string& why) {
    throw std::runtime_error("the launcher wants to be called at PMI_PORT=" + port +
                             ", where it is not to be reached: " + why);
}

int connected(const addrinfo& address) noexcept {
    const int made = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0 || connect(made, address.ai_addr, address.ai_addrlen) == 0) return made;
    const int error = errno;
    close(made);
    errno = error;
    return -1;
}

/// Connects to `port`, which is HOST:NUMBER.
int call(const std::string& port) {
    const std::size_t colon = port.rfind(':');
    if (colon == std::string::npos) refuse_port(port, "it names no port");
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error =
        getaddrinfo(port.substr(0, colon).c_str(), port.substr(colon + 1).c_str(), &wanted, &found);
    if (error != 0) refuse_port(port, gai_strerror(error));
    int descriptor = -1;
    for (const addrinfo* one = found; one != nullptr && descriptor < 0; one = one->ai_next)
        descriptor = connected(*one);
    const int failure = errno;
    freeaddrinfo(found);
    if (descriptor < 0) refuse_port(port, std::strerror(failure));
    return descriptor;
}

}  // namespace

std::unique_ptr<Launcher> find_pmi() {
    if (std::getenv("PMI_FD") == nullptr) return nullptr;
    const int descriptor = number_in("PMI_FD");
    if (!platform::is_socket(descriptor)) {
        // Another launcher may have started this program since.
        if (std::getenv("PMIX_RANK") != nullptr) return nullptr;
        refuse_descriptor(descriptor);
    }
    const RankInJob who = rank_in_job();
    auto launcher = std::make_unique<Pmi>(descriptor, who.rank, who.size);
    platform::close_on_exec(descriptor);
    return launcher;
}

std::unique_ptr<Launcher> find_pmi_port() {
    const char* port = std::getenv("PMI_PORT");
    const char* id = std::getenv("PMI_ID");
    if (port == nullptr || id == nullptr) return nullptr;
    return std::make_unique<Pmi>(call(port), std::string(id));
}

}  // namespace heddle::launch
