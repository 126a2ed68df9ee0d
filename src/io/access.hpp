// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Moving the data of one process between a stream and a file, by itself (MPI 5.0, 14.4).
///
/// Writing        touches the bytes of the view and no others: it steps over gaps.
/// Reading        takes small pieces with gaps together and drops the data between them (data
///                sieving).
/// Memory         one buffer of the size of a hint if data must be packed or sieved; otherwise
///                none.

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

/// The data of a view that an access moves: bytes [from, from + bytes).
struct Part {
    ViewPointer view;
    std::uint64_t from = 0;
    std::uint64_t bytes = 0;

    objects::Endless data() const noexcept { return view->data(is_tangled()); }
    std::int64_t first_place() const noexcept { return data().place(from); }
    /// Returns the place behind the last byte.
    std::int64_t end_place() const noexcept { return data().place(from + bytes - 1) + 1; }
    /// Returns whether a place determines how many data are before it.
    bool sorted() const noexcept {
        return view->pattern.ordered && view->pattern.disjoint && !is_tangled();
    }
    /// Returns whether the part is in several filetypes, and one does not lie behind the other.
    bool is_tangled() const noexcept {
        return !view->pattern.repeats &&
            from + bytes > static_cast<std::uint64_t>(view->layout->size);
    }
};

/// Move the data of a part. In atomic mode they hold a lock of everything between the first and the
/// last byte. `alone` says that the access is not a part of a collective one.
Outcome write(core::Thread& thread, OpenFile& file, const Part& part, Stream& stream,
              bool alone) noexcept;
Outcome read(core::Thread& thread, OpenFile& file, const Part& part, Stream& stream,
             bool alone) noexcept;

}  // namespace heddle::io
