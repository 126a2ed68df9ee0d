// SPDX-License-Identifier: BSD-3-Clause
#include "io/shared_windows.hpp"

#include <algorithm>
#include <vector>

#include "io/phases.hpp"
#include "io/together.hpp"

namespace heddle::io {
namespace {

constexpr std::int64_t page = 4096;
/// The most memory of all windows of a file.
constexpr std::int64_t most_memory = std::int64_t{64} << 20;
/// Smaller windows are not worth a message each.
constexpr std::int64_t least_window = std::int64_t{16} << 10;

}  // namespace

SharedWindows::~SharedWindows() { give_back(); }

void SharedWindows::give_back() noexcept {
    memory_ = nullptr;
    mapping_ = nullptr;
    if (segment_ && communicator_.rank == 0) process_.node.segments().give(segment_);
    segment_ = {};
}

bool SharedWindows::has(const Joint& joint) {
    if (refused_ || !process_.share_memory(communicator_.group->processes)) return false;
    const Domains domains(joint.shares);
    const auto wished = static_cast<std::int64_t>(joint.shares[0].hints.cb_buffer_size);
    const std::int64_t most = most_memory / (turns * std::max(1, domains.count)) / page * page;
    window_bytes_ = std::min({wished, most, std::max(domains.each, page)});
    if (window_bytes_ < std::min(wished, least_window)) return false;
    const auto bytes = static_cast<std::uint64_t>(turns * domains.count * window_bytes_);
    return bytes <= segment_.bytes || take(joint, bytes);
}

/// Takes a segment. All processes are here: none uses the segment that there was before.
bool SharedWindows::take(const Joint& joint, std::uint64_t bytes) {
    give_back();
    refused_ = true;
    const node::Segments& memory = process_.node.segments();
    if (communicator_.rank == 0 && memory.can_spare(bytes)) segment_ = memory.take(bytes);
    std::vector<node::Segment> segments;
    std::vector<std::int32_t> mapped;
    if (gather(joint.thread, joint.file, joint.tag + memory_message, segments, segment_) ==
        MPI_SUCCESS) {
        segment_ = segments[0];
        if (segment_) mapping_ = memory.map(segment_);
    }
    const std::int32_t has_it = mapping_ != nullptr;
    refused_ = gather(joint.thread, joint.file, joint.tag + mapped_message, mapped, has_it) !=
            MPI_SUCCESS ||
        std::find(mapped.begin(), mapped.end(), 0) != mapped.end();
    if (refused_)
        give_back();
    else
        memory_ = static_cast<std::byte*>(mapping_->address());
    return !refused_;
}

}  // namespace heddle::io
