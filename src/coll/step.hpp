// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Single steps, as both runners of schedules (run.cpp, execution.cpp) need them.

#include <cstring>

#include "coll/schedule.hpp"
#include "core/thread.hpp"
#include "objects/layout.hpp"
#include "p2p/operations.hpp"
#include "platform/copy_table.hpp"

namespace heddle::coll {

inline bool is_message(const Step& step) noexcept { return step.kind < Step::Kind::wait; }

inline bool is_send(const Step& step) noexcept {
    return step.kind == Step::Kind::send || step.kind == Step::Kind::send_within;
}

/// Returns the communicator through which a message goes.
inline objects::Communicator& way_of(const Schedule& schedule, const Step& step) noexcept {
    return step.kind >= Step::Kind::send_within ? *schedule.local : schedule.communicator;
}

// These start messages. They return nullptr if memory has run out. Only the listener is notified of
// a receive.

inline core::Request* start_send(core::Thread& thread, const Schedule& schedule, const Step& step) {
    objects::Communicator& way = way_of(schedule, step);
    return p2p::start_send(thread, way, way.context + 1, step.from, step.size, step.peer,
                           schedule.tag);
}

template <class... Listener>
core::Request* start_receive(core::Thread& thread, const Schedule& schedule, const Step& step,
                             Listener&... listener) {
    objects::Communicator& way = way_of(schedule, step);
    return p2p::start_receive(thread, way, way.context + 1, step.to, step.size, step.peer,
                              schedule.tag, listener...);
}

/// Copies bytes. Another process has written or will read much of what collectives copy.
inline void copy(std::byte* to, const std::byte* from, std::uint64_t bytes) noexcept {
    constexpr std::uint64_t least = 2048;  // the library's function is faster for fewer bytes
    if (bytes < least) return void(std::memmove(to, from, bytes));
    platform::copy(platform::suited(platform::copy_row().load, bytes), to, from, bytes);
}

/// Does a step that is neither a message nor a wait.
inline void do_locally(const Schedule& schedule, const Step& step) {
    const auto type = [&]() -> const objects::Datatype& {
        return *schedule.types()[static_cast<std::size_t>(step.peer)];
    };
    switch (step.kind) {
        case Step::Kind::copy: copy(step.to, step.from, step.size); break;
        case Step::Kind::pack: objects::pack(type(), step.from, 0, step.to, step.size); break;
        case Step::Kind::unpack: objects::unpack(type(), step.to, 0, step.from, step.size); break;
        default:
            if (schedule.reduction.packed) [[unlikely]]
                return schedule.combine_packed(step.from, step.right, step.to, step.size);
            schedule.reduction.combine(step.from, step.right, step.to, step.size);
    }
}

/// The first error.
struct Failure {
    int error = MPI_SUCCESS;
    std::int32_t source = 0;
    std::uint64_t room = 0;
    std::uint64_t length = 0;  ///< of the message that did not fit

    void note(int code, std::int32_t from = 0, std::uint64_t bytes = 0,
              std::uint64_t sent = 0) noexcept {
        if (error == MPI_SUCCESS) *this = {code, from, bytes, sent};
    }
};

}  // namespace heddle::coll
