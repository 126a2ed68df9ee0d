// SPDX-License-Identifier: BSD-3-Clause
#include "transport/sockets/outgoing.hpp"

#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

namespace heddle::transport::sockets {
namespace {

constexpr std::size_t passes = 3;     // over the endpoints, if peers hang up before the welcome
constexpr int send_buffer = 1 << 20;  // the kernel has a limit of its own
constexpr std::uint32_t quiet = EPOLLIN | EPOLLRDHUP;

bool is_shortage(int error) noexcept {
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/// Returns the id of the process that listens, 0 if it is none here; nothing if it is of another
/// user.
std::optional<int> listener_of_this_user(int socket) noexcept {
    ucred peer{};
    socklen_t bytes = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 || peer.uid != geteuid())
        return std::nullopt;
    return peer.pid;
}

int error_of(int socket) noexcept {
    int error = 0;
    socklen_t bytes = sizeof error;
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 ? error : errno;
}

/// Returns the reason. A write that comes too late means that the peer has hung up.
int reason_of(int error) noexcept { return error == EPIPE ? ECONNRESET : error; }

}  // namespace

Outgoing::~Outgoing() {
    if (state_ == State::failed && !told_) --completions_.failures;
    enter(State::closed);
    hang_up();
}

Sent Outgoing::send(SendBuffer& buffer, std::size_t bytes) noexcept {
    const Sent sent = begin({buffer.bytes.get(), bytes});
    if (sent != Sent::accepted) return sent;
    if (rest_.batch.empty())
        completions_.push(buffer, 0);
    else
        rest_.buffer = &buffer;
    return sent;
}

Sent Outgoing::inject(Bytes batch) noexcept {
    const Sent sent = begin(batch);
    if (sent != Sent::accepted || rest_.batch.empty()) return sent;
    std::memcpy(copy_.get(), batch.data(), batch.size());
    rest_.batch = {copy_.get(), batch.size()};
    return sent;
}

Sent Outgoing::read(RemoteMemory from, std::span<std::byte> to, Operation& operation) noexcept {
    if (state_ != State::ready && !open()) return is_told() ? Sent::failed : Sent::again;
    completions_.push(operation, reader_.read(from, secret_, to) ? 0 : not_readable);
    return Sent::accepted;
}

Sent Outgoing::begin(Bytes batch) noexcept {
    if (state_ != State::ready && !open()) [[unlikely]]
        return is_told() ? Sent::failed : Sent::again;
    if (ring_state_ == RingState::used) return push(batch);
    if (blocked_) return Sent::again;
    if (ring_state_ == RingState::accepted && go_on_in_ring()) return push(batch);
    const ssize_t wrote = write(batch, 0);
    if (wrote < 0) {
        fail(reason_of(errno));
        return Sent::again;
    }
    const auto left = static_cast<std::size_t>(wrote);
    if (left == Frame::of_batch(batch.size()).whole()) {
        if (rings_ && batches_ < batches_before_ring && ++batches_ == batches_before_ring)
            offer_ring();
        return Sent::accepted;
    }
    block(true);
    if (left == 0) return Sent::again;
    rest_ = {nullptr, batch, left};
    return Sent::accepted;
}

/// Writes what is behind the first bytes of the frame. Returns how much has left; negative: an
/// error.
ssize_t Outgoing::write(Bytes batch, std::size_t from) noexcept {
    static constexpr std::array<std::byte, 8> zeroes{};
    const Frame frame = Frame::of_batch(batch.size());
    const std::array<Bytes, 3> parts{std::as_bytes(std::span(&frame, 1)), batch,
                                     Bytes(zeroes).first(padded(batch.size()) - batch.size())};
    std::array<iovec, 3> pieces{};
    std::size_t count = 0;
    for (const Bytes& part : parts) {
        const std::size_t skipped = std::min(from, part.size());
        from -= skipped;
        if (skipped == part.size()) continue;
        pieces[count++] = {const_cast<std::byte*>(part.data() + skipped), part.size() - skipped};
    }
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = count;
    const ssize_t wrote = sendmsg(socket_.number(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    const bool later = wrote < 0 && (errno == EAGAIN || errno == EINTR || is_shortage(errno));
    return later ? 0 : wrote;
}

void Outgoing::write_rest() noexcept {
    if (!rest_.batch.empty()) {
        const ssize_t wrote = write(rest_.batch, rest_.sent);
        if (wrote < 0) return fail(reason_of(errno));
        rest_.sent += static_cast<std::size_t>(wrote);
        if (rest_.sent < Frame::of_batch(rest_.batch.size()).whole()) return;
        if (rest_.buffer != nullptr) completions_.push(*rest_.buffer, 0);
        rest_ = {};
    }
    block(false);
}

void Outgoing::block(bool on) noexcept {
    blocked_ = on;
    loop_.change(socket_.number(), *this, on ? quiet | EPOLLOUT : quiet);
}

/// Offers a ring. If the kernel does not take the offer now, there is no other.
void Outgoing::offer_ring() noexcept {
    Descriptor descriptor;
    RingMemory memory = RingMemory::create(descriptor);
    if (!memory) return;
    ring_.reset(new (std::nothrow) SendingRing(std::move(memory)));
    if (ring_ == nullptr) return;
    const Frame offer{0, Frame::Kind::offer};
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
    iovec bytes{const_cast<Frame*>(&offer), sizeof offer};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    const int number = descriptor.number();
    std::memcpy(CMSG_DATA(header), &number, sizeof number);
    if (sendmsg(socket_.number(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof offer)
        ring_state_ = RingState::offered;
    else
        ring_.reset();
}

/// Returns false if the socket has no room to say so.
bool Outgoing::go_on_in_ring() noexcept {
    const Frame last{0, Frame::Kind::go_on};
    if (::send(socket_.number(), &last, sizeof last, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof last)
        return false;
    ring_state_ = RingState::used;
    return true;
}

Sent Outgoing::push(Bytes batch) noexcept {
    RingProducer& producer = ring_->producer;
    if (blocked_ && !producer.may_push()) return Sent::again;
    blocked_ = false;
    while (!producer.push(batch))
        if (producer.wait()) {
            blocked_ = true;
            return Sent::again;
        }
    if (!producer.should_ring()) return Sent::accepted;
    // A socket that is full of bells is as good as one more.
    if (::send(socket_.number(), &bell, sizeof bell, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
        errno != EAGAIN && errno != EINTR) {
        fail(reason_of(errno));
    }
    return Sent::accepted;
}

/// Returns true when it is ready.
bool Outgoing::open() noexcept {
    if (state_ != State::closed) return false;
    if (copy_ == nullptr) copy_.reset(new (std::nothrow) std::byte[inject_limit]);
    if (copy_ == nullptr) return false;
    if (endpoints_.front().is_internet())
        try_next();
    else if (open_beside())
        enter(State::ready);
    return state_ == State::ready;
}

/// Returns false if it has failed, or is to be tried again.
bool Outgoing::open_beside() noexcept {
    if (!try_endpoint(endpoints_.front())) {
        // EAGAIN: as many wait to be let in as may.
        if (!is_short_ && error_ != EAGAIN) fail(error_);
        return false;
    }
    const std::optional<int> listener = listener_of_this_user(socket_.number());
    if (!listener) {
        fail(EACCES);
        return false;
    }
    reader_.set_process(*listener);
    if (say_hello()) return true;
    fail(ECONNRESET);
    return false;
}

/// Tries endpoints until one of them is connecting. While descriptors are short it stays closed, so
/// that the next batch tries again.
void Outgoing::try_next() noexcept {
    enter(State::closed);
    if (tries_ == 0) opened_ = Clock::now();
    while (has_more_endpoints()) {
        ++tries_;
        if (try_endpoint(endpoint())) return enter(State::connecting);
        if (is_short_) {
            --tries_;
            return;
        }
    }
    fail(error_);
}

/// Returns false if it was refused at once, by error_.
bool Outgoing::try_endpoint(const Endpoint& endpoint) noexcept {
    hang_up();
    tried_ = Clock::now();
    Descriptor made = make_socket(endpoint.family());
    if (!made) return false;
    const bool connects =
        connect(made.number(), endpoint.get(), endpoint.length) == 0 || errno == EINPROGRESS;
    if (!connects || !loop_.add(made.number(), *this, endpoint.is_internet() ? EPOLLOUT : quiet)) {
        error_ = errno;
        return false;
    }
    socket_ = std::move(made);
    return true;
}

Descriptor Outgoing::make_socket(int family) noexcept {
    Descriptor made(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!made) {
        error_ = errno;
        if (is_shortage(error_) && !std::exchange(is_short_, true)) short_since_ = tried_;
        return made;
    }
    is_short_ = false;
    const int on = 1;
    if (family == AF_UNIX)
        (void)setsockopt(made.number(), SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
    else
        (void)setsockopt(made.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return made;
}

bool Outgoing::say_hello() noexcept {
    const Hello said = hello(Hello::Kind::batches);
    return ::send(socket_.number(), &said, sizeof said, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof said;
}

void Outgoing::ready(std::uint32_t what) noexcept {
    switch (state_) {
        case State::connecting:
            error_ = error_of(socket_.number());
            if (error_ != 0 || !say_hello()) return try_next();
            loop_.change(socket_.number(), *this, quiet);
            return enter(State::greeting);
        case State::greeting: return hear_welcome();
        case State::ready:
            if ((what & (quiet | EPOLLHUP | EPOLLERR)) != 0) hear();
            if ((what & EPOLLOUT) != 0 && state_ == State::ready) write_rest();
            return;
        case State::closed:
        case State::failed: return;
    }
}

void Outgoing::hear_welcome() noexcept {
    std::uint64_t heard = 0;
    const ssize_t got = recv(socket_.number(), &heard, sizeof heard, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got == sizeof heard && heard == welcome) return enter(State::ready);
    error_ = got < 0 ? errno : ECONNRESET;
    most_tries_ = passes * endpoints_.size();
    try_next();
}

/// Hears the receiver, which accepts a ring, or rings when there is room in it. It says nothing
/// else: if the socket is readable for another reason, the receiver has gone.
void Outgoing::hear() noexcept {
    std::array<std::byte, 64> said;
    const ssize_t got = recv(socket_.number(), said.data(), said.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return fail(got == 0 ? ECONNRESET : errno);
    for (const std::byte word : std::span(said).first(static_cast<std::size_t>(got))) {
        if (word == accepted && ring_state_ == RingState::offered)
            ring_state_ = RingState::accepted;
        else if (word != bell || ring_state_ != RingState::used)
            return fail(EPROTO);
    }
}

void Outgoing::enter(State state) noexcept {
    const bool before = is_on_its_way();
    state_ = state;
    if (before != is_on_its_way()) loop_.want_ticks(!before);
}

void Outgoing::tick() noexcept {
    if (!is_on_its_way() || !has_more_endpoints()) return;
    const auto patience = state_ == State::connecting ? Clock::duration(until_next)
                                                      : Clock::duration(until_unwelcome);
    if (Clock::now() - tried_ <= patience) return;
    error_ = ETIMEDOUT;
    try_next();
}

/// Ends the connection. A peer that was never connected has said nothing that could still be under
/// way.
void Outgoing::fail(int error) noexcept {
    const bool was_connected = state_ == State::ready;
    enter(State::failed);
    error_ = error;
    hang_up();
    probe_.reset();
    ring_.reset();
    ring_state_ = RingState::none;
    ++completions_.failures;
    if (!was_connected) tell_failure();
}

void Outgoing::tell_failure() noexcept {
    if (state_ != State::failed || std::exchange(told_, true)) return;
    --completions_.failures;
    if (rest_.buffer != nullptr) completions_.push(*rest_.buffer, error_);
    rest_ = {};
}

void Outgoing::hang_up() noexcept {
    if (!socket_) return;
    loop_.remove(socket_.number());
    socket_.close();
}

std::string Outgoing::finding() {
    const auto now = Clock::now();
    if (is_told()) return std::strerror(error_);
    if (is_short_ && now - short_since_ > until_short) return std::strerror(error_);
    if (state_ == State::connecting && now - opened_ > until_unreachable)
        return "no answer for " + std::to_string(until_unreachable.count()) + " s";
    return is_connected() && endpoint().is_internet() ? probe().finding() : std::string();
}

/// Returns a connection of its own. Its signs of life do not become rarer because a receiver has no
/// room.
Probe& Outgoing::probe() {
    if (probe_ == nullptr) {
        const Hello said = hello(Hello::Kind::signs_of_life);
        const auto* const at = reinterpret_cast<const char*>(endpoint().get());
        probe_ =
            std::make_unique<Probe>(std::string(at, endpoint().length),
                                    std::string(reinterpret_cast<const char*>(&said), sizeof said));
    }
    return *probe_;
}

/// Returns whether the host has acknowledged something within that time. On one machine a socket
/// knows at once that its peer has gone.
bool Outgoing::is_acknowledged(std::chrono::milliseconds within) noexcept {
    if (is_beside()) return !is_told();
    if (!is_connected()) return false;
    if (probe_ != nullptr && probe_->is_acknowledged(within)) return true;
    return acknowledgement_age(socket_.number()) <= within;
}

}  // namespace heddle::transport::sockets
