// SPDX-License-Identifier: BSD-3-Clause
#include "coll/run.hpp"

#include <bit>
#include <string>
#include <utility>

#include "coll/shared_wait.hpp"
#include "coll/step.hpp"
#include "objects/callback.hpp"
#include "objects/errors.hpp"

namespace heddle::coll {
namespace {

/// Messages that have been started and not waited for.
class UnderWay {
public:
    UnderWay(core::Thread& thread, Failure& failure) noexcept
        : thread_(thread), engine_(*thread.engine), failure_(failure) {}

    void add(core::Request* request) {
        if (request == &engine_.requests().completed_send()) return;
        if (request == nullptr) [[unlikely]]
            return failure_.note(MPI_ERR_NO_MEM);
        if (used_ == few) [[unlikely]] {
            many_.push_back(request);
            return;
        }
        local_[used_++] = request;
    }

    /// Signals, and wakes the ranks that sleep until this signal.
    void signal(const Schedule& schedule, const Step& step) {
        coll::signal(step);
        std::uint64_t sleepers = take_sleepers(schedule);
        for (; sleepers != 0; sleepers &= sleepers - 1)
            add(send_wake_up(thread_, schedule, std::countr_zero(sleepers)));
        // A process that never waits makes progress, too.
        if (step.turn % turns_between_polls == 0) [[unlikely]]
            engine_.polling().poll_all(thread_);
    }
    /// Does the same, and wakes the ranks that nap until this signal.
    void release(const Schedule& schedule, const Step& step) {
        signal(schedule, step);
        wake_nappers(thread_, schedule);
    }
    void wait() {
        if (used_ == 0) return;
        wait({local_, used_});
        used_ = 0;
        if (many_.empty()) [[likely]]
            return;
        wait(many_);
        many_.clear();
    }

private:
    static constexpr std::size_t few = 32;
    static constexpr std::uint64_t turns_between_polls = 64;

    void wait(std::span<core::Request* const> requests) {
        // The others wait for this process, whatever memory it finds for other messages.
        p2p::without_shortage(thread_, [&] {
            if (requests.size() == 1)
                p2p::wait_for(engine_, thread_, *requests[0]);
            else
                progress::wait(engine_.polling(), thread_, p2p::AllRequests(engine_, requests));
        });
        for (core::Request* request : requests) {
            if (request->error != MPI_SUCCESS) [[unlikely]]
                failure_.note(request->error, request->source, request->capacity, request->order);
            engine_.requests().free(thread_, *request);
        }
    }

    core::Thread& thread_;
    p2p::Engine& engine_;
    Failure& failure_;
    std::size_t used_ = 0;
    std::vector<core::Request*> many_;
    core::Request* local_[few];
};

void await_length(core::Thread& thread, const Schedule& schedule, const Step& step,
                  Failure& failure) {
    if (step.kind == Step::Kind::await_release) nap(thread, schedule, step);
    await(thread, schedule, step);
    if (step.size != 0 && given_bytes(step) != step.size) [[unlikely]]
        if (mend_length(schedule, step))
            failure.note(MPI_ERR_TRUNCATE, rank_at(schedule, step.peer), step.size,
                         given_bytes(step));
}

[[gnu::cold]] int raise(core::Thread& thread, objects::Communicator& communicator,
                        const Failure& failure) {
    if (failure.error == MPI_ERR_TRUNCATE)
        return objects::fail(
            thread, &communicator, failure.error,
            "rank " + std::to_string(failure.source) + " sent " + std::to_string(failure.length) +
                " bytes, and this process expects " + std::to_string(failure.room) + " of it");
    return objects::fail(thread, &communicator, failure.error,
                         failure.error == MPI_ERR_NO_MEM ? "no memory for a request"
                                                         : objects::class_text(failure.error));
}

}  // namespace

int run(core::Thread& thread, const Schedule& schedule) {
    Failure failure;
    UnderWay messages(thread, failure);
    std::span<const Step> rest = schedule.steps();
    const auto go_on = [&](bool combining) {
        while (!rest.empty()) {
            const Step& step = rest.front();
            rest = rest.subspan(1);
            if (is_message(step))
                messages.add(is_send(step) ? start_send(thread, schedule, step)
                                           : start_receive(thread, schedule, step));
            else if (step.kind == Step::Kind::wait)
                messages.wait();
            else if (step.kind == Step::Kind::signal)
                messages.signal(schedule, step);
            else if (step.kind == Step::Kind::await || step.kind == Step::Kind::await_release)
                await_length(thread, schedule, step, failure);
            else if (step.kind == Step::Kind::release)
                messages.release(schedule, step);
            else if (combining || step.kind != Step::Kind::combine)
                do_locally(schedule, step);
        }
        messages.wait();
    };
    try {
        go_on(true);
    } catch (...) {
        // An operation of the program has thrown. The other processes do not know of it, and still
        // get what they wait for.
        const bool programs = std::exchange(objects::left_callback(), false);
        go_on(false);
        objects::left_callback() = programs;
        throw;
    }
    if (failure.error != MPI_SUCCESS) [[unlikely]]
        return raise(thread, schedule.communicator, failure);
    return MPI_SUCCESS;
}

}  // namespace heddle::coll
