// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/node_cores.hpp"

#include "platform/cores.hpp"

namespace heddle::p2p {

NodeCores::NodeCores(const node::Mailboxes& mailboxes, std::int32_t rank)
    : mailboxes_(mailboxes),
      rank_(static_cast<std::size_t>(rank)),
      allowed_(platform::cores().allowed) {
    mailboxes.of(rank_).cores.store(platform::cores().which, relaxed);
}

void NodeCores::find_out(int threads) noexcept {
    if (!all_known()) count_sharing();
    const int wanted = threads * sharing_.load(relaxed);
    short_.store(wanted > allowed_, relaxed);
    spare_.store(wanted < allowed_ && all_known(), relaxed);
}

void NodeCores::count_sharing() noexcept {
    const std::uint64_t mine = mailboxes_.of(rank_).cores.load(relaxed);
    int sharing = 0;
    bool all_known = true;
    for (std::size_t process = 0; process < mailboxes_.processes(); ++process) {
        const std::uint64_t which = mailboxes_.of(process).cores.load(relaxed);
        all_known = all_known && which != 0;
        sharing += which == mine;
    }
    sharing_.store(sharing, relaxed);
    all_known_.store(all_known, relaxed);
}

}  // namespace heddle::p2p
