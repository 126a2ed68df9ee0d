// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A lane over any wire: the contract of transport.hpp, as far as it does not depend on the
/// network.
///
/// Peers          a table by number, in pages: an eighth of a byte for one that was never named, if
///                no peer beside it was.
/// Batches        each peer has at most one open buffer and `most_in_flight` under way. When these
///                are full, the peer's post() returns retry. So a receiver that does nothing delays
///                no other peer.
/// Members        the processes that the lane talks to, and what their batches bear: the processes
///                of the job (transport/members.hpp), or guests (transport/guests.hpp).
/// Call, answer   a lane calls a peer to learn whether it is there, or has taken over everything.
///                The peer's lane answers in its poll(). A call brings its sender's address, so
///                that a peer can answer a lane of which it has not heard.

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "platform/cpu.hpp"
#include "transport/members.hpp"
#include "transport/own_kinds.hpp"
#include "transport/paged_table.hpp"
#include "transport/peer_state.hpp"

namespace heddle::transport {

template <Wire W, class M = JobMembers>
class Lane {
public:
    static constexpr std::string_view name = W::name;
    static constexpr std::uint8_t most_in_flight = 4;
    static constexpr std::chrono::milliseconds longest_farewell{100};
    using Exposed = typename W::Exposed;

    template <class... Arguments>
    explicit Lane(M members, Patience patience, Arguments&&... for_the_wire)
        : members_(std::move(members)),
          patience_(patience),
          wire_(std::forward<Arguments>(for_the_wire)...) {}
    template <class... Arguments>
    explicit Lane(Identity identity, Patience patience, Arguments&&... for_the_wire)
        requires std::same_as<M, JobMembers>
        : Lane(M(identity), patience, std::forward<Arguments>(for_the_wire)...) {}
    ~Lane() {
        AnyConsumer nobody;
        take_leave(nobody);
    }
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    std::string address() const { return wire_.address(); }
    void connect(Peer peer, const std::string& address);
    bool knows(Peer peer) const noexcept {
        const State* const state = find_state(peer);
        return state != nullptr && state->known;
    }

    Post post(Peer peer, const Header& header, Bytes prefix, Bytes payload) noexcept {
        assert(knows(peer) && header.kind < first_own_kind);
        State& state = *find_state(peer);
        const Post post = append(state, header, prefix, payload);
        if (post == Post::done) [[likely]] {
            state.sent_since_call = true;
            state.carries = state.batch.is_open();
        }
        return post;
    }
    void flush() noexcept;
    bool owes() const noexcept {
        if constexpr (requires { wire_.owes(); })
            if (wire_.owes()) return true;
        return !listed_.empty();
    }
    template <Consumer C>
    std::size_t poll(C& consumer) noexcept;
    std::size_t most_payload() const noexcept {
        return wire_.batch_bytes() - sizeof(BatchHeader) - sizeof(Header) - sizeof(BatchChecksum);
    }

    int descriptor() const noexcept { return wire_.descriptor(); }
    bool arm() noexcept;
    void disarm() noexcept {}
    std::chrono::milliseconds nap() const noexcept;

    bool can_read() const noexcept { return wire_.can_read(); }
    /// Returns whether long messages from this peer, or to it, are read: both sides find the same.
    bool can_read(Peer peer) const noexcept {
        const State& state = *find_state(peer);
        return state.usable() && wire_.can_read(state.destination);
    }
    Exposed expose(Bytes memory) { return wire_.expose(memory); }
    Post read(Peer peer, RemoteMemory from, std::span<std::byte> to, std::uint64_t token) noexcept;

    void watch(Peer peer, bool on) noexcept;
    bool drain() noexcept;
    void mark() noexcept;
    bool is_past_mark() noexcept;
    bool has_met(Peer peer) const noexcept {
        const State* const state = find_state(peer);
        return state != nullptr && state->reached;
    }
    /// Forgets a peer of another job that has ended: nothing is known of it afterwards. Returns
    /// false if it has not ended, or something is under way.
    bool forget(Peer peer) noexcept
        requires requires(M members, Peer one) { members.forget(one); };
    void rest() noexcept {
        AbsentConsumer nobody;
        take_leave(nobody);
    }
    void resume() noexcept;

    W& wire() noexcept { return wire_; }

private:
    using State = PeerState<typename W::Destination>;
    using Condition = typename State::Condition;
    struct Read : Operation {
        Peer peer = 0;
        std::uint64_t token = 0;
        Read* next = nullptr;  ///< next free one
    };
    /// A batch that has arrived and was not taken.
    struct Arrival {
        Operation* operation;
        BatchReader reader;
        State* from;  ///< nullptr: not looked at yet
    };

    /// Returns nullptr for a peer that was never named.
    State* find_state(Peer peer) const noexcept {
        const std::unique_ptr<State>* const entry = peers_.find(peer);
        return entry == nullptr ? nullptr : entry->get();
    }
    State& state_of(Peer peer);
    Post append(State& state, const Header& header, Bytes prefix, Bytes payload) noexcept;
    bool open_batch(State& state) noexcept;
    const BatchHeader& header_of(State& state) const;
    bool send_batch(State& state) noexcept;
    Sent hand_to_wire(State& state, std::size_t bytes) noexcept;
    void list(State& state) noexcept {
        if (!std::exchange(state.listed, true)) listed_.push_back(&state);
    }
    bool post_own(State& state, std::uint8_t kind, std::uint32_t number, Bytes payload) noexcept;
    bool call_peer(State& state) noexcept;
    bool is_past_mark(State& state) noexcept;
    void answer_calls() noexcept;

    void fail(State& state, std::string why) noexcept;
    void stop(State& state, Condition condition) noexcept;
    void free(SendBuffer* buffer) noexcept {
        buffer->next = free_;
        free_ = buffer;
    }
    Read& free_read();
    bool drain(State& state) noexcept;
    bool owes_farewell() const noexcept;
    template <Consumer C>
    void take_leave(C& nobody) noexcept;

    template <Consumer C>
    std::size_t handle(C& consumer, const WireEvent& event) noexcept;
    void handle_sent(SendBuffer& buffer, int error) noexcept;
    template <Consumer C>
    void handle_read(C& consumer, Read& read, int error) noexcept;
    State* member(const BatchHeader& batch, const BatchReader& reader) noexcept;
    State* sender_of(Arrival& arrival) noexcept;
    std::string interruption() const;
    template <Consumer C>
    bool take_in(C& consumer, Arrival& arrival, std::size_t& taken) noexcept;
    template <Consumer C>
    std::size_t take_in_held(C& consumer) noexcept;
    void handle_own(State& state, const Header& header) noexcept;
    template <Consumer C>
    std::size_t tell_of_ended(C& consumer) noexcept;

    bool watches_clock() const noexcept { return watched_ != 0 || !listed_.empty(); }
    void look_at_clock() noexcept;
    void forget_silence(Clock::time_point now) noexcept;
    void look_after(State& state, Clock::time_point now) noexcept;
    void diagnose(State& state) noexcept;
    void end_diagnosis(State& state) noexcept {
        if (std::exchange(state.diagnosed, false)) wire_.end_diagnosis(state.address);
    }
    void look_at_silence(State& state, std::chrono::milliseconds silent) noexcept;

    M members_;
    const Patience patience_;
    PagedTable<std::unique_ptr<State>> peers_{members_.limit()};
    std::vector<State*> in_use_;        ///< peers that have a state
    std::vector<State*> listed_;        ///< peers for which something waits
    std::vector<State*> untold_;        ///< peers that have ended: the consumer is to hear of them
    std::vector<State*> owing_;         ///< peers to which an answer is due
    std::array<WireEvent, 16> events_;  ///< events of the current poll
    std::deque<Arrival> held_;
    std::vector<std::unique_ptr<SendBuffer>> buffers_;
    SendBuffer* free_ = nullptr;
    std::uint64_t turn_ = 1;
    std::uint64_t strangers_ = 0;  ///< their batches of which the consumer has not heard yet
    std::uint32_t watched_ = 0;
    bool leaving_ = false;  ///< peers have been told farewell
    std::vector<std::unique_ptr<Read>> reads_;
    Read* free_reads_ = nullptr;
    std::size_t reading_ = 0;  ///< how many reads are under way
    /// A fraction of a millisecond if ticks are of some gigahertz. To read the clock costs more
    /// than to read them.
    static constexpr std::uint64_t ticks_between_looks = std::uint64_t{1} << 18;
    std::uint64_t looked_at_tick_ = 0;
    Clock::time_point looked_;
    W wire_;  ///< last, since operations under way there refer to the above
};

}  // namespace heddle::transport

#include "transport/lane_receive.hpp"
#include "transport/lane_send.hpp"
