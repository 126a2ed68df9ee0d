// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/homes.hpp"

namespace heddle::p2p {

PostedWildcards& Homes::make(std::uint8_t instance) {
    if (posted_[instance].load(relaxed) == nullptr) {
        auto made = std::make_unique<PostedWildcards>();
        made->select(matcher_);
        posted_[instance].store(made.get(), release);  // for those who count
        lists_[instance] = std::move(made);
    }
    return *posted_[instance].load(relaxed);
}

}  // namespace heddle::p2p
