// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Memory of the process at the other end of a connection on this machine, copied by the kernel.
///
/// Identity       the kernel says which process listens (SO_PEERCRED). By the time of a read that
///                id may be another process's. And a child that the process has forked may keep its
///                sockets. So a wire keeps its secret on a page that forked children find empty.
///                The key of its memory is the address of that page. A read copies the secret and
///                the payload in one call, for which the kernel looks up one process. Without the
///                right secret it has failed.
/// Refusal        by the kernel (another user, Yama, a container, another PID namespace), or by a
///                wrong secret. It holds for the life of the connection. Memory that is not there
///                is the fault of one message.
/// Thread safety  one thread at a time.

#include <cstdint>
#include <span>

#include "platform/memory.hpp"
#include "transport/sockets/address.hpp"

namespace heddle::transport::sockets {

class SecretPage {
public:
    /// If there is no memory for it the key is 0, with which nothing is read.
    explicit SecretPage(const Secret& secret) noexcept;
    std::uint64_t key() const noexcept { return reinterpret_cast<std::uint64_t>(page_.address()); }

private:
    const platform::Mapping page_;
};

class PeerReader {
public:
    /// Sets the process. `process`: its id as this process knows it; 0 if it is none here.
    void set_process(int process) noexcept { process_ = process; }
    /// Returns false if the payload is not here; a part of it may be, or other bytes.
    bool read(RemoteMemory from, const Secret& secret, std::span<std::byte> to) noexcept;

private:
    int process_ = 0;
};

}  // namespace heddle::transport::sockets
