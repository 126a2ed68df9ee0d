// SPDX-License-Identifier: BSD-3-Clause
#include "rma/far_service.hpp"

#include <array>
#include <cstring>
#include <mutex>
#include <utility>

#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "p2p/operations.hpp"
#include "rma/control.hpp"
#include "rma/dynamic.hpp"
#include "rma/elements.hpp"
#include "rma/meeting.hpp"
#include "rma/piece.hpp"
#include "rma/transfer.hpp"
#include "rma/whole_locking.hpp"

namespace heddle::rma {

using core::Thread;
using objects::Place;
using p2p::AccessFields;

/// A message, as the thread finds it.
struct FarService::Question {
    p2p::ProgressCall& call;
    std::int32_t process;
    std::int32_t rank;  ///< in the window
    AccessFields fields;
    const std::byte* data;
    std::uint64_t bytes;  ///< of data

    p2p::Engine& engine() const noexcept { return *call.thread.engine; }
};

/// Old values, kept until they have left.
class FarService::Result final : public p2p::Listener {
public:
    explicit Result(std::unique_ptr<std::byte[]> data) noexcept : data_(std::move(data)) {}
    const std::byte* data() const noexcept { return data_.get(); }
    void completed(p2p::ProgressCall& call, core::Request& request) noexcept override {
        call.thread.engine->requests().free(call.thread, request);
        delete this;
    }

private:
    const std::unique_ptr<std::byte[]> data_;
};

/// A question about the lock, which waits for a thread that holds no lock of the library.
class FarService::LockQuestion final : public core::Work {
public:
    LockQuestion(std::shared_ptr<FarService> service, const Question& question) noexcept
        : service_(std::move(service)),
          process_(question.process),
          rank_(question.rank),
          fields_(question.fields) {}

    void run(Thread& thread) noexcept override {
        const std::unique_ptr<LockQuestion> self(this);
        p2p::ProgressCall call(thread);
        try {
            deal_with(thread, call);
        } catch (const std::bad_alloc&) {
            objects::end_job(*thread.process, 1, "no memory to serve a window");
        }
        p2p::finish(call);
    }

private:
    void deal_with(Thread& thread, p2p::ProgressCall& call) {
        const auto kind = static_cast<FarKind>(fields_.kind);
        const auto answer = [&](const auto& content) {
            thread.engine->far().answer_briefly(call, process_, fields_.receiver, &content,
                                                sizeof content);
        };
        if (kind == FarKind::whole)
            return answer(service_->whole(thread, rank_, static_cast<WholeStep>(fields_.length)));
        const bool exclusive = kind == FarKind::lock_exclusive || kind == FarKind::unlock_exclusive;
        if (kind == FarKind::lock_shared || kind == FarKind::lock_exclusive)
            return answer(service_->lock(thread, rank_, exclusive, fields_));
        service_->unlock(thread, exclusive, static_cast<std::uint32_t>(fields_.address));
        thread.engine->far().acknowledge(call, process_, fields_.receiver);
    }

    const std::shared_ptr<FarService> service_;
    const std::int32_t process_, rank_;
    const AccessFields fields_;
};
static_assert(sizeof(LockAnswer) <= p2p::Far::brief);
static_assert(sizeof(FoundRegion) <= p2p::Far::brief);

FarService::FarService(objects::Window& window)
    : window_(window),
      rank_(window.communicator->rank),
      refused_(static_cast<std::size_t>(window.ranks)) {}

void FarService::asked(p2p::ProgressCall& call, std::int32_t process,
                       const transport::Header& header) {
    const Question question{call,
                            process,
                            header.source,
                            p2p::fields_of<AccessFields>(header),
                            header.payload() + sizeof(AccessFields),
                            header.length - sizeof(AccessFields)};
    switch (static_cast<FarKind>(question.fields.kind)) {
        case FarKind::put: return put(question);
        case FarKind::get: return get(question);
        case FarKind::accumulate: return accumulate(question);
        case FarKind::compare_and_swap: return compare_and_swap(question);
        case FarKind::flush: return flush(question);
        case FarKind::find_region: return find_region(question);
        default:
            return call.put_off(
                *std::make_unique<LockQuestion>(shared_from_this(), question).release());
    }
}

/// Returns the place of the bytes. Returns nullptr unless all of them are in the window.
std::byte* FarService::find(std::uint64_t address, std::uint64_t bytes) const noexcept {
    if (window_.flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return is_attached(window_, rank_, address, bytes) ? reinterpret_cast<std::byte*>(address)
                                                           : nullptr;
    const auto size = static_cast<std::uint64_t>(window_.bytes);
    if (address > size || bytes > size - address) return nullptr;
    return static_cast<std::byte*>(window_.base) + address;
}

/// Refuses a question. If the process waits for data, the answer says that they do not come.
/// Otherwise the next flush says it.
void FarService::refuse(const Question& question, std::uint64_t bytes) {
    if (question.fields.receiver != 0)
        question.engine().far().refuse(question.call, question.process,
                                       {question.fields.receiver, bytes});
    else
        ++refused_[static_cast<std::size_t>(question.rank)];
}

// --- data ---

void FarService::put(const Question& question) {
    std::byte* place = find(question.fields.address + question.fields.offset, question.bytes);
    if (place == nullptr) return refuse(question, 0);
    copy_dense(place, question.data, question.bytes);
}

/// Sends data out of the window without a copy. The asking process changes nothing there before
/// they have arrived.
void FarService::get(const Question& question) const {
    const AccessFields& fields = question.fields;
    const std::byte* place = find(fields.address + fields.offset, fields.length);
    if (place == nullptr)
        return question.engine().far().refuse(question.call, question.process,
                                              {fields.receiver, fields.length});
    question.engine().far().answer(question.call, question.process,
                                   {fields.receiver, fields.offset}, fields.length,
                                   place - fields.offset, nullptr);
}

/// Sends an answer. The question has changed memory, so that it cannot be asked again: without
/// memory for the answer, the job ends.
void FarService::answer(const Question& question, std::unique_ptr<std::byte[]> data,
                        std::uint64_t bytes) noexcept try {
    p2p::Engine& engine = question.engine();
    if (bytes <= p2p::Far::brief)
        return engine.far().answer_briefly(question.call, question.process,
                                           question.fields.receiver, data.get(), bytes);
    Thread& thread = question.call.thread;
    auto result = std::make_unique<Result>(std::move(data));
    core::Request* left = engine.requests().take(thread, result->as_waiter());
    if (left == nullptr) throw std::bad_alloc();
    engine.far().answer(question.call, question.process, {question.fields.receiver, 0}, bytes,
                        result->data(), left);
    (void)result.release();  // it owns itself, and may be gone
} catch (const std::bad_alloc&) {
    objects::end_job(*question.call.thread.process, 1, "no memory to serve a window");
}

void FarService::accumulate(const Question& question) {
    const AccessFields& fields = question.fields;
    const objects::Datatype& element =
        *question.call.thread.process->datatype(FarElement::handle(fields.element));
    const ElementOperation operation =
        operation_on(static_cast<objects::Builtin>(fields.operation), element);
    const std::uint64_t bytes = bytes_of(operation, fields.length);
    std::byte* place = find(fields.address, bytes);
    if (place == nullptr) return refuse(question, bytes);
    // Kernels need the elements at their alignment.
    auto given = std::make_unique_for_overwrite<std::byte[]>(question.bytes);
    std::memcpy(given.get(), question.data, question.bytes);
    const bool wanted = fields.receiver != 0;
    auto result = wanted ? std::make_unique_for_overwrite<std::byte[]>(bytes) : nullptr;
    const Piece piece{reinterpret_cast<Place>(place), given.get(), result.get(), fields.length};
    if (is_atomic(operation, piece.target)) {
        apply_atomically(state_of(window_, rank_).accumulates, question.call.thread.system_id,
                         operation, piece);
    } else {
        const std::lock_guard guard(state_of(window_, rank_).accumulates.mutex());
        apply_in_place(operation, piece);
    }
    if (wanted) answer(question, std::move(result), bytes);
}

void FarService::compare_and_swap(const Question& question) {
    const std::uint64_t bytes = question.fields.length;
    std::byte* place = find(question.fields.address, bytes);
    if (place == nullptr) return refuse(question, bytes);
    const std::byte *origin = question.data, *compare = question.data + bytes;
    auto result = std::make_unique_for_overwrite<std::byte[]>(bytes);
    const ElementOperation each{objects::Builtin::replace, nullptr, bytes,
                                static_cast<std::int64_t>(bytes), false};
    const auto target = reinterpret_cast<Place>(place);
    if (is_atomic(each, target)) {
        const RowLock::Short access(state_of(window_, rank_).accumulates,
                                    question.call.thread.system_id);
        compare_and_swap_element(bytes, target, origin, compare, result.get());
    } else {
        const std::lock_guard guard(state_of(window_, rank_).accumulates.mutex());
        swap_in_place(target, origin, compare, result.get(), bytes);
    }
    answer(question, std::move(result), bytes);
}

/// Applies the rule of near processes.
bool FarService::is_atomic(const ElementOperation& operation, Place place) const noexcept {
    return window_.targets[rank_].mapped_by_all && operation.is_atomic_at(place);
}

void FarService::flush(const Question& question) {
    const std::uint64_t receiver = question.fields.receiver;
    std::uint32_t& refused = refused_[static_cast<std::size_t>(question.rank)];
    if (refused == 0)
        return question.engine().far().acknowledge(question.call, question.process, receiver);
    question.engine().far().refuse(question.call, question.process, {receiver, 0});
    refused = 0;
}

void FarService::find_region(const Question& question) const {
    const AccessFields& fields = question.fields;
    const FoundRegion found = attached_region(window_, rank_, fields.address, fields.offset);
    question.engine().far().answer_briefly(question.call, question.process, fields.receiver, &found,
                                           sizeof found);
}

// --- locks ---

/// Takes the lock in steps. A step that has to wait is the last one: the process asks again from
/// there.
LockAnswer FarService::lock(Thread& thread, std::int32_t rank, bool exclusive,
                            const AccessFields& asked) {
    const auto stage = static_cast<LockStage>(asked.length);
    if (exclusive && stage != LockStage::at_gate && !is_let_in(rank, stage, asked.operation != 0))
        return {LockAnswer::queued_at_whole, 0, 0};
    TargetState& state = state_of(window_, rank_);
    const WindowLock::Places places = places_of(window_, rank_);
    const WindowLock::Ticket ticket = stage == LockStage::at_gate
        ? static_cast<WindowLock::Ticket>(asked.address)
        : state.lock.take_ticket();
    const auto admitted = [&] {
        return exclusive ? state.lock.admits_writer(ticket) : state.lock.admits_reader(ticket);
    };
    while (!admitted()) {
        const std::int32_t writer = state.writer.load(relaxed);
        state.lock.wait_in_place(ticket, rank, exclusive, places);
        if (!admitted() || !state.lock.stop_waiting(ticket, places))
            return {LockAnswer::queued, ticket, writer};
    }
    if (exclusive)
        state.writer.store(rank + 1, relaxed);
    else
        pass_on(thread, state.lock.come_in(ticket, places));
    return {LockAnswer::granted, ticket, 0};
}

/// Passes the readers of all targets. Returns false if the process has to wait for them.
bool FarService::is_let_in(std::int32_t rank, LockStage stage, bool holds) noexcept {
    WholeLock& all = window_.front->lock;
    if (stage == LockStage::at_whole)
        return all.take_grant(parties_of(window_), rank, kind_of_writer(holds));
    return all.enter_as_writer(parties_of(window_), rank, holds) == WholeState::in;
}

void FarService::unlock(Thread& thread, bool exclusive, std::uint32_t ticket) {
    TargetState& state = state_of(window_, rank_);
    const WindowLock::Places places = places_of(window_, rank_);
    if (!exclusive) return pass_on(thread, state.lock.leave_as_reader(places));
    state.writer.store(0, relaxed);
    pass_on(thread, state.lock.leave_as_writer(ticket, places));
    if (window_.front->lock.leave_as_writer(parties_of(window_))) tell_all_let_in(thread);
}

WholeState FarService::whole(Thread& thread, std::int32_t rank, WholeStep step) {
    bool tells = false;
    const WholeState state = take_step(window_, rank, step, tells);
    if (tells) tell_all_let_in(thread);
    return state;
}

void FarService::tell_all_let_in(Thread& thread) {
    each_let_in(window_, [&](std::int32_t rank, std::int32_t tag) {
        if (!tell(thread, *window_.communicator, rank, tag)) throw std::bad_alloc();
    });
}

/// Notifies the waiter that `entry` names: it is admitted. Does not wait: this thread may be the
/// library's.
void FarService::pass_on(Thread& thread, std::uint32_t entry) {
    if (entry == WindowLock::nobody) return;
    if (!tell(thread, *window_.communicator, WindowLock::rank_in(entry), admitted_message + rank_))
        throw std::bad_alloc();
}

}  // namespace heddle::rma
