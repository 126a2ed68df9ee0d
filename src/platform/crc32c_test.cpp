// SPDX-License-Identifier: BSD-3-Clause
#include "platform/crc32c.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

namespace heddle::platform {
namespace {

TEST(Crc32c, is_the_one_of_the_standard) {
    constexpr std::string_view digits = "123456789";
    EXPECT_EQ(crc32c(std::as_bytes(std::span(digits))), 0xe3069283U);
    const std::vector<std::byte> zeros(32);
    EXPECT_EQ(crc32c(zeros), 0x8a9136aaU);  // RFC 3720, B.4
    EXPECT_EQ(crc32c({}), 0U);
}

TEST(Crc32c, is_the_same_with_the_instruction_and_without) {
    std::minstd_rand random(3);
    for (std::size_t bytes = 0; bytes < 300; ++bytes) {
        std::vector<std::byte> data(bytes + 3);
        for (std::byte& byte : data) byte = static_cast<std::byte>(random());
        const auto part = std::span(data).subspan(bytes % 3, bytes);
        EXPECT_EQ(crc32c(part), crc32c_by_table(part)) << bytes;
    }
}

}  // namespace
}  // namespace heddle::platform
