// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Partitioned communication (MPI 5.0, 4): one message whose parts several threads contribute.
///
/// Pairing        a send and a receive meet by communicator, rank and tag, in the order in which
///                they were made. The sender tells its partitions and their tags, by a message that
///                only partitioned receives look for (objects::partitioned_context).
/// Parts          each partition of the sender is a message of its own. Their tags follow each
///                other. So threads that call MPI_Pready for different partitions share no
///                instance, hence no lock and no ring. The receiver may divide its buffer
///                differently: it counts the bytes of a partition that have come.
/// Whole          a request that completes with the last part, by a listener on each.
/// Life           everything that may still refer to it counts as a user: the handle, the pending
///                transfer, the message that pairs. The last one destroys.
/// Thread safety  ready() and arrived() from any thread while the request is active. The rest, like
///                all functions of a request, from one thread at a time.

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "objects/communicator.hpp"
#include "p2p/payload/payload.hpp"
#include "p2p/requests/listener.hpp"

namespace heddle::partitioned {

/// The memory of one side.
struct Side {
    std::byte* data;  ///< only read by a send
    std::int64_t partitions;
    std::int64_t count;  ///< elements of a partition
    objects::Datatype* type;
};

/// The sender's message to the receiver.
struct Terms {
    std::uint64_t partitions;
    std::uint64_t bytes;  ///< of each partition, packed
    std::int32_t first_tag;
};

/// The common base of both ends.
class End : public p2p::Listener {
public:
    /// Starts a transfer. `inner` of the request becomes the request to wait for, or nullptr if
    /// memory has run out.
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
    /// Counts `parts` as over; then all of them may be.
    void over(p2p::ProgressCall& call, std::uint64_t parts) noexcept;
    void leave() noexcept;

    objects::Process& process_;
    objects::Communicator& communicator_;
    const Side side_;
    const std::int32_t peer_;
    const std::int32_t tag_;
    core::Request* whole_ = nullptr;      ///< while a transfer is pending
    std::atomic<std::uint64_t> left_{0};  ///< parts that are not over
    std::atomic<int> error_{0};
    std::atomic<std::uint32_t> users_{1};
};

class Sender final : public End {
public:
    Sender(core::Thread& thread, objects::Communicator& communicator, const Side& side,
           std::int32_t peer, std::int32_t tag);

    /// Tells the receiver the terms. Returns false if memory has run out.
    [[nodiscard]] bool pair(core::Thread& thread);
    void start(core::Thread& thread, core::Request& request) override;
    /// Sends a partition. Returns MPI_ERR_ARG if it was sent before.
    int ready(core::Thread& thread, std::int64_t partition);

    void completed(p2p::ProgressCall& call, core::Request& message) noexcept override;

private:
    /// On a line of its own: threads write different ones at once.
    struct alignas(cache_line) Partition {
        /// The last transfer in which it was said to be ready.
        std::atomic<std::uint64_t> transfer{0};
    };

    std::unique_ptr<Partition[]> ready_;
    std::uint64_t transfer_ = 0;
    std::int32_t first_tag_ = 0;
};

class Receiver final : public End, private core::Work {
public:
    Receiver(core::Thread& thread, objects::Communicator& communicator, const Side& side,
             std::int32_t peer, std::int32_t tag);

    /// Begins to look for the sender's terms. Returns false if memory has run out.
    [[nodiscard]] bool pair(core::Thread& thread);
    void start(core::Thread& thread, core::Request& request) override;
    /// Returns whether all of a partition is here.
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
    std::vector<std::byte> packed_;  ///< used if the sender's divisions fall into elements
};

}  // namespace heddle::partitioned
