// SPDX-License-Identifier: BSD-3-Clause
#include "coll/execution.hpp"

#include <algorithm>
#include <utility>

#include "coll/lanes.hpp"
#include "core/causality.hpp"
#include "objects/callback.hpp"
#include "objects/process.hpp"
#include "p2p/report/tell.hpp"
#include "p2p/requests/message_requests.hpp"

namespace heddle::coll {
namespace {

/// The first tag, above those of blocking calls and of agreements (comm/agreement.hpp).
constexpr std::uint32_t first_tag = 1u << 16;
constexpr std::uint32_t tags = 1u << 30;

Execution& execution_of(const core::Request& request) noexcept {
    return *static_cast<Execution*>(request.extra);
}

/// Returns the tag of the call of this number, which is its own. The calls of a communicator go
/// through few instances, whose rings stay in the caches.
std::int32_t tag_of_call(const p2p::Engine& engine, const objects::Communicator& communicator,
                         std::uint32_t number) {
    const auto instances = static_cast<std::uint32_t>(engine.instances());
    const std::uint32_t lane = number % lanes;
    const std::uint32_t instance = shares_lanes(communicator)
        ? (first_lane(communicator) + lane) % lanes
        : engine.instance_of(communicator.context + 1, 0) + lane;
    return tag_through(engine, communicator, first_tag, number % (tags / instances), instance);
}

/// Returns the most messages that are pending at once.
std::size_t largest_stage(std::span<const Step> steps) noexcept {
    std::size_t most = 0, now = 0;
    for (const Step& step : steps) {
        if (step.kind == Step::Kind::wait) now = 0;
        if (is_message(step)) most = std::max(most, ++now);
    }
    return most;
}

}  // namespace

void Execution::prepare() {
    under_way_.reserve(largest_stage(schedule.steps()));
    objects::Communicator& communicator = schedule.communicator;
    schedule.tag = tag_of_call(*schedule.writer.engine, communicator, communicator.collectives++);
    number = ++communicator.calls;
    const objects::Reduction& reduction = schedule.reduction;
    for (const objects::Datatype* type : schedule.types())
        types_.push_back(const_cast<objects::Datatype*>(type));
    if (reduction.type != nullptr) types_.push_back(const_cast<objects::Datatype*>(reduction.type));
    for (objects::Datatype* type : types_) type->retain();
    if (reduction.operation != nullptr)
        const_cast<objects::Operation*>(reduction.operation)->retain();
    communicator.retain();
    prepared_ = true;
}

Execution::~Execution() {
    if (!prepared_) return;
    for (objects::Datatype* type : types_) objects::drop(process_, *type);
    if (schedule.reduction.operation != nullptr)
        objects::drop(process_, const_cast<objects::Operation&>(*schedule.reduction.operation));
    objects::drop(process_, schedule.communicator);
}

core::Request* Execution::start(core::Thread& thread) {
    p2p::Engine& engine = *thread.engine;
    request_ = engine.requests().take(thread);
    if (request_ == nullptr) return nullptr;
    objects::Communicator& communicator = schedule.communicator;
    request_->operation = core::Operation::schedule;
    request_->context = communicator.context + 1;
    request_->tag = schedule.tag;
    request_->instance = engine.instance_of(request_->context, schedule.tag);
    request_->any_tag = false;
    request_->cancelled = false;
    request_->error = MPI_SUCCESS;
    request_->communicator = &communicator;
    request_->extra = this;
    next_ = 0;
    failure_ = {};
    ended_.store(0, relaxed);  // published with the pending messages, to the thread that goes on
    engine.endings().count_composed(+1);
    core::Request* const request = request_;
    if (!advance(thread)) return request;
    if (failure_.error != MPI_SUCCESS) {
        complete(thread);
        return request;
    }
    engine.endings().count_composed(-1);
    engine.requests().free(thread, *request);
    request_ = nullptr;
    ended_.store(by_completion, relaxed);
    return &engine.requests().completed_send();
}

/// Goes on until there are messages that are not complete. Returns true at the end.
bool Execution::advance(core::Thread& thread) noexcept {
    for (;;) {
        collect(thread);
        if (next_ == schedule.steps().size()) return true;
        // One for this thread, so that no other goes on before this thread is done here. The
        // messages that it starts publish it.
        left_.store(messages_ahead() + 1, relaxed);
        const std::uint32_t over = start_stage(thread);
        core::causality::before(this);
        // Release for what has been written here, acquire for the outcomes.
        if (left_.fetch_sub(over + 1, acq_rel) != over + 1) return false;
    }
}

/// Returns how many messages the next stage starts.
std::uint32_t Execution::messages_ahead() const noexcept {
    std::uint32_t count = 0;
    for (const Step& step : schedule.steps().subspan(next_)) {
        if (step.kind == Step::Kind::wait) break;
        if (is_message(step)) ++count;
    }
    return count;
}

/// Starts a stage. Returns the number of its messages that have completed already: no listener
/// hears of them.
std::uint32_t Execution::start_stage(core::Thread& thread) noexcept {
    const auto steps = schedule.steps();
    std::uint32_t over = 0;
    std::size_t sends = 0;  // at the beginning of `under_way_`
    while (next_ < steps.size()) {
        const Step& step = steps[next_++];
        if (step.kind == Step::Kind::wait) break;
        if (!is_message(step)) {
            do_here(step);
            continue;
        }
        core::Request* const message = start(thread, step);
        if (message == nullptr) {
            failure_.note(MPI_ERR_NO_MEM);
            ++over;
        } else if (message->immortal) {
            ++over;
        } else {
            under_way_.push_back(message);
            // Most sends complete at once. The thread listens for the rest together, later.
            if (is_send(step)) std::swap(under_way_[sends++], under_way_.back());
        }
    }
    if (sends == 0) return over;
    p2p::ProgressCall call(thread);
    listen(call, std::span(under_way_).first(sends), *this);
    return over;
}

core::Request* Execution::start(core::Thread& thread, const Step& step) noexcept {
    try {
        return is_send(step) ? start_send(thread, schedule, step)
                             : start_receive(thread, schedule, step, *this);
    } catch (...) {
        return nullptr;
    }
}

void Execution::do_here(const Step& step) noexcept {
    try {
        do_locally(schedule, step);
    } catch (...) {
        failure_.note(std::exchange(objects::left_callback(), false) ? MPI_ERR_OTHER
                                                                     : MPI_ERR_NO_MEM);
    }
}

/// Collects the outcomes of the messages, which are complete.
void Execution::collect(core::Thread& thread) noexcept {
    p2p::Engine& engine = *thread.engine;
    for (core::Request* message : under_way_) {
        if (message->error != MPI_SUCCESS)
            failure_.note(message->error, message->source, message->capacity, message->order);
        engine.requests().free(thread, *message);
    }
    under_way_.clear();
}

void Execution::completed(p2p::ProgressCall& call, core::Request&) noexcept {
    // Release for this message's outcome, acquire for the others'.
    if (left_.fetch_sub(1, acq_rel) == 1) call.put_off(*this);
}

void Execution::run(core::Thread& thread) noexcept {
    core::causality::after(this);
    if (advance(thread)) complete(thread);
}

bool Execution::calls_program() const noexcept {
    const objects::Reduction& reduction = schedule.reduction;
    return reduction.operation != nullptr && reduction.kernel == nullptr;
}

void Execution::complete(core::Thread& thread) noexcept {
    p2p::Engine& engine = *thread.engine;
    core::Request& request = *request_;
    request.error = failure_.error;
    request.capacity = failure_.room;
    request.source = failure_.source;
    request.order = failure_.length;
    core::causality::before(&request);
    // This comes first: a persistent execution may be started again, or destroyed, as soon as its
    // request is complete.
    if ((ended_.fetch_or(by_completion, acq_rel) & by_owner) != 0) {
        engine.requests().free(thread, request);
        delete this;
    } else {
        p2p::ProgressCall call(thread);
        call.complete(request);
        p2p::finish(call);
    }
    engine.endings().count_composed(-1);
}

void Execution::let_go(core::Thread& thread, core::Request* request) noexcept {
    if ((ended_.fetch_or(by_owner, acq_rel) & by_completion) == 0) return;
    delete this;
    // The completing thread may still be about to say that it is complete.
    if (request != nullptr && !request->immortal)
        thread.engine->endings().free_when_done(thread, *request);
}

core::Request* start(core::Thread& thread, std::unique_ptr<Execution> execution) {
    execution->prepare();
    core::Request* const request = execution->start(thread);
    // Otherwise it has completed, and is destroyed with the pointer.
    if (request != nullptr && !request->immortal) (void)execution.release();
    return request;
}

core::Request* make_persistent(core::Thread& thread, std::unique_ptr<Execution> execution) {
    execution->prepare();
    core::Request* const request = thread.engine->requests().take(thread);
    if (request == nullptr) return nullptr;
    request->operation = core::Operation::persistent_schedule;
    request->inner = nullptr;
    request->error = MPI_SUCCESS;
    request->any_tag = false;
    request->cancelled = false;
    request->extra = execution.release();
    return request;
}

namespace {

// --- the operations of both kinds of requests (core/request_type.hpp) ---

int let_go(core::Thread& thread, core::Request& request) {
    request.kind.store(core::Kind::none, relaxed);
    execution_of(request).let_go(thread, &request);
    return MPI_SUCCESS;
}

/// Reports the wait. The step of the execution changes at any time: the whole waits for any of the
/// other ranks.
void tell(core::Thread& thread, const core::Request& request, node::AwaitedEvent& event) noexcept {
    const Execution& execution = execution_of(request);
    event.any_peer = true;
    event.peer = node::any_peer;
    p2p::tell_context(thread, request.context, event);
    event.number = execution.number;
    node::put_text(event.detail, execution.call);
}

bool heard_of_others(const core::Request&) noexcept { return true; }

int start_persistent(core::Thread& thread, core::Request& request) {
    request.inner = execution_of(request).start(thread);
    return MPI_SUCCESS;
}

int let_go_of_persistent(core::Thread& thread, core::Request& request) {
    execution_of(request).let_go(thread, request.inner);
    thread.engine->requests().free(thread, request);
    return MPI_SUCCESS;
}

constexpr core::RequestType nonblocking_type{
    .collect = let_go,
    .let_go = let_go,
    .cancel = p2p::refuse_to_cancel,
    .tell = tell,
    .heard_of_others = heard_of_others,
    .collective = true,
};

const core::TypeOfRequests nonblocking(core::Operation::schedule, nonblocking_type);

constexpr core::RequestType persistent_type{.let_go = let_go_of_persistent,
                                            .start = start_persistent};
const core::TypeOfRequests persistent(core::Operation::persistent_schedule, persistent_type);

}  // namespace

}  // namespace heddle::coll
