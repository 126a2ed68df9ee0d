// SPDX-License-Identifier: BSD-3-Clause
#include "report_place.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "say.hpp"

namespace heddle::mpiexec {

namespace {

using transport::sockets::Endpoint;

constexpr int backlog = 4096;

UniqueFd tcp_socket(int family) {
    return UniqueFd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

template <class Sockaddr>
UniqueFd listen_everywhere(Sockaddr address) {
    const int off = 0;
    UniqueFd socket = tcp_socket(reinterpret_cast<const sockaddr*>(&address)->sa_family);
    // One socket serves both versions of IP. An IPv4 socket does not have the option.
    (void)::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (!socket ||
        ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket.get(), backlog) != 0)
        return {};
    return socket;
}

std::uint16_t port_of(const UniqueFd& socket) {
    sockaddr_in6 address{};  // the port of both families is at the same place
    socklen_t length = sizeof address;
    return ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) == 0
        ? ntohs(address.sin6_port)
        : 0;
}

}  // namespace

UniqueFd listen_for_reports(ReportAddress& address) {
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    sockaddr_in four{};
    four.sin_family = AF_INET;
    UniqueFd socket = listen_everywhere(six);
    if (!socket) socket = listen_everywhere(four);
    if (!socket) return {};
    address = ReportAddress::of_this_process();
    address.port = port_of(socket);
    address.internet = transport::sockets::internet_addresses("", address.port);
    return out_of_the_way(std::move(socket));
}

std::string text_of(const ReportAddress& address) {
    std::string text;
    for (const char byte : address.to_bytes())
        text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

std::optional<ReportAddress> report_address_of(const std::string& text) try {
    if (text.size() % 2 != 0 || text.find_first_not_of("0123456789abcdef") != std::string::npos)
        return {};
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); i += 2)
        bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
    return ReportAddress::from_bytes(bytes);
} catch (const std::runtime_error&) {
    return {};
}

UniqueFd begin_to_connect(const Endpoint& endpoint) {
    UniqueFd socket = tcp_socket(endpoint.family());
    if (socket && ::connect(socket.get(), endpoint.get(), endpoint.length) != 0 &&
        errno != EINPROGRESS)
        return {};
    return socket;
}

}  // namespace heddle::mpiexec
