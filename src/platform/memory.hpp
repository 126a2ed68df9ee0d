// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Memory from the kernel: shared between processes, private and reserved lazily, and other processes' own.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <sys/uio.h>
#include <utility>

namespace heddle::platform {

/// A mapping that unmaps itself. Pages cost memory when they are first written.
class Mapping {
public:
    Mapping() = default;
    /// `holds_pointers`: to memory from malloc(), which is in use because of them (platform/sanitizers.hpp).
    Mapping(void* address, std::size_t bytes, bool holds_pointers = false) noexcept;
    Mapping(Mapping&& other) noexcept { *this = std::move(other); }
    Mapping& operator=(Mapping&& other) noexcept {
        std::swap(address_, other.address_);
        std::swap(bytes_, other.bytes_);
        std::swap(holds_pointers_, other.holds_pointers_);
        return *this;
    }
    ~Mapping();

    explicit operator bool() const noexcept { return address_ != nullptr; }
    void* address() const noexcept { return address_; }
    std::size_t bytes() const noexcept { return bytes_; }
    /// Private memory: its pages go back, and zeroes come in their place when they are used again.
    void drop_pages() noexcept;
    /// Makes the first `bytes` of reserve_addresses() usable; false if there is no memory for it.
    bool open(std::size_t bytes) noexcept;

private:
    void* address_ = nullptr;
    std::size_t bytes_ = 0;
    bool holds_pointers_ = false;
};

/// Maps the first `bytes` of an object (platform/shared_memory.hpp) that is as large. Empty on failure (errno).
Mapping map_shared(int descriptor, std::size_t bytes) noexcept;

/// Has the kernel give and map the pages in which the bytes lie, at once instead of one by one when they are first
/// touched. Where it cannot, they come as they are touched.
void populate(void* address, std::size_t bytes) noexcept;

/// A shared memory object behind a descriptor, which stays its owner's. Should another file come to be
/// behind it, that is noticed.
class SharedObject {
public:
    SharedObject() = default;
    /// Empty on failure (errno).
    static std::optional<SharedObject> of(int descriptor) noexcept;

    std::size_t bytes() const noexcept { return bytes_; }
    /// Maps a part of it. Empty on failure (errno).
    Mapping map(std::size_t offset, std::size_t bytes) const noexcept;
    /// Pages of a part of it go back, whoever has mapped them; zeroes come in their place. False: the kernel
    /// cannot do that with this file, and nothing was changed.
    bool drop_pages(std::size_t offset, std::size_t bytes) const noexcept;

private:
    bool is_there() const noexcept;

    int descriptor_ = -1;
    std::size_t bytes_ = 0;
    std::uint64_t device_ = 0, number_ = 0;  ///< of the file
};

/// Private zeroed memory of which only touched pages exist. Empty on failure (errno).
Mapping reserve(std::size_t bytes) noexcept;

/// The same without being memory yet: addresses alone, of which no limit but that of addresses counts any.
Mapping reserve_addresses(std::size_t bytes) noexcept;

/// The same as pages of zeroes that can only be read, which no limit on data counts, until make_writable().
Mapping reserve_zeroes(std::size_t bytes) noexcept;
/// Whole pages of it. False: there is no memory for them (errno).
bool make_writable(void* address, std::size_t bytes) noexcept;

/// What a child that is forked finds there are zeroes; as far as the kernel knows how.
void wipe_on_fork(const Mapping& mapping) noexcept;

/// Copies `bytes` from `remote` in process `pid` to `local`; false if the kernel forbids it or the
/// address is not there. May have copied a part then.
bool copy_from_process(int pid, void* local, std::uint64_t remote, std::size_t bytes) noexcept;
/// The same the other way.
bool copy_to_process(int pid, std::uint64_t remote, const void* local, std::size_t bytes) noexcept;
/// Several pieces at once, of which there are at most 1,024 on each side, as many bytes on both.
bool copy_pieces_from_process(int pid, std::span<const iovec> local,
                              std::span<const iovec> remote) noexcept;
bool copy_pieces_to_process(int pid, std::span<const iovec> remote,
                            std::span<const iovec> local) noexcept;
/// Whether the kernel would do that, if there were memory. Nothing is written.
bool may_copy_to_process(int pid) noexcept;

}  // namespace heddle::platform
