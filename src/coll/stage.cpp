// SPDX-License-Identifier: BSD-3-Clause
#include "coll/stage.hpp"

#include "coll/select.hpp"
#include "objects/process.hpp"
#include "p2p/agreement.hpp"
#include "p2p/circle.hpp"

namespace heddle::coll {

bool wants_stage(const Schedule& schedule, std::uint64_t count) noexcept {
    const objects::Reduction& reduction = schedule.reduction;
    const Call call{Collective::allreduce, schedule.size, count * reduction.element_bytes,
                    reduction.commutative()};
    return schedule.blocking() && select(call).algorithm == Algorithm::accumulated;
}

int find_stage(core::Thread& thread, Schedule& schedule) {
    objects::Communicator& communicator = schedule.communicator;
    const transport::shm::Node& node = thread.process->node;
    if (communicator.stage == objects::Communicator::stage_unknown) {
        const p2p::Circle circle(communicator);
        std::int32_t number = -1;
        if (circle.me() == 0) number = node.take_stage(static_cast<std::uint32_t>(circle.size()));
        if (const int error = p2p::broadcast(thread, circle, p2p::everybody(circle), circle.me(),
                                             p2p::stage_agreement, &number, sizeof number))
            return error;
        communicator.stage = number;
    }
    if (communicator.stage >= 0) schedule.stage = node.stage(communicator.stage);
    return MPI_SUCCESS;
}

std::byte* next_half(Schedule& schedule) noexcept {
    const bool second = schedule.communicator.stage_turn++ % 2 != 0;
    return schedule.stage + (second ? half_stage_bytes : 0);
}

}  // namespace heddle::coll
