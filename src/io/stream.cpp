// SPDX-License-Identifier: BSD-3-Clause
#include "io/stream.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "objects/callback.hpp"
#include "objects/external32.hpp"

namespace heddle::io {
namespace {

/// Calls a conversion function of the program for `items` basic data, from the first one on.
template <class Count, class Function>
int call(Function* function, void* user, MPI_Datatype type, std::int64_t items, std::byte* packed,
         std::int64_t item_bytes, void* extra_state) {
    for (std::int64_t done = 0; done < items;) {
        const std::int64_t some =
            std::min<std::int64_t>(items - done, std::numeric_limits<Count>::max());
        if (const int error =
                objects::call_program(function, user, type, static_cast<Count>(some),
                                      packed + done * item_bytes, MPI_Offset{done}, extra_state))
            return error;
        done += some;
    }
    return MPI_SUCCESS;
}

}  // namespace

Stream::Stream(objects::Process& process, objects::Datatype& type, std::byte* elements,
               std::int64_t count, RepresentationPointer representation) noexcept
    : process_(process),
      type_(type),
      elements_(elements),
      count_(count),
      representation_(std::move(representation)) {
    type_.retain();
}

Stream::~Stream() { objects::drop(process_, type_); }

Failure Stream::measure() {
    each_ = type_.size;
    if (representation_->kind == Representation::Kind::external32) {
        each_ = type_.definition->external_size;
    } else if (!representation_->is_native()) {
        int error = MPI_SUCCESS;
        const auto layout = layout_in(*representation_, *type_.definition, error);
        if (!layout) return Failure::of_class(MPI_ERR_CONVERSION, "no extent of the datatype");
        each_ = layout->size;
    }
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(each_, count_, &bytes))
        return Failure::of_class(MPI_ERR_COUNT, "the data have more than 2^63 bytes");
    bytes_ = static_cast<std::uint64_t>(bytes);
    return {};
}

bool Stream::converts(bool writes) const noexcept {
    switch (representation_->kind) {
        case Representation::Kind::native: return false;
        case Representation::Kind::external32: return true;
        default:
            return writes
                ? representation_->write != nullptr || representation_->write_large != nullptr
                : representation_->read != nullptr || representation_->read_large != nullptr;
    }
}

Failure Stream::convert(bool writes, std::uint64_t bytes) {
    if (each_ == 0 || bytes == 0) return {};
    // A part of an element at the end stays as it was.
    const std::int64_t elements = static_cast<std::int64_t>(bytes) / each_;
    if (representation_->kind == Representation::Kind::external32) {
        if (writes)
            objects::pack_external(*type_.definition, elements_, elements, converted_.data());
        else
            objects::unpack_external(*type_.definition, elements_, elements, converted_.data());
        return {};
    }
    const Representation& its = *representation_;
    const std::int64_t items = elements * type_.definition->elements;
    const std::int64_t item_bytes =
        type_.definition->elements == 0 ? 0 : each_ / type_.definition->elements;
    const auto function = writes ? its.write : its.read;
    const auto large = writes ? its.write_large : its.read_large;
    const int error = function != nullptr
        ? call<int>(function, elements_, type_.handle, items, converted_.data(), item_bytes,
                    its.extra_state)
        : call<MPI_Count>(large, elements_, type_.handle, items, converted_.data(), item_bytes,
                          its.extra_state);
    if (error == MPI_SUCCESS) return {};
    return Failure::of_class(MPI_ERR_CONVERSION,
                             "the conversion function of the program has failed");
}

Failure Stream::to_file() {
    is_converted_ = converts(true);
    if (!is_converted_) return {};
    converted_.resize(bytes_);
    return convert(true, bytes_);
}

Failure Stream::from_file(std::uint64_t bytes) {
    return is_converted_ ? convert(false, bytes) : Failure{};
}

void Stream::expect_file() {
    is_converted_ = converts(false);
    if (is_converted_) converted_.resize(bytes_);
}

std::byte* Stream::dense(std::uint64_t from) noexcept {
    if (is_converted_) return converted_.data() + from;
    return type_.contiguous ? elements_ + from : nullptr;
}

void Stream::pack(std::uint64_t from, std::byte* to, std::uint64_t bytes) const noexcept {
    if (is_converted_)
        std::memcpy(to, converted_.data() + from, bytes);
    else
        objects::pack(type_, elements_, from, to, bytes);
}

void Stream::unpack(std::uint64_t from, const std::byte* packed, std::uint64_t bytes) noexcept {
    if (is_converted_)
        std::memcpy(converted_.data() + from, packed, bytes);
    else
        objects::unpack(type_, elements_, from, packed, bytes);
}

std::uint64_t Stream::in_memory(std::uint64_t bytes) const noexcept {
    if (each_ == type_.size || each_ == 0) return bytes;
    return bytes / static_cast<std::uint64_t>(each_) * static_cast<std::uint64_t>(type_.size);
}

}  // namespace heddle::io
