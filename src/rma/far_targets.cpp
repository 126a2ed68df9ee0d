// SPDX-License-Identifier: BSD-3-Clause
#include "rma/far_targets.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "rma/blocks.hpp"
#include "rma/named_wait.hpp"

namespace heddle::rma {
namespace {

using core::Request;
using core::Thread;
using objects::Datatype;
using objects::Place;
using p2p::AccessFields;
using p2p::Outbound;

/// The most bytes of a message that are copied, so that no thread waits until they have left.
/// Messages are copied while fewer than most_copied bytes of copies are pending.
constexpr std::uint64_t most_copied_at_once = 8192;
constexpr std::uint64_t most_copied = std::uint64_t{1} << 20;
/// The most bytes of one question for data.
constexpr std::uint64_t most_wanted = std::uint64_t{1} << 30;

std::uint64_t address_of(const Request& request) noexcept {
    return reinterpret_cast<std::uint64_t>(&request);
}

Datatype* layout_of(const Local& local) noexcept {
    return local.type->contiguous ? nullptr : const_cast<Datatype*>(local.type);  // counted only
}

}  // namespace

/// The state of the operations on a target.
struct FarTargets::Account {
    std::atomic<std::uint64_t> issued{0};  ///< operations that have been sent
    std::atomic<std::uint64_t> fetching{
        0};  ///< the value of `issued` at the last operation that fetches data
    std::atomic<std::uint64_t> flushed{0};  ///< so many of them are complete
    std::atomic<bool> refused{false};       ///< an operation that fetches data was refused
    std::vector<FoundRegion> regions;       ///< of a dynamic window; guarded by regions_lock_
};

/// A copy of data that are being sent. The owner of the original may change it.
class FarTargets::Copy final : public p2p::Listener {
public:
    Copy(std::shared_ptr<FarTargets> owner, const Outbound& message)
        : owner_(std::move(owner)),
          bytes_(message.bytes),
          data_(std::make_unique_for_overwrite<std::byte[]>(message.bytes)) {
        p2p::gather(data_.get(), message.data, message.layout, message.offset, message.bytes);
        owner_->copied_.fetch_add(bytes_, relaxed);
    }
    ~Copy() { owner_->copied_.fetch_sub(bytes_, relaxed); }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;

    const std::byte* data() const noexcept { return data_.get(); }
    void completed(p2p::ProgressCall& call, Request& request) noexcept override {
        call.thread.engine->requests().free(call.thread, request);
        delete this;
    }

private:
    const std::shared_ptr<FarTargets> owner_;
    const std::uint64_t bytes_;
    const std::unique_ptr<std::byte[]> data_;
};

FarTargets::FarTargets(objects::Window& window)
    : window_(window),
      accounts_(std::make_unique<Account[]>(static_cast<std::size_t>(window.ranks))) {
    for (std::int32_t rank = 0; rank < window.ranks; ++rank)
        if (window.targets[rank].far) ranks_.push_back(rank);
}
FarTargets::~FarTargets() = default;

auto FarTargets::account(std::int32_t rank) noexcept -> Account& {
    return accounts_[static_cast<std::size_t>(rank)];
}

Outbound FarTargets::message_to(std::int32_t rank) const noexcept {
    const objects::Communicator& communicator = *window_.communicator;
    return {{context_of(communicator), communicator.rank, 0},
            window_.targets[rank].process,
            nullptr,
            0};
}

/// Counts an operation after it has been sent. A flush that does not find it counted is older.
void FarTargets::count(std::int32_t rank, bool fetches) noexcept {
    Account& account = this->account(rank);
    const std::uint64_t issued = account.issued.fetch_add(1, acq_rel) + 1;
    if (!fetches) return;
    std::uint64_t last = account.fetching.load(relaxed);
    while (last < issued && !account.fetching.compare_exchange_weak(last, issued, relaxed)) {}
}

// --- requests and messages ---

/// Takes a request for an answer of `bytes` bytes.
Request& FarTargets::new_request(Thread& thread, p2p::Listener* listener, void* buffer,
                                 std::uint64_t bytes) {
    Request* request = thread.engine->requests().take(
        thread, listener == nullptr ? nullptr : listener->as_waiter());
    if (request == nullptr) throw std::bad_alloc();
    request->operation = core::Operation::access;
    request->instance = 0;
    request->any_tag = false;
    request->clear_outcome();
    request->communicator = nullptr;
    request->buffer = static_cast<std::byte*>(buffer);
    request->capacity = bytes;
    request->bytes = 0;
    request->remaining = bytes;
    return *request;
}

void FarTargets::completed(p2p::ProgressCall& call, Request& request) noexcept {
    if (request.error != MPI_SUCCESS) account(request.peer).refused.store(true, relaxed);
    call.thread.engine->requests().free(call.thread, request);
}

/// Takes a request for data that arrive by themselves. Only flushes wait for them.
Request& FarTargets::expect(Thread& thread, std::int32_t rank, void* buffer, std::uint64_t bytes,
                            Datatype* layout) {
    Request& request = new_request(thread, this, buffer, bytes);
    request.peer = rank;
    p2p::keep_layout(request, layout);
    return request;
}

void FarTargets::post(Thread& thread, const Outbound& message, const AccessFields& fields,
                      Request* completes) {
    p2p::ProgressCall call(thread);
    p2p::finish_after(call, [&] { thread.engine->far().ask(call, message, fields, completes); });
}

/// Sends data that begin at message.offset, as fields.offset says.
void FarTargets::send(Thread& thread, std::int32_t rank, const Outbound& message,
                      AccessFields fields) {
    if (message.bytes == 0) return post(thread, message, fields, nullptr);
    if (message.bytes <= most_copied_at_once && copied_.load(relaxed) < most_copied)
        return send_copy(thread, message, fields);
    Request& left = new_request(thread, nullptr, nullptr, 0);
    try {
        post(thread, message, fields, &left);
    } catch (const std::bad_alloc&) {
        thread.engine->requests().free(thread, left);
        throw;
    }
    (void)hear(thread, left, rank, AwaitedKind::window_room);
}

void FarTargets::send_copy(Thread& thread, const Outbound& message, AccessFields fields) {
    auto copy = std::make_unique<Copy>(shared_from_this(), message);
    Request& left = new_request(thread, copy.get(), nullptr, 0);
    Outbound copied = message;
    copied.data = copy->data();
    copied.layout = nullptr;
    copied.offset = 0;
    fields.address += fields.offset;
    fields.offset = 0;
    try {
        post(thread, copied, fields, &left);
    } catch (const std::bad_alloc&) {
        thread.engine->requests().free(thread, left);
        throw;
    }
    (void)copy.release();  // it owns itself, and may be gone
}

Request& FarTargets::ask(Thread& thread, std::int32_t rank, AccessFields fields, void* answer,
                         std::uint64_t bytes) {
    Request& request = new_request(thread, nullptr, answer, bytes);
    fields.receiver = address_of(request);
    Outbound message = message_to(rank);
    message.envelope.tag = p2p::awaited_access;
    try {
        post(thread, message, fields, nullptr);
    } catch (const std::bad_alloc&) {
        thread.engine->requests().free(thread, request);
        throw;
    }
    return request;
}

int FarTargets::hear(Thread& thread, Request& request, std::int32_t rank, AwaitedKind what) {
    if (!request.completed())
        progress::wait(thread.engine->polling(), thread,
                       NamedWait(*thread.engine, request, window_, rank, what));
    const int error = request.error;
    thread.engine->requests().free(thread, request);
    return error;
}

// --- operations ---

void FarTargets::put(const There& to, const Local& from) {
    Outbound message = message_to(to.rank);
    message.data = from.address;
    message.layout = layout_of(from);
    each_block(to.type, to.place, to.bytes,
               [&](Place place, std::uint64_t at, std::uint64_t bytes) {
                   message.offset = at;
                   message.bytes = bytes;
                   send(to.thread, to.rank, message, question(FarKind::put, place - at, at));
                   return true;
               });
    count(to.rank, false);
}

void FarTargets::get(const There& from, const Local& to) {
    Request& request = expect(from.thread, from.rank, to.address, from.bytes, layout_of(to));
    const Outbound message = message_to(from.rank);
    const auto want = [&](Place place, std::uint64_t at, std::uint64_t bytes) {
        AccessFields fields = question(FarKind::get, place - at, at, bytes);
        fields.receiver = address_of(request);
        post(from.thread, message, fields, nullptr);
    };
    each_block(from.type, from.place, from.bytes,
               [&](Place place, std::uint64_t at, std::uint64_t bytes) {
                   for (std::uint64_t done = 0; done < bytes; done += most_wanted)
                       want(place + done, at + done, std::min(most_wanted, bytes - done));
                   return true;
               });
    count(from.rank, true);
}

void FarTargets::accumulate(Thread& thread, std::int32_t rank, const ElementOperation& operation,
                            const Datatype& element, const Piece& piece) {
    const auto most = std::max<std::int64_t>(
        static_cast<std::int64_t>(thread.engine->far().most_payload()) / operation.step, 1);
    Outbound message = message_to(rank);
    for (std::int64_t done = 0; done < piece.count; done += most) {
        const std::int64_t some = std::min(most, piece.count - done), at = done * operation.step;
        const std::uint64_t bytes = bytes_of(operation, some);
        AccessFields fields = question(FarKind::accumulate, piece.target + static_cast<Place>(at),
                                       0, static_cast<std::uint64_t>(some));
        fields.operation = static_cast<std::uint8_t>(operation.builtin);
        fields.element = FarElement::of(element);
        if (piece.result != nullptr)
            fields.receiver = address_of(expect(thread, rank, piece.result + at, bytes, nullptr));
        message.data = piece.origin == nullptr ? nullptr : piece.origin + at;
        message.bytes = piece.origin == nullptr ? 0 : bytes;
        send(thread, rank, message, fields);
    }
    count(rank, piece.result != nullptr);
}

void FarTargets::compare_and_swap(Thread& thread, std::int32_t rank, Place place,
                                  const std::byte* origin, const std::byte* compare,
                                  std::byte* result, std::uint64_t bytes) {
    std::array<std::byte, 2 * most_compared> both;
    std::memcpy(both.data(), origin, bytes);
    std::memcpy(both.data() + bytes, compare, bytes);
    Outbound message = message_to(rank);
    message.data = both.data();
    message.bytes = 2 * bytes;
    AccessFields fields = question(FarKind::compare_and_swap, place, 0, bytes);
    fields.receiver = address_of(expect(thread, rank, result, bytes, nullptr));
    send(thread, rank, message, fields);
    count(rank, true);
}

// --- completing ---

/// Starts a flush. Returns false if nothing has been done since the last one.
bool FarTargets::start_flush(Thread& thread, std::int32_t rank, Flush& flush) {
    Account& account = this->account(rank);
    flush = {rank, account.issued.load(acquire), nullptr};
    if (account.flushed.load(acquire) >= flush.issued) return false;
    flush.request = &ask(thread, rank, question(FarKind::flush), nullptr, 0);
    return true;
}

int FarTargets::finish(Thread& thread, const Flush& flush) {
    Account& account = this->account(flush.rank);
    int error = hear(thread, *flush.request, flush.rank, AwaitedKind::window_flush);
    if (account.refused.exchange(false, relaxed)) error = MPI_ERR_RMA_RANGE;
    std::uint64_t before = account.flushed.load(relaxed);
    while (before < flush.issued &&
           !account.flushed.compare_exchange_weak(before, flush.issued, acq_rel, relaxed)) {}
    if (error == MPI_SUCCESS) return MPI_SUCCESS;
    return objects::fail(thread, window_, MPI_ERR_RMA_RANGE,
                         "target rank " + std::to_string(flush.rank) +
                             ": an access was to memory that is not attached there any more");
}

int FarTargets::flush(Thread& thread, std::int32_t rank) {
    Flush flush;
    return start_flush(thread, rank, flush) ? finish(thread, flush) : MPI_SUCCESS;
}

int FarTargets::flush_local(Thread& thread, std::int32_t rank) {
    Account& account = this->account(rank);
    const bool waits = account.flushed.load(acquire) < account.fetching.load(acquire);
    return waits ? flush(thread, rank) : MPI_SUCCESS;
}

/// Flushes the wanted targets. Asks all of them before it waits for the first one.
template <class Wanted>
int FarTargets::flush_if(Thread& thread, Wanted&& wanted) {
    std::vector<Flush> flushes;
    for (const std::int32_t rank : ranks_) {
        Flush flush;
        if (!wanted(account(rank))) continue;
        flushes.reserve(ranks_.size());
        if (start_flush(thread, rank, flush)) flushes.push_back(flush);
    }
    int first = MPI_SUCCESS;
    for (const Flush& flush : flushes)
        if (const int error = finish(thread, flush)) first = first == MPI_SUCCESS ? error : first;
    return first;
}
int FarTargets::flush_all(Thread& thread) {
    return flush_if(thread, [](const Account&) { return true; });
}
int FarTargets::flush_all_local(Thread& thread) {
    return flush_if(thread, [](const Account& account) {
        return account.flushed.load(acquire) < account.fetching.load(acquire);
    });
}

// --- dynamic windows ---

bool FarTargets::is_attached(Thread& thread, std::int32_t rank, std::uint64_t address,
                             std::uint64_t bytes) {
    const auto holds = [&](const FoundRegion& region) {
        return region.address <= address && address - region.address <= region.bytes &&
            bytes <= region.bytes - (address - region.address);
    };
    std::vector<FoundRegion>& known = account(rank).regions;
    {
        const std::lock_guard guard(regions_lock_);
        if (std::any_of(known.begin(), known.end(), holds)) return true;
    }
    FoundRegion found{};
    Request& request =
        ask(thread, rank, question(FarKind::find_region, address, bytes), &found, sizeof found);
    (void)hear(thread, request, rank, AwaitedKind::window_attached);
    if (found.bytes == 0) return false;
    const std::lock_guard guard(regions_lock_);
    // Known regions that the found one overlaps were detached.
    std::erase_if(known, [&](const FoundRegion& old) {
        return old.address < found.address + found.bytes && found.address < old.address + old.bytes;
    });
    known.push_back(found);
    return true;
}

}  // namespace heddle::rma
