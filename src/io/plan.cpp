// SPDX-License-Identifier: BSD-3-Clause
#include "io/plan.hpp"

#include <algorithm>

namespace heddle::io {
namespace {

/// The length of runs from which their owners write them as well as an aggregator.
constexpr std::uint64_t long_run = std::uint64_t{256} << 10;
/// The least bytes of a domain, so that every aggregator has something to do.
constexpr std::int64_t least_domain = std::int64_t{1} << 20;
/// The ratio of the range of data to their bytes from which their owners write them as well.
constexpr std::uint64_t most_sparse = 256;

bool overlap(const Share& a, const Share& b) noexcept {
    return !a.empty() && !b.empty() && a.meets(b.low, b.high);
}

/// Returns whether the data of each rank lie behind those of the ranks before.
bool in_order(const std::vector<Share>& shares) noexcept {
    std::int64_t end = INT64_MIN;
    for (const Share& share : shares) {
        if (share.empty()) continue;
        if (share.low < end) return false;
        end = share.high;
    }
    return true;
}

/// Returns whether no rank's data lie between another's. Takes no memory: the processes have agreed
/// that there is enough.
bool apart(const std::vector<Share>& shares) noexcept {
    if (in_order(shares)) return true;
    for (std::size_t i = 1; i < shares.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (overlap(shares[i], shares[j])) return false;
    return true;
}

bool sparse(const std::vector<Share>& shares) noexcept {
    std::uint64_t bytes = 0;
    for (const Share& share : shares) bytes += share.empty() ? 0 : share.bytes;
    const Domains all(shares);
    return static_cast<std::uint64_t>(all.end - all.begin) / most_sparse > bytes;
}

}  // namespace

std::int64_t domain_unit(const OpenFile& file, const Hints& hints) noexcept {
    if (hints.striping_unit != 0) return static_cast<std::int64_t>(hints.striping_unit);
    const std::int64_t stripe = file.storage->striping().unit;
    return stripe != 0 ? stripe : std::max<std::int64_t>(file.storage->block(), 4096);
}

bool is_for_itself(const Share& share, Choice choice) noexcept {
    return !share.empty() && share.run >= long_run && choice != Choice::enable;
}

bool each_by_itself(const std::vector<Share>& shares, Choice choice) {
    if (choice == Choice::disable || shares.size() == 1) return true;
    std::uint64_t least_run = UINT64_MAX;
    for (const Share& share : shares) {
        if (share.alone != 0) return true;
        if (!share.empty()) least_run = std::min(least_run, share.run);
    }
    if (choice == Choice::enable) return false;
    return least_run >= long_run || apart(shares) || sparse(shares);
}

Domains::Domains(const std::vector<Share>& shares) noexcept
    : ranks(static_cast<std::int32_t>(shares.size())) {
    bool any = false;
    for (const Share& share : shares) {
        if (share.empty()) continue;
        begin = any ? std::min(begin, share.low) : share.low;
        end = any ? std::max(end, share.high) : share.high;
        any = true;
    }
    if (!any) return;
    const std::uint64_t wished = shares[0].hints.cb_nodes;
    const auto most = static_cast<std::int64_t>(
        wished != 0 ? std::min<std::uint64_t>(wished, shares.size()) : shares.size());
    const std::int64_t unit = shares[0].unit;
    const std::int64_t wanted = std::clamp<std::int64_t>((end - begin) / least_domain, 1, most);
    first_ = begin / unit * unit;
    each = (end - first_ + wanted - 1) / wanted;
    each = (each + unit - 1) / unit * unit;
    count = static_cast<std::int32_t>((end - first_ + each - 1) / each);
}

Settings settings_of(OpenFile& file) {
    const std::lock_guard guard(file.lock);
    return {file.hints, file.atomic};
}

void cut(Part& part, std::int64_t size) noexcept {
    if (part.bytes == 0) return;
    const std::uint64_t there = part.data().before(size);
    part.bytes = there <= part.from ? 0 : std::min(part.bytes, there - part.from);
}
void cut(Share& share, std::int64_t size) noexcept {
    share.high = std::min(share.high, size);
    share.low = std::min(share.low, share.high);
}

Share share_of(OpenFile& file, const Part& part, const Settings& settings, bool writes) noexcept {
    Share share{};
    share.hints = agreed_in(settings.hints);
    share.unit = domain_unit(file, settings.hints);
    share.bytes = part.bytes;
    share.run = part.view->run();
    share.alone = settings.atomic || !part.sorted();
    if (part.bytes != 0) {
        share.low = part.first_place();
        share.high = part.end_place();
    }
    if (!writes && file.storage->size(share.size) != 0)
        share.size = INT64_MAX;  // reading returns the error
    return share;
}

}  // namespace heddle::io
