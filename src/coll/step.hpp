// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What the two that run schedules (run.cpp, execution.cpp) have in common: single steps.

#include <cstring>

#include "coll/schedule.hpp"
#include "core/thread.hpp"
#include "objects/layout.hpp"
#include "p2p/operations.hpp"

namespace heddle::coll {

inline bool is_message(const Step& step) noexcept { return step.kind < Step::Kind::wait; }

/// Starts a message. nullptr when memory has run out.
inline core::Request* start_message(core::Thread& thread, const Schedule& schedule,
                                    const Step& step) {
    const bool within = step.kind >= Step::Kind::send_within;
    objects::Communicator& communicator = within ? *schedule.local : schedule.communicator;
    const std::uint32_t context = communicator.context + 1;
    if (step.kind == Step::Kind::send || step.kind == Step::Kind::send_within)
        return p2p::start_send(thread, communicator, context, step.from, step.size, step.peer,
                               schedule.tag);
    return p2p::start_receive(thread, communicator, context, step.to, step.size, step.peer,
                              schedule.tag);
}

/// Does what is neither a message nor a wait.
inline void do_locally(const Schedule& schedule, const Step& step) {
    const auto type = [&]() -> const objects::Datatype& {
        return *schedule.types()[static_cast<std::size_t>(step.peer)];
    };
    switch (step.kind) {
        case Step::Kind::copy: std::memmove(step.to, step.from, step.size); break;
        case Step::Kind::pack: objects::pack(type(), step.from, 0, step.to, step.size); break;
        case Step::Kind::unpack: objects::unpack(type(), step.to, 0, step.from, step.size); break;
        default:
            if (schedule.reduction.packed) [[unlikely]]
                return schedule.combine_packed(step.from, step.to, step.size);
            schedule.reduction.combine(step.from, step.to, step.size);
    }
}

/// What went wrong first.
struct Failure {
    int error = MPI_SUCCESS;
    std::int32_t source = 0;
    std::uint64_t room = 0;

    void note(int code, std::int32_t from = 0, std::uint64_t bytes = 0) noexcept {
        if (error == MPI_SUCCESS) *this = {code, from, bytes};
    }
};

}  // namespace heddle::coll
