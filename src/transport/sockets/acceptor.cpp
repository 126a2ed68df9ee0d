// SPDX-License-Identifier: BSD-3-Clause
#include "transport/sockets/acceptor.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "platform/random.hpp"

namespace heddle::transport::sockets {
namespace {

constexpr int backlog = 4096;  // the kernel has a limit of its own
constexpr int accepts_at_once = 16;

[[noreturn]] void refuse_to_listen(const char* step, int error) {
    throw std::runtime_error(std::string(step) + ": " + std::strerror(error));
}

bool is_of_this_user(int socket) noexcept {
    ucred peer{};
    socklen_t bytes = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid();
}

/// Returns whether the error says of one connection that it has gone, and nothing of the next one.
bool is_of_one_connection(int error) noexcept {
    return error == ECONNABORTED || error == EINTR || error == EPROTO || error == EPERM;
}

Endpoint everywhere(int family) noexcept {
    Endpoint endpoint;
    if (family == AF_INET6) {
        sockaddr_in6 address{};
        address.sin6_family = AF_INET6;
        std::memcpy(&endpoint.bytes, &address, endpoint.length = sizeof address);
    } else {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        std::memcpy(&endpoint.bytes, &address, endpoint.length = sizeof address);
    }
    return endpoint;
}

std::uint16_t port_of(int socket) noexcept {
    sockaddr_storage bytes{};
    socklen_t length = sizeof bytes;
    if (getsockname(socket, reinterpret_cast<sockaddr*>(&bytes), &length) != 0) return 0;
    sockaddr_in address{};
    std::memcpy(&address, &bytes,
                sizeof address);  // the port of both families is in the same place
    return ntohs(address.sin_port);
}
static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));

}  // namespace

Acceptor::~Acceptor() {
    incoming_.clear();  // gives chunks back
}

void Acceptor::listen_at(Listener& listener, const Endpoint& endpoint) {
    Descriptor socket(::socket(endpoint.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket) refuse_to_listen("socket", errno);
    const int off = 0;
    if (endpoint.family() == AF_INET6)
        (void)setsockopt(socket.number(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(socket.number(), endpoint.get(), endpoint.length) != 0)
        refuse_to_listen("bind", errno);
    if (listen(socket.number(), backlog) != 0) refuse_to_listen("listen", errno);
    if (!loop_.add(socket.number(), listener, EPOLLIN)) refuse_to_listen("epoll_ctl", errno);
    listener.socket = std::move(socket);
}

void Acceptor::listen_here(Address& own) {
    secret_ = own.secret;
    platform::random_bytes(&own.name, sizeof own.name);
    own.name |= 1;  // not none
    listen_at(here_, abstract_endpoint(own.name));
}

/// Listens at one socket for both versions of the protocol, if the kernel has the newer one.
void Acceptor::listen_to_others(Address& own, const std::string& interface) {
    secret_ = own.secret;
    if (internet_addresses(interface, 0).empty()) return;
    try {
        listen_at(others_, everywhere(AF_INET6));
    } catch (const std::runtime_error&) {
        listen_at(others_, everywhere(AF_INET));
    }
    own.port = port_of(others_.socket.number());
    own.internet = internet_addresses(interface, own.port);
}

void Acceptor::accept_all(Listener& listener) noexcept {
    for (int accepted = 0; accepted < accepts_at_once && accept_one(listener); ++accepted) {}
}

/// Returns false if no connection waits, or no other is let in for now.
bool Acceptor::accept_one(Listener& listener) noexcept {
    if (deaf_) return false;
    if (unknown_ >= most_unknown) {
        stop_listening();
        return false;
    }
    Descriptor socket(
        accept4(listener.socket.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket) return admit(std::move(socket), listener.internet);
    if (is_of_one_connection(errno)) return true;
    if (errno != EAGAIN) stop_listening();
    return false;
}

bool Acceptor::admit(Descriptor socket, bool internet) noexcept try {
    if (!internet && !is_of_this_user(socket.number())) {
        ++strangers_;
        return true;
    }
    const int number = socket.number(), on = 1;
    if (internet) (void)setsockopt(number, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    incoming_.push_back(std::make_unique<Incoming>(*this, std::move(socket), internet));
    Incoming& connection = *incoming_.back();
    connection.place = incoming_.size() - 1;
    if (!loop_.add(number, connection, EPOLLIN | EPOLLRDHUP)) {
        incoming_.pop_back();
        return true;
    }
    ++unknown_;
    loop_.want_ticks(true);
    return true;
} catch (const std::bad_alloc&) {
    stop_listening();
    return false;
}

void Acceptor::stop_listening() noexcept {
    deaf_ = true;
    for (Listener* listener : {&here_, &others_})
        if (listener->socket) loop_.remove(listener->socket.number());
    loop_.want_ticks(true);
}

void Acceptor::listen_again() noexcept {
    deaf_ = false;
    loop_.want_ticks(false);
    for (Listener* listener : {&here_, &others_})
        if (listener->socket && !loop_.add(listener->socket.number(), *listener, EPOLLIN))
            return stop_listening();
}

void Acceptor::tick() noexcept {
    if (unknown_ != 0) forget_unknown();
    if (deaf_ && unknown_ < most_unknown) listen_again();
}

void Acceptor::forget_unknown() noexcept {
    const auto now = Incoming::Clock::now();
    for (std::size_t i = incoming_.size(); i-- > 0;)
        if (!incoming_[i]->is_known() && now - incoming_[i]->since() > until_stranger)
            refuse(*incoming_[i]);
}

void Acceptor::let_in(Incoming&) noexcept {
    --unknown_;
    loop_.want_ticks(false);
}

void Acceptor::refuse(Incoming& connection) noexcept {
    ++strangers_;
    --unknown_;
    loop_.want_ticks(false);
    destroy(connection);
}

void Acceptor::end(Incoming& connection, int error) noexcept {
    if (error != 0) last_error_ = error;
    if (!connection.has_ring_in_use()) return destroy(connection);
    connection.ended = true;
    loop_.remove(connection.descriptor());
    if (!connection.listed && connection.has_batch()) list(connection);
}

/// Ends a connection that is over. The batches in its ring are taken before that, and what was
/// handed out stays readable.
void Acceptor::end_if_over(Incoming& connection) noexcept {
    if (connection.ended && !connection.has_ring_in_use()) destroy(connection);
}

void Acceptor::destroy(Incoming& connection) noexcept {
    loop_.remove(connection.descriptor());
    cool(connection);
    const std::size_t place = connection.place;
    std::swap(incoming_[place], incoming_.back());
    incoming_[place]->place = place;
    incoming_.pop_back();
}

void Acceptor::list(Incoming& connection) noexcept {
    connection.listed = true;
    connection.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &connection;
    last_ = &connection;
}

/// Takes one batch of each connection in turn.
bool Acceptor::take(WireEvent& event) noexcept {
    if (!has_batches()) return false;
    Incoming& connection = *first_;
    const bool taken = connection.take(event);
    if (!taken && !connection.is_broken()) return false;
    first_ = connection.next;
    connection.listed = false;
    connection.idle = 0;
    if (connection.has_batch())
        list(connection);
    else if (connection.is_broken())
        end(connection, EPROTO);
    else
        end_if_over(connection);
    return taken;
}

void Acceptor::release(Operation& operation) noexcept {
    auto& receipt = static_cast<Receipt&>(operation);
    if (receipt.chunk == nullptr) {
        Incoming& from = *receipt.from;
        from.release(receipt);
        return end_if_over(from);
    }
    Chunk* const chunk = chunks_.take_back(receipt);
    if (chunk == nullptr) return;
    if (chunk->owner == nullptr)
        chunks_.put(*chunk);
    else
        chunk->owner->released(*chunk);
    if (paused_ != nullptr) resume_paused();
}

void Acceptor::heat(Incoming& connection) noexcept {
    connection.idle = 0;
    if (std::exchange(connection.hot, true)) return;
    connection.next_hot = std::exchange(hot_, &connection);
}

void Acceptor::cool(Incoming& connection) noexcept {
    if (!std::exchange(connection.hot, false)) return;
    Incoming** at = &hot_;
    while (*at != &connection) at = &(*at)->next_hot;
    *at = connection.next_hot;
}

void Acceptor::look_at_rings() noexcept {
    Incoming* next = nullptr;
    for (Incoming* connection = hot_; connection != nullptr; connection = next) {
        next = connection->next_hot;
        if (connection->listed) continue;
        if (connection->has_batch())
            list(*connection);
        else if (connection->is_broken())
            end(*connection, EPROTO);
        else if (++connection->idle > most_idle && connection->go_cold())
            cool(*connection);
    }
}

bool Acceptor::make_cold() noexcept {
    while (hot_ != nullptr) {
        if (hot_->listed || !hot_->go_cold()) return false;
        cool(*hot_);
    }
    return true;
}

/// Pauses a connection. If there is no memory although nothing is handed out, it is tried again.
void Acceptor::pause(Incoming& connection) noexcept {
    if (!chunks_.has_handed_out()) return;
    loop_.remove(connection.descriptor());
    connection.next = std::exchange(paused_, &connection);
}

void Acceptor::resume_paused() noexcept {
    Incoming* next = nullptr;
    for (Incoming* connection = std::exchange(paused_, nullptr); connection != nullptr;
         connection = next) {
        next = connection->next;
        if (!connection->make_room() ||
            !loop_.add(connection->descriptor(), *connection, EPOLLIN | EPOLLRDHUP))
            connection->next = std::exchange(paused_, connection);
    }
}

}  // namespace heddle::transport::sockets
