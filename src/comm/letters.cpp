// SPDX-License-Identifier: BSD-3-Clause
#include "comm/letters.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "p2p/operations.hpp"
#include "platform/random.hpp"
#include "progress/wait.hpp"

namespace heddle::comm {

/// The condition that there is a letter, or there will be none.
class Letters::Wait {
public:
    Wait(Letters& letters, Key key, std::int32_t sender, const char* what) noexcept
        : letters_(letters), key_(key), sender_(sender), what_(what) {}

    bool holds() const {
        const std::lock_guard guard(letters_.lock_);
        const auto box = letters_.boxes_.find(key_);
        return box == letters_.boxes_.end() || !box->second.letters.empty() ||
            letters_.gone_.contains(sender_);
    }
    p2p::Instances instances() const noexcept { return instance::all; }
    p2p::Instances likely_instances() const noexcept { return 1; }
    void announce(sync::Slot* slot) {
        const std::lock_guard guard(letters_.lock_);
        const auto box = letters_.boxes_.find(key_);
        if (box == letters_.boxes_.end()) return;
        std::vector<sync::Slot*>& waiters = box->second.waiters;
        std::erase(waiters, slot_);
        if (slot != nullptr) waiters.push_back(slot);
        slot_ = slot;
    }
    /// Writes only a text: processes of other jobs send letters, and so do threads that wait for
    /// these processes.
    void tell(core::Thread&, node::WaitsFor& what) const noexcept {
        node::put_text(what.add()->detail, what_);
    }

private:
    Letters& letters_;
    const Key key_;
    const std::int32_t sender_;
    const char* const what_;
    sync::Slot* slot_ = nullptr;  ///< of this thread, among the waiters
};

/// Returns one of the waiting threads if there is a letter for it.
sync::Slot* Letters::Box::next_waiter() const noexcept {
    return letters.empty() || waiters.empty() ? nullptr : waiters.front();
}

Key Letters::open() {
    Key key = 0;
    platform::random_bytes(&key, sizeof key);
    const std::lock_guard guard(lock_);
    boxes_[key];
    return key;
}

bool Letters::is_open(Key key) {
    const std::lock_guard guard(lock_);
    return boxes_.contains(key);
}

void Letters::close(core::Thread& thread, Key key) {
    std::deque<Letter> left;
    {
        const std::lock_guard guard(lock_);
        const auto box = boxes_.find(key);
        if (box == boxes_.end()) return;
        left = std::move(box->second.letters);
        for (sync::Slot* waiter : box->second.waiters) waiter->signal();
        boxes_.erase(box);
    }
    for (const Letter& letter : left)
        if (letter.from != 0 && !is_gone(letter.process))
            send(thread, letter.process, letter.from, Letter{0, 0, refused});
}

void Letters::send(core::Thread& thread, std::int32_t process, Key to, const Letter& letter) {
    thread.engine->far().send_letter(thread, process, {to, letter.from, letter.says});
}

void Letters::leave(Key to, std::uint64_t says) {
    const std::lock_guard guard(lock_);
    const auto box = boxes_.find(to);
    if (box == boxes_.end()) return;
    box->second.letters.push_back({-1, 0, says});
    if (sync::Slot* waiter = box->second.next_waiter()) waiter->signal();
}

std::optional<Letter> Letters::wait(core::Thread& thread, Key key, std::int32_t sender,
                                    const char* describe) {
    for (;;) {
        Wait wait(*this, key, sender, describe);
        if (!wait.holds()) progress::wait(thread.engine->polling(), thread, wait);
        const std::lock_guard guard(lock_);
        const auto at = boxes_.find(key);
        if (at == boxes_.end()) return std::nullopt;
        Box& box = at->second;
        if (box.letters.empty()) {
            if (gone_.contains(sender)) return std::nullopt;
            continue;  // another thread took the letter
        }
        Letter letter = box.letters.front();
        box.letters.pop_front();
        letter.pin = pins_;
        // Letters that came while this thread was the next one have woken no other.
        if (sync::Slot* waiter = box.next_waiter()) waiter->signal();
        return letter;
    }
}

Pin Letters::pin() {
    const std::lock_guard guard(lock_);
    return pins_;
}

bool Letters::forget(std::int32_t process) {
    const std::lock_guard guard(lock_);
    if (pins_.use_count() != 1) return false;
    for (const auto& [key, box] : boxes_)
        for (const Letter& letter : box.letters)
            if (letter.process == process) return false;
    gone_.erase(process);
    return true;
}

bool Letters::is_gone(std::int32_t process) noexcept {
    const std::lock_guard guard(lock_);
    return gone_.contains(process);
}

bool Letters::has_left(std::int32_t process) noexcept {
    const std::lock_guard guard(lock_);
    const auto at = gone_.find(process);
    return at != gone_.end() && !at->second.lost;
}

std::string Letters::why_gone(std::int32_t process) {
    const std::lock_guard guard(lock_);
    const auto at = gone_.find(process);
    return at == gone_.end() ? std::string() : at->second.why;
}

void Letters::tell_of_gone(sync::Slot& slot, bool on) {
    const std::lock_guard guard(lock_);
    if (on)
        told_of_gone_.insert(&slot);
    else
        told_of_gone_.erase(&slot);
}

void Letters::letter(p2p::ProgressCall& call, std::int32_t process,
                     const p2p::LetterFields& fields) {
    {
        const std::lock_guard guard(lock_);
        const auto box = boxes_.find(fields.to);
        if (box != boxes_.end()) {
            box->second.letters.push_back({process, fields.from, fields.says});
            if (sync::Slot* waiter = box->second.next_waiter()) call.wake(*waiter);
            return;
        }
    }
    if (fields.from != 0)
        call.thread.engine->far().send_letter(call, process, {fields.from, 0, refused});
}

namespace {

/// Returns whether an error on one of the communicators with that process ends the job.
bool ends_job(objects::Process& process, std::int32_t lost) noexcept {
    const auto has = [lost](const objects::Group* group) {
        return group != nullptr &&
            std::find(group->processes.begin(), group->processes.end(), lost) !=
            group->processes.end();
    };
    const std::lock_guard guard(process.set_up);
    for (std::uint32_t i = core::first_number;
         objects::Communicator* communicator = process.communicators.at_place(i); ++i)
        if (communicator->is(core::Kind::communicator) && communicator->errhandler->ends_job() &&
            (has(communicator->group) || has(communicator->remote)))
            return true;
    return false;
}

}  // namespace

/// Fails the operations, in a thread that holds no lock.
class Letters::FailOperations final : public core::Work {
public:
    explicit FailOperations(std::int32_t process) noexcept : process_(process) {}

    void run(core::Thread& thread) noexcept override {
        const std::unique_ptr<FailOperations> self(this);
        objects::Process& mine = *thread.process;
        Letters& letters = *mine.letters;
        if (!letters.has_left(process_) && mine.is_connected_with(process_) &&
            ends_job(mine, process_))
            objects::end_job(mine, 1,
                             "lost a process of another job, with which this one is connected: " +
                                 letters.why_gone(process_));
        thread.engine->fail_operations_with(thread, process_);
    }

private:
    const std::int32_t process_;
};

void Letters::lost(std::int32_t process, std::string_view why) noexcept {
    note(process, {true, std::string(why)});
}

void Letters::left(std::int32_t process) noexcept {
    note(process, {false, "it has ended its use of MPI"});
}

void Letters::note(std::int32_t process, Gone gone) noexcept {
    {
        const std::lock_guard guard(lock_);
        gone_.emplace(process, std::move(gone));
        for (auto& [key, box] : boxes_)
            for (sync::Slot* waiter : box.waiters) waiter->signal();
        for (sync::Slot* slot : told_of_gone_) slot->signal();
    }
    p2p::ProgressCall call(*objects::attached_thread());
    call.put_off(*std::make_unique<FailOperations>(process).release());
}

void Letters::awaited(core::Thread& thread, std::int32_t process) noexcept {
    if (is_gone(process)) thread.engine->fail_operations_with(thread, process);
}

}  // namespace heddle::comm
