// SPDX-License-Identifier: BSD-3-Clause
#include "transport/two_lanes.hpp"

#include <algorithm>

namespace heddle::transport {

/// Reports of the lane to guests, with numbers as the user of both lanes knows them.
class TwoLanes::FromGuests final : public Arrivals {
public:
    FromGuests(Arrivals& arrivals, Peer before) noexcept : arrivals_(arrivals), before_(before) {}

    bool arrived(Peer peer, Header& header) noexcept override {
        return arrivals_.arrived(before_ + peer, header);
    }
    void read_over(std::uint64_t token, bool fine) noexcept override {
        arrivals_.read_over(token, fine);
    }
    void lost(Peer peer, std::string_view why) noexcept override {
        arrivals_.lost(before_ + peer, why);
    }
    void left(Peer peer) noexcept override { arrivals_.left(before_ + peer); }
    void stranger() noexcept override { arrivals_.stranger(); }

private:
    Arrivals& arrivals_;
    const Peer before_;
};

void TwoLanes::add_guests(std::unique_ptr<AnyLane> guests) {
    if (job_ != nullptr && job_->descriptor() >= 0)
        both_.watch(job_->descriptor(), guests->descriptor());
    guests_ = std::move(guests);
}

std::size_t TwoLanes::poll(Arrivals& arrivals) noexcept {
    std::size_t happened = job_ != nullptr ? job_->poll(arrivals) : 0;
    if (guests_ == nullptr) return happened;
    FromGuests from_guests(arrivals, processes_);
    return happened + guests_->poll(from_guests);
}

std::size_t TwoLanes::most_payload() const noexcept {
    if (job_ == nullptr) return guests_->most_payload();
    return guests_ == nullptr ? job_->most_payload()
                              : std::min(job_->most_payload(), guests_->most_payload());
}

/// Returns the descriptor. A lane that cannot sleep keeps both awake.
int TwoLanes::descriptor() const noexcept {
    if (guests_ == nullptr) return job_->descriptor();
    return job_ == nullptr ? guests_->descriptor() : both_.descriptor();
}

bool TwoLanes::arm() noexcept {
    const bool job = job_ == nullptr || job_->arm();
    return (guests_ == nullptr || guests_->arm()) && job;
}

std::chrono::milliseconds TwoLanes::nap() const noexcept {
    auto shortest = std::chrono::milliseconds::max();
    if (job_ != nullptr) shortest = std::min(shortest, job_->nap());
    if (guests_ != nullptr) shortest = std::min(shortest, guests_->nap());
    return shortest;
}

bool TwoLanes::drain() noexcept {
    bool drained = true;
    for_both([&](AnyLane& lane) { drained = lane.drain() && drained; });
    return drained;
}

bool TwoLanes::is_past_mark() noexcept {
    bool past = true;
    for_both([&](AnyLane& lane) { past = lane.is_past_mark() && past; });
    return past;
}

}  // namespace heddle::transport
