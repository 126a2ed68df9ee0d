// SPDX-License-Identifier: BSD-3-Clause
#include "objects/sections.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace heddle::objects {
namespace {

/// Properties of a body. Offsets are from its first packed byte.
struct Shape {
    bool ordered = true, disjoint = true;
    std::int64_t last = 0;  ///< where the last block begins,
    std::int64_t high = 0;  ///< and ends
    std::uint64_t blocks = 1;
};

Shape block_of(std::uint64_t bytes) noexcept {
    return {true, true, 0, static_cast<std::int64_t>(bytes), 1};
}

/// Combines shapes one after the other.
class Row {
public:
    void add(std::int64_t at, const Shape& next) noexcept {
        if (any_) {
            shape_.ordered = shape_.ordered && shape_.last <= at;
            shape_.disjoint = shape_.disjoint && shape_.high <= at;
        }
        any_ = true;
        shape_.ordered = shape_.ordered && next.ordered;
        shape_.disjoint = shape_.disjoint && next.disjoint;
        shape_.last = at + next.last;
        shape_.high = std::max(shape_.high, at + next.high);
        blocks_ += next.blocks;
    }
    Shape get() const noexcept {
        Shape shape = shape_;
        shape.blocks = blocks_;
        return shape;
    }

private:
    bool any_ = false;
    std::uint64_t blocks_ = 0;
    Shape shape_;
};

Shape strided(const Node& node, const Shape& child) noexcept {
    Row row;
    row.add(0, child);
    row.add(node.stride, child);
    Shape shape = row.get();
    const std::int64_t to_last = static_cast<std::int64_t>(node.count - 1) * node.stride;
    shape.last = to_last + child.last;
    shape.high = std::max(child.high, to_last + child.high);
    shape.blocks = node.count * child.blocks;
    return shape;
}

/// The shapes of nodes of any depth. It looks at each node once, even if several others name it.
class Shapes {
public:
    Shape of(const Body& body) {
        if (body.node == nullptr) return block_of(body.bytes);
        std::vector<const Node*> open{body.node};
        while (!open.empty()) {
            const Node& node = *open.back();
            const std::size_t before = open.size();
            add_unknown(node, open);
            if (open.size() != before) continue;
            open.pop_back();
            known_.try_emplace(&node, combine(node));
        }
        return known_.at(body.node);
    }

private:
    bool is_known(const Node* node) const { return node == nullptr || known_.contains(node); }
    void add_unknown(const Node& node, std::vector<const Node*>& open) const {
        if (node.kind != Node::Kind::list) {
            if (!is_known(node.child.node)) open.push_back(node.child.node);
            return;
        }
        for (std::uint64_t i = 0; node.nodes != nullptr && i < node.count; ++i)
            if (!is_known(node.nodes[i])) open.push_back(node.nodes[i]);
    }
    Shape known(const Body& body) const {
        return body.node == nullptr ? block_of(body.bytes) : known_.at(body.node);
    }
    Shape combine(const Node& node) const {
        if (node.kind == Node::Kind::strided) return strided(node, known(node.child));
        Row row;
        for (std::uint64_t i = 0; i < node.count; ++i) {
            const Placed entry = node.entry(i);
            row.add(entry.at, known(entry.body));
        }
        return row.get();
    }

    std::unordered_map<const Node*, Shape> known_;
};

}  // namespace

Pattern pattern_of(const Definition& type) {
    if (type.size == 0) return {};
    const Shape one = Shapes().of(type.data.body);
    Row row;
    row.add(0, one);
    row.add(type.extent, one);
    const Shape two = row.get();
    return {one.ordered, one.disjoint, two.ordered && two.disjoint, one.blocks};
}

std::int64_t Endless::place(std::uint64_t k) const noexcept {
    std::int64_t at = origin_ + static_cast<std::int64_t>(k / body_.bytes) * period_;
    k %= body_.bytes;
    for (const Node* node = body_.node; node != nullptr;) {
        const std::uint64_t i = node->entry_at(k);
        const Placed entry = node->entry(i);
        k -= node->begin_of(i);
        at += entry.at;
        node = entry.body.node;
    }
    return at + static_cast<std::int64_t>(k);
}

std::uint64_t Endless::before(std::int64_t place) const noexcept {
    if (place <= origin_) return 0;
    const auto element = static_cast<std::uint64_t>((place - origin_) / period_);
    std::uint64_t low = element * body_.bytes, high = low + body_.bytes;
    if (dense()) return low + static_cast<std::uint64_t>((place - origin_) % period_);
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (this->place(middle) < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// Returns a section of a body that is a block: as many whole blocks as there are.
Section Sections::of_blocks(std::uint64_t inside, std::int64_t place) const noexcept {
    const std::uint64_t bytes = data_.body_.bytes;
    if (data_.dense()) return {place + static_cast<std::int64_t>(inside), left_, 0, 1};
    if (inside == 0 && left_ >= 2 * bytes) return {place, bytes, data_.period_, left_ / bytes};
    return {place + static_cast<std::int64_t>(inside), std::min(bytes - inside, left_), 0, 1};
}

/// Goes from the top of an element at `place` down to blocks.
Section Sections::find(std::uint64_t inside, std::int64_t place) noexcept {
    const Node* node = data_.body_.node;
    for (;;) {
        const std::uint64_t i = node->entry_at(inside);
        const Placed entry = node->entry(i);
        inside -= node->begin_of(i);
        if (entry.body.node == nullptr) {
            leaf_ = node;
            leaf_place_ = place;
            entry_ = i;
            inside_ = inside;
            return of_entry();
        }
        place += entry.at;
        node = entry.body.node;
    }
}

/// Returns the next section of the leaf. If the leaf has a stride, it is all whole blocks.
Section Sections::of_entry() noexcept {
    const Placed entry = leaf_->entry(entry_);
    const std::uint64_t bytes = entry.body.bytes;
    Section section{leaf_place_ + entry.at + static_cast<std::int64_t>(inside_), bytes - inside_, 0,
                    1};
    if (section.bytes > left_) {
        section.bytes = left_;
    } else if (leaf_->kind == Node::Kind::strided && inside_ == 0) {
        section.stride = leaf_->stride;
        section.count = std::min(leaf_->count - entry_, left_ / bytes);
    }
    entry_ += section.count;
    inside_ = 0;
    return section;
}

bool Sections::next(Section& section) noexcept {
    if (left_ == 0) return false;
    if (leaf_ != nullptr && entry_ < leaf_->count && leaf_->entry(entry_).body.node == nullptr) {
        section = of_entry();
    } else {
        const std::uint64_t element = at_ / data_.body_.bytes;
        const std::uint64_t inside = at_ % data_.body_.bytes;
        const std::int64_t place =
            data_.origin_ + static_cast<std::int64_t>(element) * data_.period_;
        section = data_.body_.node == nullptr ? of_blocks(inside, place) : find(inside, place);
    }
    at_ += section.total();
    left_ -= section.total();
    return true;
}

}  // namespace heddle::objects
