// SPDX-License-Identifier: BSD-3-Clause
/// main() of the unit tests.
///
/// Limit    a test that takes more than UNIT_TEST_LIMIT seconds (300) ends the program, which names
///          the test. Tests that wait have a watchdog of their own, which reports more
///          (testing/watchdog.hpp).
/// Skips    each is a line "skipped: NAME: reason", for tests/run.py.
/// Times    each test that takes a second has a line "slow: NAME: milliseconds", also for it.
/// Filter   a pattern of --gtest_filter without a matching test is an error. Otherwise a run
///          without tests would pass.

#include <fnmatch.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

std::array<char, 300> running{};  ///< the test's name, for the handler

void tell_and_abort(int) {
    constexpr char before[] = "limit: a test has taken too long: ";
    (void)!write(STDERR_FILENO, before, sizeof before - 1);
    (void)!write(STDERR_FILENO, running.data(), std::strlen(running.data()));
    (void)!write(STDERR_FILENO, "\n", 1);
    std::abort();
}

std::string name_of(const testing::TestInfo& test) {
    return std::string(test.test_suite_name()) + "." + test.name();
}

std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

class Limit final : public testing::EmptyTestEventListener {
public:
    explicit Limit(unsigned seconds) noexcept : seconds_(seconds) {
        std::signal(SIGALRM, tell_and_abort);
    }

private:
    void OnTestStart(const testing::TestInfo& test) override {
        std::snprintf(running.data(), running.size(), "%s", name_of(test).c_str());
        alarm(seconds_);
    }
    void OnTestEnd(const testing::TestInfo& test) override {
        alarm(0);
        constexpr testing::TimeInMillis long_time = 1000;
        if (test.result()->elapsed_time() >= long_time)
            std::printf("slow: %s: %lld\n", name_of(test).c_str(),
                        static_cast<long long>(test.result()->elapsed_time()));
        std::fflush(stdout);  // a child of a later test must not print it, too
        if (!test.result()->Skipped()) return;
        std::string reason;
        for (int i = 0; i < test.result()->total_part_count(); ++i)
            reason += test.result()->GetTestPartResult(i).message();
        std::printf("skipped: %s: %s\n", name_of(test).c_str(), one_line(reason).c_str());
    }

    const unsigned seconds_;
};

bool any_test_fits(const std::string& pattern) {
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j)
            if (fnmatch(pattern.c_str(), name_of(*suite.GetTestInfo(j)).c_str(), 0) == 0)
                return true;
    }
    return false;
}

/// Returns false, after naming it, if a pattern of the filter matches no test.
bool is_filter_of_tests(const std::string& filter) {
    const std::string positive = filter.substr(0, filter.find('-'));
    for (std::size_t begin = 0; begin < positive.size();) {
        const std::size_t end = std::min(positive.find(':', begin), positive.size());
        const std::string pattern = positive.substr(begin, end - begin);
        if (!pattern.empty() && !any_test_fits(pattern)) {
            std::fprintf(stderr, "no test fits the pattern %s\n", pattern.c_str());
            return false;
        }
        begin = end + 1;
    }
    return true;
}

}  // namespace

int main(int count, char** arguments) {
    testing::InitGoogleTest(&count, arguments);
    if (!is_filter_of_tests(testing::GTEST_FLAG(filter))) return 2;
    const char* const limit = std::getenv("UNIT_TEST_LIMIT");
    testing::UnitTest::GetInstance()->listeners().Append(
        new Limit(limit != nullptr ? static_cast<unsigned>(std::atoi(limit)) : 300U));
    return RUN_ALL_TESTS();
}
