// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Makes the program of a type from those of the types it is made of (layout.hpp).
///
/// It merges blocks that touch, loops that continue each other, lists with a stride, and short
/// lists in lists. A program never copies a long one that it contains. So types that are built on
/// each other stay as small as the user's calls.

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "objects/layout.hpp"

namespace heddle::objects {

class LayoutBuilder {
public:
    using Nodes = std::vector<std::unique_ptr<const Node>>;
    /// Adds the nodes that it makes to `owner`.
    explicit LayoutBuilder(Nodes& owner) noexcept : owner_(owner) {}

    /// Returns `count` times `element`, `stride` apart.
    Placed repeat(const Placed& element, std::int64_t count, std::int64_t stride);

    /// Adds `what` to the list, at a displacement.
    void add(std::int64_t displacement, const Placed& what);
    /// Returns the whole list.
    Placed finish();

private:
    const Node* keep(Node&& node);
    bool uniform() const noexcept;
    bool is_regular() const noexcept;
    bool worth_merging() const noexcept;
    void merge_touching();
    void merge_short_lists();
    Placed finish_uniform();
    Placed finish_mixed();

    Nodes& owner_;
    std::vector<Placed> entries_;
    std::unordered_map<std::int64_t, Placed> loops_;  ///< by count; repeat() makes them
    Placed looped_{};                                 ///< the element that these repeat
    std::int64_t loop_stride_ = 0;
};

}  // namespace heddle::objects
