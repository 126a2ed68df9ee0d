// SPDX-License-Identifier: BSD-3-Clause
#include "coll/run.hpp"

#include <cstring>
#include <string>

#include "objects/errors.hpp"
#include "p2p/operations.hpp"

namespace heddle::coll {
namespace {

/// What went wrong first.
struct Failure {
    int error = MPI_SUCCESS;
    std::int32_t source = 0;
    std::uint64_t room = 0;
};

/// Messages that have been started and not waited for.
class UnderWay {
public:
    UnderWay(core::Thread& thread, Failure& failure) noexcept
        : thread_(thread), engine_(*thread.process->engine), failure_(failure) {}

    void add(core::Request* request) {
        if (request == &engine_.completed_send()) return;
        if (request == nullptr) [[unlikely]] {
            if (failure_.error == MPI_SUCCESS) failure_.error = MPI_ERR_NO_MEM;
            return;
        }
        if (used_ == few) [[unlikely]] {
            many_.push_back(request);
            return;
        }
        local_[used_++] = request;
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

    void wait(std::span<core::Request* const> requests) {
        if (requests.size() == 1)
            p2p::wait_for(engine_, thread_, *requests[0]);
        else
            progress::wait(engine_, thread_, p2p::AllRequests(engine_, requests));
        for (core::Request* request : requests) {
            if (request->error != MPI_SUCCESS && failure_.error == MPI_SUCCESS) [[unlikely]]
                failure_ = {request->error, request->source, request->capacity};
            engine_.free_request(thread_, *request);
        }
    }

    core::Thread& thread_;
    p2p::Engine& engine_;
    Failure& failure_;
    std::size_t used_ = 0;
    std::vector<core::Request*> many_;
    core::Request* local_[few];
};

[[gnu::cold]] int raise(core::Thread& thread, objects::Communicator& communicator,
                        const Failure& failure) {
    if (failure.error == MPI_ERR_TRUNCATE)
        return objects::fail(thread, &communicator, failure.error,
                             "rank " + std::to_string(failure.source) + " sent more than the " +
                                 std::to_string(failure.room) +
                                 " bytes that this process expects of it");
    return objects::fail(thread, &communicator, failure.error,
                         failure.error == MPI_ERR_NO_MEM ? "no memory for a request"
                                                         : objects::class_text(failure.error));
}

}  // namespace

int run(core::Thread& thread, const Schedule& schedule) {
    objects::Communicator& communicator = schedule.communicator;
    const std::uint32_t context = communicator.context + 1;
    Failure failure;
    UnderWay messages(thread, failure);
    for (const Step& step : schedule.steps()) {
        switch (step.kind) {
            case Step::Kind::send:
                messages.add(p2p::start_send(thread, communicator, context, step.from, step.size,
                                             step.peer, schedule.tag));
                break;
            case Step::Kind::receive:
                messages.add(p2p::start_receive(thread, communicator, context, step.to, step.size,
                                                step.peer, schedule.tag));
                break;
            case Step::Kind::wait: messages.wait(); break;
            case Step::Kind::copy: std::memmove(step.to, step.from, step.size); break;
            case Step::Kind::combine:
                schedule.reduction.combine(step.from, step.to, step.size);
                break;
        }
    }
    messages.wait();
    if (failure.error != MPI_SUCCESS) [[unlikely]]
        return raise(thread, communicator, failure);
    return MPI_SUCCESS;
}

}  // namespace heddle::coll
