// SPDX-License-Identifier: BSD-3-Clause
#include "transport/business_card.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tool/recipe.hpp"
#include "tool/settings.hpp"
#include "transport/transport.hpp"

namespace {

using heddle::transport::BusinessCard;
using heddle::transport::JobToken;
using heddle::transport::read_card;
using heddle::transport::to_bytes;

std::string complaint(const std::string& bytes, const BusinessCard& own) {
    try {
        (void)read_card(bytes, own);
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return {};
}

TEST(BusinessCard, is_read_as_it_was_written) {
    const BusinessCard card{"tcp", std::string("\0\1 \n\0x", 6), JobToken{77}, 1ULL << 40 | 5};
    EXPECT_EQ(read_card(to_bytes(card), card), card);
}

TEST(BusinessCard, fits_into_one_value_of_a_launcher) {
    const BusinessCard card{"verbs;ofi_rxm", std::string(heddle::transport::most_address, '\xff'),
                            JobToken{~std::uint64_t{0}, ~std::uint64_t{0}}};
    // PMI-1 has 1,024 bytes, of which an escaped one takes three.
    EXPECT_LE(to_bytes(card).size() * 3, 1000U);
}

TEST(BusinessCard, of_somebody_who_cannot_be_talked_to_is_refused_with_the_reason) {
    const BusinessCard card{"tcp", "here", JobToken{77}};
    EXPECT_EQ(complaint("", card), "it is not of this version of Heddle");
    std::string older = to_bytes(card);
    older[12] = '0';
    EXPECT_EQ(complaint(older, card), "it is not of this version of Heddle");
    for (std::size_t bytes = 14; bytes < to_bytes(card).size() - 4; ++bytes)
        EXPECT_EQ(complaint(to_bytes(card).substr(0, bytes), card), "it has published no address")
            << bytes;
    EXPECT_EQ(complaint(to_bytes(card), {"cxi", "", JobToken{77}}),
              "it uses the fabric tcp, this process cxi; HEDDLE_FABRIC chooses one for all");
    EXPECT_EQ(complaint(to_bytes(card), {"tcp", "", JobToken{78}}), "it belongs to another job");
    const std::uint64_t usual = heddle::tool::agreement({});
    heddle::tool::Settings settings;
    settings.instances = heddle::tool::InstanceCount::four;
    const BusinessCard own{"tcp", "", JobToken{77}, usual};
    EXPECT_EQ(
        complaint(to_bytes({"tcp", "here", JobToken{77}, heddle::tool::agreement(settings)}), own),
        "it has HEDDLE_INSTANCES=4 HEDDLE_ASSIGNMENT=tag, this process HEDDLE_INSTANCES=auto "
        "HEDDLE_ASSIGNMENT=tag: all ranks must have the same");
}

}  // namespace
