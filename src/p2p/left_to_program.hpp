// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Work that calls functions of the program. The library's own threads leave it to the program's
/// threads, which do it in their next poll.
///
/// Thread safety  any thread.

#include <atomic>

#include "core/thread.hpp"
#include "node/mailboxes.hpp"
#include "p2p/progress_call.hpp"

namespace heddle::p2p {

class LeftToProgram {
public:
    explicit LeftToProgram(node::Mailbox& mailbox) noexcept : mailbox_(mailbox) {}

    bool any() const noexcept { return first_.load(relaxed) != nullptr; }
    void leave(core::Work& work) noexcept;
    /// Has threads of the program look in their next poll.
    void tell() noexcept;
    /// Called by a thread of the program.
    void run(core::Thread& thread);

private:
    node::Mailbox& mailbox_;
    std::atomic<core::Work*> first_{nullptr};  ///< first of a list
};

}  // namespace heddle::p2p
