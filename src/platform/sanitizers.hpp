// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What the library tells the sanitizers of a program that was built with one, while itself it was not. Their
/// functions are weak symbols: where there is no sanitizer, nothing is told.
///
/// Leaks          LeakSanitizer, which AddressSanitizer brings along, looks for pointers in static memory,
///                on stacks and in what malloc() gave, not in memory that comes from the kernel.
/// Races          ThreadSanitizer sees no atomic operation of the library, but each memcpy() and free().
///                What a thread does inside of the library is ignored therefore (LibraryCode); the order
///                that messages make is told instead (core/causality.hpp).

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

/// Whether addresses that lie about in memory of the library keep somebody from finding a leak.
inline bool leaks_are_sought() noexcept { return &__lsan_register_root_region != nullptr; }

/// From here on, pointers in this memory count.
inline void begin_holding_pointers(const void* address, std::size_t bytes) noexcept {
    if (leaks_are_sought()) __lsan_register_root_region(address, bytes);
}
/// What they point to was found to be in use for their sake alone.
inline void end_holding_pointers(const void* address, std::size_t bytes) noexcept {
    if (leaks_are_sought()) __lsan_unregister_root_region(address, bytes);
}

/// Whether a race detector watches the program, and not the library: that one, built with it, needs no help.
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

/// What the calling thread does to memory while the object lives is the library's affair.
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
    /// False if the thread is there already.
    static bool enter() noexcept;
    static bool leave() noexcept;

    bool entered_;
};

/// A function of the program that the library calls: not the library's affair.
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
