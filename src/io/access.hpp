// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Moving the data of one process between a stream and a file, by itself (MPI 5.0, 14.4).
///
/// Writing        touches the bytes of the view and no others: gaps are stepped over.
/// Reading        takes small pieces with gaps together and drops what is between them (data sieving).
/// Memory         one buffer, as large as a hint says, where data must be packed or sieved; else none.

#include <cstdint>

#include "core/thread.hpp"
#include "io/failure.hpp"
#include "io/open_file.hpp"
#include "io/stream.hpp"
#include "io/view.hpp"

namespace heddle::io {

struct Outcome {
    std::uint64_t bytes = 0;  ///< in the file, from the first one on without a gap
    Failure failure;
};

/// The data of a view that an access is to: bytes [from, from + bytes).
struct Part {
    ViewPointer view;
    std::uint64_t from = 0;
    std::uint64_t bytes = 0;

    objects::Endless data() const noexcept { return view->data(is_tangled()); }
    std::int64_t first_place() const noexcept { return data().place(from); }
    /// Behind the last byte.
    std::int64_t end_place() const noexcept { return data().place(from + bytes - 1) + 1; }
    /// Whether a place says how many data are before it.
    bool sorted() const noexcept {
        return view->pattern.ordered && view->pattern.disjoint && !is_tangled();
    }
    /// Whether it is in several filetypes, of which one does not lie behind the other.
    bool is_tangled() const noexcept {
        return !view->pattern.repeats &&
            from + bytes > static_cast<std::uint64_t>(view->layout->size);
    }
};

/// In atomic mode under a lock of all that is between the first and the last byte.
/// `alone`: not as a part of a collective access.
Outcome write(core::Thread& thread, OpenFile& file, const Part& part, Stream& stream,
              bool alone) noexcept;
Outcome read(core::Thread& thread, OpenFile& file, const Part& part, Stream& stream,
             bool alone) noexcept;

}  // namespace heddle::io
