// SPDX-License-Identifier: BSD-3-Clause
#include "coll/shared_scratch.hpp"

#include <cstring>
#include <new>

#include "coll/schedule.hpp"
#include "comm/agreement.hpp"
#include "comm/participants.hpp"
#include "objects/nodes.hpp"
#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "platform/limits.hpp"

namespace heddle::coll {
namespace {

using objects::SharedScratch;

/// The most communicators of a node with scratch memory if addresses are limited: the rest is the
/// program's.
constexpr std::int32_t stages_within_limits = 16;

/// Takes a stage for all. Its control words are zeroes, even if the kernel did not take its pages
/// back.
node::Stage take_stage(const node::Stages& stages, std::int32_t users) {
    const node::Stage stage = stages.take(static_cast<std::uint32_t>(users));
    std::shared_ptr<const platform::Mapping> mapping;
    if (stage)
        if (std::byte* memory = stages.map(stage, mapping))
            std::memset(memory, 0, ScratchLayout::control_bytes());
    return stage;
}

bool may_map(const node::Stage& stage) noexcept {
    const bool few = stage.number >= 0 && stage.number < stages_within_limits;
    return few || !platform::addresses_are_limited();
}

/// Agrees on a stage that all members have mapped, or on none if one has no room for it. This
/// process is member number `me`.
int agree_on_stage(core::Thread& thread, const comm::Participants& participants,
                   std::span<const std::int32_t> members, std::int32_t me, SharedScratch& scratch) {
    const node::Stages& stages = thread.process->node.stages();
    const auto places = static_cast<std::int32_t>(members.size());
    node::Stage stage;
    if (me == 0) stage = take_stage(stages, places);
    if (const int error = comm::broadcast(thread, participants, members, me, comm::stage_agreement,
                                          &stage, sizeof stage))
        return error;
    scratch = {};
    scratch.known = true;
    if (!stage) return MPI_SUCCESS;
    if (may_map(stage)) scratch.memory = stages.map(stage, scratch.mapping);
    bool mapped = scratch.memory != nullptr;
    if (const int error =
            comm::all_agree(thread, participants, members, me, comm::stage_agreement, mapped))
        return error;
    if (mapped) {
        scratch.stage = stage;
        scratch.room = ScratchLayout::slots(places) - 1;
        scratch.place = me;
        scratch.places = places;
        return MPI_SUCCESS;
    }
    scratch = {};
    scratch.known = true;
    stages.give_up(stage, me == 0);
    return MPI_SUCCESS;
}

/// Returns whether so many ranks may share scratch memory in such a call.
bool may_share(const Schedule& schedule, std::int32_t ranks) noexcept {
    return schedule.blocking() && ranks > 1 && ranks <= ScratchLayout::most_ranks &&
        schedule.writer.engine->base().features.shared_scratch;
}

}  // namespace

bool may_have_scratch(const Schedule& schedule) noexcept {
    const SharedScratch& scratch = schedule.communicator.scratch;
    return schedule.local == nullptr && may_share(schedule, schedule.size) &&
        (!scratch.known || scratch.memory != nullptr);
}

bool find_scratch(const Schedule& schedule) {
    objects::Communicator& communicator = schedule.communicator;
    SharedScratch& scratch = communicator.scratch;
    if (!scratch.known) {
        const comm::Participants participants(communicator);
        if (agree_on_stage(schedule.writer, participants, comm::everybody(participants),
                           participants.me(), scratch) != MPI_SUCCESS)
            throw std::bad_alloc();
    }
    return scratch.memory != nullptr;
}

bool find_scratch_of_node(const Schedule& schedule, objects::Nodes& nodes) {
    SharedScratch& scratch = nodes.scratch;
    const std::vector<std::int32_t>& members = nodes.here;
    if (!may_share(schedule, nodes.size_of(nodes.own))) return false;
    if (!scratch.known) {
        if (agree_on_stage(schedule.writer, comm::Participants(schedule.communicator), members,
                           nodes.place, scratch) != MPI_SUCCESS)
            throw std::bad_alloc();
        scratch.ranks = members.data();
    }
    return scratch.memory != nullptr;
}

}  // namespace heddle::coll
