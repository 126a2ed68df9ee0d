// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "coll/algorithms.hpp"
#include "coll/stage.hpp"

namespace heddle::coll {
namespace {

/// So many elements at a time that they fit into half a stage.
class Accumulation {
public:
    /// `own`: memory for it where there is no stage.
    Accumulation(Schedule& schedule, const std::byte* in, std::byte* out, std::uint64_t count,
                 std::byte* own)
        : schedule_(schedule),
          in_(in),
          out_(out),
          extent_(schedule.reduction.element_bytes),
          starts_(even_pieces(schedule, count)),
          shared_(own == nullptr),
          sum_(shared_ ? next_half(schedule) : own) {}

    void write() {
        const std::int32_t next = schedule_.after(1), previous = schedule_.before(1);
        schedule_.copy(in_ + start(schedule_.rank), place(schedule_.rank), bytes(schedule_.rank));
        for (std::int32_t turn = 1; turn < schedule_.size; ++turn) {
            const std::int32_t piece = schedule_.before(turn);
            receive(piece, previous);
            send(schedule_.before(turn - 1), next);
            schedule_.wait();
            schedule_.combine(in_ + start(piece), place(piece), bytes(piece) / extent_);
        }
        // The piece that begins with the rank after this one is complete here.
        for (std::int32_t distance = 1; distance < schedule_.size; ++distance) {
            const std::int32_t from = schedule_.before(distance);
            receive((from + 1) % schedule_.size, from);
        }
        for (std::int32_t distance = 1; distance < schedule_.size; ++distance)
            send(next, schedule_.after(distance));
        schedule_.wait();
        schedule_.copy(sum_, out_, start(schedule_.size));
    }

private:
    std::uint64_t start(std::int32_t piece) const noexcept {
        return starts_[static_cast<std::size_t>(piece)] * extent_;
    }
    std::uint64_t bytes(std::int32_t piece) const noexcept {
        return start(piece + 1) - start(piece);
    }
    std::byte* place(std::int32_t piece) const noexcept { return sum_ + start(piece); }
    // Where the place is shared, to tell that it is somebody else's turn is enough.
    void send(std::int32_t piece, std::int32_t to) {
        schedule_.send(place(piece), shared_ ? 0 : bytes(piece), to);
    }
    void receive(std::int32_t piece, std::int32_t from) {
        schedule_.receive(place(piece), shared_ ? 0 : bytes(piece), from);
    }

    Schedule& schedule_;
    const std::byte* in_;
    std::byte* out_;
    std::uint64_t extent_;
    std::span<const std::uint64_t> starts_;
    bool shared_;
    std::byte* sum_;
};

}  // namespace

void accumulated_allreduce(Schedule& schedule, const std::byte* in, std::byte* out,
                           std::uint64_t count) {
    const std::uint64_t extent = schedule.reduction.element_bytes;
    const std::uint64_t most = std::max<std::uint64_t>(half_stage_bytes / extent, 1);
    const bool shared = schedule.stage != nullptr && extent <= half_stage_bytes;
    std::byte* const own = shared ? nullptr : schedule.scratch(std::min(most, count) * extent);
    for (std::uint64_t first = 0; first < count; first += most) {
        const std::uint64_t now = std::min(most, count - first);
        Accumulation(schedule, in + first * extent, out + first * extent, now, own).write();
    }
}

}  // namespace heddle::coll
