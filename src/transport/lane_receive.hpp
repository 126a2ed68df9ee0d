// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How a lane receives, and how it looks after its peers (transport/lane.hpp, which includes this).

#include "transport/lane.hpp"

namespace heddle::transport {

template <Wire W, class M>
template <Consumer C>
std::size_t Lane<W, M>::poll(C& consumer) noexcept {
    ++turn_;
    flush();
    std::size_t happened = take_in_held(consumer);
    // Also while something is held: sends end, and the wire has only a limited number of buffers
    // for what comes.
    for (const WireEvent& event : std::span(events_).first(wire_.events(events_)))
        happened += handle(consumer, event);
    if (!owing_.empty()) answer_calls();
    if (watches_clock()) look_at_clock();
    if (!untold_.empty() && held_.empty()) happened += tell_of_ended(consumer);
    for (; strangers_ != 0; --strangers_) consumer.stranger();
    // Messages that the consumer has posted leave with the end of the turn.
    if (!listed_.empty()) flush();
    ++turn_;
    return happened;
}

template <Wire W, class M>
template <Consumer C>
std::size_t Lane<W, M>::handle(C& consumer, const WireEvent& event) noexcept {
    switch (event.operation->what) {
        case Operation::What::send:
            handle_sent(static_cast<SendBuffer&>(*event.operation), event.error);
            return 1;
        case Operation::What::read:
            handle_read(consumer, static_cast<Read&>(*event.operation), event.error);
            return 1;
        case Operation::What::receive: break;
    }
    Arrival arrival{event.operation, BatchReader(event.received), nullptr};
    std::size_t taken = 0;
    if (!held_.empty() || !take_in(consumer, arrival, taken)) held_.push_back(arrival);
    return taken;
}

template <Wire W, class M>
void Lane<W, M>::handle_sent(SendBuffer& buffer, int error) noexcept {
    State& state = *find_state(buffer.peer);
    --state.in_flight;
    free(&buffer);
    if (error != 0) return fail(state, std::strerror(error));
    // If the peer is watched, it is not enough that the network takes what is for it: it may be
    // silent.
    if (!state.stuck && state.watchers == 0) end_diagnosis(state);
}

template <Wire W, class M>
template <Consumer C>
void Lane<W, M>::handle_read(C& consumer, Read& read, int error) noexcept {
    --reading_;
    read.next = std::exchange(free_reads_, &read);
    if (error != 0 && error != not_readable) fail(*find_state(read.peer), std::strerror(error));
    consumer.read_over(read.token, error == 0);
}

/// Returns the state of the sender, or nullptr for a stranger.
template <Wire W, class M>
auto Lane<W, M>::member(const BatchHeader& batch, const BatchReader& reader) noexcept -> State* {
    if (const std::optional<Peer> peer = members_.sender(batch, reader)) return &state_of(*peer);
    ++strangers_;
    return nullptr;
}

/// Returns the sender, or nullptr if this lane does not listen to it.
template <Wire W, class M>
auto Lane<W, M>::sender_of(Arrival& arrival) noexcept -> State* {
    BatchHeader batch{};
    State* const state =
        arrival.reader.read_header(batch) ? member(batch, arrival.reader) : nullptr;
    if (state == nullptr || !state->usable()) return nullptr;
    state->rests = false;
    if (batch.checked != 0 && !arrival.reader.check()) {
        fail(*state, "it has come with other bytes than were sent: the network has changed them");
        return nullptr;
    }
    if (batch.sequence != state->next_in) {
        fail(*state, interruption());
        return nullptr;
    }
    ++state->next_in;
    state->reached = true;
    if (state->watchers != 0) state->last_heard = Clock::now();
    if (!state->stuck) end_diagnosis(*state);
    return state;
}

template <Wire W, class M>
std::string Lane<W, M>::interruption() const {
    const std::string error(wire_.last_error());
    return "what it has sent has not all arrived: the connection was interrupted" +
        (error.empty() ? std::string("; the network has told no error")
                       : "; the last error of the network: " + error);
}

/// Returns false if the consumer does not take the next message now.
template <Wire W, class M>
template <Consumer C>
bool Lane<W, M>::take_in(C& consumer, Arrival& arrival, std::size_t& taken) noexcept {
    if (arrival.from == nullptr) arrival.from = sender_of(arrival);
    while (arrival.from != nullptr && !arrival.reader.at_end()) {
        Header* const header = arrival.reader.front();
        if (header == nullptr) {
            fail(*arrival.from, "it has sent what is no message");
            break;
        }
        if (header->kind >= first_own_kind)
            handle_own(*arrival.from, *header);
        else if (!consumer.arrived(arrival.from->number, *header))
            return false;
        arrival.reader.pop(*header);
        ++taken;
    }
    wire_.release(*arrival.operation);
    return true;
}

template <Wire W, class M>
template <Consumer C>
std::size_t Lane<W, M>::take_in_held(C& consumer) noexcept {
    std::size_t taken = 0;
    while (!held_.empty() && take_in(consumer, held_.front(), taken)) held_.pop_front();
    return taken;
}

template <Wire W, class M>
void Lane<W, M>::handle_own(State& state, const Header& header) noexcept {
    const Bytes payload = header.whole_payload();
    switch (header.kind) {
        case call:
            if (!state.known) try {
                    connect(state.number,
                            {reinterpret_cast<const char*>(payload.data()), payload.size()});
                } catch (const std::runtime_error& error) {
                    return fail(state, error.what());
                }
            state.answer = header.context;
            if (!std::exchange(state.owes_answer, true)) owing_.push_back(&state);
            return;
        case answer:
            // An earlier answer comes late, after resume().
            if (header.context - state.answered <= state.called - state.answered)
                state.answered = header.context;
            return;
        case farewell: state.rests = true; return;
        case introduction: return;  // members_ has read it
        default: return fail(state, "it has sent a message that this version does not know");
    }
}

template <Wire W, class M>
template <Consumer C>
std::size_t Lane<W, M>::tell_of_ended(C& consumer) noexcept {
    std::size_t told = 0;
    for (; !untold_.empty(); ++told) {
        State& state = *untold_.back();
        untold_.pop_back();
        if (state.condition == Condition::left) {
            consumer.left(state.number);
            continue;
        }
        state.condition = Condition::faulty;
        consumer.lost(state.number, state.why);
    }
    return told;
}

template <Wire W, class M>
bool Lane<W, M>::arm() noexcept {
    flush();
    return wire_.descriptor() >= 0 && held_.empty() && untold_.empty() && owing_.empty() &&
        wire_.may_sleep();
}

template <Wire W, class M>
std::chrono::milliseconds Lane<W, M>::nap() const noexcept {
    using std::chrono::milliseconds;
    // A wire does not say when it takes again what it has refused.
    if (!listed_.empty()) return milliseconds{5};
    if (watched_ != 0) return std::max(milliseconds{1}, patience_.before_call / 2);
    return milliseconds::max();
}

template <Wire W, class M>
void Lane<W, M>::look_at_clock() noexcept {
    const std::uint64_t tick = platform::ticks();
    if (tick - looked_at_tick_ < ticks_between_looks) return;
    looked_at_tick_ = tick;
    const Clock::time_point now = Clock::now();
    const auto since = now - looked_;
    if (since < std::chrono::milliseconds{5}) return;
    looked_ = now;
    if (patience_.silence.count() != 0 && since > patience_.silence / 4) forget_silence(now);
    for (State* state : in_use_)
        if (state->usable()) look_after(*state, now);
}

/// Starts all silences anew. This process has not listened for long, as when the whole job was
/// stopped. So it cannot say that a peer was silent.
template <Wire W, class M>
void Lane<W, M>::forget_silence(Clock::time_point now) noexcept {
    for (State* state : in_use_) state->last_heard = now;
}

template <Wire W, class M>
void Lane<W, M>::look_after(State& state, Clock::time_point now) noexcept {
    if (state.stuck && now - state.stuck_since > patience_.before_diagnosis) diagnose(state);
    if (state.watchers == 0 || !state.usable()) return;
    const auto silent =
        std::chrono::duration_cast<std::chrono::milliseconds>(now - state.last_heard);
    if (state.rests) {
        // It answers no call. Its host knows whether it has ended.
        if (M::end_alone && silent > patience_.before_call) diagnose(state);
        return;
    }
    look_at_silence(state, silent);
    if (silent <= patience_.before_call || !state.known || !state.usable()) return;
    // Again and again: that a process has ended shows only when more is sent to it.
    if (state.called == state.answered || now - state.called_at > patience_.before_call)
        call_peer(state);
}

/// Fails a peer after too long a silence. Half of the time is for the network to find out whether
/// the peer's host acknowledges anything.
template <Wire W, class M>
void Lane<W, M>::look_at_silence(State& state, std::chrono::milliseconds silent) noexcept {
    if (patience_.silence.count() == 0 || silent <= patience_.silence / 2 || !state.known) return;
    diagnose(state);
    if (silent <= patience_.silence || !state.usable()) return;
    if (wire_.is_acknowledged(state.address, patience_.silence / 2)) return;
    fail(state,
         "it has not answered for " + std::to_string(patience_.silence.count()) +
             " ms, nor has its host acknowledged anything");
}

template <Wire W, class M>
void Lane<W, M>::diagnose(State& state) noexcept {
    state.diagnosed = true;
    std::string why;
    if (wire_.diagnose(state.address, why)) fail(state, std::move(why));
}

}  // namespace heddle::transport
