// SPDX-License-Identifier: BSD-3-Clause
#include "io/request.hpp"

#include <cstdio>
#include <limits>
#include <memory>
#include <vector>

#include "core/causality.hpp"
#include "core/request_type.hpp"
#include "io/in_file_system.hpp"
#include "io/opening.hpp"
#include "io/together.hpp"
#include "io/two_phase.hpp"
#include "objects/callback.hpp"
#include "objects/errors.hpp"
#include "objects/status.hpp"
#include "p2p/engine.hpp"
#include "p2p/progress_call.hpp"

namespace heddle::io {

Request::Request(core::Thread&, objects::File& file, Kind kind, const Wish& wish)
    : file_(file), open_(*file.open), kind_(kind), wish_(wish) {}

std::string Request::doing() const { return kind_.writes ? "writing" : "reading"; }

int Request::fail(core::Thread& thread, int error_class, const std::string& detail) const {
    return objects::fail(thread, file_, error_class, detail);
}

int Request::raise(core::Thread& thread) const {
    return io::raise(thread, file_, outcome_.failure, doing());
}

// --- the start ---

int Request::check_mode(core::Thread& thread) const {
    if (kind_.writes && !open_.writable())
        return fail(thread, MPI_ERR_READ_ONLY, "the file has been opened with MPI_MODE_RDONLY");
    if (!kind_.writes && !open_.readable())
        return fail(thread, MPI_ERR_ACCESS, "the file has been opened with MPI_MODE_WRONLY");
    if (open_.sequential() && kind_.pointer != Pointer::shared)
        return fail(thread, MPI_ERR_UNSUPPORTED_OPERATION,
                    "the file has been opened with MPI_MODE_SEQUENTIAL: only the shared file "
                    "pointer may be used");
    return MPI_SUCCESS;
}

int Request::check(core::Thread& thread) {
    if (const int error = check_mode(thread)) return error;
    const View& view = *part_.view;
    if (const Failure failure = stream_->measure())
        return io::raise(thread, file_, failure, "argument datatype");
    part_.bytes = stream_->bytes();
    if (part_.bytes == 0) return MPI_SUCCESS;
    if (!view.has_data()) return fail(thread, MPI_ERR_ARG, "the filetype of the view has no data");
    if (part_.bytes % view.unit != 0)
        return fail(thread, MPI_ERR_TYPE,
                    "argument count: " + std::to_string(part_.bytes) +
                        " bytes in the file are not made of etypes of " +
                        std::to_string(view.unit));
    return MPI_SUCCESS;
}

/// Takes the place from the shared pointer, in the order of ranks.
int Request::order(core::Thread& thread, std::int64_t etypes, std::int64_t& from) {
    struct Turn {
        std::int64_t etypes, pointer;
        bool has_pointer;
    };
    Turn mine{etypes, 0, true};
    const bool first = open_.communicator->rank == 0;
    int error = MPI_SUCCESS;
    if (first) {
        error = open_.shared->load(thread, mine.pointer);
        mine.has_pointer = error == MPI_SUCCESS;
    }
    std::vector<Turn> all;
    if (const int one = gather(thread, open_, next_tag(open_), all, mine)) return one;
    if (error != MPI_SUCCESS) return error;
    if (!all[0].has_pointer)
        return fail(thread, MPI_ERR_OTHER, "rank 0 does not reach the shared file pointer");
    from = all[0].pointer;
    std::int64_t end = from;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        if (static_cast<std::int32_t>(rank) == open_.communicator->rank) from = end;
        end += all[rank].etypes;
    }
    // This comes before any process can leave the call: all exchange their plans after it.
    return first ? open_.shared->store(thread, end) : MPI_SUCCESS;
}

int Request::find_place(core::Thread& thread, std::int64_t etypes, std::int64_t& from) {
    switch (kind_.pointer) {
        case Pointer::given: from = wish_.offset; return MPI_SUCCESS;
        case Pointer::individual: {
            const std::lock_guard guard(open_.lock);
            from = open_.position;
            open_.position += etypes;
            return MPI_SUCCESS;
        }
        default:
            return kind_.together ? order(thread, etypes, from)
                                  : open_.shared->fetch_add(thread, etypes, from);
    }
}

namespace {

/// Returns whether all places of the part can be numbers.
bool fits(const View& view, std::int64_t from, std::uint64_t bytes, std::uint64_t& first) {
    std::int64_t begin = 0, end = 0, places = 0;
    if (__builtin_mul_overflow(from, static_cast<std::int64_t>(view.unit), &begin) ||
        __builtin_add_overflow(begin, static_cast<std::int64_t>(bytes), &end))
        return false;
    first = static_cast<std::uint64_t>(begin);
    if (bytes == 0) return true;
    const std::int64_t tiles = end / view.layout->size + 1;
    return !__builtin_mul_overflow(tiles, view.layout->extent, &places) &&
        !__builtin_add_overflow(places, view.displacement + view.layout->true_upper_bound(),
                                &places);
}

}  // namespace

int Request::convert(core::Thread& thread) {
    if (kind_.writes) return io::raise(thread, file_, stream_->to_file(), "converting");
    stream_->expect_file();
    return MPI_SUCCESS;
}

/// Turns a lack of memory in a step into an error of this process alone, like its other errors.
template <class Step>
int Request::with_memory(core::Thread& thread, Step step) try {
    return step();
} catch (const std::bad_alloc&) {
    return fail(thread, MPI_ERR_NO_MEM, "out of memory");
}

int Request::prepare(core::Thread& thread) {
    part_.view = open_.view_now();
    stream_.emplace(*thread.process, *wish_.type, wish_.buffer, wish_.count,
                    part_.view->representation);
    if (kind_.together) tag_ = next_tag(open_);
    int error = with_memory(thread, [&] { return check(thread); });
    if (error != MPI_SUCCESS) part_.bytes = 0;
    std::int64_t from = 0;
    const auto etypes = static_cast<std::int64_t>(part_.bytes / part_.view->unit);
    const bool goes_on = error == MPI_SUCCESS || kind_.together;
    if (!goes_on) return error;
    const int problem = with_memory(thread, [&] { return find_place(thread, etypes, from); });
    if (error == MPI_SUCCESS) error = problem;
    if (error == MPI_SUCCESS && !fits(*part_.view, from, part_.bytes, part_.from))
        error =
            fail(thread, MPI_ERR_ARG,
                 "the access ends beyond 2^63 bytes: it begins at etype " + std::to_string(from));
    if (error == MPI_SUCCESS) error = with_memory(thread, [&] { return convert(thread); });
    if (error != MPI_SUCCESS) part_.bytes = 0;
    return error;
}

// --- data ---

void Request::move(core::Thread& thread) noexcept {
    if (!kind_.together) {
        outcome_ = kind_.writes ? write(thread, open_, part_, *stream_, true)
                                : read(thread, open_, part_, *stream_, true);
        return;
    }
    count_collective(*thread.process);
    outcome_ = access_together(thread, open_, part_, *stream_, kind_.writes, tag_,
                               *open_.windows[request_ == nullptr ? 0 : 1]);
}

void Request::move_nothing(core::Thread& thread) noexcept {
    part_.bytes = 0;
    wait_for_the_rest(open_);
    outcome_ =
        access_together(thread, open_, part_, *stream_, kind_.writes, tag_, *open_.windows[1]);
}

void Request::finish() {
    if (std::exchange(finished_, true) || kind_.writes) return;
    Failure failure;
    try {
        failure = stream_->from_file(outcome_.bytes);
    } catch (const std::bad_alloc&) {  // there is no second conversion
        failure = Failure::of_class(MPI_ERR_NO_MEM, "no memory to convert what was read");
    }
    if (!outcome_.failure) outcome_.failure = failure;
}

void Request::tell(node::AwaitedEvent& event) const noexcept {
    node::put_end(event.detail, open_.path);
    if (part_.bytes == 0) return;
    event.place = part_.first_place();
    event.bytes = part_.bytes;
}

void Request::set_status(MPI_Status* status) const noexcept {
    objects::set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, stream_->in_memory(outcome_.bytes),
                        false);
}

// --- with a request ---

core::Request* Request::start(core::Thread& thread) noexcept {
    core::Request* const request = thread.engine->requests().take(thread);
    if (request == nullptr) return nullptr;
    request->operation = core::Operation::file;
    request->error = 0;
    request->cancelled = false;
    request->any_tag = true;  // a thread completes it, no instance in particular
    request->communicator = nullptr;
    request->extra = this;
    request_ = request;
    {
        const std::lock_guard guard(open_.lock);
        ++open_.uncollected;
        ++open_.under_way;
    }
    Workers& workers = kind_.together ? *open_.collective_worker : open_.common->workers;
    if (!thread.engine->base().features.workers)
        run(thread);
    else
        workers.submit(thread, *this);
    return request;
}

void Request::run(core::Thread& thread) noexcept {
    OpenFile& open = open_;
    const char* const call = thread.call;
    if (thread.of_library) thread.call = kind_.writes ? "writing to a file" : "reading a file";
    move(thread);
    thread.call = call;
    core::Request& request = *request_;
    {
        p2p::ProgressCall call(thread);
        core::causality::before(&request);
        call.complete(request);
        p2p::finish(call);
    }
    // Acquire and release on both sides: the second sees all that the first did.
    const std::uint32_t before = ended_.fetch_or(completed, acq_rel);
    if (before != 0) end(thread, before);
    const std::lock_guard guard(open.lock);
    if (--open.under_way == 0) open.over.notify_all();
}

void Request::leave(core::Thread& thread, std::uint32_t how) noexcept {
    {
        const std::lock_guard guard(open_.lock);
        --open_.uncollected;
    }
    request_->kind.store(core::Kind::none, relaxed);
    if (ended_.fetch_or(how, acq_rel) != 0) end(thread, how);
}

/// Destroys the access, which no other thread uses any more. Data that were read are converted even
/// if no caller learns of the end.
void Request::end(core::Thread& thread, std::uint32_t how) noexcept {
    if (how == let_go) {
        try {
            finish();
        } catch (...) {  // of the program, which has no call to report it to
            objects::left_callback() = false;
        }
    }
    core::Request& request = *request_;
    request.extra = nullptr;
    thread.engine->requests().free(thread, request);
    delete this;
}

namespace {

Request& access_of(const core::Request& request) noexcept {
    return *static_cast<Request*>(request.extra);
}

int look(const core::Request& request, MPI_Status* status) {
    Request& access = access_of(request);
    access.finish();
    access.set_status(status);
    return access.failure().error_class;
}

int collect(core::Thread& thread, core::Request& request) {
    access_of(request).leave(thread, Request::collected);
    return MPI_SUCCESS;
}

int let_go(core::Thread& thread, core::Request& request) {
    access_of(request).leave(thread, Request::let_go);
    return MPI_SUCCESS;
}

objects::File* file_of(const core::Request& request, std::string& why) {
    const Request& access = access_of(request);
    why = describe(access.failure(), access.doing());
    return &access.file();
}

void tell(core::Thread&, const core::Request& request, node::AwaitedEvent& event) noexcept {
    event.kind = node::AwaitedKind::file;
    access_of(request).tell(event);
}

constexpr core::RequestType type{
    .look = look, .collect = collect, .let_go = let_go, .tell = tell, .file = file_of};
const core::TypeOfRequests files(core::Operation::file, type);

int no_memory(core::Thread& thread, objects::File& file) {
    return objects::fail(thread, file, MPI_ERR_NO_MEM, "no memory for a request");
}

/// Makes a thread for nonblocking collectives of this file. Those of another file may be in another
/// order elsewhere.
void need_worker(OpenFile& open) {
    const std::lock_guard guard(open.lock);
    if (open.collective_worker == nullptr)
        open.collective_worker = std::make_unique<Workers>(open.process, 1);
}

/// Takes part without data: other processes wait in a collective call for this process, which has
/// no memory for a request.
int take_no_part(core::Thread& thread, objects::File& file, Kind kind, Wish wish) {
    wish.count = 0;
    Request access(thread, file, kind, wish);
    (void)access.prepare(thread);
    access.move_nothing(thread);
    return no_memory(thread, file);
}

std::unique_ptr<Request> make_request(core::Thread& thread, objects::File& file, Kind kind,
                                      const Wish& wish) try {
    if (kind.together) need_worker(*file.open);
    return std::make_unique<Request>(thread, file, kind, wish);
} catch (const std::bad_alloc&) {
    return nullptr;
}

core::Request* start_access(core::Thread& thread, objects::File& file, Kind kind, const Wish& wish,
                            int& error) {
    auto access = make_request(thread, file, kind, wish);
    if (access == nullptr) {
        error = kind.together ? take_no_part(thread, file, kind, wish) : no_memory(thread, file);
        return nullptr;
    }
    error = access->prepare(thread);
    if (error != MPI_SUCCESS && !kind.together) return nullptr;
    core::Request* const request = access->start(thread);
    if (request == nullptr) {
        if (kind.together) access->move_nothing(thread);
        if (error == MPI_SUCCESS) error = no_memory(thread, file);
        return nullptr;
    }
    Request& started = *access.release();
    if (error == MPI_SUCCESS) return request;
    started.leave(thread, Request::let_go);  // the others have the access, this process its error
    return nullptr;
}

}  // namespace

int access(core::Thread& thread, objects::File& file, Kind kind, const Wish& wish,
           MPI_Status* status) {
    Request access(thread, file, kind, wish);
    const int error = access.prepare(thread);
    if (error != MPI_SUCCESS && !kind.together) return error;
    access.move(thread);
    if (error != MPI_SUCCESS) return error;
    access.finish();
    access.set_status(status);
    return access.raise(thread);
}

int start(core::Thread& thread, objects::File& file, Kind kind, const Wish& wish,
          MPI_Request& handle) {
    int error = MPI_SUCCESS;
    core::Request* const request = start_access(thread, file, kind, wish, error);
    if (request == nullptr) {
        handle = MPI_REQUEST_NULL;
        return error;
    }
    request->kind.store(core::Kind::request, relaxed);
    handle = reinterpret_cast<MPI_Request>(request);
    return MPI_SUCCESS;
}

namespace {

constexpr const char* name_of(Split split) noexcept {
    switch (split) {
        case Split::read_at_all: return "MPI_File_read_at_all";
        case Split::write_at_all: return "MPI_File_write_at_all";
        case Split::read_all: return "MPI_File_read_all";
        case Split::write_all: return "MPI_File_write_all";
        case Split::read_ordered: return "MPI_File_read_ordered";
        default: return "MPI_File_write_ordered";
    }
}

}  // namespace

int begin(core::Thread& thread, objects::File& file, Split split, Kind kind, const Wish& wish) {
    OpenFile& open = *file.open;
    {
        std::unique_lock guard(open.lock);
        const Split before = open.split;
        if (before == Split::none) open.split = split;
        guard.unlock();
        if (before != Split::none)
            return objects::fail(thread, file, MPI_ERR_OTHER,
                                 std::string(name_of(before)) +
                                     "_begin has been called on the file and not ended: there is "
                                     "one split collective access at a time");
    }
    int error = MPI_SUCCESS;
    core::Request* const request = start_access(thread, file, kind, wish, error);
    const std::lock_guard guard(open.lock);
    open.split_buffer = wish.buffer;
    open.split_request = request;
    if (request == nullptr) open.split = Split::none;
    return error;
}

int end(core::Thread& thread, objects::File& file, Split split, const void* buffer,
        MPI_Status* status) {
    OpenFile& open = *file.open;
    std::unique_lock guard(open.lock);
    const Split begun = open.split;
    core::Request* const request = open.split_request;
    const bool same_buffer = open.split_buffer == buffer;
    guard.unlock();
    if (begun != split || request == nullptr)
        return objects::fail(thread, file, MPI_ERR_OTHER,
                             begun == Split::none
                                 ? std::string(name_of(split)) + "_begin has not been called"
                                 : std::string(name_of(begun)) + "_begin has been called last");
    if (!same_buffer)
        return objects::fail(
            thread, file, MPI_ERR_BUFFER,
            "argument buf: another one than " + std::string(name_of(split)) + "_begin has got");
    p2p::complete(thread, *request);
    Request& access = access_of(*request);
    access.finish();
    access.set_status(status);
    const Failure failure = access.failure();
    const std::string doing = access.doing();
    access.leave(thread, Request::collected);
    {
        const std::lock_guard again(open.lock);
        open.split = Split::none;
        open.split_request = nullptr;
    }
    return raise(thread, file, failure, doing);
}

}  // namespace heddle::io
