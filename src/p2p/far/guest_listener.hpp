// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Listener to letters, which no communicator carries, and to the end of processes of other jobs.
/// They are lost or have left (transport/guests.hpp).
///
/// Thread safety  called with the lane or an instance locked. Work that may wait is put off
///                (ProgressCall::put_off()).

#include <cstdint>
#include <string_view>

#include "core/thread.hpp"
#include "p2p/protocol.hpp"

namespace heddle::p2p {

struct ProgressCall;

class GuestListener {
public:
    /// Takes a letter. Throws std::bad_alloc before anything has changed; the letter then comes
    /// again.
    virtual void letter(ProgressCall& call, std::int32_t process, const LetterFields& letter) = 0;
    /// Notes a lost process. No message goes there or comes from there any more.
    virtual void lost(std::int32_t process, std::string_view why) noexcept = 0;
    /// Notes a process that has taken its leave. Everything that it has sent has come.
    virtual void left(std::int32_t process) noexcept = 0;
    /// Returns whether the process is lost or has left.
    virtual bool is_gone(std::int32_t process) noexcept = 0;
    virtual bool has_left(std::int32_t process) noexcept = 0;
    /// Called without locks by a thread that is about to sleep until a message that may come from
    /// this process. If the process is gone, fails operations with it once more.
    virtual void awaited(core::Thread& thread, std::int32_t process) noexcept = 0;

protected:
    ~GuestListener() = default;
};

}  // namespace heddle::p2p
