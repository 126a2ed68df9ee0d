// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Letters: a few words that a process sends to a key of another one, of this job or of another, before they have a
/// communicator. By them processes of different jobs meet (dyn/).
///
/// Key            a random number that its process has opened. A letter to a key that is not open is answered by `refused`.
/// Gone           a process that nothing goes to any more: lost, or left after it has ended its use of MPI. Who waits for a letter
///                from it is told. Operations that wait for it fail. Where a process that is lost is a member of a communicator
///                of this one, the job ends, unless all such communicators have error handlers that return.
/// Thread safety  any thread. Of several that wait at a key, a letter wakes one, and whoever has taken one wakes the next
///                where there are more.
/// Errors         functions that send or open throw std::bad_alloc, and have done nothing then.

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/thread.hpp"
#include "p2p/guest_listener.hpp"

namespace heddle::comm {

using Key = std::uint64_t;

/// While there is one, no guest is forgotten: a number that is not in a group yet stays that process's.
using Pin = std::shared_ptr<void>;

struct Letter {
    std::int32_t process;  ///< that sent it
    Key from;              ///< where an answer goes; 0: nowhere
    std::uint64_t says;
    Pin pin{};  ///< of one that has been taken
};
/// What every letter may say; what else is the sender's business.
inline constexpr std::uint64_t refused = 0;  ///< the key is not open

class Letters final : public p2p::GuestListener {
public:
    Key open();
    bool is_open(Key key);
    /// Refuses what has come and was not taken. Who waits there is told.
    void close(core::Thread& thread, Key key);

    void send(core::Thread& thread, std::int32_t process, Key to, const Letter& letter);
    /// From this process to itself, also by a thread that is not attached to it.
    void leave(Key to, std::uint64_t says);
    /// The next letter at this key. Nothing: it has been closed, or `sender`, unless it is -1, is gone. `describe` says for
    /// reports what is waited for.
    std::optional<Letter> wait(core::Thread& thread, Key key, std::int32_t sender,
                               const char* describe);

    Pin pin();
    /// False: there is a pin, or a letter of that process.
    bool forget(std::int32_t process);

    /// Of one that is gone.
    std::string why_gone(std::int32_t process);
    /// Whether the slot is to be signalled when a process is gone.
    void tell_of_gone(sync::Slot& slot, bool on);

    void letter(p2p::ProgressCall& call, std::int32_t process,
                const p2p::LetterFields& fields) override;
    void lost(std::int32_t process, std::string_view why) noexcept override;
    void left(std::int32_t process) noexcept override;
    bool is_gone(std::int32_t process) noexcept override;
    bool has_left(std::int32_t process) noexcept override;
    void awaited(core::Thread& thread, std::int32_t process) noexcept override;

private:
    class Wait;
    class FailOperations;
    struct Box {
        std::deque<Letter> letters;
        std::vector<sync::Slot*> waiters;

        sync::Slot* next_waiter() const noexcept;
    };
    struct Gone {
        bool lost;
        std::string why;
    };

    void note(std::int32_t process, Gone gone) noexcept;

    std::mutex lock_;  ///< guards all of it; a leaf
    std::unordered_map<Key, Box> boxes_;
    std::unordered_map<std::int32_t, Gone> gone_;
    std::unordered_set<sync::Slot*> told_of_gone_;
    const std::shared_ptr<int> pins_ = std::make_shared<int>(0);  ///< each pin is a reference
};

}  // namespace heddle::comm
