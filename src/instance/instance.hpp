// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A communication resources instance (P1): all resources of one stream of traffic. Threads on
/// different instances share no lock and no cache line.
///
/// Inbox          rings from other processes, matching state. LockedInstance is its only key.
/// Outbox         channels to other processes, biased to its usual thread. HeldOutbox is its only
///                key.
/// Keys           are made by the thread that takes the lock, or is alone in the process. They are
///                handed down by value. A function that takes a key cannot be called without it.
/// Lock order     process-wide wildcard lock, inboxes (in order of the instances), list of wildcard
///                receives, outbox. Inside an outbox only the node's list of mapped rings is
///                locked.

#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>

#include "core/thread.hpp"
#include "instance/channel.hpp"
#include "instance/contention.hpp"
#include "match/selected.hpp"
#include "platform/memory.hpp"
#include "sync/biased_lock.hpp"
#include "sync/mutex.hpp"
#include "tool/counters.hpp"

namespace heddle::instance {

/// The receiving side of one process's messages. Listed inlets are polled. If an inlet is not
/// listed, or if its ring is cold, its sender announces it in the mailbox (node/node.hpp).
struct alignas(cache_line) Inlet {
    static constexpr std::uint32_t fewest_cold_visits = 8;

    node::Consumer ring;
    std::int32_t process = 0;
    bool bound = false;
    std::atomic<bool> listed{false};
    bool fenced = false;            ///< cold since a leader cooled it and then fenced
    std::uint32_t cold_visits = 0;  ///< visits with messages to go before it may be hot again
    std::uint32_t visits_before_warm = fewest_cold_visits;  ///< value of cold_visits when it begins
    std::uint64_t hot_since = 0;                            ///< cells consumed when it became hot
    std::uint64_t seen = 0;  ///< messages consumed when the leader last looked (progress/lot.hpp)
    // The ring of payload that the sender has named.
    node::PayloadConsumer payload;
    std::uint32_t payload_number = 0;
};

/// Rings and matching state. The thread that makes progress here or posts a receive holds it.
class alignas(cache_line) Inbox {
    friend class LockedInstance;
    friend class Instance;
    friend class Pool;

    sync::Mutex lock_;
    std::uint8_t number_ = 0;

public:
    bool used = false;  ///< counted in Pool::used(); written with the wildcard lock held, too
    bool watched =
        true;  ///< messages may match a receive with MPI_ANY_TAG, of a kind that is posted

private:
    std::atomic<std::uint32_t> parked_{0};

public:
    match::Selected matcher;
    /// Classes of contexts whose messages are not simply matched as they come (p2p/homes.hpp). At
    /// first all.
    std::uint64_t attention = ~std::uint64_t{0};
    tool::counters::Receiving receiving;
    std::uint64_t told_unexpected = 0;    ///< unexpected_bytes as last reported (p2p/pressure.hpp)
    std::uint32_t keeps_until_sweep = 0;  ///< of offered messages (p2p/unexpected.hpp)
    Contention waits;                     ///< for the lock, of threads that post receives
    /// On their own line: threads without the lock read them.
    alignas(cache_line) Inlet* inlets = nullptr;  ///< one for each process; zeroes until used
    std::atomic<Inlet*>* polled = nullptr;        ///< the listed ones
    std::atomic<std::uint32_t> polled_count{0};

    /// Adds the inlet to those that are polled.
    void list(Inlet& inlet) noexcept {
        if (inlet.listed.load(relaxed)) return;
        const std::uint32_t count = polled_count.load(relaxed);
        polled[count].store(&inlet, relaxed);
        inlet.listed.store(true, relaxed);
        polled_count.store(count + 1, release);
    }
    /// Takes the inlet out of those that are polled; its ring is cold.
    void unlist(Inlet& inlet) noexcept {
        const std::uint32_t last = polled_count.load(relaxed) - 1;
        for (std::uint32_t i = 0; i <= last; ++i)
            if (polled[i].load(relaxed) == &inlet)
                polled[i].store(polled[last].load(relaxed), relaxed);
        inlet.listed.store(false, relaxed);
        polled_count.store(last, release);
    }
    /// Calls visit(inlet) for each inlet that is polled.
    template <class Visit>
    void each_polled(Visit&& visit) {
        const std::uint32_t count = polled_count.load(relaxed);
        for (std::uint32_t i = 0; i < count; ++i) visit(*polled[i].load(relaxed));
    }
};

/// Channels. The thread that sends from here holds it.
class alignas(cache_line) Outbox {
    friend class OutboxHold;
    friend class Instance;

    sync::BiasedLock lock_;

public:
    Channel* channels = nullptr;  ///< one for each process; zeroes until used
    Channel* backlogged = nullptr;
    Channel* streaming = nullptr;  ///< those with streamed messages

private:
    std::atomic<std::uint32_t> backlog_{0};

public:
    alignas(cache_line) tool::counters::Backlog counters;
    Contention waits;  ///< for the lock, of threads that send
};

/// An instance. Its size is a power of two, which makes finding one by its number short.
class alignas(8 * cache_line) Instance {
public:
    std::uint8_t number() const noexcept { return inbox_.number_; }
    /// Threads that sleep until an event of this instance. While there are any, rings stay cold.
    std::atomic<std::uint32_t>& parked() noexcept { return inbox_.parked_; }
    /// 1: messages wait in channels of the outbox.
    std::atomic<std::uint32_t>& backlog() noexcept { return outbox_.backlog_; }

    /// Returns whether a listed ring has a message: a hint for deciding whether to take the lock.
    bool something_came() const noexcept {
        const std::uint32_t count =
            inbox_.polled_count.load(acquire);  // pairs with the release in Inbox::list()
        for (std::uint32_t i = 0; i < count; ++i)
            if (inbox_.polled[i].load(relaxed)->ring.ready()) return true;
        return false;
    }
    /// Returns whether sending from here costs this thread no locked instruction: a hint.
    bool is_biased_to(const sync::BiasedLock::Token& me) const noexcept {
        return outbox_.lock_.is_biased_to(me);
    }
    /// Readable by any thread.
    const tool::counters::Matching& matching() noexcept { return inbox_.matcher.counters(); }
    /// Adds counts of this instance, and of its channels to the first `processes`. Callable by any
    /// thread.
    void add_counted_to(tool::Values& values, std::size_t processes);
    /// Calls visit(pair) for each contended (context, tag), as a hint.
    template <class Visit>
    void each_contended(Visit&& visit) const {
        for (const Contended& what : inbox_.waits.most()) visit(what);
        for (const Contended& what : outbox_.waits.most()) visit(what);
    }

private:
    friend class LockedInstance;
    friend class HeldOutbox;
    friend class Pool;

    Inbox inbox_;
    Outbox outbox_;
};

static_assert(std::has_single_bit(sizeof(Instance)));

/// The key to the inbox of an instance: the calling thread has its lock, or is alone in its process
/// (instance/all_instances.hpp).
class LockedInstance {
public:
    static LockedInstance lock(Instance& instance) noexcept {
        instance.inbox_.lock_.lock();
        return LockedInstance(instance);
    }
    /// Returns no key if the lock is not free.
    static std::optional<LockedInstance> try_lock(Instance& instance) noexcept {
        if (!instance.inbox_.lock_.try_lock()) return std::nullopt;
        return LockedInstance(instance);
    }
    /// Unlocks the inbox. The key and its copies are void from here on.
    void unlock() const noexcept { instance_->inbox_.lock_.unlock(); }

    Inbox* operator->() const noexcept { return &instance_->inbox_; }
    Instance& instance() const noexcept { return *instance_; }
    std::uint8_t number() const noexcept { return instance_->number(); }

private:
    friend class AllInstances;
    explicit LockedInstance(Instance& instance) noexcept : instance_(&instance) {}

    Instance* instance_;
};

/// Holds an inbox's lock; the destructor unlocks it.
class [[nodiscard]] InstanceLock {
public:
    explicit InstanceLock(Instance& instance) noexcept : key_(LockedInstance::lock(instance)) {}
    explicit InstanceLock(LockedInstance key) noexcept : key_(key) {}
    ~InstanceLock() { key_.unlock(); }
    InstanceLock(const InstanceLock&) = delete;
    InstanceLock& operator=(const InstanceLock&) = delete;

    operator LockedInstance() const noexcept { return key_; }
    Inbox* operator->() const noexcept { return key_.operator->(); }

private:
    const LockedInstance key_;
};

/// The key to the outbox of an instance: the calling thread holds the outbox.
class HeldOutbox {
public:
    Outbox* operator->() const noexcept { return &instance_->outbox_; }
    Instance& instance() const noexcept { return *instance_; }
    std::uint8_t number() const noexcept { return instance_->number(); }

private:
    friend class OutboxHold;
    explicit HeldOutbox(Instance& instance) noexcept : instance_(&instance) {}

    Instance* instance_;
};

/// Holds the outbox of an instance for as long as it lives.
class [[nodiscard]] OutboxHold {
public:
    OutboxHold(Instance& instance, sync::BiasedLock::Token& me) noexcept
        : key_(instance), me_(me), way_(key_->lock_.lock(me)) {}
    ~OutboxHold() {
        key_->lock_.unlock(me_, way_, [this] {
            if (noted_) key_->waits.note(context_, tag_);
        });
    }
    OutboxHold(const OutboxHold&) = delete;
    OutboxHold& operator=(const OutboxHold&) = delete;

    operator HeldOutbox() const noexcept { return key_; }
    Outbox* operator->() const noexcept { return key_.operator->(); }
    /// Sets the context and tag that the destructor notes if the outbox was not free at once.
    void note(std::uint32_t context, std::int32_t tag) noexcept {
        noted_ = true;
        context_ = context;
        tag_ = tag;
    }

private:
    const HeldOutbox key_;
    sync::BiasedLock::Token& me_;
    const sync::BiasedLock::Way way_;
    bool noted_ = false;
    std::uint32_t context_ = 0;
    std::int32_t tag_ = 0;
};

}  // namespace heddle::instance
