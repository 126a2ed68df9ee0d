// SPDX-License-Identifier: BSD-3-Clause
/// Tests which processes share cores.

#include <gtest/gtest.h>

#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "testing/job.hpp"
#include "testing/one_core.hpp"

namespace {

using heddle::testing::OnOneCore;

bool here_is_short_of_cores() {
    return heddle::objects::attached_thread()->process->engine->polling().short_of_cores();
}

TEST(Cores, processes_in_one_set_of_cores_share_it) {
    const OnOneCore on_one_core;
    heddle::testing::run_job(3, 1, [](int, int) { EXPECT_TRUE(here_is_short_of_cores()); });
}

TEST(Cores, a_process_with_a_core_of_its_own_has_enough) {
    const OnOneCore on_one_core;
    heddle::testing::run_job(1, 1, [](int, int) { EXPECT_FALSE(here_is_short_of_cores()); });
}

}  // namespace
