// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The shared memory of a node, as one process has it mapped. Its parts are its interfaces: code
/// that needs one part is given only that part.
///
/// Address space  grows with what a process uses: every process maps the head (the board,
///                mailboxes, and so on). The parts map the rest as it is needed.
/// Thread safety  as the parts say. Copies of a Node share everything.
/// Errors         map() returns an empty Node, and errno says why.

#include <cstddef>
#include <memory>
#include <optional>

#include "node/board.hpp"
#include "node/layout.hpp"
#include "node/mailboxes.hpp"
#include "node/rings.hpp"
#include "node/segments.hpp"
#include "node/stages.hpp"
#include "platform/memory.hpp"

namespace heddle::node {

class Node {
public:
    /// Maps the head of the memory of `processes` processes behind `descriptor` (node/file.hpp).
    /// The memory has all stages, or as many as there was room for when it was made. The descriptor
    /// must stay open.
    static std::optional<Node> map(int descriptor, std::size_t processes);
    /// Does the same with all rings, for processes in one address space.
    static std::optional<Node> map_all(int descriptor, std::size_t processes);

    std::size_t processes() const noexcept { return parts_->rings.processes(); }
    Board board() const noexcept { return Board(parts_->head.address()); }
    Page& page(std::size_t process) const noexcept { return board().page(process); }
    const Mailboxes& mailboxes() const noexcept { return parts_->mailboxes; }
    const Segments& segments() const noexcept { return parts_->segments; }
    const Stages& stages() const noexcept { return parts_->stages; }
    const Rings& rings() const noexcept { return parts_->rings; }

    /// Maps the rings to process `me`; if `outgoing`, its rings to the others, too.
    bool map_rings(std::size_t me, bool outgoing) { return parts_->rings.map(me, outgoing); }
    /// Unmaps everything but the head and segments. Leaves what processes of one address space
    /// share.
    void unmap() noexcept {
        if (parts_->mapped == Mapped::all) return;
        parts_->rings.unmap();
        parts_->stages.unmap();
    }
    /// Returns how large the file would be with all that there can be, and a segment of so many
    /// bytes.
    std::size_t bytes_with_segment(std::uint64_t bytes) const noexcept {
        return Layout::of(processes()).segments(processes()) + bytes;
    }

private:
    enum class Mapped { own, all };
    struct Parts {
        Parts(const platform::SharedObject& file, platform::Mapping mapped_head,
              std::size_t processes, Mapped what);

        const platform::SharedObject object;
        const platform::Mapping head;
        const Mapped mapped;
        const Mailboxes mailboxes;
        const Segments segments;
        Stages stages;
        Rings rings;

    private:
        Parts(const platform::SharedObject& file, platform::Mapping mapped_head,
              std::size_t processes, Mapped what, const Layout& layout,
              const Layout::Division& division);
    };
    explicit Node(std::shared_ptr<Parts> parts) noexcept : parts_(std::move(parts)) {}
    static std::optional<Node> map(int descriptor, std::size_t processes, Mapped what);

    std::shared_ptr<Parts> parts_;
};

}  // namespace heddle::node
