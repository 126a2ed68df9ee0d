// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Partitioned communication (MPI 5.0, 4): one message whose parts several threads contribute.
///
/// Pairing        a send and a receive meet by communicator, rank and tag, in the order in which they were
///                made: the sender tells its partitions, and which tags they will have, by a message
///                that only partitioned receives look for (objects::partitioned_context).
/// Parts          each partition of the sender is a message of its own. Their tags follow each other, so
///                that threads that say MPI_Pready of different partitions share no instance, hence
///                no lock and no ring. The receiver may cut its buffer differently: it counts what has
///                come of the bytes of a partition.
/// Whole          a request that completes with the last part, by a listener on each.
/// Life           whoever may still come back counts as a user: the handle, the transfer that is under way,
///                the message that pairs. The last one destroys.
/// Thread safety  ready() and arrived() from any thread while the request is active; the rest, like all
///                of a request, from one thread at a time.

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "objects/communicator.hpp"
#include "p2p/listener.hpp"
#include "p2p/payload.hpp"

namespace heddle::partitioned {

/// The memory of one side.
struct Side {
    std::byte* data;  ///< only read by a send
    std::int64_t partitions;
    std::int64_t count;  ///< elements of a partition
    objects::Datatype* type;
};

/// What the sender tells the receiver.
struct Terms {
    std::uint64_t partitions;
    std::uint64_t bytes;  ///< of each, packed
    std::int32_t first_tag;
};

/// What both ends have in common.
class End : public p2p::Listener {
public:
    /// Starts a transfer: `inner` of the request becomes what there is to wait for, nullptr when memory has
    /// run out.
    virtual void start(core::Thread& thread, core::Request& request) = 0;
    void let_go(core::Thread& thread, core::Request& request) noexcept;

    std::int64_t partitions() const noexcept { return side_.partitions; }

protected:
    End(core::Thread& thread, objects::Communicator& communicator, const Side& side,
        std::int32_t peer, std::int32_t tag);
    virtual ~End();

    std::uint64_t bytes_of_partition() const noexcept {
        return static_cast<std::uint64_t>(side_.count) *
            static_cast<std::uint64_t>(side_.type->size);
    }
    core::Request* begin(core::Thread& thread, std::uint64_t parts);
    /// `parts` are over, and maybe all of them.
    void over(p2p::ProgressCall& call, std::uint64_t parts) noexcept;
    void leave() noexcept;

    objects::Process& process_;
    objects::Communicator& communicator_;
    const Side side_;
    const std::int32_t peer_;
    const std::int32_t tag_;
    core::Request* whole_ = nullptr;      ///< while a transfer is under way
    std::atomic<std::uint64_t> left_{0};  ///< parts that are not over
    std::atomic<int> error_{0};
    std::atomic<std::uint32_t> users_{1};
};

class Sender final : public End {
public:
    Sender(core::Thread& thread, objects::Communicator& communicator, const Side& side,
           std::int32_t peer, std::int32_t tag);

    /// Tells the receiver the terms. False when memory has run out.
    [[nodiscard]] bool pair(core::Thread& thread);
    void start(core::Thread& thread, core::Request& request) override;
    /// Sends a partition; MPI_ERR_ARG if it was sent before.
    int ready(core::Thread& thread, std::int64_t partition);

    void completed(p2p::ProgressCall& call, core::Request& message) noexcept override;

private:
    /// On a line of its own: threads write different ones at once.
    struct alignas(cache_line) Partition {
        std::atomic<std::uint64_t> transfer{0};  ///< in which it was last said to be ready
    };

    std::unique_ptr<Partition[]> ready_;
    std::uint64_t transfer_ = 0;
    std::int32_t first_tag_ = 0;
};

class Receiver final : public End, private core::Work {
public:
    Receiver(core::Thread& thread, objects::Communicator& communicator, const Side& side,
             std::int32_t peer, std::int32_t tag);

    /// Begins to look for the sender's terms. False when memory has run out.
    [[nodiscard]] bool pair(core::Thread& thread);
    void start(core::Thread& thread, core::Request& request) override;
    /// Whether all of a partition is here.
    bool arrived(std::int64_t partition) const noexcept;

    void completed(p2p::ProgressCall& call, core::Request& message) noexcept override;

private:
    void run(core::Thread& thread) noexcept override;

    static constexpr std::uint32_t terms_here = 1;
    static constexpr std::uint32_t wanted = 2;  ///< a transfer waits for the terms

    bool accept() noexcept;
    void post(core::Thread& thread) noexcept;
    bool takes_elements() const noexcept;

    Terms terms_{};
    core::Request* terms_message_ = nullptr;
    std::atomic<std::uint32_t> state_{0};
    std::uint64_t parts_ = 0;
    std::unique_ptr<std::atomic<bool>[]> here_;  ///< by the sender's partitions
    std::vector<std::byte> packed_;              ///< where the sender's cuts fall into elements
};

}  // namespace heddle::partitioned
