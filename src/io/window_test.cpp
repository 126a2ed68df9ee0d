// SPDX-License-Identifier: BSD-3-Clause
#include "io/window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace heddle::io {
namespace {

using objects::Section;

/// Bytes of the file, one by one.
using FileBytes = std::map<std::int64_t, std::byte>;

struct Drawn {
    std::vector<Section> sections;
    std::vector<std::byte> packed;
};

/// Draws sections that lie within [begin, end), in multiples of `unit`.
Drawn draw(std::mt19937& random, std::int64_t begin, std::int64_t end, std::int64_t unit) {
    Drawn drawn;
    const auto number = [&](std::int64_t least, std::int64_t most) {
        return least +
            static_cast<std::int64_t>(random() % static_cast<unsigned>(most - least + 1));
    };
    for (std::int64_t at = begin + unit * number(0, 3); at < end;) {
        Section section;
        section.at = at;
        section.bytes = static_cast<std::uint64_t>(unit * number(1, 5));
        section.stride = static_cast<std::int64_t>(section.bytes) + unit * number(0, 4);
        section.count = static_cast<std::uint64_t>(number(1, 6));
        while (section.count > 1 && section.end() > end) --section.count;
        if (section.end() > end) break;
        drawn.sections.push_back(section);
        for (std::uint64_t i = 0; i < section.total(); ++i)
            drawn.packed.push_back(static_cast<std::byte>(random()));
        at = section.end() + unit * number(0, 30);
    }
    return drawn;
}

template <class Visit>
void each_byte(const Drawn& drawn, Visit visit) {
    std::size_t k = 0;
    for (const Section& section : drawn.sections)
        for (std::uint64_t i = 0; i < section.count; ++i)
            for (std::uint64_t byte = 0; byte < section.bytes; ++byte)
                visit(section.block(i) + static_cast<std::int64_t>(byte), k++);
}

TEST(Window, runs_are_what_is_covered) {
    std::mt19937 random(3);
    Window window;
    for (int i = 0; i < 300; ++i) {
        const std::int64_t unit = std::int64_t{1} << random() % 5;
        const std::int64_t begin = unit * static_cast<std::int64_t>(random() % 50);
        const std::int64_t end = begin + unit * static_cast<std::int64_t>(1 + random() % 400);
        window.open(begin, end);
        FileBytes file;
        std::vector<Drawn> parcels;
        for (int rank = 0; rank < 3; ++rank) parcels.push_back(draw(random, begin, end, unit));
        for (const Drawn& parcel : parcels) window.expect(parcel.sections);
        for (const Drawn& parcel : parcels) window.cover(parcel.sections);
        for (const Drawn& parcel : parcels) {
            window.put(parcel.sections, parcel.packed.data());
            each_byte(parcel, [&](std::int64_t at, std::size_t k) { file[at] = parcel.packed[k]; });
        }
        FileBytes written;
        std::int64_t last = begin - 1;
        window.each_run(0, [&](std::int64_t at, std::uint64_t bytes) {
            EXPECT_GT(at, last) << "runs touch, or are in no order";
            for (std::uint64_t byte = 0; byte < bytes; ++byte) {
                const std::int64_t place = at + static_cast<std::int64_t>(byte);
                written[place] = *window.at(place);
            }
            last = at + static_cast<std::int64_t>(bytes);
            return true;
        });
        ASSERT_EQ(written, file) << "window " << i;
    }
}

TEST(Window, get_answers_what_was_put) {
    std::mt19937 random(4);
    for (int i = 0; i < 100; ++i) {
        Window window;
        window.open(0, 4096);
        const Drawn drawn = draw(random, 0, 4096, 4);
        window.put(drawn.sections, drawn.packed.data());
        std::vector<std::byte> packed(drawn.packed.size());
        window.get(drawn.sections, packed.data());
        ASSERT_EQ(packed, drawn.packed);
    }
}

TEST(Window, gaps_up_to_a_length_count_as_covered) {
    Window window;
    window.open(0, 100);
    const std::vector<Section> sections{{10, 10, 0, 1}, {24, 10, 0, 1}, {60, 4, 0, 1}};
    window.expect(sections);
    window.cover(sections);
    std::vector<std::pair<std::int64_t, std::uint64_t>> runs;
    window.each_run(4, [&](std::int64_t at, std::uint64_t bytes) {
        runs.emplace_back(at, bytes);
        return true;
    });
    const std::vector<std::pair<std::int64_t, std::uint64_t>> expected{{10, 24}, {60, 4}};
    EXPECT_EQ(runs, expected);
}

/// Returns every byte that the sections name.
std::vector<std::int64_t> places_of(const std::vector<Section>& sections) {
    std::vector<std::int64_t> places;
    for (const Section& section : sections)
        for (std::uint64_t i = 0; i < section.count; ++i)
            for (std::uint64_t k = 0; k < section.bytes; ++k)
                places.push_back(section.block(i) + static_cast<std::int64_t>(k));
    std::sort(places.begin(), places.end());
    return places;
}

TEST(Neighbours, in_an_array_become_one_section) {
    std::vector<Section> sections{{64, 64, 192, 10}, {0, 64, 192, 10}, {128, 64, 192, 10}};
    join_neighbours(sections);
    ASSERT_EQ(sections.size(), 1U);
    EXPECT_TRUE(sections[0].dense());
    EXPECT_EQ(sections[0].total(), 1920U);
}

TEST(Neighbours, of_other_lengths_leave_a_rest) {
    std::vector<Section> sections{{0, 8, 16, 5}, {8, 8, 16, 3}, {1000, 4, 16, 2}, {2000, 1, 0, 1}};
    const std::vector<std::int64_t> before = places_of(sections);
    join_neighbours(sections);
    EXPECT_EQ(sections.size(), 4U);
    EXPECT_EQ(places_of(sections), before);
}

TEST(Neighbours, keep_what_they_cover) {
    std::mt19937 random(1);
    for (int round = 0; round < 2000; ++round) {
        std::vector<Section> sections;
        const std::int64_t stride = 1 + static_cast<std::int64_t>(random() % 24);
        for (std::size_t count = random() % 6; count > 0; --count) {
            Section one;
            one.at = static_cast<std::int64_t>(random() % 60);
            one.bytes = 1 + random() % static_cast<std::uint64_t>(stride);
            one.stride = random() % 4 == 0 ? stride + 1 : stride;
            one.count = 1 + random() % 5;
            sections.push_back(one);
        }
        const std::vector<std::int64_t> before = places_of(sections);
        join_neighbours(sections);
        ASSERT_EQ(places_of(sections), before);
    }
}

}  // namespace
}  // namespace heddle::io
