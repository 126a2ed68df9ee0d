// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A lane of any network, for code that does not depend on which. Its contract is that of
/// transport/transport.hpp.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "transport/transport.hpp"

namespace heddle::transport {

/// Reports of poll(); see Consumer.
class Arrivals {
public:
    virtual bool arrived(Peer peer, Header& header) noexcept = 0;
    virtual void read_over(std::uint64_t token, bool fine) noexcept = 0;
    virtual void lost(Peer peer, std::string_view why) noexcept = 0;
    virtual void left(Peer peer) noexcept = 0;
    virtual void stranger() noexcept = 0;

protected:
    ~Arrivals() = default;
};
static_assert(Consumer<Arrivals>);

/// Lets memory be read, until it is destroyed.
class AnyExposed {
public:
    virtual ~AnyExposed() = default;
    virtual RemoteMemory remote() noexcept = 0;
};

class AnyLane {
public:
    virtual ~AnyLane() = default;

    virtual std::string address() const = 0;
    virtual void connect(Peer peer, const std::string& address) = 0;
    virtual bool knows(Peer peer) const noexcept = 0;
    virtual Post post(Peer peer, const Header& header, Bytes prefix, Bytes payload) noexcept = 0;
    virtual void flush() noexcept = 0;
    virtual bool owes() const noexcept = 0;
    virtual std::size_t poll(Arrivals& arrivals) noexcept = 0;
    virtual std::size_t most_payload() const noexcept = 0;

    virtual int descriptor() const noexcept = 0;
    virtual bool arm() noexcept = 0;
    virtual void disarm() noexcept = 0;
    virtual std::chrono::milliseconds nap() const noexcept = 0;

    /// For a peer that it knows: see Lane.
    virtual bool can_read(Peer peer) const noexcept = 0;
    virtual std::unique_ptr<AnyExposed> expose(Peer to, Bytes memory) = 0;
    virtual Post read(Peer peer, RemoteMemory remote, std::span<std::byte> local,
                      std::uint64_t token) noexcept = 0;

    virtual void watch(Peer peer, bool on) noexcept = 0;
    virtual bool drain() noexcept = 0;
    virtual void mark() noexcept = 0;
    virtual bool is_past_mark() noexcept = 0;
    virtual bool has_met(Peer peer) const noexcept = 0;
    /// See Lane. Returns false if the lane never forgets a peer.
    virtual bool forget(Peer peer) noexcept = 0;
    virtual void rest() noexcept = 0;
    virtual void resume() noexcept = 0;
};

template <Transport L>
class LaneOf final : public AnyLane {
public:
    template <class... Arguments>
    explicit LaneOf(Arguments&&... arguments) : lane_(std::forward<Arguments>(arguments)...) {}

    std::string address() const override { return lane_.address(); }
    void connect(Peer peer, const std::string& address) override { lane_.connect(peer, address); }
    bool knows(Peer peer) const noexcept override { return lane_.knows(peer); }
    Post post(Peer peer, const Header& header, Bytes prefix, Bytes payload) noexcept override {
        return lane_.post(peer, header, prefix, payload);
    }
    void flush() noexcept override { lane_.flush(); }
    bool owes() const noexcept override { return lane_.owes(); }
    std::size_t poll(Arrivals& arrivals) noexcept override { return lane_.poll(arrivals); }
    std::size_t most_payload() const noexcept override { return lane_.most_payload(); }
    int descriptor() const noexcept override { return lane_.descriptor(); }
    bool arm() noexcept override { return lane_.arm(); }
    void disarm() noexcept override { lane_.disarm(); }
    std::chrono::milliseconds nap() const noexcept override { return lane_.nap(); }
    bool can_read(Peer peer) const noexcept override { return lane_.can_read(peer); }
    std::unique_ptr<AnyExposed> expose(Peer, Bytes memory) override {
        return std::make_unique<Exposed>(lane_.expose(memory));
    }
    Post read(Peer peer, RemoteMemory remote, std::span<std::byte> local,
              std::uint64_t token) noexcept override {
        return lane_.read(peer, remote, local, token);
    }
    void watch(Peer peer, bool on) noexcept override { lane_.watch(peer, on); }
    bool drain() noexcept override { return lane_.drain(); }
    void mark() noexcept override { lane_.mark(); }
    bool is_past_mark() noexcept override { return lane_.is_past_mark(); }
    bool has_met(Peer peer) const noexcept override { return lane_.has_met(peer); }
    bool forget(Peer peer) noexcept override {
        if constexpr (requires { lane_.forget(peer); })
            return lane_.forget(peer);
        else
            return false;
    }
    void rest() noexcept override { lane_.rest(); }
    void resume() noexcept override { lane_.resume(); }

private:
    class Exposed final : public AnyExposed {
    public:
        explicit Exposed(typename L::Exposed&& exposed) noexcept : exposed_(std::move(exposed)) {}
        RemoteMemory remote() noexcept override { return exposed_.remote(); }

    private:
        typename L::Exposed exposed_;
    };

    L lane_;
};

}  // namespace heddle::transport
