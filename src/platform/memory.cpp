// SPDX-License-Identifier: BSD-3-Clause
#include "platform/memory.hpp"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace heddle::platform {

Mapping::~Mapping() {
    if (address_ != nullptr) munmap(address_, bytes_);
}

int create_shared_memory() noexcept { return memfd_create("heddle", MFD_CLOEXEC); }

int open_shared_memory(const std::string& path) noexcept {
    return open(path.c_str(), O_RDWR | O_CLOEXEC);
}

Mapping map_shared(int descriptor, std::size_t bytes) noexcept {
    struct stat status {};
    if (fstat(descriptor, &status) != 0) return {};
    if (static_cast<std::size_t>(status.st_size) < bytes &&
        ftruncate(descriptor, static_cast<off_t>(bytes)) != 0)
        return {};
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                         descriptor, 0);
    return address == MAP_FAILED ? Mapping{} : Mapping{address, bytes};
}

Mapping reserve(std::size_t bytes) noexcept {
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return address == MAP_FAILED ? Mapping{} : Mapping{address, bytes};
}

namespace {

/// The number that a file consists of; `otherwise` if there is no such file, or none in it.
std::uint64_t number_in(const char* path, std::uint64_t otherwise) noexcept {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return otherwise;
    char text[32];
    const ssize_t length = read(file, text, sizeof text);
    close(file);
    std::uint64_t number = 0;
    if (length <= 0 || std::from_chars(text, text + length, number).ec != std::errc{}) return otherwise;
    return number;
}

}  // namespace

std::uint64_t memory_in_all() noexcept {
    const std::uint64_t machine = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
        static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    // Of a container: control groups of version 2, and of version 1.
    return std::min({machine, number_in("/sys/fs/cgroup/memory.max", machine),
                     number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes", machine)});
}

namespace {

/// `copy` is process_vm_readv() or process_vm_writev(), which may do a part of what it is told.
template <class Copy>
bool copy_all(Copy copy, int pid, void* local, std::uint64_t remote, std::size_t bytes) noexcept {
    // The kernel copies at most 2 GiB less a page in one call.
    constexpr std::size_t most = std::size_t{1} << 30;
    auto* at = static_cast<char*>(local);
    while (bytes > 0) {
        iovec here{at, std::min(bytes, most)};
        iovec there{reinterpret_cast<void*>(remote), here.iov_len};
        const ssize_t copied = copy(pid, &here, 1, &there, 1, 0);
        if (copied <= 0) return false;
        at += copied;
        remote += static_cast<std::uint64_t>(copied);
        bytes -= static_cast<std::size_t>(copied);
    }
    return true;
}

}  // namespace

bool copy_from_process(int pid, void* local, std::uint64_t remote, std::size_t bytes) noexcept {
    return copy_all(process_vm_readv, pid, local, remote, bytes);
}

bool copy_to_process(int pid, std::uint64_t remote, const void* local, std::size_t bytes) noexcept {
    return copy_all(process_vm_writev, pid, const_cast<void*>(local), remote, bytes);  // only read
}

}  // namespace heddle::platform
