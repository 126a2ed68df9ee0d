// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A schedule: the actions of one process in a collective operation, as a straight program.
///
/// Steps          send, receive  start a message and go on;
///                wait           until every message started so far is complete;
///                signal, await  go on at once, or when another has signalled (blocking calls);
///                release, await_release  likewise, if the other waits for other nodes before;
///                others         happen when they are reached, after waits for all that they touch.
///
/// The runner (run.hpp) keeps a position and the pending messages, nothing else. A blocking call
/// runs the schedule to the end, a nonblocking one from wait to wait. A persistent one runs it
/// again and again. An algorithm makes all its decisions while it writes; steps name memory and
/// ranks.
///
/// Messages       go by (communicator, tag): see Schedule::tag. Between two processes, those of one
///                schedule are received in the order in which they are sent.
/// Memory         steps and scratch lie in the object itself while they are few, so that a small
///                collective allocates nothing. A schedule stays at the place at which it is made.
/// Errors         std::bad_alloc while writing.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "core/thread.hpp"
#include "objects/communicator.hpp"
#include "objects/operation.hpp"

namespace heddle::coll {

struct SharedWord;

struct Step {
    enum class Kind : std::uint8_t {
        send,
        receive,
        send_within,  ///< within the local group of an intercommunicator
        receive_within,
        wait,
        signal,         ///< in scratch memory (shared_wait.hpp)
        await,          ///< likewise
        release,        ///< a signal of the node's lead, for which others may nap
        await_release,  ///< likewise
        copy,
        combine,
        pack,
        unpack,
    };
    Kind kind;
    std::int32_t peer;                 ///< rank; of pack and unpack: number of the datatype
    const std::byte* from;             ///< sent, copied, (un)packed; the left operand
    std::byte* to;                     ///< destination; the result
    std::uint64_t size;                ///< bytes, of the packed form; elements of combine
    std::uint64_t turn = 0;            ///< of signals and their waits, whose SharedWord is at `to`
    const std::byte* right = nullptr;  ///< operand of combine
};

class Schedule {
public:
    Schedule(core::Thread& writer, objects::Communicator& communicator,
             std::int32_t tag = 0) noexcept
        : writer(writer),
          communicator(communicator),
          tag(tag),
          rank(communicator.rank),
          size(communicator.peers),
          shared(&communicator.scratch) {}
    Schedule(const Schedule&) = delete;
    Schedule& operator=(const Schedule&) = delete;

    core::Thread& writer;  ///< the thread of the call, while it lasts
    objects::Communicator& communicator;
    /// The tag of the messages. A blocking call has completed before the next one, and takes the
    /// tag of its operation. Other calls take a tag by their number among the calls on the
    /// communicator (execution.hpp).
    std::int32_t tag;
    std::int32_t rank;
    std::int32_t size;                       ///< of the group that messages go to
    objects::Communicator* local = nullptr;  ///< the group of an intercommunicator
    objects::SharedScratch* shared;          ///< of signal and await
    objects::Reduction reduction;            ///< of combine steps

    bool blocking() const noexcept {
        return tag != 0;
    }  // other calls get their tags when they start

    void send(const std::byte* data, std::uint64_t bytes, std::int32_t to) {
        add({send_, rank_at(to), data, nullptr, bytes});
    }
    void receive(std::byte* data, std::uint64_t bytes, std::int32_t from) {
        add({receive_, rank_at(from), nullptr, data, bytes});
    }
    void wait() { add({Step::Kind::wait, 0, nullptr, nullptr, 0}); }
    /// Signals that this process has come to the turn, and has given so many bytes in it. Ranks are
    /// places in scratch memory.
    void signal(SharedWord& word, std::uint64_t turn, std::uint64_t bytes) {
        add({Step::Kind::signal, rank, nullptr, reinterpret_cast<std::byte*>(&word), bytes, turn});
    }
    /// Waits for rank `from` to signal `turn`. `bytes` is the size it must have given; 0 accepts
    /// any.
    void await(SharedWord& word, std::uint64_t turn, std::uint64_t bytes, std::int32_t from) {
        add({Step::Kind::await, from, nullptr, reinterpret_cast<std::byte*>(&word), bytes, turn});
    }
    /// These do the same. Rank `from` waits for other nodes before it signals.
    void release(SharedWord& word, std::uint64_t turn, std::uint64_t bytes) {
        add({Step::Kind::release, rank, nullptr, reinterpret_cast<std::byte*>(&word), bytes, turn});
    }
    void await_release(SharedWord& word, std::uint64_t turn, std::uint64_t bytes,
                       std::int32_t from) {
        add({Step::Kind::await_release, from, nullptr, reinterpret_cast<std::byte*>(&word), bytes,
             turn});
    }
    /// Copies bytes. The two places may overlap.
    void copy(const std::byte* from, std::byte* to, std::uint64_t bytes) {
        if (from != to && bytes != 0) add({Step::Kind::copy, 0, from, to, bytes});
    }
    /// result = left op right. `result` may be `right`; otherwise nothing overlaps.
    void combine(const std::byte* left, const std::byte* right, std::byte* result,
                 std::uint64_t count) {
        if (count != 0) add({Step::Kind::combine, 0, left, result, count, 0, right});
    }
    /// inout = in op inout
    void combine(const std::byte* in, std::byte* inout, std::uint64_t count) {
        combine(in, inout, inout, count);
    }

    // On an intercommunicator messages go to the other group. Between these two calls they go
    // within the group of this process. There the algorithms are the same as on an
    // intracommunicator.
    void enter_group() noexcept {
        send_ = Step::Kind::send_within;
        receive_ = Step::Kind::receive_within;
        size = communicator.size();
    }
    /// Waits for everything within the group.
    void leave_group() {
        wait();
        send_ = Step::Kind::send;
        receive_ = Step::Kind::receive;
        size = communicator.peers;
    }

    /// Calls the function with ranks that are places among `members`. This process has `place`.
    /// Does not wait for the messages that the function starts.
    template <class Function>
    void among(std::span<const std::int32_t> members, std::int32_t place, Function&& function) {
        members_ = members.data();
        rank = place;
        size = static_cast<std::int32_t>(members.size());
        function();
        members_ = nullptr;
        rank = communicator.rank;
        size = communicator.peers;
    }

    // Elements with gaps travel in packed form. Data to be sent are packed before anything else
    // happens, and received data are unpacked at the very end.

    /// Returns room for the packed form of `bytes` that begin at `elements`. `taken` says that it
    /// is packed when the schedule runs. `given` says that it is unpacked when finish() is reached.
    std::byte* packed(const objects::Datatype& type, std::byte* elements, std::uint64_t bytes,
                      bool taken, bool given);
    void pack(const objects::Datatype& type, const std::byte* elements, std::byte* packed,
              std::uint64_t bytes) {
        if (bytes != 0) add({Step::Kind::pack, number_of(type), elements, packed, bytes});
    }
    /// Ends the schedule, after the algorithm has written its steps.
    void finish() {
        if (!last_.empty()) [[unlikely]]
            unpack_all();
    }
    /// Returns the datatypes of pack and unpack steps, by number.
    std::span<const objects::Datatype* const> types() const noexcept { return types_; }

    /// result = left op right on packed elements, laid out for the user's function meanwhile.
    void combine_packed(const std::byte* left, const std::byte* right, std::byte* result,
                        std::uint64_t count) const;
    /// Prepares packed reductions. To be called once schedule.reduction is set.
    void prepare_reduction() {
        if (reduction.packed) [[unlikely]]
            make_room_for_elements();
    }

    /// Returns memory that lives as long as the schedule, aligned for any type.
    std::byte* scratch(std::uint64_t bytes) {
        bytes = (bytes + alignment - 1) & ~(alignment - 1);
        if (bytes <= sizeof small_ - small_used_) {
            std::byte* memory = small_ + small_used_;
            small_used_ += bytes;
            return memory;
        }
        return large_scratch(bytes);
    }
    template <class T>
    std::span<T> scratch_of(std::size_t count) {
        return {new (scratch(count * sizeof(T))) T[count], count};
    }

    std::span<const Step> steps() const noexcept { return {first_, used_}; }
    /// Returns the bytes of scratch() so far.
    std::uint64_t scratch_bytes() const noexcept { return small_used_ + large_used_; }

    // Ranks around this one.
    std::int32_t after(std::int32_t distance) const noexcept { return (rank + distance) % size; }
    std::int32_t before(std::int32_t distance) const noexcept {
        return (rank - distance + size) % size;
    }

private:
    static constexpr std::uint64_t alignment = 16;
    static constexpr std::size_t few = 24;

    std::int32_t rank_at(std::int32_t place) const noexcept {
        return members_ == nullptr ? place : members_[place];
    }
    void add(const Step& step) {
        if (used_ == room_) [[unlikely]]
            grow();
        first_[used_++] = step;
    }
    void grow();
    std::byte* large_scratch(std::uint64_t bytes);
    std::int32_t number_of(const objects::Datatype& type);
    void unpack_all();
    void make_room_for_elements();

    struct Free {
        void operator()(void* memory) const noexcept { std::free(memory); }
    };

    Step::Kind send_ = Step::Kind::send;
    Step::Kind receive_ = Step::Kind::receive;
    const std::int32_t* members_ = nullptr;  ///< nullptr: ranks are those of the communicator
    std::size_t used_ = 0;
    std::size_t room_ = few;
    Step* first_ = local_;
    std::uint64_t small_used_ = 0;
    std::uint64_t large_used_ = 0;
    std::vector<std::unique_ptr<std::byte, Free>> large_;
    std::vector<Step> many_;
    std::vector<Step> last_;  ///< steps that finish() adds
    std::vector<const objects::Datatype*> types_;
    std::byte* left_ = nullptr;   ///< room for `elements_` elements of the reduction's type
    std::byte* right_ = nullptr;  ///< likewise
    std::uint64_t elements_ = 0;
    Step local_[few];  // without initialisation, like the scratch
    alignas(alignment) std::byte small_[512];
};

}  // namespace heddle::coll
