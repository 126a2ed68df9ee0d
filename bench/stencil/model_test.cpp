// SPDX-License-Identifier: BSD-3-Clause
/// The equations are compared with counts made by walking from subdomain to subdomain.

#include "stencil/model.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace {

using namespace heddle;
using stencil::Decomposition;
using stencil::Exchange;
using stencil::Refused;
using stencil::Stencil;

using Place = std::array<int, 3>;

/// Returns the relative places of a subdomain's neighbours. Two dimensions are three with nothing
/// above.
std::vector<Place> directions(Stencil stencil) {
    const bool flat = stencil == Stencil::five || stencil == Stencil::nine;
    const bool diagonal = stencil == Stencil::nine || stencil == Stencil::twenty_seven;
    std::vector<Place> all;
    for (int x = -1; x <= 1; ++x)
        for (int y = -1; y <= 1; ++y)
            for (int z = flat ? 0 : -1; z <= (flat ? 0 : 1); ++z) {
                const int steps = std::abs(x) + std::abs(y) + std::abs(z);
                if (steps == 1 || (steps > 1 && diagonal)) all.push_back({x, y, z});
            }
    return all;
}

/// The process's subdomains and a ring of those around it, each with a mark.
class Grid {
public:
    explicit Grid(const Place& lengths)
        : lengths_(lengths),
          marked_(
              static_cast<std::size_t>((lengths[0] + 2) * (lengths[1] + 2) * (lengths[2] + 2))) {}
    bool inside(const Place& at) const {
        for (int d = 0; d < 3; ++d)
            if (at[d] < 0 || at[d] >= lengths_[d]) return false;
        return true;
    }
    void mark(const Place& at) {
        marked_[static_cast<std::size_t>(
            ((at[0] + 1) * (lengths_[1] + 2) + at[1] + 1) * (lengths_[2] + 2) + at[2] + 1)] = 1;
    }
    int marked() const { return std::accumulate(marked_.begin(), marked_.end(), 0); }

private:
    Place lengths_;
    std::vector<char> marked_;
};

struct Counted {
    int messages = 0, receiving = 0, sending = 0;
    Place across{};  ///< from outside at the lower side of each dimension
};

Counted count(Stencil stencil, const Place& lengths) {
    Counted counted;
    Grid receivers(lengths), senders(lengths);
    const std::vector<Place> all = directions(stencil);
    for (int x = 0; x < lengths[0]; ++x)
        for (int y = 0; y < lengths[1]; ++y)
            for (int z = 0; z < lengths[2]; ++z)
                for (const Place& d : all) {
                    const Place there{x + d[0], y + d[1], z + d[2]};
                    for (int k = 0; k < 3; ++k) counted.across[k] += there[k] == -1;
                    if (receivers.inside(there)) continue;
                    ++counted.messages;
                    receivers.mark({x, y, z});
                    senders.mark(there);
                }
    counted.receiving = receivers.marked();
    counted.sending = senders.marked();
    return counted;
}

void compare(Stencil stencil, const Place& lengths) {
    Decomposition decomposition{lengths[0], lengths[1]};
    if (stencil::dimensions(stencil) == 3) decomposition.push_back(lengths[2]);
    const Counted counted = count(stencil, lengths);
    const Exchange model = stencil::exchange(stencil, decomposition);
    ASSERT_EQ(model.messages, counted.messages);
    ASSERT_EQ(model.receiving, counted.receiving);
    ASSERT_EQ(model.sending, counted.sending);
    ASSERT_EQ(model.receiving_by_equation,
              *std::min_element(decomposition.begin(), decomposition.end()) >= 2);
    // Messages across an edge along x come from one side in y; those across a face along xy, in z.
    if (decomposition.size() == 2) {
        ASSERT_EQ(model.sides[0].messages, counted.across[1]);
        ASSERT_EQ(model.sides[1].messages, counted.across[0]);
    } else {
        for (std::size_t k = 0; k < 3; ++k)
            ASSERT_EQ(model.sides[k].messages, counted.across[2 - k]);
    }
}

class EveryStencil : public ::testing::TestWithParam<Stencil> {};
INSTANTIATE_TEST_SUITE_P(Model, EveryStencil,
                         ::testing::Values(Stencil::five, Stencil::nine, Stencil::seven,
                                           Stencil::twenty_seven),
                         [](const auto& one) {
                             return std::to_string(stencil::neighbours(one.param) + 1) + "_points";
                         });

TEST_P(EveryStencil, agrees_with_counting_for_every_size_up_to_16) {
    constexpr int most = 16;
    const int highest = stencil::dimensions(GetParam()) == 2 ? 1 : most;
    for (int x = 1; x <= most; ++x)
        for (int y = 1; y <= most; ++y)
            for (int z = 1; z <= highest; ++z) {
                ASSERT_NO_FATAL_FAILURE(compare(GetParam(), {x, y, z}))
                    << x << "x" << y << "x" << z;
            }
}

void expect_figures(Stencil stencil, const char* decomposition, std::int64_t messages,
                    std::int64_t receiving, std::int64_t sending) {
    const Exchange model = stencil::exchange(stencil, stencil::decomposition_of(decomposition));
    EXPECT_EQ(model.messages, messages) << decomposition;
    EXPECT_EQ(model.receiving, receiving) << decomposition;
    EXPECT_EQ(model.sending, sending) << decomposition;
}

TEST(Model, gives_the_figures_of_the_paper) {
    expect_figures(Stencil::five, "32x32", 128, 124, 128);
    expect_figures(Stencil::seven, "8x8x4", 256, 184, 256);
    expect_figures(Stencil::twenty_seven, "8x8x4", 2072, 184, 344);
    expect_figures(Stencil::seven, "4x4x4", 96, 56, 96);
    expect_figures(Stencil::twenty_seven, "4x4x4", 728, 56, 152);
    expect_figures(Stencil::seven, "1x1x128", 514, 128, 514);
    expect_figures(Stencil::twenty_seven, "1x1x32", 770, 32, 274);
    expect_figures(Stencil::twenty_seven, "1x1x256", 6146, 256, 2066);
}

TEST(Model, counts_naive_exchanges) {
    const Exchange model = stencil::naive_exchange(64, 512);
    EXPECT_EQ(model.messages, 32768);
    EXPECT_EQ(model.receiving, 64);
    EXPECT_EQ(model.sending, 64);
    EXPECT_THROW(stencil::naive_exchange(0, 8), Refused);
    EXPECT_THROW(stencil::naive_exchange(8, -1), Refused);
    EXPECT_THROW(stencil::naive_exchange(std::int64_t{1} << 40, std::int64_t{1} << 40), Refused);
}

template <class Call>
std::string reason(Call&& call) {
    try {
        call();
        return "not refused";
    } catch (const Refused& refused) {
        return refused.what();
    }
}

TEST(Model, refuses_what_cannot_be_and_says_why) {
    for (const char* text : {"",      "x",     "8",     "8x",      "x8",
                             "8xx8",  "8x8x",  "0x4",   "4x0",     "-1x4",
                             "+4x4",  " 4x4",  "4x4 ",  "4 x4",    "4X4",
                             "1e3x2", "2.5x2", "eight", "4x4x4x4", "99999999999999999999x2"})
        EXPECT_THROW(stencil::decomposition_of(text), Refused) << text;
    EXPECT_EQ(
        reason([] { stencil::decomposition_of("0x4"); }),
        "a decomposition is two or three whole numbers from 1, such as 32x32 or 8x8x4, not '0x4'");
    EXPECT_EQ(reason([] { stencil::decomposition_of("2x3x4x5"); }),
              "a decomposition has two or three dimensions, and 2x3x4x5 has 4");
    EXPECT_EQ(reason([] { stencil::exchange(Stencil::twenty_seven, {8, 8}); }),
              "a stencil of 27 points has 3 dimensions, and the decomposition 8x8 has 2");
    EXPECT_EQ(reason([] { stencil::exchange(Stencil::five, {8, 8, 4}); }),
              "a stencil of 5 points has 2 dimensions, and the decomposition 8x8x4 has 3");
    EXPECT_EQ(reason([] { stencil::exchange(Stencil::five, {8, -3}); }),
              "a dimension has 1 subdomain or more, not -3");
    EXPECT_EQ(reason([] { stencil::stencil_of(8); }),
              "a stencil has 5 or 9 points in two dimensions, 7 or 27 in three, not 8");
}

TEST(Model, refuses_counts_that_overflow_and_none_that_do_not) {
    constexpr std::int64_t long_edge = std::int64_t{1} << 61;
    EXPECT_EQ(stencil::exchange(Stencil::five, {long_edge, 2}).messages,
              (std::int64_t{1} << 62) + 4);
    EXPECT_THROW(stencil::exchange(Stencil::nine, {long_edge, 2}), Refused);
    EXPECT_EQ(
        reason([] { stencil::exchange(Stencil::seven, {long_edge, 2, 2}); }),
        "2305843009213693952x2x2: so many messages or threads that their number exceeds 63 bits");
    // The subdomains are too many to count, but the boundary is not.
    EXPECT_EQ(stencil::exchange(Stencil::seven, {3'000'000, 3'000'000, 3'000'000}).messages,
              54'000'000'000'000);
    EXPECT_THROW(stencil::exchange(Stencil::twenty_seven, {4'000'000'000, 4'000'000'000, 2}),
                 Refused);
}

}  // namespace
