// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The division of a collective access (MPI 5.0, 14.4.2): the processes that access the file
/// themselves, or the domain of each aggregator. Every process makes the same plan from the data of
/// all.

#include <cstdint>
#include <vector>

#include "io/access.hpp"
#include "io/hints.hpp"

namespace heddle::io {

/// The data about its access that a process gives the others.
struct Share {
    std::int64_t low, high;  ///< places; equal if it has no data
    std::uint64_t bytes;
    std::uint64_t run;   ///< bytes that lie together
    std::int64_t size;   ///< of the file, as this process sees it; of reads alone
    std::int32_t alone;  ///< only each process itself can do the access
    Agreed hints;        ///< those of rank 0 count
    std::int64_t unit;   ///< borders of domains are multiples of it; that of rank 0 counts

    bool empty() const noexcept { return low == high; }
    /// Leaves the collective access: this process has moved its data itself, or is about to.
    void leave() noexcept {
        low = high = 0;
        bytes = 0;
    }
    bool meets(std::int64_t begin, std::int64_t end) const noexcept {
        return low < end && begin < high;
    }
};

/// The settings of a process's file at present.
struct Settings {
    Hints hints;
    bool atomic;
};
Settings settings_of(OpenFile& file);
/// Returns the number that borders of domains are multiples of, from a hint or from the file
/// system.
std::int64_t domain_unit(const OpenFile& file, const Hints& hints) noexcept;
Share share_of(OpenFile& file, const Part& part, const Settings& settings, bool writes) noexcept;

/// Returns whether a process moves its data itself, whatever the others have: it has long runs.
bool is_for_itself(const Share& share, Choice choice) noexcept;
/// Returns whether there are no aggregators: no rank's data lie between another's, or runs are
/// long, or the data are far apart. `choice` is a hint.
bool each_by_itself(const std::vector<Share>& shares, Choice choice);

/// Cut an access at the end of the file as rank 0 sees it. No process reads beyond.
void cut(Part& part, std::int64_t size) noexcept;
void cut(Share& share, std::int64_t size) noexcept;

/// The file from the first byte to the last one, in parts for aggregators.
struct Domains {
    std::int64_t begin = 0, end = 0;
    std::int64_t each = 0;  ///< bytes of a domain
    std::int32_t count = 0;
    std::int32_t ranks = 0;

    explicit Domains(const std::vector<Share>& shares) noexcept;
    /// Returns the aggregator's rank. Aggregators are spread over all ranks.
    std::int32_t rank(std::int32_t domain) const noexcept {
        return static_cast<std::int32_t>(std::int64_t{domain} * ranks / count);
    }
    std::int64_t begin_of(std::int32_t domain) const noexcept {
        return std::max(begin, first_ + domain * each);
    }
    std::int64_t end_of(std::int32_t domain) const noexcept {
        return std::min(end, first_ + (domain + 1) * each);
    }

private:
    std::int64_t first_ = 0;
};

}  // namespace heddle::io
