// SPDX-License-Identifier: BSD-3-Clause
#include "io/shared_pointer.hpp"

#include <utility>

#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "rma/accumulate.hpp"
#include "rma/far_targets.hpp"
#include "rma/locking.hpp"
#include "rma/making.hpp"

namespace heddle::io {

SharedPointer::~SharedPointer() {
    word_ = nullptr;
    mapping_ = nullptr;
    if (segment_ && communicator_.rank == 0) process_.node.segments().give(segment_);
}

int SharedPointer::begin(core::Thread& thread, const node::Segment& segment) {
    if (process_.share_memory(communicator_.group->processes)) {
        segment_ = segment;
        if (segment_) mapping_ = process_.node.segments().map(segment_);
        if (mapping_ != nullptr)
            word_ = static_cast<std::atomic<std::int64_t>*>(mapping_->address());
        return MPI_SUCCESS;  // the caller asks whether all have it
    }
    const std::int64_t bytes = communicator_.rank == 0 ? sizeof(std::int64_t) : 0;
    if (const int error = rma::make(thread, communicator_,
                                    {.flavor = MPI_WIN_FLAVOR_ALLOCATE, .bytes = bytes}, window_))
        return error;
    if (bytes != 0) *static_cast<std::int64_t*>(window_->base) = 0;
    return rma::lock_all(thread, *window_, 0);
}

bool SharedPointer::is_there() const noexcept { return word_ != nullptr || window_ != nullptr; }

int SharedPointer::end(core::Thread& thread) {
    if (window_ == nullptr) return MPI_SUCCESS;
    if (const int error = rma::unlock_all(thread, *window_)) return error;
    return rma::free(thread, *std::exchange(window_, nullptr));
}

int SharedPointer::in_window(core::Thread& thread, MPI_Op operation, std::int64_t operand,
                             std::int64_t& before) {
    const rma::Remote there{0, 0, 1, process_.datatype(MPI_INT64_T)};
    if (const int error = rma::fetch_and_op(thread, *window_, *process_.operation(operation),
                                            reinterpret_cast<const std::byte*>(&operand),
                                            reinterpret_cast<std::byte*>(&before), there))
        return error;
    return rma::flush_far(thread, *window_, 0);
}

int SharedPointer::fetch_add(core::Thread& thread, std::int64_t etypes, std::int64_t& before) {
    if (word_ == nullptr) return in_window(thread, MPI_SUM, etypes, before);
    before = word_->fetch_add(etypes, acq_rel);
    return MPI_SUCCESS;
}

int SharedPointer::store(core::Thread& thread, std::int64_t etypes) {
    std::int64_t before = 0;
    if (word_ == nullptr) return in_window(thread, MPI_REPLACE, etypes, before);
    word_->store(etypes, release);
    return MPI_SUCCESS;
}

}  // namespace heddle::io
