// SPDX-License-Identifier: BSD-3-Clause
#include "node/mailboxes.hpp"

namespace heddle::node {

void Mailboxes::notify(std::size_t from, std::size_t to, std::size_t instance) const noexcept {
    rung_sources(to, instance, from / 64).fetch_or(std::uint64_t{1} << (from % 64), seq_cst);
    Mailbox& there = of(to);
    there.rung.fetch_or(std::uint64_t{1} << instance, seq_cst);
    there.bell.ring();
}

void Mailboxes::notify_withdrawn(std::size_t to) const noexcept {
    Mailbox& there = of(to);
    there.withdrawn.store(1, seq_cst);
    there.bell.ring();
}

}  // namespace heddle::node
