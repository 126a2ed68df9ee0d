// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The messages of one ring that their sender may take back until they are matched (sync/offers.hpp). There are as
/// many slots as cells: whatever lies in the ring can be taken back, unless others that have left the
/// ring and are not matched either hold the slots.

#include "sync/offers.hpp"
#include "transport/shm/ring.hpp"

namespace heddle::transport::shm {

using Offers = sync::BasicOffers<sync::NativeNode, ring_slots>;

}  // namespace heddle::transport::shm
