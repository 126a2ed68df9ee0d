// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A communication resources instance (P1): everything that one stream of traffic needs, so that
/// threads on different instances share no lock and no cache line.
///
/// inbox          rings from other processes, matching state: guarded by `lock`
/// outbox         channels to other processes: guarded by `outbox`, biased to its usual thread
/// Lock order     process-wide wildcard lock, then `lock` (in order of the instances), then the list
///                of wildcard receives, then `outbox`. Inside `outbox` only the
///                node's list of what is mapped is locked.

#include <atomic>
#include <bit>
#include <cstdint>

#include "core/thread.hpp"
#include "instance/channel.hpp"
#include "instance/contention.hpp"
#include "match/selected.hpp"
#include "platform/memory.hpp"
#include "sync/biased_lock.hpp"
#include "sync/mutex.hpp"
#include "tool/counters.hpp"

namespace heddle::instance {

/// The way in from one process. Listed inlets are polled; an inlet that is not listed, or whose
/// ring is cold, is announced by its sender in the mailbox (transport/shm/node.hpp).
struct alignas(cache_line) Inlet {
    static constexpr std::uint32_t fewest_cold_visits = 8;

    transport::shm::Consumer ring;
    std::int32_t process = 0;
    bool bound = false;
    std::atomic<bool> listed{false};
    bool settled = false;  ///< cold since a leader cooled it, which it followed up with a fence
    std::uint32_t cold_visits = 0;  ///< visits with messages to go before it may be hot again
    std::uint32_t visits_before_warm = fewest_cold_visits;  ///< how many there are to be
    std::uint64_t hot_since = 0;                            ///< cells consumed when it became hot
    std::uint64_t seen = 0;  ///< messages consumed when the leader last looked (progress/lot.hpp)
    // The ring of payload that the sender has named.
    transport::shm::PayloadConsumer payload;
    std::uint32_t payload_number = 0;
};

/// Its size is a power of two, which makes finding one by its number short.
struct alignas(8 * cache_line) Instance {
    // The inbox: held by whoever makes progress here or posts a receive.
    sync::Mutex lock;
    std::uint8_t number = 0;
    bool used = false;  ///< counted in Pool::used; written with the wildcard lock held, too
    bool watched =
        true;  ///< what comes may match a receive with MPI_ANY_TAG, of a kind that is posted
    /// Threads that sleep until something happens here. While there are any, rings stay cold.
    std::atomic<std::uint32_t> parked{0};
    match::Selected matcher;
    /// Classes of contexts whose messages are not simply matched as they come (p2p/homes.hpp); at first all.
    std::uint64_t attention = ~std::uint64_t{0};
    tool::counters::Receiving receiving;
    std::uint64_t told_unexpected =
        0;  ///< unexpected_bytes as of the last time that they were told (p2p/pressure.hpp)
    std::uint32_t keeps_until_sweep = 0;  ///< of offered messages (p2p/engine_cancel.cpp)
    Contention inbox_waits;               ///< of threads that post receives, for `lock`
    /// On a line of their own: threads without the lock look at what is polled.
    alignas(cache_line) Inlet* inlets = nullptr;  ///< one for each process; zeroes until used
    std::atomic<Inlet*>* polled = nullptr;        ///< the listed ones
    std::atomic<std::uint32_t> polled_count{0};

    // The outbox: held by whoever sends from here.
    alignas(cache_line) sync::BiasedLock outbox;
    Channel* channels = nullptr;  ///< one for each process; zeroes until used
    Channel* backlogged = nullptr;
    Channel* streaming = nullptr;           ///< those with messages that are streamed
    std::atomic<std::uint32_t> backlog{0};  ///< 1: there are channels in one of these lists
    alignas(cache_line) tool::counters::Backlog backlog_counters;
    Contention outbox_waits;

    /// Whether a listed ring has a message; a hint for deciding whether to take the lock.
    bool something_came() const noexcept {
        const std::uint32_t count = polled_count.load(acquire);  // pairs with the release in list()
        for (std::uint32_t i = 0; i < count; ++i)
            if (polled[i].load(relaxed)->ring.ready()) return true;
        return false;
    }
    /// Adds the inlet to those that are polled. Lock held.
    void list(Inlet& inlet) noexcept {
        if (inlet.listed.load(relaxed)) return;
        const std::uint32_t count = polled_count.load(relaxed);
        polled[count].store(&inlet, relaxed);
        inlet.listed.store(true, relaxed);
        polled_count.store(count + 1, release);
    }
    /// Takes the inlet out of those that are polled; its ring is cold. Lock held.
    void unlist(Inlet& inlet) noexcept {
        const std::uint32_t last = polled_count.load(relaxed) - 1;
        for (std::uint32_t i = 0; i <= last; ++i)
            if (polled[i].load(relaxed) == &inlet)
                polled[i].store(polled[last].load(relaxed), relaxed);
        inlet.listed.store(false, relaxed);
        polled_count.store(last, release);
    }
};

static_assert(std::has_single_bit(sizeof(Instance)));

}  // namespace heddle::instance
