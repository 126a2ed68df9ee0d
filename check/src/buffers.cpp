// SPDX-License-Identifier: BSD-3-Clause
#include "buffers.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "findings.hpp"
#include "hash.hpp"
#include "requests.hpp"

namespace heddle::check {

namespace {

constexpr std::int64_t most_hashed = 4096;  ///< bytes; longer buffers are hashed in pieces at equal
                                            ///< distances
constexpr std::int64_t piece = 64;

void add_parts(Hash& hash, const char* bytes, std::int64_t length) noexcept {
    if (length <= most_hashed) return hash.add(bytes, length);
    constexpr std::int64_t pieces = most_hashed / piece;
    for (std::int64_t i = 0; i < pieces; ++i)
        hash.add(bytes + (length - piece) / (pieces - 1) * i, piece);
    hash.add(bytes + length - piece, piece);
}

struct Range {
    std::uintptr_t begin, end;
    const Tracked* tracked;
};

/// Ranges of memory that pending operations read, or write. A few are in a vector, more are sorted
/// by their begins.
class Ranges {
public:
    void insert(const Range& range) {
        if (sorted_.empty() && row_.size() < most_in_row) return row_.push_back(range);
        for (const Range& one : row_) sort_in(one);
        row_.clear();
        sort_in(range);
    }
    void erase(std::uintptr_t begin, const Tracked& tracked) {
        for (std::size_t i = 0; i < row_.size(); ++i)
            if (row_[i].tracked == &tracked) {
                row_[i] = row_.back();
                return row_.pop_back();
            }
        auto [at, end] = sorted_.equal_range(begin);
        while (at != end && at->second.tracked != &tracked) ++at;
        if (at != end) sorted_.erase(at);
    }
    /// Returns the first range that touches [begin, end) and for which `is_meant` is true, or
    /// nullptr.
    template <class Is>
    const Tracked* find(std::uintptr_t begin, std::uintptr_t end, Is is_meant) const {
        for (const Range& one : row_)
            if (one.begin < end && begin < one.end && is_meant(*one.tracked)) return one.tracked;
        if (sorted_.empty()) return nullptr;
        for (auto at = sorted_.lower_bound(begin > longest_ ? begin - longest_ : 0);
             at != sorted_.end() && at->first < end; ++at)
            if (begin < at->second.end && is_meant(*at->second.tracked)) return at->second.tracked;
        return nullptr;
    }

private:
    static constexpr std::size_t most_in_row = 48;

    void sort_in(const Range& range) {
        if (sorted_.empty()) longest_ = 0;
        longest_ = std::max(longest_, range.end - range.begin);
        sorted_.emplace(range.begin, range);
    }

    std::vector<Range> row_;
    std::multimap<std::uintptr_t, Range> sorted_;
    std::uintptr_t longest_ = 0;  ///< the longest range since the set was empty
};

/// The ranges in use. They are never destroyed: threads of the program may call MPI to the end.
struct Map {
    std::mutex guard;
    Ranges reads, writes;
};
Map& in_use() {
    static Map& all = *new Map;
    return all;
}

struct Conflict {
    bool found = false, writes = false;
    Function function{};
    Place place = 0;
};

/// Returns the conflict of the buffer with others. The caller holds in_use().guard.
Conflict conflict_of(const Buffer& buffer, bool writes) {
    Map& all = in_use();
    const std::uintptr_t begin = buffer.begin(), end = buffer.end();
    const Tracked* other = all.writes.find(
        begin, end, [&](const Tracked& one) { return buffer.overlaps(one.uses.writes); });
    const bool writes_too = other != nullptr;
    if (other == nullptr && writes)
        other = all.reads.find(begin, end,
                               [&](const Tracked& one) { return buffer.overlaps(one.uses.reads); });
    if (other == nullptr) return {};
    return {true, writes_too, other->function, other->place};
}

void tell_conflict(const Call& call, const Conflict& conflict, bool writes) {
    if (!conflict.found) return;
    const std::string other =
        std::string(name_of(conflict.function)) + " at " + location_of(conflict.place);
    if (writes && conflict.writes)
        tell("buffer-overlap", call.name(), call.place(),
             "receives into memory into which " + other + " receives, which is not complete",
             "Give each receive memory of its own, or complete the first one before.");
    else if (writes)
        tell("buffer-overlap", call.name(), call.place(),
             "receives into memory that " + other + " still reads",
             "Complete the send before its buffer is written.");
    else
        tell("buffer-overlap", call.name(), call.place(),
             "reads memory into which " + other + " receives, which is not complete",
             "Complete the receive before its buffer is read.");
}

void insert(Ranges& ranges, const Buffer& buffer, const Tracked& tracked) {
    if (!buffer.is_empty()) ranges.insert({buffer.begin(), buffer.end(), &tracked});
}
void erase(Ranges& ranges, const Buffer& buffer, const Tracked& tracked) {
    if (!buffer.is_empty()) ranges.erase(buffer.begin(), tracked);
}

}  // namespace

Buffer::Buffer(const void* buffer, MPI_Count elements, MPI_Datatype datatype) {
    if (buffer == MPI_IN_PLACE || elements <= 0) return;
    const auto& found = type_of(datatype);
    if (found == nullptr || found->signature.bytes == 0) return;
    address = static_cast<const char*>(buffer);
    count = elements;
    type = found;
    if (begin() < 4096) type = nullptr;  // the address is no memory, and the library refuses it
}

std::uintptr_t Buffer::begin() const noexcept {
    const std::int64_t last = type->extent * (count - 1);
    return reinterpret_cast<std::uintptr_t>(address) +
        static_cast<std::uintptr_t>(type->low + std::min<std::int64_t>(last, 0));
}
std::uintptr_t Buffer::end() const noexcept {
    const std::int64_t last = type->extent * (count - 1);
    return reinterpret_cast<std::uintptr_t>(address) +
        static_cast<std::uintptr_t>(type->high + std::max<std::int64_t>(last, 0));
}

std::uint64_t Buffer::hash() const noexcept {
    Hash hash;
    if (type->dense) {
        add_parts(hash, address + type->low, count * type->signature.bytes);
        return hash.value();
    }
    if (count == 1 && type->stride != 0 && type->blocks.front().length == 8) {
        const auto blocks = static_cast<std::int64_t>(type->blocks.size());
        const std::int64_t every = std::max<std::int64_t>(1, blocks / (most_hashed / 8));
        hash.add_words(address + type->blocks.front().offset, every * type->stride, blocks / every);
        return hash.value();
    }
    const std::int64_t elements = std::max<std::int64_t>(1, most_hashed / type->signature.bytes);
    const std::int64_t step = std::max<std::int64_t>(1, count / elements);
    const std::size_t blocks = std::max<std::size_t>(1, type->blocks.size() / 256);
    for (std::int64_t i = 0; i < count; i += step)
        for (std::size_t k = 0; k < type->blocks.size(); k += blocks) {
            const Block& block = type->blocks[k];
            hash.add(address + i * type->extent + block.offset,
                     std::min(block.length, most_hashed));
        }
    return hash.value();
}

namespace {

/// Returns true if [begin, end) touches a block of `buffer`, which has blocks at equal distances.
bool range_meets(std::uintptr_t begin, std::uintptr_t end, const Buffer& buffer) noexcept {
    const auto stride = static_cast<std::uintptr_t>(buffer.type->stride);
    const auto length = static_cast<std::uintptr_t>(buffer.type->blocks.front().length);
    const std::uintptr_t first = buffer.begin();
    const std::uintptr_t from = begin > first ? begin - first : 0;
    // The block that contains it, or the one before.
    const std::uintptr_t at = from / stride * stride;
    if (from < at + length) return true;
    const std::uintptr_t next = first + at + stride;
    return next < end && next < buffer.end();
}

/// Returns the same for two such buffers of one distance, side by side or one in the other.
bool rows_meet(const Buffer& one, const Buffer& other) noexcept {
    const std::int64_t stride = one.type->stride;
    const std::int64_t apart = static_cast<std::int64_t>(other.begin() - one.begin()) % stride;
    const std::int64_t phase = apart < 0 ? apart + stride : apart;
    return phase < one.type->blocks.front().length ||
        phase + other.type->blocks.front().length > stride;
}

}  // namespace

bool Buffer::overlaps(const Buffer& other) const noexcept {
    if (end() <= other.begin() || other.end() <= begin()) return false;
    if (type->dense && other.type->dense) return true;
    constexpr std::int64_t most_pairs = 1 << 12;
    const auto regular = [](const Buffer& buffer) {
        return buffer.count == 1 && buffer.type->stride != 0;
    };
    if (regular(*this) && other.type->dense) return range_meets(other.begin(), other.end(), *this);
    if (regular(other) && type->dense) return range_meets(begin(), end(), other);
    if (regular(*this) && regular(other) && type->stride == other.type->stride)
        return rows_meet(*this, other);
    const auto parts = [](const Buffer& buffer) {
        return buffer.type->dense
            ? 1
            : buffer.count * static_cast<std::int64_t>(buffer.type->blocks.size());
    };
    // Nothing is said if the blocks are unknown, or too many.
    if (parts(*this) == 0 || parts(other) == 0 || parts(*this) * parts(other) > most_pairs)
        return false;
    const auto block = [](const Buffer& buffer, std::int64_t i, std::uintptr_t& begin,
                          std::uintptr_t& end) {
        if (buffer.type->dense) {
            begin = buffer.begin();
            end = buffer.end();
            return;
        }
        const auto blocks = static_cast<std::int64_t>(buffer.type->blocks.size());
        const Block& one = buffer.type->blocks[static_cast<std::size_t>(i % blocks)];
        begin = reinterpret_cast<std::uintptr_t>(buffer.address) +
            static_cast<std::uintptr_t>(i / blocks * buffer.type->extent + one.offset);
        end = begin + static_cast<std::uintptr_t>(one.length);
    };
    for (std::int64_t i = 0; i < parts(*this); ++i)
        for (std::int64_t k = 0; k < parts(other); ++k) {
            std::uintptr_t begin, end, other_begin, other_end;
            block(*this, i, begin, end);
            block(other, k, other_begin, other_end);
            if (begin < other_end && other_begin < end) return true;
        }
    return false;
}

void occupy(const Call& call, Tracked& tracked) {
    const Buffer &reads = tracked.uses.reads, &writes = tracked.uses.writes;
    Conflict of_reads, of_writes;
    {
        Map& all = in_use();
        const std::lock_guard held(all.guard);
        if (!reads.is_empty()) of_reads = conflict_of(reads, false);
        if (!writes.is_empty()) of_writes = conflict_of(writes, true);
        insert(all.reads, reads, tracked);
        insert(all.writes, writes, tracked);
    }
    tracked.overlaps = of_reads.found;
    tell_conflict(call, of_reads, false);
    tell_conflict(call, of_writes, true);
}

void vacate(Tracked& tracked) {
    if (tracked.uses.reads.is_empty() && tracked.uses.writes.is_empty()) return;
    Map& all = in_use();
    const std::lock_guard held(all.guard);
    erase(all.reads, tracked.uses.reads, tracked);
    erase(all.writes, tracked.uses.writes, tracked);
}

void look_for_overlap(const Call& call, const Buffer& buffer, bool writes) {
    if (buffer.is_empty()) return;
    Conflict conflict;
    {
        const std::lock_guard held(in_use().guard);
        conflict = conflict_of(buffer, writes);
    }
    tell_conflict(call, conflict, writes);
}

}  // namespace heddle::check
