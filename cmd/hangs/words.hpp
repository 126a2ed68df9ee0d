// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Waits in words: "MPI_Recv(source 0, tag 7, MPI_COMM_WORLD)".

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "node/waits_for.hpp"

namespace heddle::hangs {

/// A wait whose peers are named apart, so that those of several ranks that differ in nothing else can be told at once.
struct Words {
    std::string text;        ///< with a `place` for each peer
    std::vector<int> peers;  ///< ranks in their communicators
    static constexpr char place = '\x01';
};

Words words_of(const node::WaitsFor& what);

/// The text with `peers` at their places.
std::string with_peers(const std::string& text, const std::vector<std::string>& peers);

/// The same of one wait.
std::string sentence_of(const node::WaitsFor& what);

/// "'halo' (communicator 5)", or "MPI_COMM_WORLD".
std::string communicator_name(std::uint32_t context, std::string_view name);
inline std::string communicator_name(const node::AwaitedEvent& event) {
    return communicator_name(event.context, event.communicator);
}

/// "0-6, 8" of numbers in order.
std::string ranges(const std::vector<int>& numbers);
/// "rank 3" or "ranks 0-6, 8".
std::string rank_list(const std::vector<int>& ranks);

/// "3.2 s".
std::string seconds_text(double seconds);

}  // namespace heddle::hangs
