// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Two lanes as one: that to other nodes of the job, if there are any, and that to guests, once
/// there may be any. Peers below the size of the job belong to the first lane. Others belong to the
/// second one, in which they are numbered from 0.
///
/// Thread safety  as a lane.

#include <cassert>
#include <memory>
#include <string>

#include "platform/either.hpp"
#include "transport/any_lane.hpp"

namespace heddle::transport {

class TwoLanes final : public AnyLane {
public:
    /// `job`: nullptr if the job is on one node.
    TwoLanes(Peer processes, std::unique_ptr<AnyLane> job) noexcept
        : processes_(processes), job_(std::move(job)) {}

    bool has_job() const noexcept { return job_ != nullptr; }
    /// Throws std::system_error.
    void add_guests(std::unique_ptr<AnyLane> guests);

    std::string address() const override { return first().address(); }
    void connect(Peer peer, const std::string& address) override {
        lane_of(peer).connect(place(peer), address);
    }
    bool knows(Peer peer) const noexcept override { return lane_of(peer).knows(place(peer)); }
    Post post(Peer peer, const Header& header, Bytes prefix, Bytes payload) noexcept override {
        return lane_of(peer).post(place(peer), header, prefix, payload);
    }
    void flush() noexcept override {
        for_both([](AnyLane& lane) { lane.flush(); });
    }
    bool owes() const noexcept override {
        return (job_ != nullptr && job_->owes()) || (guests_ != nullptr && guests_->owes());
    }
    std::size_t poll(Arrivals& arrivals) noexcept override;
    std::size_t most_payload() const noexcept override;

    int descriptor() const noexcept override;
    bool arm() noexcept override;
    void disarm() noexcept override {
        for_both([](AnyLane& lane) { lane.disarm(); });
    }
    std::chrono::milliseconds nap() const noexcept override;

    bool can_read(Peer peer) const noexcept override { return lane_of(peer).can_read(place(peer)); }
    std::unique_ptr<AnyExposed> expose(Peer to, Bytes memory) override {
        return lane_of(to).expose(place(to), memory);
    }
    Post read(Peer peer, RemoteMemory remote, std::span<std::byte> local,
              std::uint64_t token) noexcept override {
        return lane_of(peer).read(place(peer), remote, local, token);
    }

    void watch(Peer peer, bool on) noexcept override { lane_of(peer).watch(place(peer), on); }
    bool drain() noexcept override;
    void mark() noexcept override {
        for_both([](AnyLane& lane) { lane.mark(); });
    }
    bool is_past_mark() noexcept override;
    bool has_met(Peer peer) const noexcept override { return lane_of(peer).has_met(place(peer)); }
    bool forget(Peer peer) noexcept override { return lane_of(peer).forget(place(peer)); }
    void rest() noexcept override {
        for_both([](AnyLane& lane) { lane.rest(); });
    }
    void resume() noexcept override {
        for_both([](AnyLane& lane) { lane.resume(); });
    }

private:
    class FromGuests;

    AnyLane& first() const noexcept { return job_ != nullptr ? *job_ : *guests_; }
    AnyLane& lane_of(Peer peer) const noexcept {
        assert((peer < processes_ ? job_ : guests_) != nullptr);
        return peer < processes_ ? *job_ : *guests_;
    }
    Peer place(Peer peer) const noexcept { return peer < processes_ ? peer : peer - processes_; }
    template <class Function>
    void for_both(Function&& function) noexcept {
        if (job_ != nullptr) function(*job_);
        if (guests_ != nullptr) function(*guests_);
    }

    const Peer processes_;
    const std::unique_ptr<AnyLane> job_;
    std::unique_ptr<AnyLane> guests_;
    platform::Either both_;  ///< both lanes, if there are two
};

}  // namespace heddle::transport
