// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The data of an access, from the program's memory to their representation in the file and back: a
/// stream of bytes in the order of the type map.
///
/// Conversion     data in another representation than memory's are converted as a whole, before
///                they are written and after they are read. A thread of the program converts:
///                functions of the program may be called.
/// Objects        the datatype is held.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/failure.hpp"
#include "io/representation.hpp"
#include "objects/datatype.hpp"
#include "objects/process.hpp"

namespace heddle::io {

class Stream {
public:
    /// Makes a stream of `count` elements at `elements`. Throws std::bad_alloc.
    Stream(objects::Process& process, objects::Datatype& type, std::byte* elements,
           std::int64_t count, RepresentationPointer representation) noexcept;
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    /// Measures the bytes, before anything else. Returns MPI_SUCCESS, or an error class with
    /// `failure`.
    Failure measure();
    std::uint64_t bytes() const noexcept { return bytes_; }

    /// Prepare the stream before writing, and before reading.
    Failure to_file();
    void expect_file();
    /// Takes so many bytes that have been read.
    Failure from_file(std::uint64_t bytes);

    /// Returns the place of byte `from`, with the rest behind it. Returns nullptr if they do not
    /// lie side by side.
    std::byte* dense(std::uint64_t from) noexcept;
    void pack(std::uint64_t from, std::byte* to, std::uint64_t bytes) const noexcept;
    void unpack(std::uint64_t from, const std::byte* packed, std::uint64_t bytes) noexcept;

    /// Returns the bytes in memory of bytes in the file, for a status.
    std::uint64_t in_memory(std::uint64_t bytes) const noexcept;

private:
    bool converts(bool writes) const noexcept;
    Failure convert(bool writes, std::uint64_t bytes);

    objects::Process& process_;
    objects::Datatype& type_;
    std::byte* const elements_;
    const std::int64_t count_;
    const RepresentationPointer representation_;
    std::int64_t each_ = 0;  ///< bytes of an element in the file
    std::uint64_t bytes_ = 0;
    bool is_converted_ = false;  ///< the stream is `converted_`
    std::vector<std::byte> converted_;
};

}  // namespace heddle::io
