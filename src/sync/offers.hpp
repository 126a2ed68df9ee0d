// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages that one sender offers to one receiver. The sender may take an offer back until the
/// receiver has accepted it. As long as nothing is taken back, neither side executes a locked
/// instruction, and no line is written by both.
///
/// Each offer has a number and, by that, a slot of two words. The sender's word says whether the
/// offer stands; the receiver's word is its answer. The receiver holds an offer before it looks for
/// what the offer is for. Then it accepts the offer or leaves it as it was. The sender takes back
/// what it finds neither held nor accepted.
///
/// Thread safety  the sender: one thread at a time. The receiver: one at a time for the offers of a
///                slot. If threads with offers of one slot may meet, `reuse` is false.
/// Invariants     (1) for one number at most one of take_back() and accept() takes place.
///                (2) numbers of a slot grow. A number that has been taken back is never held
///                    again, whatever has become of its slot. Numbers do not come again in the life
///                    of a machine.
/// Waiting        take_back() waits while the receiver holds that offer. That is as long as it
///                takes to search for a receive (sync/short_wait.hpp).
/// Memory         zeroes are a valid object without offers.

#include <cstddef>
#include <cstdint>

#include "sync/native.hpp"
#include "sync/orders.hpp"
#include "sync/short_wait.hpp"

namespace heddle::sync {

template <class World, std::size_t slots>
class BasicOffers {
    static_assert((slots & (slots - 1)) == 0, "counting slots may run over");

public:
    using Number = std::uint64_t;
    static constexpr Number none = 0;
    static constexpr std::uint32_t size = slots;

    // --- the sender ---

    /// Makes a new offer in the first free slot from `next` on. Returns none if there is none in a
    /// whole turn. The sender keeps `next`, which is 0 at first.
    /// If `reuse`, a slot may be used again before the receiver has seen that its offer was taken
    /// back.
    Number offer(std::uint32_t& next, bool reuse) noexcept {
        return offer(next, static_cast<std::uint32_t>(next + slots), reuse);
    }
    /// Does the same, in slots before `end`.
    Number offer(std::uint32_t& next, std::uint32_t end, bool reuse) noexcept {
        while (next != end) {
            const std::size_t slot = next++ % slots;
            const std::uint64_t before = offers_[slot].load(relaxed);  // written by this side only
            if (!is_over(slot, before, reuse)) continue;
            const Number number = before == 0 ? slots + slot : (before >> 1) + slots;
            // Relaxed: the message that bears the number publishes this.
            offers_[slot].store(standing(number), relaxed);
            return number;
        }
        return none;
    }
    /// Returns whether at least half of the slots are free.
    bool is_half_free(bool reuse) const noexcept {
        std::size_t free = 0;
        for (std::size_t slot = 0; slot < slots; ++slot)
            free += is_over(slot, offers_[slot].load(relaxed), reuse) ? 1 : 0;
        return 2 * free >= slots;
    }
    /// Returns false if the offer has been accepted, or was taken back before. `heavy_fence()`
    /// reaches the receiver.
    template <class HeavyFence>
    [[nodiscard]] bool take_back(Number number, HeavyFence&& heavy_fence) noexcept {
        auto& mine = offers_[number % slots];
        if (mine.load(relaxed) != standing(number)) return false;  // the slot went on to another
        mine.store(standing(number) | taken_back, relaxed);        // ordered by F2
        any_taken_back_.store(1, relaxed);                         // ordered by F2
        heavy_fence();                                             // F2: pairs with F1 in hold()
        std::uint64_t answer = 0;
        wait_shortly_until<World>([&] {
            answer = answers_[number % slots].load(acquire);  // A1: pairs with R1
            return answer != word(number, held);
        });
        return answer != word(number, accepted);
    }

    // --- the receiver ---

    /// Returns false if the offer has been taken back; the sender does not ask for it any more.
    /// Otherwise it is held until accept() or leave().
    [[nodiscard]] bool hold(Number number) noexcept {
        auto& mine = answers_[number % slots];
        if (mine.load(relaxed) >> 2 > number) return false;  // of a later one: this was taken back
        mine.store(word(number, held), relaxed);             // ordered by F1
        World::Fence::light();                               // F1: pairs with F2 in take_back()
        if (!is_taken_back(number)) [[likely]]
            return true;
        mine.store(word(number, dropped), release);  // R1
        return false;
    }
    void accept(Number number) noexcept {
        answers_[number % slots].store(word(number, accepted), release);  // R1: pairs with A1
    }
    void leave(Number number) noexcept {
        answers_[number % slots].store(word(number, left), release);  // R1: pairs with A1
    }
    /// Returns whether the offer is taken back. If not, it may be in the next moment, unless it is
    /// held.
    bool is_taken_back(Number number) const noexcept {
        if (!any_taken_back()) [[likely]]
            return false;
        // Relaxed: a taken back message is not looked at.
        return offers_[number % slots].load(relaxed) != standing(number);
    }
    /// Returns whether any offer ever was.
    bool any_taken_back() const noexcept { return any_taken_back_.load(relaxed) != 0; }
    /// Notes that offers were taken back elsewhere; the sender calls it.
    void note_taken_back() noexcept { any_taken_back_.store(1, relaxed); }  // a hint

private:
    enum Answer : std::uint64_t { left, held, accepted, dropped };
    static constexpr std::uint64_t taken_back = 1;

    static constexpr std::uint64_t standing(Number number) noexcept { return number << 1; }
    static constexpr std::uint64_t word(Number number, Answer answer) noexcept {
        return number << 2 | answer;
    }
    /// Returns whether no answer will be needed any more for the offer of which this is the
    /// sender's word.
    bool is_over(std::size_t slot, std::uint64_t offer, bool reuse) const noexcept {
        const Number number = offer >> 1;
        if (number == none || (reuse && (offer & taken_back) != 0)) return true;
        const std::uint64_t answer = answers_[slot].load(acquire);  // A1
        return answer == word(number, accepted) || answer == word(number, dropped);
    }

    /// A word on a line that is hardly ever written.
    alignas(cache_line) typename World::template Atom<std::uint32_t> any_taken_back_;
    alignas(cache_line) typename World::template Atom<std::uint64_t> answers_[slots];  ///< receiver
    alignas(cache_line) typename World::template Atom<std::uint64_t> offers_[slots];   ///< sender
};

}  // namespace heddle::sync
