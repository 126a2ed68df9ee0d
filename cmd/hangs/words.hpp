// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Waits in words: "MPI_Recv(source 0, tag 7, MPI_COMM_WORLD)".

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "node/waits_for.hpp"

namespace heddle::hangs {

/// Context ids of predefined communicators, and the bit in that of a local group:
/// objects/contexts.hpp.
inline constexpr std::uint32_t world_context = 2, self_context = 4, local_group = 0x4000'0000;

/// A wait whose peers are kept apart. Waits of several ranks that differ only in peers then share a
/// line.
struct Words {
    std::string text;        ///< the sentence with a `place` for each peer
    std::vector<int> peers;  ///< ranks in their communicators
    static constexpr char place = '\x01';
};

Words words_of(const node::WaitsFor& what);

/// Returns the text with `peers` at their places.
std::string with_peers(const std::string& text, const std::vector<std::string>& peers);

/// Returns the complete sentence for one wait.
std::string sentence_of(const node::WaitsFor& what);

/// Returns a name such as "'halo' (communicator 5)", or "MPI_COMM_WORLD".
std::string communicator_name(std::uint32_t context, std::string_view name);
inline std::string communicator_name(const node::AwaitedEvent& event) {
    return communicator_name(event.context, event.communicator);
}

/// Returns sorted numbers as a text such as "0-6, 8".
std::string ranges(const std::vector<int>& numbers);
/// Returns a text such as "rank 3" or "ranks 0-6, 8".
std::string rank_list(const std::vector<int>& ranks);

/// Returns a text such as "3.2 s".
std::string seconds_text(double seconds);

}  // namespace heddle::hangs
