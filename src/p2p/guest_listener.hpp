// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Who hears letters, which are not said in communicators, and of processes of other jobs (transport/guests.hpp) that are lost or have left.
///
/// Thread safety  with the lane or an instance locked: what may wait is put off (ProgressCall::put_off()).

#include <cstdint>
#include <string_view>

#include "core/thread.hpp"
#include "p2p/protocol.hpp"

namespace heddle::p2p {

struct ProgressCall;

class GuestListener {
public:
    /// Throws std::bad_alloc before anything has changed: then it comes again.
    virtual void letter(ProgressCall& call, std::int32_t process, const LetterFields& letter) = 0;
    /// Nothing goes there any more, and nothing comes from there.
    virtual void lost(std::int32_t process, std::string_view why) noexcept = 0;
    /// The same of one that has taken its leave: all that it has sent has come.
    virtual void left(std::int32_t process) noexcept = 0;
    /// Lost, or left.
    virtual bool is_gone(std::int32_t process) noexcept = 0;
    virtual bool has_left(std::int32_t process) noexcept = 0;
    /// A thread is going to sleep, without locks, until something has come that may come from this process. Those that are
    /// gone are asked for again.
    virtual void awaited(core::Thread& thread, std::int32_t process) noexcept = 0;

protected:
    ~GuestListener() = default;
};

}  // namespace heddle::p2p
