// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The processes of a job, as a lane knows them (transport/lane.hpp). A batch bears the job's token
/// and its sender's number.

#include <optional>

#include "transport/batch.hpp"

namespace heddle::transport {

class JobMembers {
public:
    explicit JobMembers(Identity identity) noexcept : identity_(identity) {}

    /// Whether a peer may end while others wait for it. In a job it may not: what ends it otherwise
    /// ends the job.
    static constexpr bool end_alone = false;
    /// Returns a bound: peers are below it.
    Peer limit() const noexcept { return identity_.processes; }
    /// Begins a new batch to the peer, of which this is the number.
    static void begin(BatchWriter&, Peer, std::uint32_t) noexcept {}
    BatchHeader header(Peer, std::uint32_t number) const noexcept {
        return {identity_.token, identity_.process, identity_.checked, number};
    }
    /// Returns the sender of the batch, or nothing for a stranger.
    std::optional<Peer> sender(const BatchHeader& batch, const BatchReader&) const noexcept {
        if (batch.token != identity_.token || batch.process >= identity_.processes)
            return std::nullopt;
        return batch.process;
    }

private:
    const Identity identity_;
};

}  // namespace heddle::transport
