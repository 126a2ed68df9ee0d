// SPDX-License-Identifier: BSD-3-Clause
#include "objects/layout_builder.hpp"

#include <algorithm>

namespace heddle::objects {
namespace {

/// The length up to which a list of different things takes in the lists it contains.
constexpr std::uint64_t short_list = 64;

bool same(const Body& a, const Body& b) noexcept { return a.bytes == b.bytes && a.node == b.node; }

std::uint32_t depth_of(const Body& body) noexcept {
    return body.node == nullptr ? 0 : body.node->depth;
}

/// Adds an entry, or lengthens the block before it if they touch.
void append(std::vector<Placed>& entries, const Placed& entry) {
    if (entry.body.node == nullptr && !entries.empty()) {
        Placed& last = entries.back();
        if (last.body.node == nullptr &&
            last.at + static_cast<std::int64_t>(last.body.bytes) == entry.at) {
            last.body.bytes += entry.body.bytes;
            return;
        }
    }
    entries.push_back(entry);
}

}  // namespace

const Node* LayoutBuilder::keep(Node&& node) {
    owner_.push_back(std::make_unique<const Node>(std::move(node)));
    return owner_.back().get();
}

Placed LayoutBuilder::repeat(const Placed& element, std::int64_t count, std::int64_t stride) {
    const Body& body = element.body;
    if (count == 0 || body.bytes == 0) return {};
    if (count == 1) return element;
    const auto times = static_cast<std::uint64_t>(count);
    const std::uint64_t bytes = times * body.bytes;
    if (body.node == nullptr && stride == static_cast<std::int64_t>(body.bytes))
        return {element.at, {bytes, nullptr}};
    if (!loops_.empty() && (!same(looped_.body, body) || loop_stride_ != stride)) loops_.clear();
    looped_ = element;
    loop_stride_ = stride;
    if (const auto known = loops_.find(count); known != loops_.end())
        return {element.at, known->second.body};
    Node node;
    node.kind = Node::Kind::strided;
    node.bytes = bytes;
    node.count = times;
    node.stride = stride;
    node.child = body;
    std::int64_t inner = 0;
    if (body.node != nullptr && body.node->kind == Node::Kind::strided &&
        !__builtin_mul_overflow(static_cast<std::int64_t>(body.node->count), body.node->stride,
                                &inner) &&
        inner == stride) {
        node.count = times * body.node->count;
        node.stride = body.node->stride;
        node.child = body.node->child;
    }
    node.depth = depth_of(node.child) + 1;
    const Placed made{element.at, {bytes, keep(std::move(node))}};
    loops_.emplace(count, made);
    return made;
}

void LayoutBuilder::add(std::int64_t displacement, const Placed& what) {
    if (what.body.bytes == 0) return;
    entries_.push_back({displacement + what.at, what.body});
}

Placed LayoutBuilder::finish() {
    if (entries_.empty()) return {};
    if (uniform()) {
        if (is_regular() || !worth_merging()) return finish_uniform();
    }
    merge_touching();
    if (!uniform()) merge_short_lists();
    return uniform() ? finish_uniform() : finish_mixed();
}

bool LayoutBuilder::uniform() const noexcept {
    return std::all_of(entries_.begin(), entries_.end(),
                       [this](const Placed& entry) { return same(entry.body, entries_[0].body); });
}

bool LayoutBuilder::is_regular() const noexcept {
    for (std::size_t i = 2; i < entries_.size(); ++i)
        if (entries_[i].at - entries_[i - 1].at != entries_[1].at - entries_[0].at) return false;
    return true;
}

/// Returns whether blocks of one length are merged if they touch. Short ones are copied fastest
/// when their length is always the same. A few that touch do not make up for lengths that the
/// compiler does not know.
bool LayoutBuilder::worth_merging() const noexcept {
    const Body& block = entries_[0].body;
    if (block.node != nullptr) return false;
    std::size_t touching = 0;
    for (std::size_t i = 1; i < entries_.size(); ++i)
        if (entries_[i].at - entries_[i - 1].at == static_cast<std::int64_t>(block.bytes))
            ++touching;
    const std::size_t merged = entries_.size() - touching;
    return block.bytes > 64 ? touching > 0 : merged * 3 < entries_.size();
}

void LayoutBuilder::merge_touching() {
    std::vector<Placed> merged;
    for (const Placed& entry : entries_) append(merged, entry);
    entries_ = std::move(merged);
}

/// Replaces entries that are lists by the entries of these lists, if those are few.
void LayoutBuilder::merge_short_lists() {
    std::uint64_t all = 0;
    for (const Placed& entry : entries_) {
        all += entry.body.node == nullptr ? 1 : entry.body.node->count;
        if (all > short_list) return;
    }
    std::vector<Placed> merged;
    merged.reserve(all);
    for (const Placed& entry : entries_) {
        const Node* node = entry.body.node;
        // A loop over something that is no block is faster as a loop.
        if (node == nullptr || (node->kind == Node::Kind::strided && node->count > 8)) {
            append(merged, entry);
            continue;
        }
        for (std::uint64_t i = 0; i < node->count; ++i) {
            const Placed inner = node->entry(i);
            append(merged, {entry.at + inner.at, inner.body});
        }
    }
    entries_ = std::move(merged);
}

/// Finishes a list whose entries are all alike: a loop if they have a stride.
Placed LayoutBuilder::finish_uniform() {
    const Placed first = entries_[0];
    const std::size_t count = entries_.size();
    if (count == 1) return first;
    if (is_regular())
        return repeat(first, static_cast<std::int64_t>(count), entries_[1].at - first.at);
    Node node;
    node.kind = Node::Kind::indexed;
    node.count = count;
    node.child = first.body;
    node.bytes = count * first.body.bytes;
    node.depth = depth_of(first.body) + 1;
    node.displacements = std::make_unique_for_overwrite<std::int64_t[]>(count);
    for (std::size_t i = 0; i < count; ++i) node.displacements[i] = entries_[i].at - first.at;
    const std::uint64_t bytes = node.bytes;
    return {first.at, {bytes, keep(std::move(node))}};
}

Placed LayoutBuilder::finish_mixed() {
    const std::size_t count = entries_.size();
    const std::int64_t origin = entries_[0].at;
    Node node;
    node.kind = Node::Kind::list;
    node.count = count;
    node.displacements = std::make_unique_for_overwrite<std::int64_t[]>(count);
    node.begins = std::make_unique_for_overwrite<std::uint64_t[]>(count + 1);
    const bool nested = std::any_of(entries_.begin(), entries_.end(),
                                    [](const Placed& entry) { return entry.body.node != nullptr; });
    if (nested) node.nodes = std::make_unique<const Node*[]>(count);
    std::uint64_t begin = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const Placed& entry = entries_[i];
        node.displacements[i] = entry.at - origin;
        node.begins[i] = begin;
        begin += entry.body.bytes;
        if (nested) node.nodes[i] = entry.body.node;
        node.depth = std::max(node.depth, depth_of(entry.body) + 1);
    }
    node.begins[count] = begin;
    node.bytes = begin;
    return {origin, {begin, keep(std::move(node))}};
}

}  // namespace heddle::objects
