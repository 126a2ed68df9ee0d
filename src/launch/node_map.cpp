// SPDX-License-Identifier: BSD-3-Clause
#include "launch/node_map.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>

namespace heddle::launch {
namespace {

/// A text. Takes expected words and numbers from its front if they are there.
class MapReader {
public:
    explicit MapReader(std::string_view text) noexcept : text_(text) {}
    bool take(std::string_view word) noexcept {
        const bool there = text_.starts_with(word);
        if (there) text_.remove_prefix(word.size());
        return there;
    }
    std::optional<std::int32_t> number() noexcept {
        std::int32_t value = 0;
        const auto read = std::from_chars(text_.data(), text_.data() + text_.size(), value);
        if (read.ec != std::errc{} || value < 0) return std::nullopt;
        text_.remove_prefix(static_cast<std::size_t>(read.ptr - text_.data()));
        return value;
    }
    bool at_end() const noexcept { return text_.empty(); }

private:
    std::string_view text_;
};

struct Block {
    std::int32_t first_node, nodes, ranks_each;
};

/// Reads "(FIRST_NODE,NODES,RANKS_EACH)", or the node of one rank.
std::optional<Block> read_block(MapReader& reader) {
    if (!reader.take("(")) {
        const auto node = reader.number();
        return node ? std::optional(Block{*node, 1, 1}) : std::nullopt;
    }
    const auto first = reader.number();
    if (!first || !reader.take(",")) return std::nullopt;
    const auto nodes = reader.number();
    if (!nodes || !reader.take(",")) return std::nullopt;
    const auto each = reader.number();
    if (!each || !reader.take(")") || *nodes == 0 || *each == 0) return std::nullopt;
    return Block{*first, *nodes, *each};
}

/// Reads blocks, with commas between them.
std::optional<std::vector<Block>> read_list(MapReader& reader) {
    std::vector<Block> blocks;
    do {
        const auto block = read_block(reader);
        if (!block) return std::nullopt;
        blocks.push_back(*block);
    } while (reader.take(","));
    return blocks;
}

/// Reads "[LIST]xTIMES", after the bracket. More times than there are ranks mean nothing.
bool read_repeated(MapReader& reader, int ranks, std::vector<Block>& blocks) {
    const auto list = read_list(reader);
    if (!list || !reader.take("]x")) return false;
    const auto times = reader.number();
    if (!times || *times == 0) return false;
    for (int i = 0; i < std::min(*times, ranks); ++i)
        blocks.insert(blocks.end(), list->begin(), list->end());
    return true;
}

std::vector<Block> read_blocks(std::string_view text, int ranks) {
    std::vector<Block> blocks;
    MapReader reader(text);
    if (!reader.take("(vector")) return {};
    while (reader.take(",")) {
        if (reader.take("[")) {
            if (!read_repeated(reader, ranks, blocks)) return {};
        } else {
            const auto block = read_block(reader);
            if (!block) return {};
            blocks.push_back(*block);
        }
    }
    return reader.take(")") && reader.at_end() ? blocks : std::vector<Block>{};
}

}  // namespace

bool has_several_nodes(const NodeMap& map) noexcept {
    return std::any_of(map.begin(), map.end(), [&](std::int32_t node) { return node != map[0]; });
}

NodeMap read_process_mapping(std::string_view text, int ranks) {
    const std::vector<Block> blocks = read_blocks(text, ranks);
    const auto size = static_cast<std::size_t>(ranks);
    NodeMap map;
    while (!blocks.empty() && map.size() < size)
        for (const Block& block : blocks)
            for (std::int32_t node = 0; node < block.nodes && map.size() < size; ++node)
                for (std::int32_t i = 0; i < block.ranks_each && map.size() < size; ++i)
                    map.push_back(block.first_node + node);
    return map;
}

}  // namespace heddle::launch
