// SPDX-License-Identifier: BSD-3-Clause
#include "comm/by_tag.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "comm/participants.hpp"
#include "objects/process.hpp"

namespace heddle::comm {
namespace {

std::uint64_t mixed(std::uint64_t value) noexcept {
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9U;
    value = (value ^ value >> 27) * 0x94d049bb133111ebU;
    return value ^ value >> 31;
}

}  // namespace

Meeting meeting(std::string_view string, std::span<const std::uint64_t> names) noexcept {
    std::uint64_t hash = mixed(string.size());
    for (const char character : string)
        hash = mixed(hash + static_cast<unsigned char>(character) + 1);
    for (const std::uint64_t name : names) hash = mixed(hash + name + 0x100);
    return {static_cast<std::uint32_t>(hash >> 32) | objects::tagged_context,
            static_cast<std::int32_t>(hash & 0x7fffffff)};
}

int create_from_group(core::Thread& thread, objects::Communicator& for_errors,
                      const objects::Group& group, std::string_view string, Part& part) {
    const Meeting place = meeting(string, common_names(thread, group.processes));
    const Participants participants(for_errors, place.context, group);
    part.local.assign(group.processes.begin(), group.processes.end());
    return agree_on_context(thread, participants, everybody(participants), participants.me(),
                            place.tag, part.context);
}

Route to_leader(core::Thread& thread, objects::Communicator& for_errors, std::int32_t leader,
                std::string_view string) {
    const std::array both{thread.process->number(), leader};
    const std::vector<std::uint64_t> names = common_names(thread, both);
    // No string of a program has a NUL. So the leaders' meeting is never that of a group of two.
    const Meeting place =
        meeting(std::string(string) + '\0',
                std::array{std::min(names[0], names[1]), std::max(names[0], names[1])});
    const bool first = names[0] < names[1];
    return {&for_errors,   place.context, place.tag,  first ? 0 : 1,
            first ? 1 : 0, leader,        MPI_SUCCESS};
}

int create_from_groups(core::Thread& thread, objects::Communicator& for_errors,
                       const objects::Group& local, std::int32_t local_leader, const Route& route,
                       std::string_view string, Part& part) {
    const Meeting place = meeting(string, common_names(thread, local.processes));
    const Participants participants(for_errors, place.context, local);
    return introduce(thread, participants, local_leader, route, part);
}

}  // namespace heddle::comm
