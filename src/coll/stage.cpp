// SPDX-License-Identifier: BSD-3-Clause
#include "coll/stage.hpp"

#include "coll/select.hpp"
#include "comm/agreement.hpp"
#include "comm/participants.hpp"
#include "objects/process.hpp"

namespace heddle::coll {
namespace {

/// Whether all have said yes. Every round each hears, indirectly, from twice as many.
int all_agree(core::Thread& thread, const comm::Participants& participants, bool& yes) {
    std::uint32_t mine = yes;
    for (std::int32_t step = 1; step < participants.size(); step *= 2) {
        std::uint32_t theirs = 0;
        const std::int32_t before =
            (participants.me() - step + participants.size()) % participants.size();
        const std::int32_t after = (participants.me() + step) % participants.size();
        if (const int error = comm::exchange(thread, participants, &mine, sizeof mine, before,
                                             &theirs, sizeof theirs, after, comm::stage_agreement))
            return error;
        mine &= theirs;
    }
    yes = mine != 0;
    return MPI_SUCCESS;
}

/// A stage that all have mapped; -1 if there is none, or somebody has no room for it.
int agree_on_stage(core::Thread& thread, const comm::Participants& participants,
                   std::int32_t& number) {
    const transport::shm::Node& node = thread.process->node;
    number = -1;
    if (participants.me() == 0)
        number = node.take_stage(static_cast<std::uint32_t>(participants.size()));
    if (const int error =
            comm::broadcast(thread, participants, comm::everybody(participants), participants.me(),
                            comm::stage_agreement, &number, sizeof number))
        return error;
    if (number < 0) return MPI_SUCCESS;
    bool mapped = node.stage(number) != nullptr;
    if (const int error = all_agree(thread, participants, mapped)) return error;
    if (mapped) return MPI_SUCCESS;
    node.leave_stage(number);
    number = -1;
    return MPI_SUCCESS;
}

}  // namespace

bool wants_stage(const Schedule& schedule, std::uint64_t count) noexcept {
    const objects::Reduction& reduction = schedule.reduction;
    const Call call{Collective::allreduce, schedule.size, count * reduction.element_bytes,
                    reduction.commutative()};
    return schedule.blocking() && select(call).algorithm == Algorithm::accumulated;
}

int find_stage(core::Thread& thread, Schedule& schedule) {
    objects::Communicator& communicator = schedule.communicator;
    if (communicator.stage == objects::Communicator::stage_unknown)
        if (const int error =
                agree_on_stage(thread, comm::Participants(communicator), communicator.stage))
            return error;
    if (communicator.stage >= 0) schedule.stage = thread.process->node.stage(communicator.stage);
    return MPI_SUCCESS;
}

std::byte* next_half(Schedule& schedule) noexcept {
    const bool second = schedule.communicator.stage_turn++ % 2 != 0;
    return schedule.stage + (second ? half_stage_bytes : 0);
}

}  // namespace heddle::coll
