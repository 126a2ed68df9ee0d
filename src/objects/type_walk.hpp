// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Visits the basic types of a datatype one after the other, in the order of its type map. The
/// program of a type (layout.hpp) does not tell which bytes have which type. Any depth is allowed,
/// since the stack of types is on the heap.

#include <cstdint>
#include <vector>

#include "objects/block_copy.hpp"
#include "objects/definition.hpp"

namespace heddle::objects {

/// Calls visit(const Definition&, Place, length) for each array of a type for which
/// ends(definition) is true. The array has `length` elements, one extent apart. The walk does not
/// enter that type.
template <class Ends, class Visit>
void walk_until(const Definition& type, Place place, std::int64_t count, Ends&& ends,
                Visit&& visit) {
    struct Frame {
        const Definition* type;
        Place place;
        std::int64_t left;  ///< elements, the current one included
        std::int64_t part;  ///< the next one of the current element
    };
    std::vector<Frame> frames;
    const auto enter = [&](const Definition& inner, Place at, std::int64_t length) {
        if (length == 0 || inner.size == 0) return;
        if (ends(inner)) return visit(inner, at, length);
        frames.push_back({&inner, at, length, 0});
    };
    enter(type, place, count);
    while (!frames.empty()) {
        Frame& frame = frames.back();
        if (frame.part == frame.type->parts()) {
            frame.part = 0;
            frame.place = moved(frame.place, frame.type->extent);
            if (--frame.left == 0) frames.pop_back();
            continue;
        }
        const Part part = frame.type->part(frame.part++);
        enter(*part.type, moved(frame.place, part.displacement), part.length);
    }
}

/// Calls visit(const BasicType&, Place, length) for arrays of `length` values of a basic type.
template <class Visit>
void walk(const Definition& type, Place place, std::int64_t count, Visit&& visit) {
    walk_until(
        type, place, count, [](const Definition& inner) { return inner.basic != nullptr; },
        [&](const Definition& inner, Place at, std::int64_t length) {
            visit(*inner.basic, at, length);
        });
}

}  // namespace heddle::objects
