// SPDX-License-Identifier: BSD-3-Clause
#include "launch/children_wire.hpp"

#include <string>

#include <gtest/gtest.h>

namespace heddle::launch {
namespace {

Description any_description() {
    Description description;
    description.parent = "a port";
    description.commands.push_back(
        {3, {"program", "", "two\nlines", ":"}, {{"key", ""}, {"", "v"}}});
    description.commands.push_back({0, {"other"}, {}});
    description.without_effect = {"arch"};
    return description;
}

TEST(ChildrenWire, description_is_read_as_it_was_written) {
    const Description written = any_description();
    const auto read = read_description(write_description(written));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->parent, written.parent);
    ASSERT_EQ(read->commands.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(read->commands[i].processes, written.commands[i].processes);
        EXPECT_EQ(read->commands[i].command, written.commands[i].command);
        EXPECT_EQ(read->commands[i].info, written.commands[i].info);
    }
    EXPECT_EQ(read->without_effect, written.without_effect);
}

TEST(ChildrenWire, description_that_is_cut_off_is_none) {
    const std::string whole = write_description(any_description());
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_FALSE(read_description(whole.substr(0, size))) << size;
}

TEST(ChildrenWire, description_of_another_version_is_none) {
    std::string bytes = write_description(any_description());
    bytes[bytes.find('\0') - 1] ^= 1;
    EXPECT_FALSE(read_description(bytes));
}

TEST(ChildrenWire, report_is_read_as_it_was_written) {
    const ChildReport written{ChildReport::Kind::ended_early, 2, 5, 7, 11, 13,
                              "a reason\nof two lines"};
    const auto read = read_report(write_report(written));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->kind, written.kind);
    EXPECT_EQ(read->command, 2);
    EXPECT_EQ(read->rank, 5);
    EXPECT_EQ(read->exit_code, 7);
    EXPECT_EQ(read->signal, 11);
    EXPECT_EQ(read->error, 13);
    EXPECT_EQ(read->reason, written.reason);
}

TEST(ChildrenWire, long_reason_is_cut) {
    ChildReport report;
    report.reason.assign(100'000, 'x');
    const std::string record = write_report(report);
    EXPECT_EQ(record.size(), longest_report);
    EXPECT_TRUE(read_report(record));
}

TEST(ChildrenWire, record_of_another_kind_is_none) {
    std::string record = write_report({});
    EXPECT_FALSE(read_report(record.substr(1)));
    record[0] ^= 1;
    EXPECT_FALSE(read_report(record));
}

}  // namespace
}  // namespace heddle::launch
