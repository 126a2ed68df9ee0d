// SPDX-License-Identifier: BSD-3-Clause
#include "transport/sockets/peer_reader.hpp"

#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace heddle::transport::sockets {
namespace {

bool is_refusal(int error) noexcept { return error == EPERM || error == ESRCH || error == ENOSYS; }

}  // namespace

SecretPage::SecretPage(const Secret& secret) noexcept : page_(platform::reserve(sizeof secret)) {
    if (!page_) return;
    platform::wipe_on_fork(page_);
    std::memcpy(page_.address(), &secret, sizeof secret);
}

bool PeerReader::read(RemoteMemory from, const Secret& secret, std::span<std::byte> to) noexcept {
    if (process_ <= 0 || from.key == 0) return false;
    Secret said{};
    const std::array<iovec, 2> here{{{&said, sizeof said}, {to.data(), to.size()}}};
    const std::array<iovec, 2> there{{{reinterpret_cast<void*>(from.key), sizeof said},
                                      {reinterpret_cast<void*>(from.address), to.size()}}};
    errno = 0;  // a short read says nothing
    const bool whole = platform::copy_pieces_from_process(process_, here, there);
    if (is_refusal(errno) || (whole && said != secret)) process_ = 0;
    return whole && said == secret;
}

}  // namespace heddle::transport::sockets
