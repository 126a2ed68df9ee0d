// SPDX-License-Identifier: BSD-3-Clause
#include "node/node.hpp"

#include <cerrno>

namespace heddle::node {

namespace {

std::byte* begin_of(const platform::Mapping& head) noexcept {
    return static_cast<std::byte*>(head.address());
}

template <class Part>
Part& part_at(const platform::Mapping& head, std::size_t offset) noexcept {
    return *reinterpret_cast<Part*>(begin_of(head) + offset);
}

}  // namespace

Node::Parts::Parts(const platform::SharedObject& file, platform::Mapping mapped_head,
                   std::size_t processes, Mapped what)
    : Parts(file, std::move(mapped_head), processes, what, Layout::of(processes),
            Layout::of(processes).divide(processes, file.bytes())) {}

Node::Parts::Parts(const platform::SharedObject& file, platform::Mapping mapped_head,
                   std::size_t processes, Mapped what, const Layout& layout,
                   const Layout::Division& division)
    : object(file),
      head(std::move(mapped_head)),
      mapped(what),
      mailboxes(begin_of(head) + layout.mailboxes, layout.mailbox_bytes, layout.source_words,
                processes),
      segments(object, part_at<SegmentBoard>(head, layout.segment_board), division.segments,
               object.bytes(), what == Mapped::all),
      stages(object, part_at<StageBoard>(head, layout.stage_board), layout.stages, division.stages,
             segments),
      rings(object, begin_of(head), layout, processes, division.payload_rings_each, mailboxes,
            segments) {}

std::optional<Node> Node::map(int descriptor, std::size_t processes, Mapped what) {
    if (processes > most_processes) {
        errno = E2BIG;
        return std::nullopt;
    }
    const Layout layout = Layout::of(processes);
    const auto object = platform::SharedObject::of(descriptor);
    if (!object || object->bytes() < layout.bytes(0)) return std::nullopt;
    platform::Mapping head = object->map(0, layout.rings);
    if (!head) return std::nullopt;
    return Node(std::make_shared<Parts>(*object, std::move(head), processes, what));
}

std::optional<Node> Node::map(int descriptor, std::size_t processes) {
    return map(descriptor, processes, Mapped::own);
}

std::optional<Node> Node::map_all(int descriptor, std::size_t processes) {
    std::optional<Node> node = map(descriptor, processes, Mapped::all);
    if (node && !node->parts_->rings.map_all()) return std::nullopt;
    return node;
}

}  // namespace heddle::node
