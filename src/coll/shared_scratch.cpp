// SPDX-License-Identifier: BSD-3-Clause
#include "coll/shared_scratch.hpp"

#include <cstring>
#include <new>

#include "coll/schedule.hpp"
#include "comm/agreement.hpp"
#include "comm/participants.hpp"
#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "platform/limits.hpp"

namespace heddle::coll {
namespace {

using objects::SharedScratch;

/// Where addresses are limited, so many communicators of a node have scratch memory: the rest is the program's.
constexpr std::int32_t stages_within_limits = 16;

/// A stage for all; its control words are zeroes, also where the kernel did not take its pages back.
std::int32_t take_stage(const transport::shm::Node& node, std::int32_t users) {
    const std::int32_t number = node.take_stage(static_cast<std::uint32_t>(users));
    if (number < 0) return SharedScratch::none;
    if (std::byte* memory = node.stage(number))
        std::memset(memory, 0, ScratchLayout::control_bytes());
    return number;
}

/// A stage that all have mapped, or none if somebody has no room for it.
int agree_on_stage(core::Thread& thread, const comm::Participants& participants,
                   SharedScratch& scratch) {
    const transport::shm::Node& node = thread.process->node;
    std::int32_t number = SharedScratch::none;
    if (participants.me() == 0) number = take_stage(node, participants.size());
    if (const int error =
            comm::broadcast(thread, participants, comm::everybody(participants), participants.me(),
                            comm::stage_agreement, &number, sizeof number))
        return error;
    scratch = {};
    scratch.stage = number;
    if (number == SharedScratch::none) return MPI_SUCCESS;
    if (number < stages_within_limits || !platform::addresses_are_limited())
        scratch.memory = node.stage(number);
    bool mapped = scratch.memory != nullptr;
    if (const int error = comm::all_agree(thread, participants, comm::stage_agreement, mapped))
        return error;
    scratch.room = ScratchLayout::slots(participants.size()) - 1;
    if (mapped) return MPI_SUCCESS;
    node.leave_stage(number);
    scratch = {};
    scratch.stage = SharedScratch::none;
    return MPI_SUCCESS;
}

}  // namespace

bool may_have_scratch(const Schedule& schedule) noexcept {
    return schedule.blocking() && schedule.local == nullptr && schedule.size > 1 &&
        schedule.size <= ScratchLayout::most_ranks &&
        schedule.communicator.scratch.stage != SharedScratch::none &&
        !schedule.writer.engine->in_laboratory();
}

bool find_scratch(const Schedule& schedule) {
    objects::Communicator& communicator = schedule.communicator;
    SharedScratch& scratch = communicator.scratch;
    if (scratch.stage == SharedScratch::unknown &&
        agree_on_stage(schedule.writer, comm::Participants(communicator), scratch) != MPI_SUCCESS)
        throw std::bad_alloc();
    return scratch.memory != nullptr;
}

}  // namespace heddle::coll
