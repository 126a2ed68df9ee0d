// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The state of a peer with which a lane has something to do.

#include <chrono>
#include <cstdint>
#include <string>

#include "transport/batch.hpp"
#include "transport/wire.hpp"

namespace heddle::transport {

using Clock = std::chrono::steady_clock;

template <class Destination>
struct PeerState {
    enum class Condition : std::uint8_t {
        fine,
        failing,  ///< found faulty; the consumer has not heard of it
        faulty,   ///< it has
        left,     ///< it has ended after its farewell
    };

    explicit PeerState(Peer number) noexcept : number(number) {}

    const Peer number;
    Condition condition = Condition::fine;
    bool known = false;      ///< its address is known
    bool listed = false;     ///< something waits to be sent
    bool reached = false;    ///< something has arrived there, or come from there
    bool diagnosed = false;  ///< a diagnosis is under way
    bool rests = false;      ///< it has taken its leave, and sent nothing since
    bool carries = false;    ///< the batch has a message of the lane's user
    std::uint8_t in_flight = 0;
    std::uint16_t watchers = 0;
    std::uint32_t next_out = 0;  ///< sequence of the next batch
    std::uint32_t next_in = 0;
    Destination destination{};
    std::uint64_t left_in_turn = 0;  ///< turn of the lane in which something was sent
    SendBuffer* buffer = nullptr;    ///< buffer of the open batch
    BatchWriter batch;
    BatchHeader header{};  ///< header of the batch that has left last

    std::uint32_t called = 0;    ///< calls sent
    std::uint32_t answered = 0;  ///< the latest call that was answered
    std::uint32_t answer = 0;    ///< the latest call to be answered
    std::uint32_t mark = 0;      ///< the call whose answer says that the peer has what was marked
    bool owes_answer = false;
    bool sent_since_call = false;
    enum class Mark : std::uint8_t { none, to_be_called, called } marked = Mark::none;

    Clock::time_point last_heard;
    Clock::time_point called_at;
    Clock::time_point stuck_since;  ///< since when, if something is stuck
    bool stuck = false;
    std::string address;
    std::string why;  ///< why it is faulty

    bool usable() const noexcept { return condition == Condition::fine; }
};

}  // namespace heddle::transport
