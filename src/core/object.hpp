// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The head of every object behind an MPI handle: its kind, and how many holders need it.

#include <atomic>
#include <cstdint>

#include "sync/orders.hpp"

namespace heddle::core {

/// Kind of an object while it lives. The values are unlikely by chance, so that other memory is not
/// taken for an object.
enum class Kind : std::uint32_t {
    none = 0,
    communicator = 0x68436f6d,
    group = 0x68477270,
    datatype = 0x68547970,
    operation = 0x684f7070,
    info = 0x68496e66,
    errhandler = 0x68457272,
    request = 0x68526571,
    message = 0x684d7367,
    session = 0x68536573,
    window = 0x6857696e,
    file = 0x6846696c,
};

/// A counted object. The handle that the user holds counts for one.
struct Object {
    std::atomic<Kind> kind{Kind::none};
    std::atomic<std::uint32_t> references{0};

    bool is(Kind what) const noexcept { return kind.load(relaxed) == what; }
    /// Adds a holder. The caller is one already.
    void retain() noexcept { references.fetch_add(1, relaxed); }
    /// Returns true for the last holder, which then destroys the object.
    [[nodiscard]] bool release_reference() noexcept {
        // Release: the other holders see what this one did. Acquire: this one sees what they did.
        return references.fetch_sub(1, acq_rel) == 1;
    }
};

/// An object that the library may need longer than handles of the program name it. Handles may name
/// it again later: a group of a communicator, an error handler in force. Each handle is a
/// reference.
struct Handed : Object {
    std::atomic<std::uint32_t> handles{0};

    bool has_handles() const noexcept { return handles.load(relaxed) != 0; }
    /// Adds a handle for the program.
    void hand_out() noexcept {
        retain();
        handles.fetch_add(1, relaxed);
    }
    /// Makes the caller's reference that of a handle.
    void become_handle() noexcept { handles.fetch_add(1, relaxed); }
    /// Makes the reference of a handle, which has been freed, the caller's.
    void take_handle() noexcept { handles.fetch_sub(1, relaxed); }
};

}  // namespace heddle::core
