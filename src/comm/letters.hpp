// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Letters: short messages to a key of another process, of this job or of another, before the two
/// have a communicator. Processes of different jobs meet by letters (dyn/).
///
/// Key            a random number that its process has opened. A letter to a key that is not open
///                is answered by `refused`.
/// Gone           a process that gets no messages any more: lost, or left after it has ended its
///                use of MPI. Threads that wait for a letter from it are told. Operations that wait
///                for it fail. A lost process may be a member of communicators of this one. Then
///                the job ends, unless all of these have error handlers that return.
/// Thread safety  any thread. If several wait at a key, a letter wakes one. A thread that has taken
///                a letter wakes the next one if there are more letters.
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
#include "p2p/far/guest_listener.hpp"

namespace heddle::comm {

using Key = std::uint64_t;

/// A pin: while there is one, no guest is forgotten. A number that is not in a group yet stays that
/// process's.
using Pin = std::shared_ptr<void>;

struct Letter {
    std::int32_t process;  ///< the sender
    Key from;              ///< the key for an answer; 0: no answer is wanted
    std::uint64_t says;
    Pin pin{};  ///< set once the letter has been taken
};
/// The value that any letter may have. The sender and the receiver define the others.
inline constexpr std::uint64_t refused = 0;  ///< the key is not open

class Letters final : public p2p::GuestListener {
public:
    Key open();
    bool is_open(Key key);
    /// Refuses the letters that came and were not taken. Threads that wait there are told.
    void close(core::Thread& thread, Key key);

    void send(core::Thread& thread, std::int32_t process, Key to, const Letter& letter);
    /// Leaves a letter from this process to itself. Threads that are not attached to it may call
    /// this.
    void leave(Key to, std::uint64_t says);
    /// Returns the next letter at this key. Returns nothing if the key has been closed, or if
    /// `sender` is not -1 and is gone. `describe` names for reports what the thread waits for.
    std::optional<Letter> wait(core::Thread& thread, Key key, std::int32_t sender,
                               const char* describe);

    Pin pin();
    /// Returns false if there is a pin, or a letter of that process.
    bool forget(std::int32_t process);

    /// Returns why a process is gone.
    std::string why_gone(std::int32_t process);
    /// Sets whether the slot is signalled when a process is gone.
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

    std::mutex lock_;  ///< guards all fields; a leaf
    std::unordered_map<Key, Box> boxes_;
    std::unordered_map<std::int32_t, Gone> gone_;
    std::unordered_set<sync::Slot*> told_of_gone_;
    const std::shared_ptr<int> pins_ = std::make_shared<int>(0);  ///< each pin is a reference
};

}  // namespace heddle::comm
