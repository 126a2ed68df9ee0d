// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The address at which a wire of sockets listens. It has what peers need to connect, and to show
/// that they may.
///
/// Bytes          at most transport::most_address. As many addresses of the internet are in them as
///                fit.
/// Secret         a process that has the address has it. The wire lets in any process that has it.
/// Machine        a number of this start of the kernel, and the network namespace. Sockets with
///                abstract names can be reached if both are the same. Otherwise TCP serves.

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <string>
#include <vector>

#include "transport/transport.hpp"

namespace heddle::transport::sockets {

using Secret = JobToken;

/// A socket address, as the kernel wants it.
struct Endpoint {
    sockaddr_storage bytes{};
    socklen_t length = 0;

    const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&bytes); }
    int family() const noexcept { return bytes.ss_family; }
    bool is_internet() const noexcept { return family() == AF_INET || family() == AF_INET6; }
    /// Returns it for people.
    std::string text() const;
};

/// Returns the endpoint of a name in the abstract namespace: nothing of it is in the file system.
Endpoint abstract_endpoint(std::uint64_t name) noexcept;

struct Address {
    std::uint64_t machine = 0;  ///< 0: not known
    std::uint64_t network = 0;  ///< inode of the network namespace; 0: not known
    std::uint64_t name = 0;     ///< in the abstract namespace; 0: not reached there
    std::uint32_t process = 0;  ///< process id, for people
    std::uint16_t port = 0;     ///< of TCP; 0: not reached by TCP
    Secret secret{};
    std::vector<Endpoint> internet;  ///< in the order in which they are to be tried

    /// Returns an address without sockets: this process and its machine, with a secret of its own.
    static Address of_this_process();
    /// Throws std::runtime_error if that is no address.
    static Address from_bytes(const std::string& bytes);
    std::string to_bytes() const;

    bool is_beside(const Address& other) const noexcept {
        return machine != 0 && network != 0 && machine == other.machine && network == other.network;
    }
    /// Returns it for people, as seen from a process at `here`.
    std::string place(const Address& here) const;
};

/// Returns the addresses of this host by which others may reach it, the likeliest first. They are
/// those of the interface, or of all interfaces if it is empty. The loopback interface is among
/// them only if it is named, or there is no other.
std::vector<Endpoint> internet_addresses(const std::string& interface, std::uint16_t port);

}  // namespace heddle::transport::sockets
