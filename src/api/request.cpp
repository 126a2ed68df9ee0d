// SPDX-License-Identifier: BSD-3-Clause
/// Completing requests (MPI 5.0, 3.7.3 to 3.8.4).

#include <span>
#include <vector>

#include "api/completion.hpp"
#include "api/direct.hpp"
#include "api/entry.hpp"
#include "api/messages.hpp"

namespace heddle::api {
namespace {

template <class Handle, class Status>
[[gnu::always_inline]] inline int wait(Thread& thread, Handle handle, Status status) {
    using objects::set_empty_status;
    Request* request = nullptr;
    if (const int error = find_request(thread, *handle, request)) return error;
    Request* active = active_of(request);
    if (active == nullptr) {
        set_empty_status(status.place);
        return MPI_SUCCESS;
    }
    if (!p2p::wait_for(engine_of(thread), thread, *active)) return has_been_completed(thread);
    return complete(thread, *handle, *request, status.place);
}

template <class Handle, class Flag, class Status>
[[gnu::always_inline]] inline int test(Thread& thread, Handle handle, Flag flag, Status status) {
    using objects::set_empty_status;
    Request* request = nullptr;
    if (const int error = find_request(thread, *handle, request)) return error;
    Request* active = active_of(request);
    *flag = active == nullptr || done_after_progress(thread, *active);
    if (active == nullptr) set_empty_status(status.place);
    return *flag && active != nullptr ? complete(thread, *handle, *request, status.place)
                                      : MPI_SUCCESS;
}

int request_get_status(Thread& thread, Raw<MPI_Request> handle, Out<int> flag, Status status) {
    Request* request = nullptr;
    if (const int error = find_request(thread, handle.value, request)) return error;
    Request* active = active_of(request);
    *flag = active == nullptr || done_after_progress(thread, *active);
    if (active == nullptr)
        objects::set_empty_status(status.place);
    else if (*flag)
        return look(*request, status.place);
    return MPI_SUCCESS;
}

// --- several at once ---

MPI_Status* at(MPI_Status* statuses, std::size_t i) noexcept {
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

/// Completes requests one by one. All errors go to the statuses. The object of the first error is
/// the one on which the call raises MPI_ERR_IN_STATUS.
class Several {
public:
    explicit Several(Thread& thread) noexcept : thread_(thread) {}

    /// Completes a request. nullptr for `request` means that there is nothing to complete.
    void complete(MPI_Request& handle, Request* request, MPI_Status* status) {
        int error = MPI_SUCCESS;
        if (request == nullptr)
            objects::set_empty_status(status);
        else
            error = complete_quietly(thread_, handle, *request, status,
                                     [this](Communicator* of) { note(of); });
        if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
    }
    int finish() const {
        if (!failed_) [[likely]]
            return MPI_SUCCESS;
        if (file_ != nullptr)
            return objects::fail(thread_, *file_, MPI_ERR_IN_STATUS,
                                 "an access failed; see the statuses");
        return objects::fail(
            thread_, communicator_, MPI_ERR_IN_STATUS,
            why_.empty() ? "a request failed; see the statuses" : why_ + "; see the statuses");
    }

private:
    void note(Communicator* communicator) {
        FailedRequest failed = take_failed_request();
        if (!failed_) {
            communicator_ = live(communicator);
            file_ = failed.file;
            if (file_ == nullptr) why_ = std::move(failed.why);
        }
        failed_ = true;
    }

    Thread& thread_;
    Communicator* communicator_ = nullptr;  ///< of the first request that failed
    objects::File* file_ = nullptr;         ///< of the same one, if it was an access to a file
    std::string why_;                       ///< of the same one, otherwise
    bool failed_ = false;
};

int complete_all(Thread& thread, MPI_Request* handles, const Selection& selection,
                 MPI_Status* statuses) {
    Several several(thread);
    for (std::size_t i = 0; i < selection.size(); ++i)
        several.complete(handles[i],
                         selection.active[i] == nullptr ? nullptr : selection.requests[i],
                         at(statuses, i));
    return several.finish();
}

int waitall(Thread& thread, Count count, Array<MPI_Request> handles, Array<MPI_Status> statuses) {
    Selection selection;
    if (const int error = selection.find(thread, count.value, handles.value)) return error;
    p2p::AllRequests all(engine_of(thread), selection.active);
    progress::wait(engine_of(thread).polling(), thread, all);
    if (all.contested) return has_been_completed(thread);
    return complete_all(thread, handles.value, selection, statuses.value);
}

int testall(Thread& thread, Count count, Array<MPI_Request> handles, Out<int> flag,
            Array<MPI_Status> statuses) {
    Selection selection;
    if (const int error = selection.find(thread, count.value, handles.value)) return error;
    p2p::AllRequests all(engine_of(thread), selection.active);
    *flag = all.holds() || (make_progress(thread, selection.active), all.holds());
    return *flag ? complete_all(thread, handles.value, selection, statuses.value) : MPI_SUCCESS;
}

/// Completes the first that is done, if any is. `index` becomes its index, or MPI_UNDEFINED.
int complete_any(Thread& thread, MPI_Request* handles, const Selection& selection, int& index,
                 MPI_Status* status) {
    index = MPI_UNDEFINED;
    for (std::size_t i = 0; i < selection.size(); ++i) {
        if (selection.active[i] == nullptr || !selection.active[i]->completed()) continue;
        index = static_cast<int>(i);
        return complete(thread, handles[i], *selection.requests[i], status);
    }
    return MPI_SUCCESS;
}

int waitany(Thread& thread, Count count, Array<MPI_Request> handles, Out<int> index,
            Status status) {
    Selection selection;
    if (const int error = selection.find(thread, count.value, handles.value)) return error;
    if (!selection.any_active) {
        *index = MPI_UNDEFINED;
        objects::set_empty_status(status.place);
        return MPI_SUCCESS;
    }
    p2p::AnyRequest any(engine_of(thread), selection.active);
    progress::wait(engine_of(thread).polling(), thread, any);
    if (any.contested) return has_been_completed(thread);
    return complete_any(thread, handles.value, selection, *index, status.place);
}

int testany(Thread& thread, Count count, Array<MPI_Request> handles, Out<int> index, Out<int> flag,
            Status status) {
    Selection selection;
    if (const int error = selection.find(thread, count.value, handles.value)) return error;
    p2p::AnyRequest any(engine_of(thread), selection.active);
    if (selection.any_active && !any.holds()) make_progress(thread, selection.active);
    *flag = !selection.any_active || any.holds();
    if (!selection.any_active) objects::set_empty_status(status.place);
    *index = MPI_UNDEFINED;
    return *flag && selection.any_active
        ? complete_any(thread, handles.value, selection, *index, status.place)
        : MPI_SUCCESS;
}

int complete_some(Thread& thread, MPI_Request* handles, const Selection& selection, int& outcount,
                  int* indices, MPI_Status* statuses) {
    outcount = 0;
    Several several(thread);
    for (std::size_t i = 0; i < selection.size(); ++i) {
        if (selection.active[i] == nullptr || !selection.active[i]->completed()) continue;
        several.complete(handles[i], selection.requests[i],
                         at(statuses, static_cast<std::size_t>(outcount)));
        indices[outcount++] = static_cast<int>(i);
    }
    return several.finish();
}

int no_indices(Thread& thread) {
    return refuse(thread, nullptr, MPI_ERR_ARG, "array_of_indices", no_memory(nullptr));
}

template <bool wait_for_one>
int some(Thread& thread, Count count, Array<MPI_Request> handles, Out<int> outcount,
         Array<int> indices, Array<MPI_Status> statuses) {
    Selection selection;
    if (const int error = selection.find(thread, count.value, handles.value)) return error;
    if (!selection.any_active) {
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    if (indices.value == nullptr) return no_indices(thread);
    p2p::AnyRequest any(engine_of(thread), selection.active);
    if (wait_for_one) progress::wait(engine_of(thread).polling(), thread, any);
    if (any.contested) return has_been_completed(thread);
    if (!wait_for_one && !any.holds()) make_progress(thread, selection.active);
    return complete_some(thread, handles.value, selection, *outcount, indices.value,
                         statuses.value);
}

int request_get_status_all(Thread& thread, Count count, Array<const MPI_Request> handles,
                           Out<int> flag, Array<MPI_Status> statuses) {
    Selection selection;
    if (const int error = selection.find(thread, count.value, handles.value)) return error;
    p2p::AllRequests all(engine_of(thread), selection.active);
    *flag = all.holds() || (make_progress(thread, selection.active), all.holds());
    for (std::size_t i = 0; *flag && i < selection.size(); ++i) {
        MPI_Status* status = at(statuses.value, i);
        int error = MPI_SUCCESS;
        if (selection.active[i] == nullptr)
            objects::set_empty_status(status);
        else
            error = look(*selection.requests[i], status);
        if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
    }
    return MPI_SUCCESS;
}

int request_get_status_any(Thread& thread, Count count, Array<const MPI_Request> handles,
                           Out<int> index, Out<int> flag, Status status) {
    Selection selection;
    if (const int error = selection.find(thread, count.value, handles.value)) return error;
    p2p::AnyRequest any(engine_of(thread), selection.active);
    if (selection.any_active && !any.holds()) make_progress(thread, selection.active);
    *index = MPI_UNDEFINED;
    *flag = !selection.any_active;
    if (!selection.any_active) objects::set_empty_status(status.place);
    for (std::size_t i = 0; i < selection.size() && !*flag; ++i) {
        if (selection.active[i] == nullptr || !selection.active[i]->completed()) continue;
        *flag = 1;
        *index = static_cast<int>(i);
        return look(*selection.requests[i], status.place);
    }
    return MPI_SUCCESS;
}

int request_get_status_some(Thread& thread, Count count, Array<const MPI_Request> handles,
                            Out<int> outcount, Array<int> indices, Array<MPI_Status> statuses) {
    Selection selection;
    if (const int error = selection.find(thread, count.value, handles.value)) return error;
    *outcount = selection.any_active ? 0 : MPI_UNDEFINED;
    if (!selection.any_active) return MPI_SUCCESS;
    if (indices.value == nullptr) return no_indices(thread);
    make_progress(thread, selection.active);
    for (std::size_t i = 0; i < selection.size(); ++i) {
        if (selection.active[i] == nullptr || !selection.active[i]->completed()) continue;
        MPI_Status* status = at(statuses.value, static_cast<std::size_t>(*outcount));
        const int error = look(*selection.requests[i], status);
        if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
        indices.value[(*outcount)++] = static_cast<int>(i);
    }
    return MPI_SUCCESS;
}

int request_free(Thread& thread, InOut<MPI_Request> handle) {
    Request* request = nullptr;
    if (const int error = find_request(thread, *handle, request)) return error;
    if (request == nullptr)
        return objects::fail(thread, nullptr, MPI_ERR_REQUEST,
                             "argument request: MPI_REQUEST_NULL");
    *handle = MPI_REQUEST_NULL;
    return let_go(thread, *request);
}

int cancel(Thread& thread, InOut<MPI_Request> handle) {
    Request* request = nullptr;
    if (const int error = find_request(thread, *handle, request)) return error;
    Request* active = active_of(request);
    if (active == nullptr)
        return objects::fail(thread, nullptr, MPI_ERR_REQUEST,
                             "argument request: no active request");
    return cancel_active(thread, *active);
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(2, Wait, wait<InOut<MPI_Request>, Status>)
MPI_ENTRY(3, Test, test<InOut<MPI_Request>, Out<int>, Status>)
MPI_ENTRY(3, Waitall, waitall)
MPI_ENTRY(4, Testall, testall)
MPI_ENTRY(4, Waitany, waitany)
MPI_ENTRY(5, Testany, testany)
MPI_ENTRY(5, Waitsome, some<true>)
MPI_ENTRY(5, Testsome, some<false>)
MPI_ENTRY(3, Request_get_status, request_get_status)
MPI_ENTRY(4, Request_get_status_all, request_get_status_all)
MPI_ENTRY(5, Request_get_status_any, request_get_status_any)
MPI_ENTRY(5, Request_get_status_some, request_get_status_some)
MPI_ENTRY(1, Request_free, request_free)
MPI_ENTRY(1, Cancel, cancel)

namespace heddle::api::direct {

template <class Abi>
int Calls<Abi>::Wait(Request* request, Status* status) {
    return call_by_face<&wait<RequestPlace<Abi>, direct::Status<Abi>>>("MPI_Wait", request, status);
}
template <class Abi>
int Calls<Abi>::Test(Request* request, int* flag, Status* status) {
    return call_by_face<&test<RequestPlace<Abi>, Out<int>, direct::Status<Abi>>>(
        "MPI_Test", request, flag, status);
}

#define INSTANCES(Abi)                                          \
    template int Calls<Abi>::Wait(Abi::Request*, Abi::Status*); \
    template int Calls<Abi>::Test(Abi::Request*, int*, Abi::Status*);
INSTANCES(Integers)
INSTANCES(Addresses)

}  // namespace heddle::api::direct
