// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What every object behind an MPI handle begins with: what it is, and how many still need it.

#include <atomic>
#include <cstdint>

#include "sync/orders.hpp"

namespace heddle::core {

/// What an object is while it lives. The values are unlikely by chance, so that memory that is no
/// object is not taken for one.
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
    /// A new holder; the caller is one already.
    void retain() noexcept { references.fetch_add(1, relaxed); }
    /// True for the last holder, who then destroys the object.
    [[nodiscard]] bool release_reference() noexcept {
        // Release for what this holder did with it, acquire for what the others did.
        return references.fetch_sub(1, acq_rel) == 1;
    }
};

/// An object that the library may need longer than the program's handles name it, and that handles may
/// name again later: a group of a communicator, an error handler in force. Each handle is a reference.
struct Handed : Object {
    std::atomic<std::uint32_t> handles{0};

    bool has_handles() const noexcept { return handles.load(relaxed) != 0; }
    /// One more handle, for the program.
    void hand_out() noexcept {
        retain();
        handles.fetch_add(1, relaxed);
    }
    /// The reference that the caller has becomes that of a handle.
    void become_handle() noexcept { handles.fetch_add(1, relaxed); }
    /// A handle has been freed: its reference is the caller's.
    void take_handle() noexcept { handles.fetch_sub(1, relaxed); }
};

}  // namespace heddle::core
