// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/homes.hpp"

namespace heddle::p2p {

PostedWildcards& Homes::make(instance::LockedInstance instance) {
    if (posted_[instance.number()].load(relaxed) == nullptr) {
        auto made = std::make_unique<PostedWildcards>();
        made->select(matcher_);
        posted_[instance.number()].store(made.get(), release);  // for threads that count
        lists_[instance.number()] = std::move(made);
    }
    return *posted_[instance.number()].load(relaxed);
}

}  // namespace heddle::p2p
