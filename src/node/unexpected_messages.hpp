// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// UnexpectedMessages: messages that have come to a process while no receive awaits them, as data
/// for a reader in another process.
///
/// Memory         plain values of fixed size, as in node/waits_for.hpp. Zeroes say that there is
///                nothing.

#include <cstddef>
#include <cstdint>

namespace heddle::node {

/// Messages with the same envelope.
struct UnexpectedMessage {
    std::uint64_t messages;     ///< 0: the entry is empty
    std::uint32_t context;      ///< context of the communicator, even
    std::int32_t source;        ///< rank in the communicator
    std::int32_t world_source;  ///< its rank in MPI_COMM_WORLD; negative: not known
    std::int32_t tag;
    char communicator[32];  ///< its name, ends in NUL; empty: it has none
};

struct UnexpectedMessages {
    static constexpr std::size_t most_listed = 16;

    std::uint64_t others;  ///< messages for which there is no entry
    UnexpectedMessage listed[most_listed];

    /// Adds one message of this envelope.
    void add(std::uint32_t context, std::int32_t source, std::int32_t tag) noexcept {
        for (UnexpectedMessage& one : listed) {
            if (one.messages == 0) one = {0, context, source, -1, tag, {}};
            if (one.context != context || one.source != source || one.tag != tag) continue;
            ++one.messages;
            return;
        }
        ++others;
    }
};

}  // namespace heddle::node
