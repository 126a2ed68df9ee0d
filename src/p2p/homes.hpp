// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The places of posted receives with MPI_ANY_TAG. A class of contexts whose messages all come by
/// one instance has its home there. Its receives with MPI_ANY_TAG are posted with this instance
/// locked. Its messages are matched as they come, since those of one sender are in order in one
/// ring. So threads that receive on communicators of their own do not meet. A class that comes by
/// several instances has no home: p2p/wildcards.hpp.
///
/// Invariant      while a class has a home, its receives with MPI_ANY_TAG are posted there. No
///                message of it is deferred or kept elsewhere. No exact receive of it that was
///                ordered before one of them has been posted elsewhere.
/// Leaving        begins when a thread sees a message of the class by another instance, or that
///                there may be some (AnyTag::is_at_home()). The thread locks everything and moves
///                the posted receives (AnyTag::relocate()).
/// Thread safety  written with everything locked; read with any used instance locked. of() may be
///                called by any thread, as a hint.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "node/context_use.hpp"
#include "p2p/wildcards.hpp"

namespace heddle::p2p {

class Homes {
public:
    static constexpr std::uint8_t nowhere = 0xff;

    Homes() {
        for (auto& home : homes_) home.store(nowhere, relaxed);
    }
    /// Allows homes, before anything is posted. Without this call no class ever has a home.
    void allow(std::string matcher) { matcher_ = std::move(matcher); }
    bool allowed() const noexcept { return !matcher_.empty(); }

    /// Returns whether a receive with MPI_ANY_TAG of this class of contexts has ever been posted.
    bool is_wild(std::uint32_t context) const noexcept {
        return (wild_ & node::class_bit(context)) != 0;
    }
    void make_wild(const instance::AllInstances&, std::uint32_t context) noexcept {
        wild_ |= node::class_bit(context);
    }

    std::uint8_t of(std::uint32_t context) const noexcept {
        return homes_[node::class_of(context)].load(relaxed);
    }
    void set(const instance::AllInstances&, std::uint32_t context, std::uint8_t instance) noexcept {
        homes_[node::class_of(context)].store(instance, relaxed);
        const std::uint64_t bit = node::class_bit(context);
        at_home_ = instance == nowhere ? at_home_ & ~bit : at_home_ | bit;
    }
    /// Returns the classes that have a home, a bit for each.
    std::uint64_t at_home() const noexcept { return at_home_; }

    /// Returns the receives with MPI_ANY_TAG at an instance that is a home, or was.
    PostedWildcards& at(instance::LockedInstance instance) noexcept {
        return *posted_[instance.number()].load(relaxed);
    }
    bool any_at(instance::LockedInstance instance) const noexcept {
        const PostedWildcards* posted = posted_[instance.number()].load(relaxed);
        return posted != nullptr && !posted->empty();
    }
    /// Makes the list of an instance. Throws std::bad_alloc.
    PostedWildcards& make(instance::LockedInstance instance);
    /// Calls visit(instance, receives) for each instance that has a list.
    template <class Visit>
    void each(Visit&& visit) {
        for (std::size_t i = 0; i < posted_.size(); ++i)
            if (PostedWildcards* posted = posted_[i].load(acquire)) visit(i, *posted);
    }

private:
    std::string matcher_;
    std::uint64_t wild_ = 0;
    std::uint64_t at_home_ = 0;
    std::array<std::atomic<std::uint8_t>, node::context_classes> homes_;
    std::array<std::unique_ptr<PostedWildcards>, node::most_instances> lists_;
    /// The same lists, for readers.
    std::array<std::atomic<PostedWildcards*>, node::most_instances> posted_{};
};

}  // namespace heddle::p2p
