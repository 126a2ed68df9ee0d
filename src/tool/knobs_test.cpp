// SPDX-License-Identifier: BSD-3-Clause
#include "tool/knobs.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>

namespace {

using namespace heddle::tool;

/// A variable of the environment during the object's life.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
    ~Variable() { unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
};

const Knob& knob(std::string_view name) {
    for (const Knob& one : knob_table())
        if (one.name == name) return one;
    throw std::invalid_argument("no such knob");
}

std::string refusal() {
    try {
        (void)settings_for_start();
        return "";
    } catch (const std::runtime_error& problem) {
        return problem.what();
    }
}

TEST(Knobs, have_their_standard_values_when_nothing_is_set) {
    const Settings settings = settings_for_start();
    EXPECT_EQ(settings.eager_limit, most_eager_bytes);
    EXPECT_EQ(settings.single_copy, SingleCopy::automatic);
    EXPECT_EQ(settings.counters, "");
    for (const Knob& one : knob_table()) {
        EXPECT_EQ(set_by(one), SetBy::standard) << one.name;
        EXPECT_EQ(one.print(settings), one.standard) << one.name;
    }
}

TEST(Knobs, are_named_once_and_described) {
    std::set<std::string> names;
    for (const Knob& one : knob_table()) {
        EXPECT_TRUE(names.insert(one.variable()).second) << one.name;
        EXPECT_NE(*one.doc, '\0') << one.name;
        EXPECT_NE(one.allowed(), "") << one.name;
    }
    EXPECT_EQ(knob("eager_limit").variable(), "HEDDLE_EAGER_LIMIT");
}

TEST(Knobs, are_set_by_the_environment) {
    const Variable limit("HEDDLE_EAGER_LIMIT", "0");
    const Variable copy("HEDDLE_SINGLE_COPY", "never");
    const Variable counters("HEDDLE_COUNTERS", "^sent|bytes$");
    const Settings settings = settings_for_start();
    EXPECT_EQ(settings.eager_limit, 0U);
    EXPECT_EQ(settings.single_copy, SingleCopy::never);
    EXPECT_EQ(settings.counters, "^sent|bytes$");
    EXPECT_EQ(set_by(knob("eager_limit")), SetBy::environment);
}

TEST(Knobs, an_empty_variable_counts_as_not_set) {
    const Variable limit("HEDDLE_EAGER_LIMIT", "");
    EXPECT_EQ(settings_for_start().eager_limit, most_eager_bytes);
    EXPECT_EQ(set_by(knob("eager_limit")), SetBy::standard);
}

TEST(Knobs, a_wrong_value_is_refused_with_what_is_allowed) {
    for (const char* wrong : {"8193", "-1", "10k", "eager", " 1", "99999999999999999999"}) {
        const Variable limit("HEDDLE_EAGER_LIMIT", wrong);
        EXPECT_EQ(
            refusal(),
            "HEDDLE_EAGER_LIMIT=" + std::string(wrong) + ": allowed are bytes from 0 to 8192");
        EXPECT_EQ(settings_now().eager_limit, most_eager_bytes);  // for programs that only look
    }
    {
        const Variable copy("HEDDLE_SINGLE_COPY", "Never");
        EXPECT_EQ(refusal(), "HEDDLE_SINGLE_COPY=Never: allowed are auto, always, never");
    }
    {
        const Variable algorithm("HEDDLE_COLL_BCAST", "tree");
        EXPECT_EQ(
            refusal(),
            "HEDDLE_COLL_BCAST=tree: allowed are auto, shared, binomial, scatter-ring, levels");
    }
    const Variable counters("HEDDLE_COUNTERS", "[");
    EXPECT_NE(refusal().find("HEDDLE_COUNTERS=[: allowed are 0, 1, and extended regular"),
              std::string::npos);
}

TEST(Knobs, of_which_ranks_must_agree_are_named) {
    const std::uint64_t standard = agreement({});
    EXPECT_EQ(print_agreement(standard), "HEDDLE_INSTANCES=auto HEDDLE_ASSIGNMENT=tag");
    const Variable first("HEDDLE_COLL_BARRIER", "direct");
    const Variable last("HEDDLE_COLL_ALLTOALLW", "pairwise");
    const Variable between("HEDDLE_COLL_ALLREDUCE", "scattered");
    const std::uint64_t others = agreement(settings_for_start());
    EXPECT_NE(others, standard);
    EXPECT_EQ(print_agreement(others),
              "HEDDLE_INSTANCES=auto HEDDLE_ASSIGNMENT=tag HEDDLE_COLL_BARRIER=direct "
              "HEDDLE_COLL_ALLREDUCE=scattered HEDDLE_COLL_ALLTOALLW=pairwise");
}

TEST(Knobs, are_handed_over_in_their_own_form) {
    Settings settings;
    unsigned long long bytes = 77;
    int choice = 1;
    EXPECT_TRUE(knob("eager_limit").store(&bytes, settings));
    EXPECT_TRUE(knob("single_copy").store(&choice, settings));
    EXPECT_EQ(settings.eager_limit, 77U);
    EXPECT_EQ(settings.single_copy, SingleCopy::always);
    bytes = most_eager_bytes + 1;
    choice = 3;
    EXPECT_FALSE(knob("eager_limit").store(&bytes, settings));
    EXPECT_FALSE(knob("single_copy").store(&choice, settings));
    bytes = 0;
    choice = 0;
    knob("eager_limit").load(settings, &bytes);
    knob("single_copy").load(settings, &choice);
    EXPECT_EQ(bytes, 77U);
    EXPECT_EQ(choice, 1);
    char text[text_room];
    settings.counters = std::string(text_room - 1, 'a');
    knob("counters").load(settings, text);
    EXPECT_EQ(text, settings.counters);
    EXPECT_FALSE(knob("counters").parse(std::string(text_room, 'a'), settings));
}

TEST(Knobs, what_was_asked_for_goes_over_the_environment) {
    const Variable limit("HEDDLE_EAGER_LIMIT", "nonsense");
    const unsigned long long bytes = 4096;
    EXPECT_TRUE(ask_for(knob("eager_limit"), &bytes));
    EXPECT_EQ(set_by(knob("eager_limit")), SetBy::tool);
    EXPECT_EQ(settings_for_start().eager_limit, 4096U);
    const unsigned long long wrong = most_eager_bytes + 1;
    EXPECT_FALSE(ask_for(knob("eager_limit"), &wrong));
    EXPECT_TRUE(ask_for(knob("eager_limit"), nullptr));
    EXPECT_NE(refusal(), "");
}

TEST(Selection, takes_nothing_everything_or_what_matches) {
    const auto selects = [](const char* value, const char* name, bool says) {
        return Selection::selects(value, name, says);
    };
    EXPECT_FALSE(selects("", "sent_bytes", true));
    EXPECT_FALSE(selects("0", "sent_bytes", true));
    EXPECT_TRUE(selects("1", "sent_bytes", true));
    EXPECT_FALSE(selects("1", "sent_bytes", false));
    EXPECT_TRUE(selects("^sent_(bytes|messages)$", "sent_bytes", false));
    EXPECT_FALSE(selects("^sent_(bytes|messages)$", "self_bytes", true));
}

}  // namespace
