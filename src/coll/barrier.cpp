// SPDX-License-Identifier: BSD-3-Clause
#include "coll/algorithms.hpp"

namespace heddle::coll {

void direct_barrier(Schedule& schedule) {
    for (std::int32_t distance = 1; distance < schedule.size; ++distance)
        schedule.receive(nullptr, 0, schedule.before(distance));
    for (std::int32_t distance = 1; distance < schedule.size; ++distance)
        schedule.send(nullptr, 0, schedule.after(distance));
}

void dissemination_barrier(Schedule& schedule) {
    for (std::int32_t distance = 1; distance < schedule.size; distance *= 2) {
        schedule.receive(nullptr, 0, schedule.before(distance));
        schedule.send(nullptr, 0, schedule.after(distance));
        schedule.wait();
    }
}

}  // namespace heddle::coll
