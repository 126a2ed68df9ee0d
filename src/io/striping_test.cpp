// SPDX-License-Identifier: BSD-3-Clause
#include "io/striping.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace {

using namespace heddle::io;
using Bytes = std::vector<std::byte>;

template <class Number>
void put(Bytes& bytes, std::size_t at, Number number) {
    if (bytes.size() < at + sizeof number) bytes.resize(at + sizeof number);
    std::memcpy(bytes.data() + at, &number, sizeof number);
}

Bytes simple(std::uint32_t magic, std::uint32_t unit, std::uint16_t count) {
    Bytes bytes;
    put<std::uint32_t>(bytes, 0, magic);
    put<std::uint32_t>(bytes, 24, unit);
    put<std::uint16_t>(bytes, 28, count);
    put<std::uint16_t>(bytes, 30, 0);
    return bytes;
}

void expect(const Bytes& bytes, std::int64_t unit, std::int32_t factor) {
    const Striping found = striping_in(bytes);
    EXPECT_EQ(found.unit, unit);
    EXPECT_EQ(found.factor, factor);
}

TEST(Striping, of_a_plain_layout_is_read) {
    expect(simple(0x0BD10BD0, 1 << 20, 4), 1 << 20, 4);
    expect(simple(0x0BD30BD0, 4 << 20, 12), 4 << 20, 12);
}

TEST(Striping, of_a_composite_layout_is_that_of_its_last_component) {
    Bytes bytes;
    put<std::uint32_t>(bytes, 0, 0x0BD60BD0);
    put<std::uint16_t>(bytes, 14, 2);
    put<std::uint32_t>(bytes, 32 + 24, 128);
    put<std::uint32_t>(bytes, 32 + 48 + 24, 192);
    const Bytes first = simple(0x0BD10BD0, 1 << 20, 1), second = simple(0x0BD10BD0, 4 << 20, 8);
    bytes.resize(192 + second.size());
    std::memcpy(bytes.data() + 128, first.data(), first.size());
    std::memcpy(bytes.data() + 192, second.data(), second.size());
    expect(bytes, 4 << 20, 8);
    bytes.resize(100);  // cut: no component is there
    expect(bytes, 0, 0);
}

TEST(Striping, that_is_not_understood_is_none) {
    expect({}, 0, 0);
    expect(simple(0x12345678, 1 << 20, 4), 0, 0);
    expect(simple(0x0BD10BD0, 0, 4), 0, 0);
    expect(simple(0x0BD10BD0, 1 << 20, 0xffff), 0, 0);  // over all servers
    Bytes cut = simple(0x0BD10BD0, 1 << 20, 4);
    cut.resize(26);
    expect(cut, 0, 0);
}

}  // namespace
