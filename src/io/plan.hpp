// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Who does what in a collective access (MPI 5.0, 14.4.2): which processes access the file themselves, or which part of it
/// each aggregator has. Every process makes the same plan of what all have told.

#include <cstdint>
#include <vector>

#include "io/access.hpp"
#include "io/hints.hpp"

namespace heddle::io {

/// What a process tells the others of its access.
struct Share {
    std::int64_t low, high;  ///< places; the same: it has no data
    std::uint64_t bytes;
    std::uint64_t run;   ///< bytes that lie together
    std::int64_t size;   ///< of the file, as this process sees it; of reads alone
    std::int32_t alone;  ///< it cannot be but by each process itself
    Agreed hints;        ///< of which those of rank 0 count
    std::int64_t unit;   ///< what borders of domains are multiples of; likewise

    bool empty() const noexcept { return low == high; }
    /// This process has moved its data itself, or is about to.
    void leave() noexcept {
        low = high = 0;
        bytes = 0;
    }
    bool meets(std::int64_t begin, std::int64_t end) const noexcept {
        return low < end && begin < high;
    }
};

/// What a process tells of an access. `settings`: what holds of its file just now.
struct Settings {
    Hints hints;
    bool atomic;
};
Settings settings_of(OpenFile& file);
/// What borders of domains are multiples of: as a hint says, or the file system.
std::int64_t domain_unit(const OpenFile& file, const Hints& hints) noexcept;
Share share_of(OpenFile& file, const Part& part, const Settings& settings, bool writes) noexcept;

/// Whether a process moves its data itself, whatever the others have: it has long runs.
bool is_for_itself(const Share& share, Choice choice) noexcept;
/// Whether there are no aggregators: nobody's data lie between another's, or runs are long, or the data are far
/// apart. `choice`: a hint.
bool each_by_itself(const std::vector<Share>& shares, Choice choice);

/// Nobody reads beyond the end of the file, which is where rank 0 sees it.
void cut(Part& part, std::int64_t size) noexcept;
void cut(Share& share, std::int64_t size) noexcept;

/// The file from the first byte to the last one, in parts for aggregators.
struct Domains {
    std::int64_t begin = 0, end = 0;
    std::int64_t each = 0;  ///< bytes of a domain
    std::int32_t count = 0;
    std::int32_t ranks = 0;

    explicit Domains(const std::vector<Share>& shares) noexcept;
    /// The aggregator's rank: they are spread over all.
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
