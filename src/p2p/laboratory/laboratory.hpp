// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The state of recipes other than the default one (tool/recipe.hpp). Recipes use it (recipes.cpp).
///
/// The default recipe has no such object and does not ask for one. A recipe of the laboratory
/// closes the fast paths of Sender and Receiver by conditions that these have anyway. All messages
/// then take the branches that are unlikely otherwise.
///
/// Sections       of P3, around code that is lock-free otherwise (sync/locks/sections.hpp). A
///                thread that waits polls, as the papers' libraries do; it does not sleep.
/// Sequences      if threads choose the instance (P1, algorithm 1), messages of one communicator
///                overtake each other. A sender numbers them for each receiver. The number travels
///                in place of the stamp, which only receives with MPI_ANY_TAG across instances
///                need. All messages of a communicator are matched in one instance, its home, in
///                the order of the numbers. A message that is early waits: it is out of sequence.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "core/thread.hpp"
#include "match/message.hpp"
#include "p2p/requests/listener.hpp"
#include "sync/locks/sections.hpp"
#include "sync/mutex.hpp"
#include "tool/counters.hpp"
#include "tool/settings.hpp"

namespace heddle::p2p {

/// The messages of one sender to one home.
struct Sequence {
    std::uint64_t next = 1;  ///< number of the message to be matched next
    std::map<std::uint64_t, match::Message*> early;
};

/// Number of a message that is matched whenever it comes (mpi_assert_allow_overtaking).
inline constexpr std::uint64_t in_no_sequence = ~std::uint64_t{0};

class Laboratory {
public:
    Laboratory(const tool::Settings& settings, std::size_t instances, std::size_t processes);

    const std::unique_ptr<sync::locks::Sections> sections;  ///< nullptr: nothing is locked
    const bool locked_counts;                               ///< references are counted in a section
    const bool sequenced;                                   ///< senders choose instances
    const bool serial;                                      ///< one thread makes progress at a time
    sync::Mutex progress;                                   ///< held by that thread

    /// Returns the listener to requests that have no other one.
    Listener& completions() noexcept { return completions_; }
    /// Returns the thread's visitor of the sections, until the process ends. Returns nullptr if
    /// there are no sections.
    sync::locks::Visitor* visitor_for(core::Thread& thread);
    tool::Values counted();
    /// Returns a counter of threads.
    std::uint64_t counted_for(const core::Thread& thread, tool::CounterIndex which);

    /// Returns the instance for the thread's next message, or for its next operation on a window.
    /// Used if senders choose.
    std::size_t choose(const core::Thread& thread) noexcept;
    /// Returns the thread's own instance, the first that it makes progress on. A thread that comes
    /// after another has ended takes its number, and so its instance.
    std::size_t own(const core::Thread& thread) const noexcept;

    /// Returns the number of the next message to `process`, matched at `home`. Called by any
    /// thread.
    std::uint64_t take_number(std::size_t home, std::int32_t process) noexcept {
        // Relaxed: threads tell each other only a number here.
        return outgoing_[place(home, process)].fetch_add(1, std::memory_order_relaxed) + 1;
    }
    /// Returns the messages from `process` that are matched at `home`, whose lock is held.
    Sequence& incoming(std::size_t home, std::int32_t process) noexcept {
        return incoming_[place(home, process)];
    }
    template <class Visit>
    void each_early(std::size_t home, Visit&& visit) const {
        for (std::size_t i = home * processes_; sequenced && i < (home + 1) * processes_; ++i)
            for (const auto& [number, message] : incoming_[i].early) visit(*message);
    }
    /// Returns the counters of matching at `home`; written with its lock held.
    tool::counters::Ordering& counters(std::size_t home) noexcept { return counters_[home]; }
    /// Returns the counters of one instance; written by the thread that holds it
    /// (p2p/laboratory/held_instance.hpp).
    tool::counters::Holding& holding(std::size_t instance) noexcept { return holding_[instance]; }

private:
    class Completions final : public Listener {
    public:
        void completed(ProgressCall& call, core::Request&) noexcept override {
            if (call.thread.visitor != nullptr) call.thread.visitor->productive(1);
        }
    };

    std::size_t place(std::size_t home, std::int32_t process) const noexcept {
        return home * processes_ + static_cast<std::size_t>(process);
    }

    Completions completions_;
    const bool common_pool_;
    std::mutex visitors_lock_;
    std::map<const core::Thread*, std::unique_ptr<sync::locks::Visitor>> visitors_;
    const tool::Assignment assignment_;
    const std::size_t instances_, processes_;
    std::atomic<std::size_t> turn_{0};
    std::unique_ptr<std::atomic<std::uint64_t>[]> outgoing_;
    std::unique_ptr<Sequence[]> incoming_;
    std::unique_ptr<tool::counters::Ordering[]> counters_;
    std::unique_ptr<tool::counters::Holding[]> holding_;
};

}  // namespace heddle::p2p
