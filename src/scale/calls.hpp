// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A collective call of all ranks. With data, each rank can tell whether its result is right.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coll/select.hpp"
#include "scale/ranks.hpp"
#include "scale/simulation.hpp"

namespace heddle::scale {

struct CallSettings {
    coll::Collective what;
    std::uint64_t bytes = 0;  ///< size of the buffer, or of one block; for reductions a multiple of
                              ///< 8
    bool doubles = true;      ///< elements of reductions; else integers, whose sums are equal in
                              ///< any order
    bool blocking = true;
    bool with_data = false;
};

class CollectiveCall {
public:
    /// Returns the operations that can be simulated.
    static const std::vector<coll::Collective>& operations();
    static std::optional<coll::Collective> named(std::string_view name);

    /// Throws std::bad_alloc, also if there is no address space for the buffers.
    CollectiveCall(Ranks& ranks, const CallSettings& settings);

    /// Writes the steps of the schedule's rank, by that algorithm, or by the one that the library
    /// chooses.
    void write(coll::Schedule& schedule, const coll::Algorithm* algorithm);
    std::int32_t tag() const noexcept {
        return settings_.blocking ? static_cast<std::int32_t>(settings_.what) : 0;
    }
    /// Returns the algorithm that the library chooses.
    const coll::Algorithm& chosen();
    /// Returns true if the algorithm can do the call.
    bool may_take(const coll::Algorithm& algorithm);

    /// Returns the first rank whose result is wrong, or -1 if there is none.
    std::int32_t wrong_rank() const;

private:
    struct Buffers {
        std::vector<std::byte> in, out;
    };

    const coll::Algorithm& choose(const coll::Schedule& schedule) const;
    coll::Arguments arguments(std::int32_t rank);
    void fill(std::int32_t rank);
    bool is_right(std::int32_t rank) const;
    bool reduces() const noexcept;
    std::uint64_t in_blocks(std::int32_t rank) const noexcept;
    std::uint64_t out_blocks(std::int32_t rank) const noexcept;
    std::uint64_t count() const noexcept { return settings_.bytes / sizeof(double); }
    std::byte* in(std::int32_t rank);
    std::byte* out(std::int32_t rank);

    Ranks& ranks_;
    const CallSettings settings_;
    const objects::Reduction reduction_;
    std::vector<Buffers> buffers_;       ///< by rank; empty without data
    platform::Mapping nowhere_;          ///< used instead of these without data; never read
    std::vector<std::uint64_t> starts_;  ///< of the pieces of reduce_scatter_block
};

}  // namespace heddle::scale
