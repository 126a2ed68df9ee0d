// SPDX-License-Identifier: BSD-3-Clause
#include "tool/recipe.hpp"

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

std::uint32_t agreement(const Settings& settings) noexcept {
    return 1 + static_cast<std::uint32_t>(settings.instances) * 256 +
        static_cast<std::uint32_t>(settings.assignment) * 65536;
}

std::string print_agreement(std::uint32_t agreement) {
    const auto instances = static_cast<InstanceCount>(agreement / 256 % 256);
    const auto assignment = static_cast<Assignment>(agreement / 65536);
    std::string text("HEDDLE_INSTANCES=");
    text += Choice<InstanceCount>::print(instances);
    text += " HEDDLE_ASSIGNMENT=";
    text += Choice<Assignment>::print(assignment);
    return text;
}

}  // namespace heddle::tool
