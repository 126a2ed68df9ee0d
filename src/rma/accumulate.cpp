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
#include "rma/far_targets.hpp"
#include "rma/held.hpp"
#include "rma/piece.hpp"
#include "rma/remote_memory.hpp"
#include "rma/service.hpp"

namespace heddle::rma {
namespace {

using core::Thread;
using objects::Builtin;
using objects::Datatype;
using objects::Operation;
using objects::Place;
using objects::Window;

std::string name_of_type(const Datatype& type) {
    return type.name.empty() ? "a derived datatype" : type.name;
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

/// Does the work of apply_in_place() in another process. Returns false if the kernel refuses.
bool apply_remotely(const RemoteData& there, const ElementOperation& operation, Piece piece) {
    const std::size_t bytes = bytes_of(operation, piece.count);
    std::vector<std::byte> copy(static_cast<std::size_t>(piece.count * operation.step));
    if (!read_block(there, copy.data(), piece.target, bytes)) return false;
    const Place place = piece.target;
    piece.target = reinterpret_cast<Place>(copy.data());
    apply_in_place(operation, piece);
    return operation.builtin == Builtin::no_op || write_block(there, place, copy.data(), bytes);
}

/// Short pieces of one accumulate in another process. One call of the kernel reads several of them,
/// and one writes them.
class RemotePieces {
public:
    RemotePieces(const RemoteData& there, const ElementOperation& operation) noexcept
        : there_(there), operation_(operation) {}

    bool is_for(const Piece& piece) const noexcept { return room_for(piece) <= most_bytes; }
    /// Adds a piece. Returns false if the kernel refuses.
    bool add(const Piece& piece) {
        const std::size_t bytes = bytes_of(operation_, piece.count);
        if ((number_ == most || filled_ + room_for(piece) > sizeof room_) && !finish())
            return false;
        pieces_[number_] = piece;
        remote_[number_] = {reinterpret_cast<void*>(piece.target), bytes};
        here_[number_++] = {room_ + filled_, bytes};
        filled_ += room_for(piece);
        return true;
    }
    /// Applies the pieces that have been added.
    bool finish() {
        if (number_ == 0) return true;
        const std::span<const iovec> here(here_, number_), remote(remote_, number_);
        const std::int32_t process = there_.spot.target->process;
        const p2p::PeerMemory& memory = there_.thread.engine->peer_memory();
        std::lock_guard guard(state_of(there_.window, there_.rank).accumulates.mutex());
        if (!memory.read(process, here, remote)) return false;
        for (std::size_t i = 0; i < number_; ++i) {
            pieces_[i].target = reinterpret_cast<Place>(here_[i].iov_base);
            apply_in_place(operation_, pieces_[i]);
        }
        number_ = filled_ = 0;
        return operation_.builtin == Builtin::no_op || memory.write(process, remote, here);
    }

private:
    static constexpr std::size_t most = 64, alignment = 16;
    static constexpr std::size_t most_bytes = 256;  ///< of a piece

    std::size_t room_for(const Piece& piece) const noexcept {
        return (static_cast<std::size_t>(piece.count * operation_.step) + alignment - 1) /
            alignment * alignment;
    }

    const RemoteData& there_;
    const ElementOperation& operation_;
    std::size_t number_ = 0, filled_ = 0;
    Piece pieces_[most];
    iovec here_[most], remote_[most];
    alignas(alignment) std::byte room_[4096];
};

/// The changes of one accumulate, atomic to those of any process.
class Changing {
public:
    Changing(Thread& thread, Window& window, const Remote& there, const Spot& spot,
             const Datatype& element, const ElementOperation& operation) noexcept
        : there_{thread, window, there.rank, spot, element},
          operation_(operation),
          short_pieces_(there_, operation) {}
    Changing(const Changing&) = delete;
    Changing& operator=(const Changing&) = delete;

    /// Changes the elements of a piece. Returns false if the kernel refuses. finish() changes short
    /// pieces of another process's memory.
    bool apply(const Piece& piece) {
        if (there_.spot.target->mapped_by_all && operation_.is_atomic_at(piece.target)) {
            apply_atomically(state_of(there_.window, there_.rank).accumulates,
                             there_.thread.system_id, operation_, piece);
            return true;
        }
        if (there_.spot.far) {
            there_.window.far->accumulate(there_.thread, there_.rank, operation_, there_.type,
                                          piece);
            return true;
        }
        // The target takes the lock. So no thread waits for a process while it holds a lock that
        // this process may want.
        if (there_.spot.by_message)
            return there_.window.service->accumulate(there_.thread, there_.rank, operation_,
                                                     there_.type, piece);
        if (!there_.spot.direct && short_pieces_.is_for(piece)) return short_pieces_.add(piece);
        std::lock_guard guard(state_of(there_.window, there_.rank).accumulates.mutex());
        if (!there_.spot.direct) return apply_remotely(there_, operation_, piece);
        apply_in_place(operation_, piece);
        return true;
    }
    bool finish() { return short_pieces_.finish(); }

private:
    const RemoteData there_;
    const ElementOperation& operation_;
    RemotePieces short_pieces_;
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

/// Applies the operation along the runs. Returns false if the kernel refuses.
bool apply_runs(Changing&& changing, Cursor target, OptionalRuns& given, OptionalRuns& wanted,
                std::int64_t left) {
    while (left > 0) {
        const std::int64_t some = wanted.left(given.left(std::min(left, target.left())));
        if (!changing.apply({target.place(), given.place(), wanted.place(), some})) return false;
        target.pass(some);
        given.pass(some);
        wanted.pass(some);
        left -= some;
    }
    return changing.finish();
}

int apply_all(Thread& thread, Window& window, const Datatype& element,
              const ElementOperation& operation, const Local* origin, const Local* result,
              const Remote& there, const Spot& spot) {
    const Runs targets(*there.type, spot.place, there.count);
    OptionalRuns given(origin, operation.step), wanted(result, operation.step);
    // The origin may have fewer elements than the target. Without an origin, the target determines
    // the number.
    const std::int64_t left = origin == nullptr ? targets.count() : given.count();
    if (left > targets.count() || !wanted.has_room(left))
        return objects::fail(thread, window, MPI_ERR_TRUNCATE,
                             "target " + name_of(there) + ": " + std::to_string(left) +
                                 " elements do not fit into the other side");
    bool applied = false;
    {
        const InInstance held(thread, window, spot);
        applied = apply_runs({thread, window, there, spot, element, operation},
                             Cursor(targets, operation.step), given, wanted, left);
    }
    return applied ? MPI_SUCCESS : not_there(thread, window, there);
}

/// Checks that the element of the caller's data is as large as the target's.
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

/// Returns the place of one element that the processor can change. Returns 0 if there is none, or
/// if something is wrong.
[[gnu::always_inline]] inline Place atomic_place(const Window& window, const Remote& there,
                                                 const ElementOperation& operation) noexcept {
    std::uint64_t bytes = 0;
    if (!window.targets[there.rank].mapped_by_all) return 0;
    const auto place = reinterpret_cast<Place>(dense_place(window, there, bytes));
    return operation.is_atomic_at(place) ? place : 0;
}

/// Compares and swaps an element. Returns false if the kernel refuses.
bool swap(Thread& thread, Window& window, const Remote& there, const Spot& spot,
          const std::byte* origin, const std::byte* compare, std::byte* result) {
    const auto bytes = static_cast<std::uint64_t>(there.type->size);
    const ElementOperation each{Builtin::replace, nullptr, bytes, there.type->extent, false};
    const InInstance held(thread, window, spot);
    if (spot.target->mapped_by_all && each.is_atomic_at(spot.place)) {
        const RowLock::Short access(state_of(window, there.rank).accumulates, thread.system_id);
        compare_and_swap_element(bytes, spot.place, origin, compare, result);
        return true;
    }
    if (spot.far) {
        window.far->compare_and_swap(thread, there.rank, spot.place, origin, compare, result,
                                     bytes);
        return true;
    }
    if (spot.by_message)
        return window.service->compare_and_swap(thread, there.rank, spot.place, origin, compare,
                                                result, bytes);
    std::lock_guard guard(state_of(window, there.rank).accumulates.mutex());
    if (spot.direct) {
        swap_in_place(spot.place, origin, compare, result, bytes);
        return true;
    }
    const RemoteData remote{thread, window, there.rank, spot, *there.type};
    return read_block(remote, result, spot.place, bytes) &&
        (std::memcmp(result, compare, bytes) != 0 ||
         write_block(remote, spot.place, origin, bytes));
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
    const ElementOperation each = operation_on(operation.builtin, *element);
    if (each.kernel == nullptr) return undefined(thread, window, operation, *element);
    if (const int error = check_element(thread, window, origin, *element, "origin_datatype"))
        return error;
    if (const int error = check_element(thread, window, result, *element, "result_datatype"))
        return error;
    thread.windows.window_accumulates.add();
    return apply_all(thread, window, *element, each, origin, result, there, spot);
}

int fetch_and_op(Thread& thread, Window& window, const Operation& operation,
                 const std::byte* origin, std::byte* result, const Remote& there) {
    if (operation.builtin != Builtin::none && objects::is_predefined(*there.type)) [[likely]] {
        const ElementOperation each = operation_on(operation.builtin, *there.type);
        const Place place = atomic_place(window, there, each);
        if (place != 0 && each.kernel != nullptr) [[likely]] {
            const RowLock::Short access(state_of(window, there.rank).accumulates, thread.system_id);
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
    thread.windows.window_accumulates.add();
    return swap(thread, window, there, spot, origin, compare, result)
        ? MPI_SUCCESS
        : not_there(thread, window, there);
}

}  // namespace heddle::rma
