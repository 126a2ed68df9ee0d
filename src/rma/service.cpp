// SPDX-License-Identifier: BSD-3-Clause
#include "rma/service.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "p2p/operations.hpp"
#include "rma/control.hpp"
#include "rma/dynamic.hpp"
#include "rma/elements.hpp"
#include "rma/meeting.hpp"
#include "rma/named_wait.hpp"

namespace heddle::rma {
namespace {

using core::Thread;
using objects::Place;

/// The most data in a message, in each direction.
constexpr std::uint64_t most_carried = 32768;
/// The most pending questions of a process. Their answers must not be mixed up.
constexpr std::uint32_t answer_tags = 1u << 20;

/// The head of an answer.
struct Verdict {
    std::uint64_t served;
};

}  // namespace

struct Service::Question {
    enum class Kind : std::uint8_t { read, write, accumulate, compare_and_swap };
    Kind kind;
    objects::Builtin operation = objects::Builtin::none;
    bool wants_result = false;
    std::int32_t answer_tag = 0;
    Place place = 0;
    std::uint64_t bytes = 0;  ///< there
    std::int64_t elements = 0;
    MPI_Datatype element = MPI_DATATYPE_NULL;  ///< predefined: it means the same in every process
};

struct Service::Data {
    const std::byte* address = nullptr;
    std::uint64_t bytes = 0;
};

Service::Service(Thread& thread, objects::Window& window, std::vector<bool> to_be_asked)
    : process_(*thread.process),
      window_(window),
      communicator_(*window.communicator),
      to_be_asked_(std::move(to_be_asked)),
      question_(std::make_unique_for_overwrite<std::byte[]>(sizeof(Question) + most_carried)),
      answer_(std::make_unique_for_overwrite<std::byte[]>(sizeof(Verdict) + most_carried)) {
    communicator_.retain();
}

Service::~Service() { objects::drop(process_, communicator_); }

std::shared_ptr<Service> Service::begin(Thread& thread, objects::Window& window,
                                        std::vector<bool> to_be_asked) {
    std::shared_ptr<Service> service(new Service(thread, window, std::move(to_be_asked)));
    service->self_ = service;
    // It begins as if it had just answered.
    p2p::ProgressCall call(thread);
    call.put_off(*service);
    p2p::finish(call);
    return service;
}

void Service::end(Thread& thread) {
    core::Request* idle = nullptr;
    {
        std::lock_guard guard(lock_);
        ending_ = true;
        idle = listening_;
    }
    // If a thread has just sent the last answer, that thread sees the end. Otherwise only this
    // receive is left.
    if (idle != nullptr) thread.engine->receiver().cancel(thread, *idle);
}

// --- the process that serves ---

void Service::completed(p2p::ProgressCall& call, core::Request& request) noexcept {
    complete_ = &request;
    call.put_off(*this);
}

void Service::run(Thread& thread) noexcept {
    bool cancelled = false;
    std::int32_t asking = 0;
    if (core::Request* request = std::exchange(complete_, nullptr)) {
        cancelled = request->cancelled;
        asking = request->source;
        thread.engine->requests().free(thread, *request);
    }
    if (answering_)
        listen_for_question(thread);
    else if (cancelled)
        be_over();
    else
        answer(thread, asking);
}

void Service::listen_for_question(Thread& thread) noexcept {
    answering_ = false;
    std::unique_lock guard(lock_);
    if (ending_) {
        guard.unlock();
        return be_over();
    }
    // Another thread may run the next stage before this call returns: it waits for the lock.
    listening_ = p2p::start_receive(thread, communicator_, context_of(communicator_),
                                    question_.get(), sizeof(Question) + most_carried,
                                    MPI_ANY_SOURCE, question_message, *this);
    if (listening_ == nullptr) objects::end_job(process_, 1, "no memory to serve a window");
}

void Service::be_over() noexcept {
    std::shared_ptr<Service> last;  // destroyed after the lock, perhaps with this object
    std::lock_guard guard(lock_);
    last = std::move(self_);
}

void Service::answer(Thread& thread, std::int32_t asking) noexcept {
    {
        std::lock_guard guard(lock_);
        listening_ = nullptr;
    }
    Question question;
    std::memcpy(&question, question_.get(), sizeof question);
    const bool served = serve(thread, question, question_.get() + sizeof question);
    const Verdict verdict{served};
    std::memcpy(answer_.get(), &verdict, sizeof verdict);
    const std::uint64_t bytes =
        sizeof verdict + (served && question.wants_result ? question.bytes : 0);
    answering_ = true;
    core::Request* sent = p2p::start_send(thread, communicator_, context_of(communicator_),
                                          answer_.get(), bytes, asking, question.answer_tag);
    if (sent == nullptr) objects::end_job(process_, 1, "no memory to serve a window");
    if (sent->immortal) return listen_for_question(thread);
    p2p::ProgressCall call(thread);
    p2p::listen(call, *sent, *this);
    p2p::finish(call);
}

/// Serves a question, and writes a result into the answer. Returns false if the question is
/// refused.
bool Service::serve(Thread& thread, const Question& question, const std::byte* data) noexcept {
    if (!is_in_window(question)) return false;
    std::byte* result = question.wants_result ? answer_.get() + sizeof(Verdict) : nullptr;
    auto* place = reinterpret_cast<std::byte*>(question.place);
    switch (question.kind) {
        case Question::Kind::read: std::memcpy(result, place, question.bytes); return true;
        case Question::Kind::write: std::memcpy(place, data, question.bytes); return true;
        default: break;
    }
    std::lock_guard guard(state_of(window_, communicator_.rank).accumulates.mutex());
    if (question.kind == Question::Kind::compare_and_swap) {
        swap_in_place(question.place, data, data + question.bytes, result, question.bytes);
        return true;
    }
    const objects::Datatype& element = *thread.process->datatype(question.element);
    apply_in_place(operation_on(question.operation, element),
                   {question.place, data, result, question.elements});
    return true;
}

bool Service::is_in_window(const Question& question) const noexcept {
    if (window_.flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return is_attached(window_, communicator_.rank, question.place, question.bytes);
    const auto bytes = static_cast<std::uint64_t>(window_.bytes);
    const std::uint64_t begin = question.place - reinterpret_cast<Place>(window_.base);
    return begin <= bytes && question.bytes <= bytes - begin;
}

// --- the process that asks ---

bool Service::ask(Thread& thread, std::int32_t rank, Question question, Data first, Data second,
                  std::byte* result) {
    const auto number = static_cast<std::int32_t>(asked_.fetch_add(1, relaxed) % answer_tags);
    question.answer_tag = answer_message + number;
    question.wants_result = result != nullptr;
    const std::uint64_t length = sizeof question + first.bytes + second.bytes;
    const auto message = std::make_unique_for_overwrite<std::byte[]>(length);
    std::memcpy(message.get(), &question, sizeof question);
    if (first.bytes != 0) std::memcpy(message.get() + sizeof question, first.address, first.bytes);
    if (second.bytes != 0)
        std::memcpy(message.get() + sizeof question + first.bytes, second.address, second.bytes);
    const std::uint64_t room = sizeof(Verdict) + (result != nullptr ? question.bytes : 0);
    const auto reply = std::make_unique_for_overwrite<std::byte[]>(room);
    const std::uint32_t context = context_of(communicator_);
    core::Request* heard = p2p::start_receive(thread, communicator_, context, reply.get(), room,
                                              rank, question.answer_tag);
    if (p2p::send(thread, communicator_, context, message.get(), length, rank, question_message) !=
            MPI_SUCCESS ||
        finish(thread, window_, heard, rank, AwaitedKind::window_answer) != MPI_SUCCESS)
        return false;
    Verdict verdict{};
    std::memcpy(&verdict, reply.get(), sizeof verdict);
    if (verdict.served != 0 && result != nullptr)
        std::memcpy(result, reply.get() + sizeof verdict, question.bytes);
    return verdict.served != 0;
}

bool Service::read(Thread& thread, std::int32_t rank, std::byte* to, Place place,
                   std::uint64_t bytes) {
    for (std::uint64_t at = 0; at < bytes; at += most_carried) {
        const Question question{.kind = Question::Kind::read,
                                .place = place + at,
                                .bytes = std::min(most_carried, bytes - at)};
        if (!ask(thread, rank, question, {}, {}, to + at)) return false;
    }
    return true;
}

bool Service::write(Thread& thread, std::int32_t rank, Place place, const std::byte* from,
                    std::uint64_t bytes) {
    for (std::uint64_t at = 0; at < bytes; at += most_carried) {
        const Question question{.kind = Question::Kind::write,
                                .place = place + at,
                                .bytes = std::min(most_carried, bytes - at)};
        if (!ask(thread, rank, question, {from + at, question.bytes}, {}, nullptr)) return false;
    }
    return true;
}

bool Service::accumulate(Thread& thread, std::int32_t rank, const ElementOperation& operation,
                         const objects::Datatype& element, const Piece& piece) {
    const auto most = static_cast<std::int64_t>(most_carried) / operation.step;
    for (std::int64_t done = 0; done < piece.count; done += most) {
        const std::int64_t some = std::min(most, piece.count - done), at = done * operation.step;
        const Question question{.kind = Question::Kind::accumulate,
                                .operation = operation.builtin,
                                .place = piece.target + static_cast<Place>(at),
                                .bytes = bytes_of(operation, some),
                                .elements = some,
                                .element = element.handle};
        const Data given{piece.origin + at, piece.origin == nullptr ? 0 : question.bytes};
        if (!ask(thread, rank, question, given, {},
                 piece.result == nullptr ? nullptr : piece.result + at))
            return false;
    }
    return true;
}

bool Service::compare_and_swap(Thread& thread, std::int32_t rank, Place place,
                               const std::byte* origin, const std::byte* compare, std::byte* result,
                               std::uint64_t bytes) {
    const Question question{
        .kind = Question::Kind::compare_and_swap, .place = place, .bytes = bytes};
    return ask(thread, rank, question, {origin, bytes}, {compare, bytes}, result);
}

}  // namespace heddle::rma
