// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pieces.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace heddle::launch {
namespace {

std::string all_bytes(std::size_t count) {
    std::string value(count, '\0');
    std::iota(value.begin(), value.end(), '\0');
    return value;
}

std::string there_and_back(const std::string& value, std::size_t most) {
    const std::vector<std::string> pieces = cut(value, most);
    for (const std::string& piece : pieces) {
        EXPECT_LE(piece.size(), most);
        EXPECT_EQ(piece.find_first_of(std::string_view(" =\n\0", 4)), std::string::npos);
    }
    return put_together([&](std::size_t i) { return pieces.at(i); });
}

TEST(Pieces, carry_any_bytes_of_any_length) {
    for (const std::size_t bytes : {0, 1, 2, 90, 91, 92, 1023, 1024, 1025, 100'000})
        for (const std::size_t most : {10U, 64U, 1023U})
            EXPECT_EQ(there_and_back(all_bytes(bytes), most), all_bytes(bytes)) << bytes;
    EXPECT_EQ(there_and_back("x=1 y\n%41", 1023), "x=1 y\n%41");
}

TEST(Pieces, are_one_where_that_is_enough) {
    EXPECT_EQ(cut("", 1023), std::vector<std::string>{"1:"});
    EXPECT_EQ(cut("here,5", 1023), std::vector<std::string>{"1:here,5"});
}

TEST(Pieces, that_are_none_are_refused) {
    for (const char* text : {"", "x", ":x", "x:y", "-1:x", "999999999:x", "1:%4", "1:%zz"})
        EXPECT_THROW(put_together([&](std::size_t) { return std::string(text); }),
                     std::runtime_error)
            << text;
    EXPECT_THROW(cut("x", 9), std::runtime_error);
}

}  // namespace
}  // namespace heddle::launch
