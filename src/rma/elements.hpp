// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The elements of an accumulate. They are of one predefined datatype, which the datatypes of the
/// accumulate are made of (MPI 5.0, 12.3.4).

#include <cstdint>
#include <span>
#include <vector>

#include "objects/block_copy.hpp"
#include "objects/datatype.hpp"
#include "rma/atomic.hpp"

namespace heddle::objects {
class Process;
}

namespace heddle::rma {

/// Elements in a row, an extent apart.
struct Run {
    objects::Place place;
    std::int64_t count;
};

/// Returns the effect of an operation on elements of a predefined datatype. It has no kernel if the
/// operation is not defined for this datatype.
ElementOperation operation_on(objects::Builtin operation,
                              const objects::Datatype& element) noexcept;

/// Returns the predefined datatype that `type` is made of. Returns nullptr if there are several, or
/// none.
const objects::Datatype* element_of(objects::Process& process, const objects::Datatype& type);

/// The places of the basic elements of `count` elements of a datatype. A predefined datatype needs
/// no memory of the heap.
class Runs {
public:
    Runs(const objects::Datatype& type, objects::Place place, std::int64_t count);
    std::span<const Run> all() const noexcept {
        return many_.empty() ? std::span<const Run>{&one_, 1} : std::span<const Run>{many_};
    }
    std::int64_t count() const noexcept { return count_; }

private:
    Run one_{};
    std::vector<Run> many_;
    std::int64_t count_ = 0;
};

/// A position in runs, which advances by some elements at a time.
class Cursor {
public:
    Cursor(const Runs& runs, std::int64_t step) noexcept : runs_(runs.all()), step_(step) {}
    std::int64_t left() const noexcept { return runs_.front().count - done_; }
    objects::Place place() const noexcept {
        return objects::moved(runs_.front().place, static_cast<std::uint64_t>(done_), step_);
    }
    void pass(std::int64_t count) noexcept {
        done_ += count;
        while (!runs_.empty() && left() == 0) {
            runs_ = runs_.subspan(1);
            done_ = 0;
        }
    }

private:
    std::span<const Run> runs_;
    const std::int64_t step_;
    std::int64_t done_ = 0;
};

}  // namespace heddle::rma
