// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// State that matching engines of the instances and receives with MPI_ANY_TAG share without locks.
/// It says which engines have used which class of contexts (node/context_use.hpp). It also has the
/// order of the latest receive with MPI_ANY_TAG of each class.
///
/// Order          An engine that meets a class for the first time notes that, and goes on above
///                that order. Suppose that the program has ordered a receive with MPI_ANY_TAG and
///                an exact one. Then the later receive sees what the earlier one noted. The exact
///                one sees the order to go above, or the other sees that the engine is in use. If
///                the program has not ordered them, either order is right.
/// Thread safety  any thread.

#include <array>
#include <atomic>
#include <cstdint>

#include "node/context_use.hpp"

namespace heddle::match {

class ContextClasses {
public:
    explicit ContextClasses(node::ContextUse& use) noexcept : use_(use) {
        for (std::size_t i = 0; i < engines_.size(); ++i) {
            engines_[i].classes_ = this;
            engines_[i].instance_ = static_cast<std::uint8_t>(i);
        }
    }

    /// The matching engine of an instance.
    class Engine {
    public:
        /// Notes the class. Returns the order above which the engine posts receives of it from now
        /// on.
        std::uint64_t meet(std::uint32_t context) noexcept {
            classes_->add(context, instance_);
            // Relaxed: see Order above.
            return classes_->latest_[node::class_of(context)].order.load(relaxed);
        }

    private:
        friend ContextClasses;
        ContextClasses* classes_ = nullptr;
        std::uint8_t instance_ = 0;
    };
    Engine& engine(std::size_t instance) noexcept { return engines_[instance]; }

    void add(std::uint32_t context, std::size_t instance) noexcept { use_.add(context, instance); }
    void note_wildcard(std::uint32_t context, std::uint64_t order) noexcept {
        latest_[node::class_of(context)].order.store(order, relaxed);  // relaxed, as in meet()
    }
    std::uint64_t instances(std::uint32_t context) const noexcept {
        return use_.instances(context);
    }

private:
    struct alignas(cache_line) Latest {
        std::atomic<std::uint64_t> order{0};
    };
    node::ContextUse& use_;
    std::array<Engine, 64> engines_;
    std::array<Latest, node::context_classes> latest_;
};

}  // namespace heddle::match
