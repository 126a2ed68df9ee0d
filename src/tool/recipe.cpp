// SPDX-License-Identifier: BSD-3-Clause
#include "tool/recipe.hpp"

#include <cctype>
#include <iterator>

#include "tool/settings.hpp"

namespace heddle::tool {

bool matching_is_watched(const Settings& settings) noexcept {
    return settings.matcher != MatcherName::hash || settings.match_timing != Switch::off ||
        !settings.record.empty();
}

bool in_laboratory(const Settings& settings) noexcept {
    return settings.assignment != Assignment::tag ||
        settings.progress != ProgressStrategy::concurrent ||
        settings.critical_section != Granularity::lock_free;
}

Features features_of(const Settings& settings) noexcept {
    const bool all = !in_laboratory(settings);
    return {.fast_paths = all,
            .free_windows = all,
            .homes = all,
            .payload_rings = all,
            .shared_scratch = all,
            .sleep = all,
            .workers = all,
            .other_nodes = all};
}

std::string contradiction(const Settings& settings) {
    const Granularity granularity = settings.critical_section;
    const bool brief =
        granularity == Granularity::brief_global || granularity == Granularity::per_object;
    std::string what;
    const auto refuse_unless = [&](bool fits, const char* knob, const char* reason) {
        if (what.empty() && !fits) what = std::string(knob) + reason;
    };
    refuse_unless(
        settings.lock == LockProtocol::mutex || granularity != Granularity::lock_free,
        "HEDDLE_LOCK",
        ": there are no critical sections to be locked under HEDDLE_CRITICAL_SECTION=lock-free");
    constexpr const char* too_coarse =
        ": that takes HEDDLE_CRITICAL_SECTION=brief-global or per-object; under global the call is "
        "one "
        "section, and under lock-free there is none";
    refuse_unless(settings.request_pools == RequestPools::thread || brief,
                  "HEDDLE_REQUEST_POOLS=common", too_coarse);
    refuse_unless(settings.reference_counts == ReferenceCounts::atomic || brief,
                  "HEDDLE_REFERENCE_COUNTS=locked", too_coarse);
    refuse_unless(settings.test_limit == 0 || granularity != Granularity::lock_free,
                  "HEDDLE_TEST_LIMIT",
                  ": there are no critical sections to be waited for under "
                  "HEDDLE_CRITICAL_SECTION=lock-free");
    return what;
}

namespace {

/// Returns the knobs of collectives as one number, each a digit.
std::uint64_t forced_algorithms(const Settings& settings) noexcept {
    std::uint64_t number = 0;
#define KNOB(type, name, standard, doc) \
    number = number * type::choices().size() + static_cast<std::uint64_t>(settings.name);
#include "tool/collectives.def"
#undef KNOB
    return number;
}

/// Returns those that are not auto, by their variables.
std::string print_forced(std::uint64_t number) {
    struct Digit {
        const char* knob;
        std::span<const char* const> words;
    };
    const Digit digits[] = {
#define KNOB(type, name, standard, doc) {#name, type::choices()},
#include "tool/collectives.def"
#undef KNOB
    };
    std::string text;
    for (std::size_t i = std::size(digits); i-- > 0; number /= digits[i].words.size()) {
        const std::size_t word = number % digits[i].words.size();
        if (word == 0) continue;
        std::string variable = " HEDDLE_";
        for (const char* at = digits[i].knob; *at != '\0'; ++at)
            variable += static_cast<char>(std::toupper(static_cast<unsigned char>(*at)));
        text = variable + "=" + digits[i].words[word] + text;
    }
    return text;
}

}  // namespace

std::uint64_t agreement(const Settings& settings) noexcept {
    return 1 + static_cast<std::uint64_t>(settings.instances) * 256 +
        static_cast<std::uint64_t>(settings.assignment) * 65536 +
        (forced_algorithms(settings) << 32);
}

std::string print_agreement(std::uint64_t agreement) {
    const auto instances = static_cast<InstanceCount>(agreement / 256 % 256);
    const auto assignment = static_cast<Assignment>(agreement / 65536 % 65536);
    std::string text("HEDDLE_INSTANCES=");
    text += Choice<InstanceCount>::print(instances);
    text += " HEDDLE_ASSIGNMENT=";
    text += Choice<Assignment>::print(assignment);
    return text + print_forced(agreement >> 32);
}

}  // namespace heddle::tool
