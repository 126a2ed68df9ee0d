// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Announcements to the sanitizers of a program that was built with one, while the library was not.
/// The sanitizers' functions are weak symbols. Without a sanitizer, nothing is announced.
///
/// Leaks          LeakSanitizer, a part of AddressSanitizer, looks for pointers in static memory,
///                on stacks and in memory of malloc(). It does not look in memory from the kernel.
/// Races          ThreadSanitizer sees no atomic operation of the library, but each memcpy() and
///                free(). So accesses of a thread inside of the library are ignored (LibraryCode).
///                The order that messages make is announced instead (core/causality.hpp).

#include <cstddef>

extern "C" {
[[gnu::weak]] void __lsan_register_root_region(const void* address, std::size_t bytes);
[[gnu::weak]] void __lsan_unregister_root_region(const void* address, std::size_t bytes);
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
[[gnu::weak]] void __tsan_ignore_thread_begin();
[[gnu::weak]] void __tsan_ignore_thread_end();
}

namespace heddle::platform {

/// Returns true if stray addresses in memory of the library would hide leaks from a leak detector.
inline bool leaks_are_sought() noexcept { return &__lsan_register_root_region != nullptr; }

/// Makes pointers in this memory count.
inline void begin_holding_pointers(const void* address, std::size_t bytes) noexcept {
    if (leaks_are_sought()) __lsan_register_root_region(address, bytes);
}
/// Ends that. Their targets counted as in use only because of these pointers.
inline void end_holding_pointers(const void* address, std::size_t bytes) noexcept {
    if (leaks_are_sought()) __lsan_unregister_root_region(address, bytes);
}

/// Returns true if a race detector watches the program, and not the library. A library that was
/// built with it needs no help.
inline bool races_are_sought() noexcept {
#ifdef __SANITIZE_THREAD__
    return false;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
    return false;
#endif
#endif
    return &__tsan_acquire != nullptr && &__tsan_ignore_thread_begin != nullptr;
}

/// A scope in which the race detector ignores memory accesses of the calling thread.
class LibraryCode {
public:
    LibraryCode() noexcept : entered_(races_are_sought() && enter()) {}
    ~LibraryCode() {
        if (entered_) leave();
    }
    LibraryCode(const LibraryCode&) = delete;
    LibraryCode& operator=(const LibraryCode&) = delete;

private:
    friend class ProgramCode;
    /// Returns false if the thread is in such a scope already.
    static bool enter() noexcept;
    static bool leave() noexcept;

    bool entered_;
};

/// A scope for a function of the program that the library calls. The race detector does not ignore
/// its accesses.
class ProgramCode {
public:
    ProgramCode() noexcept : left_(races_are_sought() && LibraryCode::leave()) {}
    ~ProgramCode() {
        if (left_) LibraryCode::enter();
    }
    ProgramCode(const ProgramCode&) = delete;
    ProgramCode& operator=(const ProgramCode&) = delete;

private:
    bool left_;
};

}  // namespace heddle::platform
