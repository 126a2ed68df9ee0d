// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/base.hpp"

#include "node/node.hpp"

#include "tool/recipe.hpp"
#include "transport/guests.hpp"

namespace heddle::p2p {

Base::Base(const node::Node& node, const launch::Numbering& numbers,
           core::Arena<core::Request>& arena, const tool::Settings& settings)
    : board(node.board()),
      mailboxes(node.mailboxes()),
      rings(node.rings()),
      rank(numbers.own()),
      here(numbers.here()),
      settings(settings),
      features(tool::features_of(settings)),
      pool(rings, rank, numbers.size(), transport::Guests::most, settings),
      requests(arena),
      stamps(settings.stamps),
      recording(settings.record.empty() ? nullptr
                                        : std::make_unique<match::Recording>(
                                              settings.record, numbers.rank(), numbers.size())),
      laboratory(tool::in_laboratory(settings)
                     ? std::make_unique<Laboratory>(settings, pool.size(), node.processes())
                     : nullptr),
      classes(mailbox().use) {
    for (std::size_t i = 0; i < pool.size(); ++i) {
        const instance::InstanceLock held(pool[i]);
        held->matcher.standard.report_to(classes.engine(i));
    }
}

}  // namespace heddle::p2p
