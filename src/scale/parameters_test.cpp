// SPDX-License-Identifier: BSD-3-Clause
#include "scale/parameters.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace heddle::scale {
namespace {

TEST(ScaleParameters, curves_are_linear_between_points) {
    const Curve curve({{10, 1.0}, {20, 2.0}, {40, 3.0}});
    EXPECT_DOUBLE_EQ(curve.at(0), 1.0);
    EXPECT_DOUBLE_EQ(curve.at(15), 1.5);
    EXPECT_DOUBLE_EQ(curve.at(20), 2.0);
    EXPECT_DOUBLE_EQ(curve.at(30), 2.5);
    EXPECT_DOUBLE_EQ(curve.at(60), 4.0);
    EXPECT_DOUBLE_EQ(Curve({{5, 7.0}}).at(100), 7.0);
}

std::string problem_of(const std::string& text) {
    Parameters all = default_parameters();
    std::istringstream file(text);
    try {
        read_parameters(file, "f", all.between, all);
    } catch (const std::runtime_error& problem) {
        return problem.what();
    }
    return "";
}

TEST(ScaleParameters, a_file_replaces_what_it_has) {
    Parameters all = default_parameters();
    const double within = all.within.way.at(0), switches = all.within.switch_us;
    std::istringstream file(
        "# by heddle logp\nway_us 0:5 100:6.5\n\no_s_us 0:1.5\no_r_us 0:1\nbyte_us 0.001\n");
    read_parameters(file, "f", all.between, all);
    EXPECT_DOUBLE_EQ(all.between.way.at(50), 5.75);
    EXPECT_DOUBLE_EQ(all.between.o_s.at(50), 1.5);
    EXPECT_DOUBLE_EQ(all.between.o_r.at(50), 1);
    EXPECT_DOUBLE_EQ(all.between.byte_us, 0.001);
    EXPECT_DOUBLE_EQ(all.within.way.at(0), within);
    EXPECT_DOUBLE_EQ(all.within.switch_us, switches);
}

TEST(ScaleParameters, lines_that_are_none_are_named) {
    EXPECT_EQ(problem_of("#\nspeed 3\n"), "f, line 2: there is no parameter speed");
    EXPECT_EQ(problem_of("way_us 0:1 5\n"), "f, line 1: '5' is not BYTES:MICROSECONDS");
    EXPECT_EQ(problem_of("way_us 5:1 5:2\n"), "f, line 1: lengths do not ascend");
    EXPECT_EQ(problem_of("way_us\n"), "f, line 1: no points");
    EXPECT_EQ(problem_of("byte_us -1\n"), "f, line 1: not one number of at least 0");
    EXPECT_EQ(problem_of("switch_us 1 2\n"), "f, line 1: not one number of at least 0");
}

TEST(ScaleParameters, defaults_say_where_they_come_from) {
    EXPECT_FALSE(default_parameters().source.empty());
}

}  // namespace
}  // namespace heddle::scale
