// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/protocols/all.hpp"

#include <gtest/gtest.h>

namespace heddle::p2p {
namespace {

template <class Check>
void for_each_kind(Check check) {
    for (auto number = static_cast<int>(protocols::eager_kind);
         number <= static_cast<int>(protocols::last_kind); ++number) {
        SCOPED_TRACE(number);
        const auto kind = static_cast<MessageKind>(number);
        check(kind, protocol_of(kind));
    }
}

TEST(Protocols, stand_at_the_number_of_their_kind) {
    for_each_kind(
        [](MessageKind kind, const Protocol& protocol) { EXPECT_EQ(protocol.kind, kind); });
}

TEST(Protocols, have_the_functions_of_their_group) {
    for_each_kind([](MessageKind kind, const Protocol& protocol) {
        EXPECT_EQ(protocol.arrived != nullptr, is_control(kind));
        const bool here = protocol.keep != nullptr;
        EXPECT_EQ(protocol.give != nullptr, here);
        EXPECT_EQ(protocol.length != nullptr, here);
        // The receiver itself takes messages of the data path.
        EXPECT_EQ(protocol.take != nullptr, here && kind != protocols::eager_kind);
        EXPECT_FALSE(here && protocol.fetch != nullptr);
        EXPECT_TRUE(protocol.announced_by == nullptr || protocol.fetch != nullptr);
    });
}

}  // namespace
}  // namespace heddle::p2p
