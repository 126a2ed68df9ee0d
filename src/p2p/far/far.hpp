// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages to and from processes of other nodes and jobs (p2p/far/network.hpp). The protocols are
/// those of a node that need no shared memory. Everything from one sender comes in order, so that
/// no message is ever deferred. Accesses to windows there are messages, too
/// (p2p/far/far_access.hpp; far_accesses.cpp).
///
/// Thread safety  every function from any thread. Those that take a ProgressCall may be called with
///                the lane locked.
/// Errors         functions that send throw std::bad_alloc, and have sent nothing then.

#include <atomic>
#include <cstdint>
#include <vector>

#include "p2p/announced_sends.hpp"
#include "p2p/base.hpp"
#include "p2p/far/far_access.hpp"
#include "p2p/outbound.hpp"
#include "p2p/progress_call.hpp"
#include "p2p/protocol.hpp"
#include "p2p/requests/endings.hpp"
#include "transport/header.hpp"

namespace heddle::p2p {

class AnyTag;
class Backlog;
class LargeCopy;
class Network;
class Receiver;
class Sender;
class Unexpected;
struct Parts;

class Far {
public:
    struct Others {
        Sender& sender;
        Receiver& receiver;
        AnyTag& any_tag;
        Unexpected& unexpected;
        Backlog& backlog;
        LargeCopy& copies;
        AnnouncedSends& announced;
        Endings& endings;
        const Parts& parts;
    };
    Far(Base& base, const Others& others) noexcept : base_(base), others_(others) {}

    /// Starts the use of a network, before the first message to such a process. Called once, from
    /// any thread.
    void use(Network& network) noexcept;
    /// Returns nullptr if the job is on one node and has met no other job.
    Network* network() const noexcept { return network_.load(acquire); }  // A2: pairs with R2

    // --- messages ---

    void send(ProgressCall& call, core::Request& send, const Outbound& message);
    void post(ProgressCall& call, const Outbound& message, const Prefix& prefix,
              core::Request* completes);
    /// Takes the message out of the queue, or asks its receiver for it. The answer to that, or to
    /// the message, completes the send.
    void cancel(ProgressCall& call, core::Request& send);
    /// Reads the first `bytes` of a message. Returns false if its payload must be asked for.
    bool read(ProgressCall& call, const Pull& pull, std::uint64_t bytes);
    /// Sends the payload, for which the receiver has asked.
    void stream(ProgressCall& call, const CtsFields& fields);
    /// Ends a send whose payload the receiver has got.
    void end(ProgressCall& call, core::Request& send);
    /// Gives the message of a send back if no receive has it yet.
    void answer_cancel(ProgressCall& call, std::int32_t process, const transport::Header& header);
    void end_cancelled(ProgressCall& call, core::Request& send);
    /// Sets whether payloads to that process stay here until they are matched.
    void set_pressure(std::int32_t process, bool on);
    /// Send a letter to a process of this job or of another one.
    void send_letter(core::Thread& thread, std::int32_t process, const LetterFields& letter);
    void send_letter(ProgressCall& call, std::int32_t process, const LetterFields& letter);

    // --- progress ---

    /// Makes progress. Returns true if there was any.
    bool poll(core::Thread& thread);
    /// Does the same in the thread that sleeps for all (p2p/far/network_worker.hpp).
    bool poll_surely(core::Thread& thread);
    /// Has that thread look for sleeping threads.
    void ring_worker() noexcept;
    bool all_handed_over() const noexcept;
    /// Returns whether all receivers have taken over everything that was sent. Peers may go after
    /// the first call.
    bool is_drained();
    /// Watches the sender of a request before a thread sleeps until the request is complete.
    /// Suppose that it is a receive from such a process. Silence of that process is then a fault
    /// from now on, even if nothing was ever sent there.
    void watch_sender(const core::Request& request) noexcept {
        if (network() != nullptr) [[unlikely]]
            watch_sender_of(request);
    }
    /// Makes silence of that process, of another node or job, a fault from now on.
    void watch(std::int32_t process) noexcept;

    // --- accesses to windows (far_accesses.cpp) ---

    /// Delivers an access that another process asks for.
    void deliver_access(ProgressCall& call, std::int32_t process, const transport::Header& header);

    /// Returns the listeners to accesses, by context of the window.
    FarListeners& listeners() noexcept { return listeners_; }
    /// Returns the most bytes of an access.
    std::uint64_t most_payload() const noexcept;
    /// Asks for an access. `completes` is done once the data may be changed.
    void ask(ProgressCall& call, const Outbound& message, const AccessFields& fields,
             core::Request* completes);
    /// Answers a request of that process with data from fields.offset on. answer_briefly() sends no
    /// more than fits behind the fields.
    void answer(ProgressCall& call, std::int32_t process, const DataFields& fields, Shape shape,
                const std::byte* data, core::Request* completes);
    void answer_briefly(ProgressCall& call, std::int32_t process, std::uint64_t receiver,
                        const void* data, std::uint64_t bytes);
    /// Most bytes of a brief answer.
    static constexpr std::uint64_t brief = node::inline_payload - sizeof(DataFields);
    void acknowledge(ProgressCall& call, std::int32_t process, std::uint64_t receiver);
    void refuse(ProgressCall& call, std::int32_t process, const RefusedFields& fields);

private:
    class FromNetwork;

    void hand_over(ProgressCall& call, std::int32_t process, const instance::Pending& pending);
    void answer_by_data(ProgressCall& call, std::int32_t process, const instance::Pending& data);
    bool announce_readable(ProgressCall& call, core::Request& send, const Outbound& message);
    void watch_sender_of(const core::Request& request) noexcept;
    void deliver(ProgressCall& call, std::int32_t process, transport::Header& header);
    bool withhold(instance::Pending& pending) noexcept;
    void tell_pressure(ProgressCall& call, std::int32_t process);
    void tell_relief(ProgressCall& call);

    Base& base_;
    const Others others_;
    std::atomic<Network*> network_{nullptr};
    std::vector<std::int32_t> told_of_pressure_;  ///< guarded by the lane
    FarListeners listeners_;
};

}  // namespace heddle::p2p
