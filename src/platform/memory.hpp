// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Memory from the kernel: shared between processes, private and reserved lazily, and that of other
/// processes.

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
    /// `holds_pointers` is true if it points to memory from malloc(), which its pointers keep in
    /// use (platform/sanitizers.hpp).
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
    /// Gives the pages of private memory back. They read as zeroes when they are used again.
    void drop_pages() noexcept;
    /// Makes the first `bytes` of reserve_addresses() usable. Returns false if there is no memory
    /// for it.
    bool open(std::size_t bytes) noexcept;

private:
    void* address_ = nullptr;
    std::size_t bytes_ = 0;
    bool holds_pointers_ = false;
};

/// Maps the first `bytes` of an object (platform/shared_memory.hpp), which must be that large.
/// Returns an empty mapping on failure (errno).
Mapping map_shared(int descriptor, std::size_t bytes) noexcept;

/// Makes the kernel map the pages of the bytes now, not one by one when they are first touched. If
/// it cannot, they are mapped when they are touched.
void populate(void* address, std::size_t bytes) noexcept;

/// A shared memory object behind a descriptor that another object owns. Notices if the descriptor
/// comes to be of another file.
class SharedObject {
public:
    SharedObject() = default;
    /// Returns nothing on failure (errno).
    static std::optional<SharedObject> of(int descriptor) noexcept;

    std::size_t bytes() const noexcept { return bytes_; }
    /// Maps a part of it. Returns an empty mapping on failure (errno).
    Mapping map(std::size_t offset, std::size_t bytes) const noexcept;
    /// Gives the pages of a part back for all processes that have mapped it. They read as zeroes
    /// then. Returns false if the kernel cannot do that with this file, and then changes nothing.
    bool drop_pages(std::size_t offset, std::size_t bytes) const noexcept;

private:
    bool is_there() const noexcept;

    int descriptor_ = -1;
    std::size_t bytes_ = 0;
    std::uint64_t device_ = 0, number_ = 0;  ///< of the file
};

/// Returns private zeroed memory that has only its touched pages. Returns an empty mapping on
/// failure (errno).
Mapping reserve(std::size_t bytes) noexcept;

/// Does the same for addresses without memory. Only the limit on addresses counts them.
Mapping reserve_addresses(std::size_t bytes) noexcept;

/// Does the same for pages of zeroes that are read-only until make_writable(). No limit on data
/// counts them.
Mapping reserve_zeroes(std::size_t bytes) noexcept;
/// Makes whole pages of it writable. Returns false if there is no memory for them (errno).
bool make_writable(void* address, std::size_t bytes) noexcept;

/// Makes the memory read as zeroes in a forked child, if the kernel can do that.
void wipe_on_fork(const Mapping& mapping) noexcept;

/// Copies `bytes` from `remote` in process `pid` to `local`. Returns false if the kernel forbids it
/// or the address does not exist. It may have copied a part then.
bool copy_from_process(int pid, void* local, std::uint64_t remote, std::size_t bytes) noexcept;
/// Does the same in the other direction.
bool copy_to_process(int pid, std::uint64_t remote, const void* local, std::size_t bytes) noexcept;
/// Copy several pieces at once, at most 1,024 on each side, and as many bytes on both.
bool copy_pieces_from_process(int pid, std::span<const iovec> local,
                              std::span<const iovec> remote) noexcept;
bool copy_pieces_to_process(int pid, std::span<const iovec> remote,
                            std::span<const iovec> local) noexcept;
/// Returns whether the kernel would allow a write to existing memory. Writes nothing.
bool may_copy_to_process(int pid) noexcept;

}  // namespace heddle::platform
