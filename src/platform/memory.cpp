// SPDX-License-Identifier: BSD-3-Clause
#include "platform/memory.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "platform/sanitizers.hpp"

namespace heddle::platform {

Mapping::Mapping(void* address, std::size_t bytes, bool holds_pointers) noexcept
    : address_(address), bytes_(bytes), holds_pointers_(holds_pointers) {
    if (holds_pointers_) begin_holding_pointers(address_, bytes_);
}

Mapping::~Mapping() {
    if (address_ == nullptr) return;
    if (holds_pointers_) end_holding_pointers(address_, bytes_);
    munmap(address_, bytes_);
}

void Mapping::drop_pages() noexcept {
    if (address_ != nullptr) madvise(address_, bytes_, MADV_DONTNEED);
}

bool Mapping::open(std::size_t bytes) noexcept {
    return mprotect(address_, bytes, PROT_READ | PROT_WRITE) == 0;
}

Mapping map_shared(int descriptor, std::size_t bytes) noexcept {
    void* address =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
    return address == MAP_FAILED ? Mapping{} : Mapping{address, bytes};
}

std::optional<SharedObject> SharedObject::of(int descriptor) noexcept {
    struct stat status{};
    if (fstat(descriptor, &status) != 0) return std::nullopt;
    SharedObject object;
    object.descriptor_ = descriptor;
    object.bytes_ = static_cast<std::size_t>(status.st_size);
    object.device_ = status.st_dev;
    object.number_ = status.st_ino;
    return object;
}

bool SharedObject::is_there() const noexcept {
    struct stat status{};
    if (fstat(descriptor_, &status) != 0) return false;
    if (status.st_dev == device_ && status.st_ino == number_) return true;
    errno = EBADF;
    return false;
}

bool SharedObject::drop_pages(std::size_t offset, std::size_t bytes) const noexcept {
    return is_there() &&
        fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0;
}

Mapping SharedObject::map(std::size_t offset, std::size_t bytes) const noexcept {
    if (!is_there()) return {};
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                         descriptor_, static_cast<off_t>(offset));
    return address == MAP_FAILED ? Mapping{} : Mapping{address, bytes};
}

void populate(void* address, std::size_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
    constexpr int advice = MADV_POPULATE_WRITE;
#else
    constexpr int advice = 23;  // C libraries before 2.35 have no name for it
#endif
    const std::uintptr_t page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(address) / page * page;
    const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(address) + bytes;
    madvise(reinterpret_cast<void*>(begin), end - begin, advice);
}

void wipe_on_fork(const Mapping& mapping) noexcept {
    madvise(mapping.address(), mapping.bytes(), MADV_WIPEONFORK);
}

namespace {

Mapping private_memory(std::size_t bytes, int protection) noexcept {
    void* address =
        mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return address == MAP_FAILED ? Mapping{} : Mapping{address, bytes, true};
}

}  // namespace

Mapping reserve(std::size_t bytes) noexcept {
    return private_memory(bytes, PROT_READ | PROT_WRITE);
}

Mapping reserve_addresses(std::size_t bytes) noexcept { return private_memory(bytes, PROT_NONE); }

Mapping reserve_zeroes(std::size_t bytes) noexcept { return private_memory(bytes, PROT_READ); }

bool make_writable(void* address, std::size_t bytes) noexcept {
    return mprotect(address, bytes, PROT_READ | PROT_WRITE) == 0;
}

namespace {

/// Copies all bytes. `copy` is process_vm_readv() or process_vm_writev(), which may copy a part.
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
    // Local memory is only read.
    return copy_all(process_vm_writev, pid, const_cast<void*>(local), remote, bytes);
}

namespace {

template <class Copy>
bool copy_pieces(Copy copy, int pid, std::span<const iovec> local,
                 std::span<const iovec> remote) noexcept {
    std::size_t bytes = 0;
    for (const iovec& piece : local) bytes += piece.iov_len;
    const ssize_t copied = copy(pid, local.data(), local.size(), remote.data(), remote.size(), 0);
    return copied >= 0 && static_cast<std::size_t>(copied) == bytes;
}

}  // namespace

bool copy_pieces_from_process(int pid, std::span<const iovec> local,
                              std::span<const iovec> remote) noexcept {
    return copy_pieces(process_vm_readv, pid, local, remote);
}

bool copy_pieces_to_process(int pid, std::span<const iovec> remote,
                            std::span<const iovec> local) noexcept {
    return copy_pieces(process_vm_writev, pid, local, remote);
}

bool may_copy_to_process(int pid) noexcept {
    // The kernel checks the permission before the address. No process has memory at this one.
    char byte = 0;
    const iovec from{&byte, 1};
    const iovec to{reinterpret_cast<void*>(~std::uintptr_t{4095}), 1};
    return process_vm_writev(pid, &from, 1, &to, 1, 0) < 0 && errno == EFAULT;
}

}  // namespace heddle::platform
