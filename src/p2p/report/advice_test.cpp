// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/report/advice.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "objects/contexts.hpp"

namespace {

using namespace heddle;
using Index = tool::CounterIndex;

constexpr std::uint32_t world = objects::world_context;

struct Advice : ::testing::Test {
    p2p::Findings findings{{}, {}, {}, 16, 4};

    Advice() {
        findings.counted[Index::sent_messages] = 100'000;
        findings.counted[Index::received_messages] = 100'000;
    }
    /// Expects sentence i to have all the texts of `wanted[i]`.
    void expect(const std::vector<std::vector<std::string>>& wanted) const {
        const std::vector<std::string> said = p2p::advise(findings);
        ASSERT_EQ(said.size(), wanted.size()) << (said.empty() ? "" : said.back());
        for (std::size_t i = 0; i < said.size(); ++i)
            for (const std::string& text : wanted[i])
                EXPECT_NE(said[i].find(text), std::string::npos) << said[i];
    }
};

TEST_F(Advice, nothing_where_nothing_stands_out) {
    findings.contended = {{0, {world, 0, 3}}};
    expect({});
}

TEST_F(Advice, names_ranks_without_membarrier) {
    findings.fences = {{2, EPERM}};
    expect({{"membarrier to rank 2 (Operation not permitted):"}});
    findings.fences = {{2, ENOSYS}, {3, EPERM}, {5, EPERM}};
    expect({{"membarrier to rank 2 (Function not implemented) and to 2 more:"}});
}

TEST_F(Advice, names_the_tag_that_threads_share) {
    findings.contended = {{3, {world, 7, 20}}, {0, {world, 0, 980}}};
    expect({{"threads share tag 0 on MPI_COMM_WORLD: 98 % of the 1000 times", "in 200000 messages",
             "a tag of its own"}});
}

TEST_F(Advice, names_tags_that_meet_in_an_instance) {
    findings.contended = {{5, {world, 5, 400}}, {5, {world, 21, 500}}, {2, {world, 2, 100}}};
    expect({{"tags 21 and 5 on MPI_COMM_WORLD go through one instance: 90 %", "there are 16"}});
}

TEST_F(Advice, names_critical_sections_with_their_locks) {
    findings.settings.critical_section = tool::Granularity::global;
    findings.counted[Index::lock_contended] = 500;
    findings.counted[Index::lock_acquisitions_main] = 600;
    findings.counted[Index::lock_acquisitions_progress] = 400;
    findings.counted[Index::lock_wait] = 7'000'000;
    expect({{"waited 7 ms", "HEDDLE_CRITICAL_SECTION=global", "50 %"}});
}

TEST_F(Advice, names_what_else_costs_time) {
    findings.counted[Index::any_tag_everywhere] = 10'000;
    findings.counted[Index::withheld] = 12;
    findings.counted[Index::ring_full] = 10'000;
    findings.counted[Index::searches] = 1000;
    findings.counted[Index::search_steps] = 50'000;
    findings.counted[Index::unexpected_messages] = 60'000;
    const std::vector<std::vector<std::string>> others = {
        {"12 sends had to wait"},
        {"10 % of the messages sent found their ring full"},
        {"looked at 50 entries"},
        {"60 % of the messages received"}};
    auto all = others;
    all.insert(all.begin(), {"MPI_ANY_TAG"});
    expect(all);
    findings.threads = 1;  // one thread, for which MPI_ANY_TAG costs nothing
    expect(others);
}

TEST_F(Advice, names_the_file_that_small_pieces_were_written_to) {
    findings.small_writes = {"/scratch/field", 5000, 60'000, 4};
    expect(
        {{"5000 pieces of 12 bytes", "\"/scratch/field\"", "its 4 ranks", "MPI_File_write_all"}});
    findings.small_writes.writes = 10;  // too few
    expect({});
    // One rank has no other to join its pieces with.
    findings.small_writes = {"/scratch/log", 5000, 60'000, 1};
    expect({});
}

TEST(Contention, keeps_what_is_frequent_and_the_total) {
    instance::Contention contention;
    for (int i = 0; i < 1000; ++i) contention.note(world, i % 4 == 0 ? i : 7);
    const auto& most = contention.most();
    EXPECT_EQ(most[0].times + most[1].times, 1000U);
    const auto& first = most[0].times > most[1].times ? most[0] : most[1];
    EXPECT_EQ(first.tag, 7);
    EXPECT_GE(first.times, 750U);
}

}  // namespace
