// SPDX-License-Identifier: BSD-3-Clause
#include "io/phases.hpp"

#include <algorithm>

namespace heddle::io {
namespace {

/// Up to so many bytes between two pieces are read rather than left out.
constexpr std::uint64_t gap_to_read = 65536;

}  // namespace

Phases::Bytes Phases::data_in(const Span& span) const noexcept {
    const Part& part = joint_.part;
    const objects::Endless data = part.data();
    const auto clamped = [&](std::int64_t place) {
        return std::clamp(data.before(place), part.from, part.from + part.bytes);
    };
    const std::uint64_t from = clamped(span.begin);
    return {from - part.from, clamped(span.end) - from};
}

void Phases::fill(const Bytes& bytes, Parcel& parcel) noexcept try {
    const Part& part = joint_.part;
    parcel.make_list(Sections(part.data(), part.from + bytes.from, bytes.bytes));
    parcel.head.bytes = bytes.bytes;
    parcel.data = joint_.stream.dense(bytes.from);
    if (parcel.data != nullptr) return;
    parcel.data = parcel.room();
    if (joint_.writes) joint_.stream.pack(bytes.from, parcel.data, bytes.bytes);
} catch (const std::bad_alloc&) {
    note_no_memory();
    parcel.clear();
}

void Phases::send_list(Messages& messages, Parcel& parcel, std::int32_t aggregator) noexcept {
    messages.send(&parcel.head, sizeof parcel.head, aggregator, joint_.tag + list_message);
    if (parcel.has_list())
        messages.send(parcel.sections().data(), parcel.sections().size_bytes(), aggregator,
                      joint_.tag + list_message);
    counted_.bytes += parcel.head.bytes;
}

void Phases::collect_lists(const Span& span) {
    for (Parcel& parcel : in_) parcel.clear();
    Messages messages = this->messages();
    each_other(span, [&](Parcel& parcel, std::int32_t rank) {
        messages.receive(&parcel.head, sizeof parcel.head, rank, joint_.tag + list_message);
    });
    finish(messages);
    each_other(span, [&](Parcel& parcel, std::int32_t rank) {
        if (!parcel.has_list()) return;
        try {
            const std::span<Section> list = parcel.list_to_come();
            messages.receive(list.data(), list.size_bytes(), rank, joint_.tag + list_message);
        } catch (const std::bad_alloc&) {
            note_no_memory();
            messages.lose(rank, joint_.tag + list_message);
            parcel.forget_sections();
        }
    });
    finish(messages);
}

void Phases::cover_all(Parcel& mine) {
    sections_.clear();
    const auto add = [&](Parcel& parcel) {
        const std::span<Section> list = parcel.sections();
        sections_.insert(sections_.end(), list.begin(), list.end());
    };
    add(mine);
    for (Parcel& parcel : in_) add(parcel);
    join_neighbours(sections_);
    covered_.expect(sections_);
    covered_.cover(sections_);
}

void Phases::cover(Parcel& mine) noexcept try { cover_all(mine); } catch (const std::bad_alloc&) {
    note_no_memory();
    covered_.uncover();
}

void Phases::write(Window& window) {
    InFileSystem there(joint_.thread, joint_.file, window.begin(), window.size());
    window.each_run(0, [&](std::int64_t at, std::uint64_t bytes) {
        const Moved moved = there.write(at, window.at(at), bytes);
        if (moved.error != 0) note(Failure::of_system(moved.error, at, bytes));
        return moved.error == 0;
    });
    in_system_ += there.so_far();
    ++counted_.windows;
}

void Phases::read(Window& window) {
    InFileSystem there(joint_.thread, joint_.file, window.begin(), window.size());
    window.each_run(gap_to_read, [&](std::int64_t at, std::uint64_t bytes) {
        const Moved moved = there.read(at, window.at(at), bytes);
        if (moved.error != 0 || moved.bytes != bytes)
            note(moved.error != 0
                     ? Failure::of_system(moved.error, at, bytes)
                     : Failure::of_class(MPI_ERR_IO, "the file has become shorter meanwhile"));
        return true;
    });
    in_system_ += there.so_far();
    ++counted_.windows;
}

void Phases::finish(Messages& messages) noexcept {
    messages.finish();
    if (messages.failed)
        note(Failure::of_class(MPI_ERR_OTHER, "a message between the processes has failed"));
}

}  // namespace heddle::io
