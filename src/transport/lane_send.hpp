// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// How a lane sends (transport/lane.hpp, which includes this).

#include <stdexcept>

#include "transport/lane.hpp"

namespace heddle::transport {

template <Wire W, class M>
auto Lane<W, M>::state_of(Peer peer) -> State& {
    assert(peer < members_.limit());
    std::unique_ptr<State>& entry = peers_.need(peer);
    if (entry == nullptr) {
        entry = std::make_unique<State>(peer);
        in_use_.push_back(entry.get());
        // Lists that may become so long later must not have to allocate then.
        for (auto* list : {&listed_, &untold_, &owing_}) list->reserve(in_use_.size());
    }
    return *entry;
}

template <Wire W, class M>
void Lane<W, M>::connect(Peer peer, const std::string& address) {
    if (peer >= members_.limit())
        throw std::runtime_error("there is no process " + std::to_string(peer));
    if (knows(peer)) return;
    State& state = state_of(peer);
    state.destination = wire_.find(address);
    state.address = address;
    state.known = true;
}

template <Wire W, class M>
Post Lane<W, M>::append(State& state, const Header& header, Bytes prefix, Bytes payload) noexcept {
    if (!state.usable()) return Post::faulty;
    const std::size_t bytes = prefix.size() + payload.size();
    assert(bytes <= most_payload());
    if (state.batch.is_open() && !state.batch.fits(bytes) && !send_batch(state))
        return state.usable() ? Post::retry : Post::faulty;
    if (!state.batch.is_open() && !open_batch(state)) return Post::retry;
    state.batch.append(header, prefix, payload);
    if (state.left_in_turn == turn_ || !send_batch(state)) list(state);
    return state.usable() ? Post::done : Post::faulty;
}

template <Wire W, class M>
bool Lane<W, M>::open_batch(State& state) noexcept {
    if (state.in_flight == most_in_flight) return false;
    if (free_ == nullptr) {
        SendBuffer& made = *buffers_.emplace_back(std::make_unique<SendBuffer>());
        made.bytes = std::make_unique_for_overwrite<std::byte[]>(wire_.batch_bytes());
        free(&made);
    }
    SendBuffer& buffer = *std::exchange(free_, free_->next);
    buffer.what = Operation::What::send;
    buffer.peer = state.number;
    state.buffer = &buffer;
    state.batch.open(buffer.bytes.get(), wire_.batch_bytes());
    members_.begin(state.batch, state.number, state.next_out);
    return true;
}

/// Returns the header of the next batch. Only the first batch has another header, apart from the
/// number.
template <Wire W, class M>
const BatchHeader& Lane<W, M>::header_of(State& state) const {
    if (state.next_out <= 1) state.header = members_.header(state.number, state.next_out);
    state.header.sequence = state.next_out;
    return state.header;
}

/// Returns true if the batch has left, or there was none.
template <Wire W, class M>
bool Lane<W, M>::send_batch(State& state) noexcept {
    if (!state.batch.is_open()) return true;
    const std::size_t bytes = state.batch.seal(header_of(state));
    switch (hand_to_wire(state, bytes)) {
        case Sent::again:
            if (!std::exchange(state.stuck, true)) state.stuck_since = Clock::now();
            return false;
        case Sent::failed: fail(state, std::strerror(wire_.failure())); return false;
        case Sent::accepted: break;
    }
    ++state.next_out;
    state.reached = true;
    state.left_in_turn = turn_;
    state.stuck = false;
    state.carries = false;
    state.buffer = nullptr;
    state.batch.close();
    return true;
}

template <Wire W, class M>
Sent Lane<W, M>::hand_to_wire(State& state, std::size_t bytes) noexcept {
    SendBuffer* const buffer = state.buffer;
    if (bytes <= wire_.inject_limit()) {
        const Sent sent = wire_.inject(state.destination, {buffer->bytes.get(), bytes});
        if (sent == Sent::accepted) free(buffer);
        return sent;
    }
    const Sent sent = wire_.send(state.destination, *buffer, bytes);
    if (sent == Sent::accepted) ++state.in_flight;
    return sent;
}

template <Wire W, class M>
void Lane<W, M>::flush() noexcept {
    std::erase_if(listed_, [this](State* state) {
        if (state->usable() && !send_batch(*state) && state->usable()) return false;
        state->listed = false;
        return true;
    });
}

/// Posts a message of the lane's own. The farewell stays the last word: a peer whose call is
/// answered after it hears it again.
template <Wire W, class M>
bool Lane<W, M>::post_own(State& state, std::uint8_t kind, std::uint32_t number,
                          Bytes payload) noexcept {
    Header header{};
    header.kind = kind;
    header.context = number;
    if (append(state, header, {}, payload) != Post::done) return false;
    if (leaving_ && kind != farewell) (void)post_own(state, farewell, 0, {});
    return true;
}

template <Wire W, class M>
bool Lane<W, M>::call_peer(State& state) noexcept {
    const std::string own = address();
    if (!post_own(state, call, state.called + 1, std::as_bytes(std::span(own)))) return false;
    ++state.called;
    state.called_at = Clock::now();
    state.sent_since_call = false;
    return true;
}

template <Wire W, class M>
void Lane<W, M>::answer_calls() noexcept {
    std::erase_if(owing_, [this](State* state) {
        if (state->usable() && !post_own(*state, answer, state->answer, {}) && state->usable())
            return false;
        state->owes_answer = false;
        return true;
    });
}

template <Wire W, class M>
Post Lane<W, M>::read(Peer peer, RemoteMemory from, std::span<std::byte> to,
                      std::uint64_t token) noexcept {
    State& state = *find_state(peer);
    if (!state.usable()) return Post::faulty;
    Read& read = free_read();
    read.peer = peer;
    read.token = token;
    switch (wire_.read(state.destination, from, to, read)) {
        case Sent::again: return Post::retry;
        case Sent::failed: fail(state, std::strerror(wire_.failure())); return Post::faulty;
        case Sent::accepted: break;
    }
    free_reads_ = read.next;
    ++reading_;
    return Post::done;
}

/// Returns a free one, which stays free.
template <Wire W, class M>
auto Lane<W, M>::free_read() -> Read& {
    if (free_reads_ == nullptr) {
        free_reads_ = reads_.emplace_back(std::make_unique<Read>()).get();
        free_reads_->what = Operation::What::read;
    }
    return *free_reads_;
}

template <Wire W, class M>
bool Lane<W, M>::drain() noexcept {
    bool drained = owing_.empty();
    for (State* state : in_use_)
        if (state->usable() && state->known && !drain(*state)) drained = false;
    return drained && reading_ == 0;
}

/// Calls the peer if that is needed to find out. A peer that rests does not answer: it has all that
/// it has called for.
template <Wire W, class M>
bool Lane<W, M>::drain(State& state) noexcept {
    if (state.rests) return !state.carries && state.in_flight == 0;
    if (state.called == state.answered && state.sent_since_call) call_peer(state);
    return state.called == state.answered && !state.sent_since_call && !state.batch.is_open() &&
        state.in_flight == 0;
}

/// Marks what was handed over. If nothing was sent after a call whose answer is awaited, that
/// answer will do.
template <Wire W, class M>
void Lane<W, M>::mark() noexcept {
    using Mark = typename State::Mark;
    for (State* state : in_use_) {
        state->mark = state->called;
        state->marked = state->sent_since_call ? Mark::to_be_called : Mark::called;
    }
}

template <Wire W, class M>
bool Lane<W, M>::is_past_mark() noexcept {
    bool past = true;
    for (State* state : in_use_)
        if (!is_past_mark(*state)) past = false;
    return past;
}

template <Wire W, class M>
bool Lane<W, M>::is_past_mark(State& state) noexcept {
    using Mark = typename State::Mark;
    if (!state.usable() || !state.known) return true;
    if (state.marked == Mark::to_be_called && (!state.sent_since_call || call_peer(state))) {
        state.mark = state.called;
        state.marked = Mark::called;
    }
    if (state.marked == Mark::called && state.called - state.answered <= state.called - state.mark)
        state.marked = Mark::none;
    return state.marked == Mark::none;
}

/// Peers that have said farewell themselves may be gone.
template <Wire W, class M>
bool Lane<W, M>::owes_farewell() const noexcept {
    return std::any_of(listed_.begin(), listed_.end(),
                       [](const State* state) { return state->usable() && !state->rests; });
}

/// Says farewell, as well as it can. A process that has drained before knows that nothing is lost,
/// but others wait for processes that vanish.
template <Wire W, class M>
template <Consumer C>
void Lane<W, M>::take_leave(C& nobody) noexcept {
    for (State* state : in_use_)
        if (state->usable() && state->known && state->reached)
            (void)post_own(*state, farewell, 0, {});
    leaving_ = true;
    // The wire takes later what it does not take at once, unless the peer is gone. Some leave at
    // the same time.
    const Clock::time_point end = Clock::now() + longest_farewell;
    do {
        for (int round = 0; round < 4; ++round) (void)poll(nobody);
    } while (owes_farewell() && Clock::now() < end);
    leaving_ = false;
}

/// Resumes. drain() repeats the calls for whose answers this lane did not wait.
template <Wire W, class M>
void Lane<W, M>::resume() noexcept {
    forget_silence(Clock::now());
    for (State* state : in_use_) {
        if (state->called == state->answered) continue;
        state->sent_since_call = true;
        state->answered = state->called;
        if (state->marked == State::Mark::called) state->marked = State::Mark::to_be_called;
    }
}

template <Wire W, class M>
void Lane<W, M>::fail(State& state, std::string why) noexcept {
    if (!state.usable()) return;
    stop(state, state.rests ? Condition::left : Condition::failing);
    untold_.push_back(&state);
    if (state.rests) return;
    const std::string place = state.known ? wire_.place(state.address) : std::string();
    state.why = place.empty() ? std::move(why) : place + ": " + why;
}

template <Wire W, class M>
void Lane<W, M>::stop(State& state, Condition condition) noexcept {
    state.condition = condition;
    if (state.batch.is_open()) {
        free(std::exchange(state.buffer, nullptr));
        state.batch.close();
    }
    end_diagnosis(state);
}

template <Wire W, class M>
bool Lane<W, M>::forget(Peer peer) noexcept
    requires requires(M members, Peer one) { members.forget(one); }
{
    if (find_state(peer) == nullptr) {
        members_.forget(peer);
        return true;
    }
    State& state = *find_state(peer);
    const bool ended =
        state.rests || state.condition == Condition::faulty || state.condition == Condition::left;
    const bool is_held = std::any_of(held_.begin(), held_.end(), [&](const Arrival& arrival) {
        return arrival.from == nullptr || arrival.from == &state;
    });
    const bool is_untold = std::find(untold_.begin(), untold_.end(), &state) != untold_.end();
    if (!ended || is_untold || is_held || state.in_flight != 0 || state.batch.is_open() ||
        state.listed || state.owes_answer || reading_ != 0)
        return false;
    end_diagnosis(state);
    if (state.watchers != 0) --watched_;
    if constexpr (requires { wire_.forget(state.destination); })
        if (state.known) wire_.forget(state.destination);
    members_.forget(peer);
    std::erase(in_use_, &state);
    peers_.need(peer).reset();
    return true;
}

template <Wire W, class M>
void Lane<W, M>::watch(Peer peer, bool on) noexcept {
    State& state = *find_state(peer);
    if (on && state.watchers++ == 0) {
        state.last_heard = Clock::now();
        ++watched_;
    } else if (!on && --state.watchers == 0) {
        --watched_;
    }
}

}  // namespace heddle::transport
