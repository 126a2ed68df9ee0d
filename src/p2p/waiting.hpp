// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Conditions that MPI calls wait for (progress/wait.hpp): one request, all or any of several, a
/// message to be probed.

#include <cstdint>
#include <span>

#include "p2p/engine.hpp"
#include "p2p/report/tell.hpp"
#include "progress/wait.hpp"

namespace heddle::p2p {

using Instances = Engine::Instances;

/// A waiting thread's slot in requests.
class Announcement {
public:
    /// Puts the slot there, or takes it away (nullptr). Returns false if another thread's slot is
    /// there.
    [[nodiscard]] bool make(core::Request& request, sync::Slot* slot) noexcept {
        if (slot == nullptr) {
            if (slot_ != nullptr) request.unannounce(slot_);
            return true;
        }
        slot_ = slot;
        return request.announce(slot);
    }

private:
    sync::Slot* slot_ = nullptr;
};

class OneRequest {
public:
    OneRequest(Engine& engine, core::Request& request) noexcept
        : engine_(engine), request_(request) {}

    bool holds() const noexcept { return request_.completed() || contested; }
    Instances likely_instances() const noexcept { return engine_.likely_instances_of(request_); }
    Instances instances() const noexcept { return engine_.instance_of(request_); }
    void announce(sync::Slot* slot) noexcept {
        contested = !announcement_.make(request_, slot);
        if (slot != nullptr) engine_.far().watch_sender(request_);
    }
    /// Returns the number of the peer once the condition holds; -1 if it is not known.
    std::int32_t answered_by() const noexcept { return contested ? -1 : request_.peer; }
    void tell(core::Thread& thread, node::WaitsFor& what) const noexcept {
        tell_request(thread, request_, what);
    }

    bool contested = false;  ///< another thread waits for it: the program has copied a handle

private:
    Engine& engine_;
    core::Request& request_;
    Announcement announcement_;
};

/// Several requests; null pointers among them do not count.
class AwaitedRequests {
public:
    AwaitedRequests(Engine& engine, std::span<core::Request* const> requests) noexcept
        : engine_(engine), requests_(requests) {}

    Instances instances() const noexcept {
        Instances all = 0;
        for (core::Request* request : requests_)
            if (!is_complete(request)) all |= engine_.instance_of(*request);
        return all;
    }

    void tell(core::Thread& thread, node::WaitsFor& what) const noexcept {
        for (core::Request* request : requests_)
            if (!is_complete(request)) tell_request(thread, *request, what);
    }

    bool contested =
        false;  ///< another thread waits for one of them: the program has copied a handle

protected:
    static bool is_complete(const core::Request* request) noexcept {
        return request == nullptr || request->completed();
    }

    Engine& engine_;
    std::span<core::Request* const> requests_;
};

class AllRequests : public AwaitedRequests {
public:
    using AwaitedRequests::AwaitedRequests;

    bool holds() noexcept {
        while (first_ < requests_.size() && is_complete(requests_[first_])) ++first_;
        return first_ == requests_.size() || contested;
    }
    /// Called after holds() was false.
    Instances likely_instances() const noexcept {
        return engine_.likely_instances_of(*requests_[first_]);
    }
    /// Returns the number of the last request's peer once the condition holds; -1 if it is not
    /// known.
    std::int32_t answered_by() const noexcept {
        for (std::size_t i = contested ? 0 : requests_.size(); i-- > 0;)
            if (requests_[i] != nullptr && !requests_[i]->immortal) return requests_[i]->peer;
        return -1;
    }
    /// Announces the slot to the last missing request. Messages of one stream come in order, so
    /// that the thread wakes once and not for each.
    void announce(sync::Slot* slot) noexcept {
        if (announced_ != nullptr) (void)announcement_.make(*announced_, nullptr);
        announced_ = nullptr;
        if (slot == nullptr) return;
        for (std::size_t i = requests_.size(); i-- > first_;) {
            if (is_complete(requests_[i])) continue;
            announced_ = requests_[i];
            contested = !announcement_.make(*announced_, slot);
            engine_.far().watch_sender(*announced_);
            return;
        }
    }
    bool is_stale() const noexcept { return announced_ != nullptr && announced_->completed(); }

private:
    std::size_t first_ = 0;
    core::Request* announced_ = nullptr;
    Announcement announcement_;
};

class AnyRequest : public AwaitedRequests {
public:
    using AwaitedRequests::AwaitedRequests;

    /// While the condition does not hold, no request is complete, so that the result does not
    /// change.
    Instances instances() noexcept {
        if (instances_ == 0) instances_ = AwaitedRequests::instances();
        return instances_;
    }
    bool holds() const noexcept {
        for (core::Request* request : requests_)
            if (request != nullptr && request->completed()) return true;
        return contested;
    }
    Instances likely_instances() noexcept { return instances(); }
    void announce(sync::Slot* slot) noexcept {
        for (core::Request* request : requests_) {
            if (request == nullptr) continue;
            if (!announcement_.make(*request, slot)) contested = true;
            if (slot != nullptr) engine_.far().watch_sender(*request);
        }
    }
    void tell(core::Thread& thread, node::WaitsFor& what) const noexcept {
        AwaitedRequests::tell(thread, what);
        what.need = node::Need::any;
    }

private:
    Instances instances_ = 0;  ///< set by the first call
    Announcement announcement_;
};

/// A message that the pattern accepts. `take`: it is taken out, for a matched receive.
class Probed {
public:
    Probed(Engine& engine, core::Thread& thread, const match::Pattern& pattern, bool in_order,
           bool take) noexcept
        : engine_(engine), thread_(thread), pattern_(pattern), in_order_(in_order), take_(take) {}

    bool holds() {
        if (found_) return true;
        if (take_) {
            message = engine_.probes().take(thread_, pattern_, in_order_, outcome);
            found_ = message != nullptr;
        } else {
            found_ = engine_.probes().find(thread_, pattern_, in_order_, outcome);
        }
        return found_;
    }
    Instances likely_instances() const noexcept { return engine_.instance_of(pattern_); }
    Instances instances() const noexcept { return engine_.instance_of(pattern_); }
    void announce(sync::Slot* slot) {
        engine_.unexpected().watchers().remove(thread_.slot);
        if (slot != nullptr) engine_.unexpected().watchers().add(pattern_, *slot);
    }
    void tell(core::Thread& thread, node::WaitsFor& what) const noexcept {
        node::AwaitedEvent& event = *what.add();
        event.kind = node::AwaitedKind::probe;
        tell_pattern(thread, pattern_, event);
    }

    core::Outcome outcome{};
    match::Message* message = nullptr;

private:
    Engine& engine_;
    core::Thread& thread_;
    match::Pattern pattern_;
    bool in_order_;
    bool take_;
    bool found_ = false;
};

/// Waits for the request. Returns false if another thread waits for it, too, and will complete it.
inline bool wait_for(Engine& engine, core::Thread& thread, core::Request& request) {
    if (request.completed()) return true;
    OneRequest one(engine, request);
    progress::wait(engine.polling(), thread, one);
    return !one.contested;
}

}  // namespace heddle::p2p
