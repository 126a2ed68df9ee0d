// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The instances that messages of collectives go through. Tags that differ in their last digit only
/// have an instance each (instance/pool.hpp). So a tag with a certain last digit goes through any
/// instance that is wanted.
///
/// Each pair of ranks that communicate has a ring of 32 KiB in each instance, and collectives have
/// many pairs. So all large communicators share `lanes` instances, whatever their operations. Small
/// ones do not: their threads are not to meet. Both sides of a message must find the same instance.
/// So intercommunicators do not share: their groups differ in size.

#include <cstdint>

#include "objects/communicator.hpp"
#include "p2p/engine.hpp"

namespace heddle::coll {

inline constexpr std::uint32_t lanes = 4;
inline constexpr std::int32_t most_ranks_on_their_own = 16;

inline bool shares_lanes(const objects::Communicator& communicator) noexcept {
    return communicator.peers > most_ranks_on_their_own && communicator.remote == nullptr;
}
/// Returns the first lane. Consecutive communicators of a process have different ones.
inline std::uint32_t first_lane(const objects::Communicator& communicator) noexcept {
    return communicator.context / 2 % lanes;
}
/// Returns the tag of this number whose messages in the collective context go through the instance.
/// `first` is a multiple of the instances.
inline std::int32_t tag_through(const p2p::Engine& engine,
                                const objects::Communicator& communicator, std::uint32_t first,
                                std::uint32_t number, std::uint32_t instance) noexcept {
    const auto instances = static_cast<std::uint32_t>(engine.instances());
    const auto tag = static_cast<std::int32_t>(first + number * instances);
    const std::uint32_t here = engine.instance_of(communicator.context + 1, tag);
    return tag + static_cast<std::int32_t>((instance - here) % instances);
}

}  // namespace heddle::coll
