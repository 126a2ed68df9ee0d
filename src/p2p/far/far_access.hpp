// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Accesses of processes of other nodes to windows, as far as messages go. They are handed to a
/// listener by context. rma/far_service.hpp serves them.
///
/// Thread safety  every function of FarListeners from any thread.

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "transport/header.hpp"

namespace heddle::p2p {

struct ProgressCall;

class FarListener {
public:
    /// Takes a message of kind `access`, in its order. The lane is locked: work that may wait, or
    /// send within the node, is put off (ProgressCall::put_off()). Throws std::bad_alloc before
    /// anything has changed; the message then comes again.
    virtual void asked(ProgressCall& call, std::int32_t process,
                       const transport::Header& header) = 0;

protected:
    ~FarListener() = default;
};

class FarListeners {
public:
    /// Adds a listener. Throws std::bad_alloc.
    void add(std::uint32_t context, std::shared_ptr<FarListener> listener) {
        const std::lock_guard guard(lock_);
        by_context_[context] = std::move(listener);
    }
    /// Removes a listener when no process asks any more.
    void remove(std::uint32_t context) noexcept {
        const std::lock_guard guard(lock_);
        by_context_.erase(context);
    }
    /// Returns nullptr if there is none.
    std::shared_ptr<FarListener> of(std::uint32_t context) noexcept {
        const std::lock_guard guard(lock_);
        const auto at = by_context_.find(context);
        return at == by_context_.end() ? nullptr : at->second;
    }

private:
    std::mutex lock_;
    std::unordered_map<std::uint32_t, std::shared_ptr<FarListener>> by_context_;
};

}  // namespace heddle::p2p
