// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Numbers of the fields of Perfetto's messages that are written. A test compares them with
/// Perfetto's own descriptions (tests/timeline).

#include <cstdint>

namespace heddle::timeline::fields {

namespace Trace {
inline constexpr unsigned packet = 1;
}
namespace TracePacket {
inline constexpr unsigned timestamp = 8, sequence_id = 10, track_event = 11, interned = 12,
                          sequence_flags = 13, track_descriptor = 60;
inline constexpr std::uint64_t state_cleared = 1, needs_state = 2;
}  // namespace TracePacket
namespace TrackDescriptor {
inline constexpr unsigned uuid = 1, name = 2, process = 3, thread = 4, parent = 5;
}
namespace ProcessDescriptor {
inline constexpr unsigned pid = 1, name = 6;
}
namespace ThreadDescriptor {
inline constexpr unsigned pid = 1, tid = 2, name = 5;
}
namespace TrackEvent {
inline constexpr unsigned category_iid = 3, annotation = 4, type = 9, name_iid = 10, track = 11,
                          flow = 47, terminating_flow = 48;
inline constexpr std::uint64_t slice_begin = 1, slice_end = 2, instant = 3;
}  // namespace TrackEvent
namespace DebugAnnotation {
inline constexpr unsigned name_iid = 1, integer = 4, text_iid = 17;
}
namespace InternedData {
inline constexpr unsigned categories = 1, names = 2, annotations = 3, texts = 29;
}
namespace InternedEntry {
inline constexpr unsigned iid = 1, text = 2;
}

/// The category of an event that gives the number of its thread's lost events.
inline constexpr const char* lost_category = "lost";

}  // namespace heddle::timeline::fields
