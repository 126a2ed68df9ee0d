// SPDX-License-Identifier: BSD-3-Clause
/// Calls whose results show which messages were received or which requests are complete.

#include <algorithm>
#include <utility>
#include <vector>

#include "buffers.hpp"
#include "communicators.hpp"
#include "findings.hpp"
#include "requests.hpp"

namespace heddle::check {

namespace {

/// An array that holds a few elements without memory from the heap.
template <class Element>
class Array {
public:
    explicit Array(int length) : long_(length > few ? static_cast<std::size_t>(length) : 0) {}
    Element* data() noexcept { return long_.empty() ? short_ : long_.data(); }
    Element& operator[](int i) noexcept { return data()[i]; }

private:
    static constexpr int few = 16;
    Element short_[few];
    std::vector<Element> long_;
};

bool is_ignored(const MPI_Status* status) noexcept { return status == MPI_STATUS_IGNORE; }

/// The requests of a call that completes some of several.
class Several {
public:
    Several(const Call& call, int count, MPI_Request* requests)
        : call_(call),
          count_(!is_memory(requests) ? 0 : std::max(count, 0)),
          requests_(requests),
          tracked_(count_) {
        for (int i = 0; i < count_; ++i) tracked_[i] = begin_completion(call, requests[i]);
    }
    void done(int i, const MPI_Status& status, int error) {
        end_completion(call_, tracked_[i], status, error);
        tracked_[i] = nullptr;
    }
    /// Lets the requests that done() has not had go on.
    ~Several() {
        for (int i = 0; i < count_; ++i) leave(tracked_[i], requests_[i]);
    }
    Several(const Several&) = delete;
    Several& operator=(const Several&) = delete;

private:
    const Call& call_;
    int count_;
    MPI_Request* requests_;
    Array<Tracked*> tracked_;
};

/// The single request of a call. It goes on if an exception of the program leaves the call.
class One {
public:
    One(const Call& call, MPI_Request* request)
        : call_(call), request_(request), tracked_(begin_completion(call, *request)) {}
    ~One() { leave(tracked_, *request_); }
    One(const One&) = delete;
    One& operator=(const One&) = delete;
    void done(const MPI_Status& status, int error) {
        end_completion(call_, std::exchange(tracked_, nullptr), status, error);
    }

private:
    const Call& call_;
    MPI_Request* request_;
    Tracked* tracked_;
};

/// Ends requests that are all complete, or that each have an error if `error` says so.
void all_done(Several& several, int count, const MPI_Status* statuses, int error) {
    for (int i = 0; i < count; ++i) {
        const int own = error == MPI_ERR_IN_STATUS ? statuses[i].MPI_ERROR : error;
        if (own != MPI_ERR_PENDING) several.done(i, statuses[i], own);
    }
}

template <class Count>
int receive(Caller from, Function function, void* buf, Count count, MPI_Datatype datatype,
            int source, int tag, MPI_Comm comm, MPI_Status* status,
            int (*receives)(void*, Count, MPI_Datatype, int, int, MPI_Comm, MPI_Status*)) {
    if (!is_on()) return receives(buf, count, datatype, source, tag, comm, status);
    const Call call(function, from);
    const Buffer buffer(buf, count, datatype);
    if (source != MPI_PROC_NULL) before_receive(call, buffer, comm, source, tag);
    MPI_Status own;
    MPI_Status* const told = is_ignored(status) ? &own : status;
    const int error = receives(buf, count, datatype, source, tag, comm, told);
    if (error == MPI_SUCCESS)
        received(call, buffer, comm, *told);
    else
        lost();
    return error;
}

template <class Count>
int receive_matched(Caller from, void* buf, Count count, MPI_Datatype datatype,
                    MPI_Message* message, MPI_Status* status,
                    int (*receives)(void*, Count, MPI_Datatype, MPI_Message*, MPI_Status*)) {
    if (!is_on()) return receives(buf, count, datatype, message, status);
    const Call call(Function::Mrecv, from);
    const Buffer buffer(buf, count, datatype);
    look_for_overlap(call, buffer, true);
    const auto comm = comm_of_message(value_of(message));
    MPI_Status own;
    MPI_Status* const told = is_ignored(status) ? &own : status;
    const int error = receives(buf, count, datatype, message, told);
    if (error != MPI_SUCCESS)
        lost();
    else if (comm != nullptr)
        compare_received(call.name(), call.place(), *comm, buffer, told->MPI_SOURCE, told->MPI_TAG);
    return error;
}

template <class Calls>
int send_and_receive(const Call& call, const Buffer& given, int dest, int send_tag,
                     const Buffer& taken, int source, int tag, MPI_Comm comm, MPI_Datatype type,
                     MPI_Status* status, Calls calls) {
    const Sent sent = send(call, given.address, given.count, type, dest, send_tag, comm);
    if (source != MPI_PROC_NULL) before_receive(call, taken, comm, source, tag);
    MPI_Status own;
    MPI_Status* const told = is_ignored(status) ? &own : status;
    const int error = calls(told);
    if (error != MPI_SUCCESS) {
        unsend(sent);
        lost();
    } else {
        received(call, taken, comm, *told);
    }
    return error;
}

}  // namespace

// ---- Receives ----

int checked_Recv(Caller from, void* buf, int count, MPI_Datatype datatype, int source, int tag,
                 MPI_Comm comm, MPI_Status* status) {
    return receive<int>(from, Function::Recv, buf, count, datatype, source, tag, comm, status,
                        library().Recv);
}
int checked_Recv_c(Caller from, void* buf, MPI_Count count, MPI_Datatype datatype, int source,
                   int tag, MPI_Comm comm, MPI_Status* status) {
    return receive<MPI_Count>(from, Function::Recv, buf, count, datatype, source, tag, comm, status,
                              library().Recv_c);
}
int checked_Mrecv(Caller from, void* buf, int count, MPI_Datatype datatype, MPI_Message* message,
                  MPI_Status* status) {
    return receive_matched<int>(from, buf, count, datatype, message, status, library().Mrecv);
}
int checked_Mrecv_c(Caller from, void* buf, MPI_Count count, MPI_Datatype datatype,
                    MPI_Message* message, MPI_Status* status) {
    return receive_matched<MPI_Count>(from, buf, count, datatype, message, status,
                                      library().Mrecv_c);
}

int checked_Sendrecv(Caller from, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                     int dest, int sendtag, void* recvbuf, int recvcount, MPI_Datatype recvtype,
                     int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
    const auto calls = [&](MPI_Status* told) {
        return library().Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                                  recvtype, source, recvtag, comm, told);
    };
    if (!is_on()) return calls(status);
    const Call call(Function::Sendrecv, from);
    return send_and_receive(call, Buffer(sendbuf, sendcount, sendtype), dest, sendtag,
                            Buffer(recvbuf, recvcount, recvtype), source, recvtag, comm, sendtype,
                            status, calls);
}
int checked_Sendrecv_c(Caller from, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       int dest, int sendtag, void* recvbuf, MPI_Count recvcount,
                       MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                       MPI_Status* status) {
    const auto calls = [&](MPI_Status* told) {
        return library().Sendrecv_c(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                                    recvtype, source, recvtag, comm, told);
    };
    if (!is_on()) return calls(status);
    const Call call(Function::Sendrecv, from);
    return send_and_receive(call, Buffer(sendbuf, sendcount, sendtype), dest, sendtag,
                            Buffer(recvbuf, recvcount, recvtype), source, recvtag, comm, sendtype,
                            status, calls);
}
int checked_Sendrecv_replace(Caller from, void* buf, int count, MPI_Datatype datatype, int dest,
                             int sendtag, int source, int recvtag, MPI_Comm comm,
                             MPI_Status* status) {
    const auto calls = [&](MPI_Status* told) {
        return library().Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag,
                                          comm, told);
    };
    if (!is_on()) return calls(status);
    const Call call(Function::Sendrecv_replace, from);
    const Buffer buffer(buf, count, datatype);
    return send_and_receive(call, buffer, dest, sendtag, buffer, source, recvtag, comm, datatype,
                            status, calls);
}
int checked_Sendrecv_replace_c(Caller from, void* buf, MPI_Count count, MPI_Datatype datatype,
                               int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
                               MPI_Status* status) {
    const auto calls = [&](MPI_Status* told) {
        return library().Sendrecv_replace_c(buf, count, datatype, dest, sendtag, source, recvtag,
                                            comm, told);
    };
    if (!is_on()) return calls(status);
    const Call call(Function::Sendrecv_replace, from);
    const Buffer buffer(buf, count, datatype);
    return send_and_receive(call, buffer, dest, sendtag, buffer, source, recvtag, comm, datatype,
                            status, calls);
}

// ---- Probes ----

int checked_Probe(Caller from, int source, int tag, MPI_Comm comm, MPI_Status* status) {
    if (!is_on()) return library().Probe(source, tag, comm, status);
    const Call call(Function::Probe, from);
    look_at_probe(call, comm, source, tag);
    return library().Probe(source, tag, comm, status);
}
int checked_Iprobe(Caller from, int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    if (!is_on()) return library().Iprobe(source, tag, comm, flag, status);
    const Call call(Function::Iprobe, from);
    look_at_probe(call, comm, source, tag);
    return library().Iprobe(source, tag, comm, flag, status);
}
int checked_Mprobe(Caller from, int source, int tag, MPI_Comm comm, MPI_Message* message,
                   MPI_Status* status) {
    if (!is_on()) return library().Mprobe(source, tag, comm, message, status);
    const Call call(Function::Mprobe, from);
    look_at_probe(call, comm, source, tag);
    const int error = library().Mprobe(source, tag, comm, message, status);
    if (error == MPI_SUCCESS) matched(*message, comm);
    return error;
}
int checked_Improbe(Caller from, int source, int tag, MPI_Comm comm, int* flag,
                    MPI_Message* message, MPI_Status* status) {
    if (!is_on()) return library().Improbe(source, tag, comm, flag, message, status);
    const Call call(Function::Improbe, from);
    look_at_probe(call, comm, source, tag);
    const int error = library().Improbe(source, tag, comm, flag, message, status);
    if (error == MPI_SUCCESS && *flag != 0) matched(*message, comm);
    return error;
}

// ---- One request ----

int checked_Wait(Caller from, MPI_Request* request, MPI_Status* status) {
    if (!is_on() || !is_memory(request)) return library().Wait(request, status);
    const Call call(Function::Wait, from);
    One one(call, request);
    MPI_Status own;
    MPI_Status* const told = is_ignored(status) ? &own : status;
    const int error = library().Wait(request, told);
    one.done(*told, error);
    return error;
}

int checked_Test(Caller from, MPI_Request* request, int* flag, MPI_Status* status) {
    if (!is_on() || !is_memory(request)) return library().Test(request, flag, status);
    const Call call(Function::Test, from);
    One one(call, request);
    MPI_Status own;
    MPI_Status* const told = is_ignored(status) ? &own : status;
    const int error = library().Test(request, flag, told);
    if (error != MPI_SUCCESS || *flag != 0) one.done(*told, error);
    return error;
}

int checked_Request_free(Caller from, MPI_Request* request) {
    if (!is_on() || !is_memory(request)) return library().Request_free(request);
    const Call call(Function::Request_free, from);
    Tracked* const tracked = begin_completion(call, *request);
    const int error = library().Request_free(request);
    if (error == MPI_SUCCESS)
        released(tracked);
    else
        not_completed(tracked);
    return error;
}

int checked_Start(Caller from, MPI_Request* request) {
    if (!is_on() || !is_memory(request)) return library().Start(request);
    const Call call(Function::Start, from);
    Tracked* const tracked = begin_start(call, *request);
    const int error = library().Start(request);
    if (error != MPI_SUCCESS) not_started(tracked);
    return error;
}

// ---- Several requests ----

int checked_Startall(Caller from, int count, MPI_Request requests[]) {
    if (!is_on() || !is_memory(requests)) return library().Startall(count, requests);
    const Call call(Function::Startall, from);
    const int length = std::max(count, 0);
    Array<Tracked*> tracked(length);
    for (int i = 0; i < length; ++i) tracked[i] = begin_start(call, requests[i]);
    const int error = library().Startall(count, requests);
    // Some of them may have been started, so nothing is known of any.
    for (int i = 0; error != MPI_SUCCESS && i < length; ++i) not_started(tracked[i]);
    return error;
}

namespace {

struct Outcome {
    int error;
    bool all;  ///< all are complete
};

/// Does Waitall and Testall: `complete` calls the library's function.
template <class Complete>
int complete_all(const Call& call, int count, MPI_Request* requests, MPI_Status* statuses,
                 Complete&& complete) {
    Several several(call, count, requests);
    Array<MPI_Status> own(is_ignored(statuses) ? count : 0);
    MPI_Status* const told = is_ignored(statuses) ? own.data() : statuses;
    const Outcome outcome = complete(told);
    if (outcome.all || outcome.error == MPI_ERR_IN_STATUS)
        all_done(several, count, told, outcome.error);
    return outcome.error;
}

/// Does the same for Waitany and Testany.
template <class Complete>
int complete_any(const Call& call, int count, MPI_Request* requests, int* index, MPI_Status* status,
                 Complete&& complete) {
    Several several(call, count, requests);
    MPI_Status own;
    MPI_Status* const told = is_ignored(status) ? &own : status;
    *index = MPI_UNDEFINED;  // for errors
    const int error = complete(told);
    if (*index >= 0 && *index < count) several.done(*index, *told, error);
    return error;
}

/// Does Waitsome and Testsome. `complete` is the library's function.
int complete_some(const Call& call, int (*complete)(int, MPI_Request*, int*, int*, MPI_Status*),
                  int count, MPI_Request* requests, int* outcount, int* indices,
                  MPI_Status* statuses) {
    Several several(call, count, requests);
    Array<MPI_Status> own(is_ignored(statuses) ? count : 0);
    MPI_Status* const told = is_ignored(statuses) ? own.data() : statuses;
    const int error = complete(count, requests, outcount, indices, told);
    if (error == MPI_SUCCESS || error == MPI_ERR_IN_STATUS)
        for (int i = 0; i < *outcount; ++i)
            several.done(indices[i], told[i],
                         error == MPI_ERR_IN_STATUS ? told[i].MPI_ERROR : error);
    return error;
}

}  // namespace

int checked_Waitall(Caller from, int count, MPI_Request requests[], MPI_Status* statuses) {
    if (!is_on()) return library().Waitall(count, requests, statuses);
    return complete_all({Function::Waitall, from}, count, requests, statuses,
                        [&](MPI_Status* told) {
                            const int error = library().Waitall(count, requests, told);
                            return Outcome{error, error == MPI_SUCCESS};
                        });
}

int checked_Testall(Caller from, int count, MPI_Request requests[], int* flag,
                    MPI_Status* statuses) {
    if (!is_on()) return library().Testall(count, requests, flag, statuses);
    return complete_all({Function::Testall, from}, count, requests, statuses,
                        [&](MPI_Status* told) {
                            const int error = library().Testall(count, requests, flag, told);
                            return Outcome{error, error == MPI_SUCCESS && *flag != 0};
                        });
}

int checked_Waitany(Caller from, int count, MPI_Request requests[], int* index,
                    MPI_Status* status) {
    if (!is_on() || !is_memory(index)) return library().Waitany(count, requests, index, status);
    return complete_any(
        {Function::Waitany, from}, count, requests, index, status,
        [&](MPI_Status* told) { return library().Waitany(count, requests, index, told); });
}

int checked_Testany(Caller from, int count, MPI_Request requests[], int* index, int* flag,
                    MPI_Status* status) {
    if (!is_on() || !is_memory(index) || !is_memory(flag))
        return library().Testany(count, requests, index, flag, status);
    *flag = 0;  // for errors
    return complete_any(
        {Function::Testany, from}, count, requests, index, status,
        [&](MPI_Status* told) { return library().Testany(count, requests, index, flag, told); });
}

int checked_Waitsome(Caller from, int count, MPI_Request requests[], int* outcount, int indices[],
                     MPI_Status* statuses) {
    if (!is_on()) return library().Waitsome(count, requests, outcount, indices, statuses);
    return complete_some({Function::Waitsome, from}, library().Waitsome, count, requests, outcount,
                         indices, statuses);
}

int checked_Testsome(Caller from, int count, MPI_Request requests[], int* outcount, int indices[],
                     MPI_Status* statuses) {
    if (!is_on()) return library().Testsome(count, requests, outcount, indices, statuses);
    return complete_some({Function::Testsome, from}, library().Testsome, count, requests, outcount,
                         indices, statuses);
}

}  // namespace heddle::check
