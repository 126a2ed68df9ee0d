// SPDX-License-Identifier: BSD-3-Clause
#include "rma/accumulate.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "rma/atomic.hpp"
#include "rma/control.hpp"
#include "rma/elements.hpp"

namespace heddle::rma {
namespace {

using core::Thread;
using objects::Builtin;
using objects::Datatype;
using objects::Operation;
using objects::Place;
using objects::Window;

bool is_mapped(const Window& window) noexcept {
    return window.flavor == MPI_WIN_FLAVOR_ALLOCATE || window.flavor == MPI_WIN_FLAVOR_SHARED;
}

std::string name_of_type(const Datatype& type) {
    return type.name.empty() ? "a derived datatype" : type.name;
}

ElementOperation operation_on(const Operation& operation, const Datatype& element) noexcept {
    const objects::Kernel kernel = objects::kernel_of(operation.builtin, element);
    const bool integer = operation.builtin == Builtin::sum &&
        objects::kernel_of(Builtin::bit_and, element) != nullptr;
    return {operation.builtin, kernel, static_cast<std::uint64_t>(element.size), element.extent,
            integer};
}

int undefined(Thread& thread, Window& window, const Operation& operation, const Datatype& type) {
    return objects::fail(thread, window, MPI_ERR_OP,
                         std::string("argument op: ") + operation.name + " is not defined for " +
                             name_of_type(type));
}

int mixed(Thread& thread, Window& window, const char* argument) {
    return objects::fail(thread, window, MPI_ERR_TYPE,
                         std::string("argument ") + argument +
                             ": an accumulate needs data of one predefined datatype");
}

/// Elements side by side in the three places; those of the origin and the result may be missing.
struct Piece {
    Place target;
    const std::byte* origin;
    std::byte* result;
    std::int64_t count;
};

std::size_t bytes_of(const ElementOperation& operation, std::int64_t count) noexcept {
    return static_cast<std::size_t>((count - 1) * operation.step) + operation.bytes;
}

void apply_atomically(const ElementOperation& operation, const Piece& piece) noexcept {
    const auto at = [&](auto* begin, std::int64_t i) {
        return begin == nullptr ? nullptr : begin + i * operation.step;
    };
    for (std::int64_t i = 0; i < piece.count; ++i)
        apply_to_element(
            operation, objects::moved(piece.target, static_cast<std::uint64_t>(i), operation.step),
            at(piece.origin, i), at(piece.result, i));
}

/// Of elements that end in padding, which may be no memory behind the last one: kernels see copies.
void apply_to_padded(const ElementOperation& operation, const Piece& piece) noexcept {
    constexpr std::size_t largest = 2 * sizeof(long double);
    for (std::int64_t i = 0; i < piece.count; ++i) {
        const std::int64_t at = i * operation.step;
        alignas(largest) std::byte origin[largest] = {}, changed[largest] = {};
        auto* target = reinterpret_cast<std::byte*>(piece.target) + at;
        std::memcpy(changed, target, operation.bytes);
        if (piece.result != nullptr) std::memcpy(piece.result + at, changed, operation.bytes);
        if (operation.builtin == Builtin::no_op) continue;
        std::memcpy(origin, piece.origin + at, operation.bytes);
        operation.kernel(origin, changed, 1);
        std::memcpy(target, changed, operation.bytes);
    }
}

/// By the holder of the target's lock.
void apply_in_place(const ElementOperation& operation, const Piece& piece) noexcept {
    if (operation.step != static_cast<std::int64_t>(operation.bytes))
        return apply_to_padded(operation, piece);
    auto* target = reinterpret_cast<std::byte*>(piece.target);
    if (piece.result != nullptr)
        std::memmove(piece.result, target, bytes_of(operation, piece.count));
    if (operation.builtin != Builtin::no_op)
        operation.kernel(piece.origin, target, static_cast<std::size_t>(piece.count));
}

/// The same in another process. False: the kernel refuses.
bool apply_remotely(const p2p::PeerMemory& memory, std::int32_t process,
                    const ElementOperation& operation, Piece piece) {
    const std::size_t bytes = bytes_of(operation, piece.count);
    std::vector<std::byte> copy(static_cast<std::size_t>(piece.count * operation.step));
    if (!memory.read(process, copy.data(), piece.target, bytes)) return false;
    const Place there = piece.target;
    piece.target = reinterpret_cast<Place>(copy.data());
    apply_in_place(operation, piece);
    return operation.builtin == Builtin::no_op || memory.write(process, there, copy.data(), bytes);
}

/// Where an accumulate's elements are changed: atomic to each other whoever changes them.
class Changing {
public:
    Changing(Thread& thread, Window& window, const Remote& there, const Spot& spot,
             const ElementOperation& operation) noexcept
        : thread_(thread), window_(window), rank_(there.rank), spot_(spot), operation_(operation) {}

    /// False: the kernel refuses.
    bool apply(const Piece& piece) {
        if (is_mapped(window_) && operation_.is_atomic_at(piece.target)) {
            apply_atomically(operation_, piece);
            return true;
        }
        std::lock_guard guard(gate_of(window_, rank_).accumulate);
        if (!spot_.direct)
            return apply_remotely(thread_.engine->peer_memory(), spot_.target->process, operation_,
                                  piece);
        apply_in_place(operation_, piece);
        return true;
    }

private:
    Thread& thread_;
    Window& window_;
    const std::int32_t rank_;
    const Spot& spot_;
    const ElementOperation& operation_;
};

/// The runs of an argument that may be missing, and a cursor through them.
class OptionalRuns {
public:
    OptionalRuns(const Local* data, std::int64_t step) {
        if (data == nullptr) return;
        runs_.emplace(*data->type, reinterpret_cast<Place>(data->address), data->count);
        cursor_.emplace(*runs_, step);
    }
    bool has_room(std::int64_t count) const noexcept { return !runs_ || runs_->count() >= count; }
    std::int64_t count() const noexcept { return runs_->count(); }
    std::int64_t left(std::int64_t otherwise) const noexcept {
        return cursor_ ? std::min(cursor_->left(), otherwise) : otherwise;
    }
    std::byte* place() const noexcept {
        return cursor_ ? reinterpret_cast<std::byte*>(cursor_->place()) : nullptr;
    }
    void pass(std::int64_t count) noexcept {
        if (cursor_) cursor_->pass(count);
    }

private:
    std::optional<Runs> runs_;
    std::optional<Cursor> cursor_;
};

int apply_all(Thread& thread, Window& window, const ElementOperation& operation,
              const Local* origin, const Local* result, const Remote& there, const Spot& spot) {
    const Runs targets(*there.type, spot.place, there.count);
    OptionalRuns given(origin, operation.step), wanted(result, operation.step);
    // What is given may be less than the target takes; without anything given, the target says how much.
    std::int64_t left = origin == nullptr ? targets.count() : given.count();
    if (left > targets.count() || !wanted.has_room(left))
        return objects::fail(thread, window, MPI_ERR_TRUNCATE,
                             "target " + name_of(there) + ": " + std::to_string(left) +
                                 " elements do not fit into the other side");
    Cursor target(targets, operation.step);
    Changing changing(thread, window, there, spot, operation);
    while (left > 0) {
        const std::int64_t some = wanted.left(given.left(std::min(left, target.left())));
        if (!changing.apply({target.place(), given.place(), wanted.place(), some}))
            return not_there(thread, window, there);
        target.pass(some);
        given.pass(some);
        wanted.pass(some);
        left -= some;
    }
    return MPI_SUCCESS;
}

/// The element of the caller's data must be as large as the target's.
int check_element(Thread& thread, Window& window, const Local* local, const Datatype& element,
                  const char* argument) {
    if (local == nullptr || local->type == &element) return MPI_SUCCESS;
    const Datatype* mine = element_of(*thread.process, *local->type);
    if (mine == nullptr) return mixed(thread, window, argument);
    if (mine->size == element.size && mine->extent == element.extent) return MPI_SUCCESS;
    return objects::fail(thread, window, MPI_ERR_TYPE,
                         std::string("argument ") + argument + ": made of " + name_of_type(*mine) +
                             ", when the target is of " + name_of_type(element));
}

int refuse_users(Thread& thread, Window& window, const Operation& operation) {
    return objects::fail(thread, window, MPI_ERR_OP,
                         std::string("argument op: ") + operation.name +
                             ", but accumulates take predefined operations only");
}

/// One element whose place the processor can change; 0: none, or something is wrong.
[[gnu::always_inline]] inline Place atomic_place(const Window& window, const Remote& there,
                                                 const ElementOperation& operation) noexcept {
    std::uint64_t bytes = 0;
    if (!is_mapped(window)) return 0;
    const auto place = reinterpret_cast<Place>(dense_place(window, there, bytes));
    return operation.is_atomic_at(place) ? place : 0;
}

/// False: the kernel refuses.
bool swap_under_lock(Thread& thread, Window& window, const Remote& there, const Spot& spot,
                     const std::byte* origin, const std::byte* compare, std::byte* result) {
    const auto bytes = static_cast<std::uint64_t>(there.type->size);
    const auto is_expected = [&] { return std::memcmp(result, compare, bytes) == 0; };
    std::lock_guard guard(gate_of(window, there.rank).accumulate);
    if (spot.direct) {
        auto* place = reinterpret_cast<std::byte*>(spot.place);
        std::memmove(result, place, bytes);
        if (is_expected()) std::memcpy(place, origin, bytes);
        return true;
    }
    const p2p::PeerMemory& memory = thread.engine->peer_memory();
    const std::int32_t process = spot.target->process;
    return memory.read(process, result, spot.place, bytes) &&
        (!is_expected() || memory.write(process, spot.place, origin, bytes));
}

}  // namespace

int accumulate(Thread& thread, Window& window, const Operation& operation, const Local* origin,
               const Local* result, const Remote& there) {
    if (operation.builtin == Builtin::none) return refuse_users(thread, window, operation);
    Spot spot;
    if (const int error = locate(thread, window, there, spot)) return error;
    if (there.count == 0 || there.type->size == 0) return MPI_SUCCESS;
    const Datatype* element = element_of(*thread.process, *there.type);
    if (element == nullptr) return mixed(thread, window, "target_datatype");
    const ElementOperation each = operation_on(operation, *element);
    if (each.kernel == nullptr) return undefined(thread, window, operation, *element);
    if (const int error = check_element(thread, window, origin, *element, "origin_datatype"))
        return error;
    if (const int error = check_element(thread, window, result, *element, "result_datatype"))
        return error;
    thread.windows.window_accumulates.add();
    return apply_all(thread, window, each, origin, result, there, spot);
}

int fetch_and_op(Thread& thread, Window& window, const Operation& operation,
                 const std::byte* origin, std::byte* result, const Remote& there) {
    if (operation.builtin != Builtin::none && objects::is_predefined(*there.type)) [[likely]] {
        const ElementOperation each = operation_on(operation, *there.type);
        const Place place = atomic_place(window, there, each);
        if (place != 0 && each.kernel != nullptr) [[likely]] {
            apply_to_element(each, place, origin, result);
            thread.windows.window_accumulates.add();
            return MPI_SUCCESS;
        }
    }
    const Local given{const_cast<std::byte*>(origin), 1, there.type};  // only read
    const Local wanted{result, 1, there.type};
    return accumulate(thread, window, operation,
                      operation.builtin == Builtin::no_op ? nullptr : &given, &wanted, there);
}

int compare_and_swap(Thread& thread, Window& window, const std::byte* origin,
                     const std::byte* compare, std::byte* result, const Remote& there) {
    Spot spot;
    if (const int error = locate(thread, window, there, spot)) return error;
    const auto bytes = static_cast<std::uint64_t>(there.type->size);
    thread.windows.window_accumulates.add();
    const ElementOperation each{Builtin::replace, nullptr, bytes, there.type->extent, false};
    if (is_mapped(window) && each.is_atomic_at(spot.place)) {
        compare_and_swap_element(bytes, spot.place, origin, compare, result);
        return MPI_SUCCESS;
    }
    return swap_under_lock(thread, window, there, spot, origin, compare, result)
        ? MPI_SUCCESS
        : not_there(thread, window, there);
}

}  // namespace heddle::rma
