// SPDX-License-Identifier: BSD-3-Clause
#include "comm/agreement.hpp"

#include <algorithm>
#include <limits>

#include "comm/recycling.hpp"
#include "comm/unless_lost.hpp"
#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "p2p/operations.hpp"
#include "p2p/requests/join.hpp"

namespace heddle::comm {
namespace {

int none_left(core::Thread& thread, const Participants& participants) {
    return objects::fail(thread, &participants.communicator(), MPI_ERR_OTHER,
                         "no context id is left for another communicator");
}

/// Raises the error that no id is left. First completes the sends, which must not be lost: by them
/// the others learn the same.
int tell_of_none(core::Thread& thread, const Participants& participants,
                 const std::vector<core::Request*>& told) {
    for (core::Request* send : told)
        if (send != nullptr && !send->immortal)
            (void)p2p::finish(thread, participants.communicator(), send);
    return none_left(thread, participants);
}

objects::Members processes_of(const Participants& participants,
                              std::span<const std::int32_t> members) {
    objects::Members processes;
    processes.reserve(members.size());
    for (const std::int32_t place : members) processes.push_back(participants.process(place));
    return processes;
}

bool is_between_jobs(const core::Thread& thread, const Participants& participants,
                     std::span<const std::int32_t> members) {
    return thread.process->has_guests(processes_of(participants, members));
}

int agree_between_jobs(core::Thread& thread, const Participants& participants,
                       std::span<const std::int32_t> members, std::int32_t me, std::int32_t tag,
                       std::uint32_t& context) {
    for (bool reserved = false; !reserved;) {
        if (me == 0) context = objects::ContextsBetweenJobs::propose();
        if (const int error =
                reserve_between_jobs(thread, participants, members, me, tag, context, reserved))
            return error;
    }
    return MPI_SUCCESS;
}

/// The choices of one process in a split.
struct SplitChoice {
    std::int32_t color;  ///< or MPI_UNDEFINED
    std::int32_t key;
    std::uint32_t context;  ///< used if the process is the first with its color
};

}  // namespace

std::int32_t create_group_agreement(std::int32_t users_tag) noexcept {
    const std::int32_t tag = std::numeric_limits<std::int32_t>::min() + users_tag;
    return tag == match::any_tag ? last_group_agreement : tag;
}

int agree_on_context(core::Thread& thread, const Participants& participants,
                     std::span<const std::int32_t> members, std::int32_t me, std::int32_t tag,
                     std::uint32_t& context) {
    if (is_between_jobs(thread, participants, members))
        return agree_between_jobs(thread, participants, members, me, tag, context);
    thread.process->recycling->step(thread);
    if (me == 0) context = thread.process->contexts.take();
    if (const int error =
            broadcast(thread, participants, members, me, tag, &context, sizeof context))
        return error;
    return context == 0 ? none_left(thread, participants) : MPI_SUCCESS;
}

int reserve_between_jobs(core::Thread& thread, const Participants& participants,
                         std::span<const std::int32_t> members, std::int32_t me, std::int32_t tag,
                         std::uint32_t& context, bool& reserved) {
    if (const int error =
            broadcast(thread, participants, members, me, tag, &context, sizeof context))
        return error;
    objects::ContextsBetweenJobs& contexts = thread.process->contexts_between_jobs;
    const bool mine = contexts.reserve(context);
    reserved = mine;
    const int error = all_agree(thread, participants, members, me, tag, reserved);
    if (mine && (error != MPI_SUCCESS || !reserved)) contexts.give_back(context);
    return error;
}

/// Runs all rounds, even if one fails, since other processes wait for them.
void leave_together(core::Thread& thread, objects::Communicator& communicator) {
    const Participants participants(communicator);
    const std::int32_t size = participants.size();
    for (std::int32_t step = 1; step < size; step *= 2) {
        const std::int32_t before = (participants.me() - step + size) % size;
        const std::int32_t after = (participants.me() + step) % size;
        core::Request* const receive =
            start_receive(thread, participants, nullptr, 0, before, disconnect_agreement);
        core::Request* const send =
            start_send(thread, participants, nullptr, 0, after, disconnect_agreement);
        int error = MPI_SUCCESS;
        if (receive != nullptr && send != nullptr)
            (void)finish_unless_lost(thread, participants.process(before), *send, *receive, error);
    }
}

int start_to_agree(core::Thread& thread, const Participants& participants,
                   objects::Communicator& made, core::Request*& request) {
    thread.process->recycling->step(thread);
    std::vector<core::Request*> parts;
    // The first part is a completed send, so that the request has no status of its own.
    parts.push_back(&thread.engine->requests().completed_send());
    std::uint32_t& context = made.agreed = 0;
    if (is_between_jobs(thread, participants, everybody(participants))) {
        if (const int error = agree_between_jobs(thread, participants, everybody(participants),
                                                 participants.me(), idup_agreement, context))
            return error;
        made.context = context;
    } else if (participants.me() == 0) {
        made.context = context = thread.process->contexts.take();
        for (std::int32_t place = 1; place < participants.size(); ++place)
            parts.push_back(
                start_send(thread, participants, &context, sizeof context, place, idup_agreement));
        if (context == 0) return tell_of_none(thread, participants, parts);
    } else {
        parts.push_back(
            start_receive(thread, participants, &context, sizeof context, 0, idup_agreement));
    }
    request = std::find(parts.begin(), parts.end(), nullptr) == parts.end()
        ? p2p::join(thread, parts, {}, &made)
        : nullptr;
    if (request != nullptr) return MPI_SUCCESS;
    return objects::fail(thread, &participants.communicator(), MPI_ERR_NO_MEM,
                         "no memory for a request");
}

int split(core::Thread& thread, const Participants& participants, std::int32_t color,
          std::int32_t key, Part& part) {
    thread.process->recycling->step(thread);
    objects::Contexts& contexts = thread.process->contexts;
    const SplitChoice mine{color, key, color == MPI_UNDEFINED ? 0 : contexts.take()};
    std::vector<SplitChoice> all;
    if (const int error = gather_all(thread, participants, split_agreement, all, mine))
        return error;
    part = {};
    if (color == MPI_UNDEFINED) return MPI_SUCCESS;
    const auto choice = [&](std::int32_t place) { return all[static_cast<std::size_t>(place)]; };
    std::vector<std::int32_t> members = everybody(participants);
    std::erase_if(members, [&](std::int32_t place) { return choice(place).color != color; });
    const std::int32_t first = members.front();
    const bool between_jobs = is_between_jobs(thread, participants, members);
    std::stable_sort(members.begin(), members.end(),
                     [&](std::int32_t a, std::int32_t b) { return choice(a).key < choice(b).key; });
    for (const std::int32_t place : members)
        (participants.is_local(place) ? part.local : part.remote)
            .push_back(participants.process(place));
    const bool one_sided = participants.is_inter() && part.remote.empty();
    if (one_sided || between_jobs || first != participants.me()) contexts.give_back(mine.context);
    if (one_sided) part.local.clear();
    if (part.local.empty()) return MPI_SUCCESS;
    if (between_jobs) {
        const auto me = std::find(members.begin(), members.end(), participants.me());
        return agree_between_jobs(thread, participants, members,
                                  static_cast<std::int32_t>(me - members.begin()), split_agreement,
                                  part.context);
    }
    part.context = choice(first).context;
    return part.context == 0 ? none_left(thread, participants) : MPI_SUCCESS;
}

int merge(core::Thread& thread, const Participants& participants, bool high, Part& part) {
    struct Decision {
        std::uint32_t context;
        bool second_first;
    } decision{};
    thread.process->recycling->step(thread);
    const bool between_jobs = is_between_jobs(thread, participants, everybody(participants));
    std::uint32_t says_high = high;
    if (participants.me() == participants.second_leader())
        if (const int error =
                send(thread, participants, &says_high, sizeof says_high, 0, merge_agreement))
            return error;
    if (participants.me() == 0) {
        if (const int error = receive(thread, participants, &says_high, sizeof says_high,
                                      participants.second_leader(), merge_agreement))
            return error;
        decision = {between_jobs ? 0 : thread.process->contexts.take(), high && says_high == 0};
    }
    if (const int error = broadcast(thread, participants, everybody(participants),
                                    participants.me(), merge_agreement, &decision, sizeof decision))
        return error;
    if (between_jobs) {
        if (const int error =
                agree_between_jobs(thread, participants, everybody(participants), participants.me(),
                                   merge_agreement, decision.context))
            return error;
    }
    if (decision.context == 0) return none_left(thread, participants);
    const auto add = [&](bool first_group) {
        for (std::int32_t place = 0; place < participants.size(); ++place)
            if (participants.is_first(place) == first_group)
                part.local.push_back(participants.process(place));
    };
    part = {};
    add(!decision.second_first);
    add(decision.second_first);
    part.context = decision.context;
    return MPI_SUCCESS;
}

}  // namespace heddle::comm
