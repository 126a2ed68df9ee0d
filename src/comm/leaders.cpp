// SPDX-License-Identifier: BSD-3-Clause
#include "comm/leaders.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "comm/letters.hpp"
#include "comm/recycling.hpp"
#include "comm/unless_lost.hpp"
#include "objects/errors.hpp"
#include "objects/leader_sources.hpp"
#include "p2p/operations.hpp"

namespace heddle::comm {
namespace {

/// The message of a leader to the other one, and then to its group, before a list of processes.
struct Offer {
    std::int32_t error;
    std::uint32_t context;
    std::int32_t count;
    std::uint32_t several_jobs;  ///< processes of several jobs take part: cards follow
};

int exchange_by(core::Thread& thread, const Route& route, const void* out, std::uint64_t out_bytes,
                void* in, std::uint64_t in_bytes) {
    p2p::Engine& engine = *thread.engine;
    core::Request* receive = engine.start_receive(thread,
                                                  {{route.context, route.their_source, route.tag},
                                                   false,
                                                   static_cast<std::byte*>(in),
                                                   in_bytes,
                                                   route.for_errors});
    core::Request* send = engine.start_send(thread,
                                            {{route.context, route.my_source, route.tag},
                                             route.process,
                                             static_cast<const std::byte*>(out),
                                             out_bytes});
    if (thread.process->numbers.is_guest(route.process) && send != nullptr && receive != nullptr) {
        int error = MPI_SUCCESS;
        if (!finish_unless_lost(thread, route.process, *send, *receive, error))
            return leader_is_gone;
        return error == MPI_SUCCESS
            ? error
            : objects::fail(thread, route.for_errors, error, objects::class_text(error));
    }
    const int sent = p2p::finish(thread, *route.for_errors, send);
    const int received = p2p::finish(thread, *route.for_errors, receive);
    return sent != MPI_SUCCESS ? sent : received;
}

/// One of the two groups, as one of its processes sees it. Its leader tells the others all results,
/// errors too, so that either all of the group go on, or none.
class Side {
public:
    Side(core::Thread& thread, const Participants& participants, std::int32_t local_leader,
         const Route& route, int error_class)
        : thread_(thread),
          participants_(participants),
          route_(route),
          error_class_(error_class),
          members_(everybody(participants)),
          me_((participants.me() - local_leader + participants.size()) % participants.size()) {
        for (std::int32_t& member : members_)
            member = (member + local_leader) % participants.size();
    }

    int introduce(Part& part);

private:
    bool is_leader() const noexcept { return me_ == 0; }
    objects::Process& process() const noexcept { return *thread_.process; }
    bool comes_first() const {
        return process().name_of(process().number()) < process().name_of(route_.process);
    }
    int tell(void* data, std::uint64_t bytes) const {
        return broadcast(thread_, participants_, members_, me_, intercomm_agreement, data, bytes);
    }
    int fail(int error) const;
    int fail(const std::string& why) const {
        return objects::fail(thread_, &participants_.communicator(), error_class_, why);
    }
    template <class Function>
    int lead(Function&& function) const;
    template <class T>
    int trade(const std::vector<T>& list, std::vector<T>& theirs, std::int32_t count) const;

    int meet(const objects::Members& members, Offer& offer) const;
    int tell_ranks(const Offer& offer, Part& part) const;
    int tell_cards(const Offer& offer, Part& part) const;
    int reserve(std::uint32_t& context, bool& reserved) const;
    int agree(std::uint32_t& context) const;

    core::Thread& thread_;
    const Participants& participants_;
    const Route& route_;                 ///< counts at the leader
    const int error_class_;              ///< of an error that is not in the arguments
    std::vector<std::int32_t> members_;  ///< places, the leader's first
    const std::int32_t me_;              ///< in the order of members_
};

int Side::fail(int error) const {
    if (error == leader_is_gone) return error;
    return objects::fail(thread_, &participants_.communicator(), error,
                         error == MPI_ERR_GROUP
                             ? "a process is in both groups"
                             : "the local leader could not meet the remote one: " +
                                 std::string(objects::class_text(error)));
}

/// Has the leader call the function, and returns its result in all processes of the group.
template <class Function>
int Side::lead(Function&& function) const {
    int led = is_leader() ? function() : MPI_SUCCESS;
    int code = led;
    if (const int error = tell(&code, sizeof code)) return error;
    return is_leader() || code == MPI_SUCCESS ? led : fail(code);  // the leader's has been raised
}

/// Exchanges the leader's list for the other leader's, and tells it to the group.
template <class T>
int Side::trade(const std::vector<T>& list, std::vector<T>& theirs, std::int32_t count) const {
    theirs.resize(static_cast<std::size_t>(count));
    const int error = lead([&] {
        return exchange_by(thread_, route_, list.data(), list.size() * sizeof(T), theirs.data(),
                           theirs.size() * sizeof(T));
    });
    return error != MPI_SUCCESS ? error : tell(theirs.data(), theirs.size() * sizeof(T));
}

/// Exchanges offers; the leader calls it. The context is the first leader's, or still to be agreed
/// on.
int Side::meet(const objects::Members& members, Offer& offer) const {
    if (route_.for_errors == nullptr) return route_.error;
    const Offer mine{MPI_SUCCESS, process().contexts.take(),
                     static_cast<std::int32_t>(members.size()),
                     process().numbers.is_guest(route_.process) || process().has_guests(members)};
    const int error = exchange_by(thread_, route_, &mine, sizeof mine, &offer, sizeof offer);
    if (mine.several_jobs != 0) offer.several_jobs = 1;
    if (error != MPI_SUCCESS || offer.several_jobs != 0 || !comes_first())
        process().contexts.give_back(mine.context);
    else
        offer.context = mine.context;
    return error;
}

int Side::tell_ranks(const Offer& offer, Part& part) const {
    const launch::Numbering& numbers = process().numbers;
    objects::Members mine = part.local;
    for (std::int32_t& process : mine) process = numbers.rank_of(process);
    if (const int error = trade(mine, part.remote, offer.count)) return error;
    for (std::int32_t& process : part.remote) process = numbers.number_of(process);
    return MPI_SUCCESS;
}

/// Returns this process's card. If the process cannot be reached, the card has no name, and the
/// reason instead of an address.
transport::PackedCard own_card(objects::Process& process) try {
    return transport::pack(process.need_guests().own());
} catch (const std::exception& problem) {
    return transport::pack(
        {{}, {}, std::string(problem.what()).substr(0, transport::most_address)});
}

/// Introduces all processes of the other side to all of this one.
int Side::tell_cards(const Offer& offer, Part& part) const {
    std::vector<transport::PackedCard> mine, theirs;
    if (const int error =
            gather_all(thread_, participants_, intercomm_agreement, mine, own_card(process())))
        return error;
    if (const int error = trade(mine, theirs, offer.count)) return error;
    for (const auto* cards : {&mine, &theirs})
        for (const transport::PackedCard& card : *cards)
            if (card.name.job == 0)
                return fail("a process cannot be reached by other jobs: " +
                            transport::unpack(card).address);
    try {
        part.pin = process().letters->pin();
        for (const transport::PackedCard& card : theirs) {
            if (card.name.job != process().job_name)
                (void)process().need_guests().introduce(transport::unpack(card));
            part.remote.push_back(process().number_of(card.name));
        }
    } catch (const std::exception& problem) {
        return fail(problem.what());
    }
    return MPI_SUCCESS;
}

/// Does the same as reserve_between_jobs(), with the answer of the other side.
int Side::reserve(std::uint32_t& context, bool& reserved) const {
    if (const int error = reserve_between_jobs(thread_, participants_, members_, me_,
                                               intercomm_agreement, context, reserved))
        return error;
    const std::uint32_t here = reserved;
    std::vector<std::uint32_t> there;
    const int error = trade<std::uint32_t>({here}, there, 1);
    reserved = here != 0 && there.front() != 0 && error == MPI_SUCCESS;
    if (here != 0 && !reserved) process().contexts_between_jobs.give_back(context);
    return error;
}

int Side::agree(std::uint32_t& context) const {
    for (bool reserved = false; !reserved;) {
        std::vector<std::uint32_t> theirs;
        const std::uint32_t mine = objects::ContextsBetweenJobs::propose();
        if (const int error = trade<std::uint32_t>({mine}, theirs, 1)) return error;
        if (is_leader()) context = comes_first() ? mine : theirs.front();
        if (const int error = reserve(context, reserved)) return error;
    }
    return MPI_SUCCESS;
}

int Side::introduce(Part& part) {
    part.local = participants_.processes();
    Offer offer{};
    if (const int error = lead([&] { return meet(part.local, offer); })) return error;
    if (const int error = tell(&offer, sizeof offer)) return error;
    if (const int error =
            offer.several_jobs != 0 ? tell_cards(offer, part) : tell_ranks(offer, part))
        return error;
    if (!objects::intersected(part.local, part.remote).empty()) return fail(MPI_ERR_GROUP);
    part.context = offer.context;
    if (offer.several_jobs != 0) return agree(part.context);
    return part.context != 0 ? MPI_SUCCESS : fail("no context id is left for another communicator");
}

}  // namespace

Route through(objects::Communicator& peer, std::int32_t leader, std::int32_t tag) noexcept {
    return {&peer,
            peer.context + 1,
            tag,
            objects::leader_sources + peer.rank,
            objects::leader_sources + leader,
            peer.processes[leader],
            0};
}

int try_to_introduce(core::Thread& thread, const Participants& participants,
                     std::int32_t local_leader, const Route& route, Part& part, int error_class) {
    thread.process->recycling->step(thread);
    return Side(thread, participants, local_leader, route, error_class).introduce(part);
}

int introduce(core::Thread& thread, const Participants& participants, std::int32_t local_leader,
              const Route& route, Part& part) {
    const int error = try_to_introduce(thread, participants, local_leader, route, part);
    if (error != leader_is_gone) return error;
    return objects::fail(thread, &participants.communicator(), MPI_ERR_OTHER,
                         "the remote leader, a process of another job, has ended");
}

}  // namespace heddle::comm
