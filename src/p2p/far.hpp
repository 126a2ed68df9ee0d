// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages to and from processes of other nodes and jobs (p2p/network.hpp): the protocols are those of a node, without what
/// needs shared memory. Everything from one sender comes in order, so that nothing is ever deferred. And accesses to windows
/// there (p2p/far_access.hpp; far_accesses.cpp).
///
/// Thread safety  every function from any thread. Those that take a ProgressCall may be called with the lane locked.
/// Errors         what sends throws std::bad_alloc, and has sent nothing then.

#include <atomic>
#include <cstdint>
#include <vector>

#include "p2p/announced_sends.hpp"
#include "p2p/base.hpp"
#include "p2p/endings.hpp"
#include "p2p/far_access.hpp"
#include "p2p/outbound.hpp"
#include "p2p/progress_call.hpp"
#include "p2p/protocol.hpp"
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

    /// Before the first message to one of them, once, from any thread.
    void use(Network& network) noexcept;
    /// nullptr: the job is on one node, and has met no other.
    Network* network() const noexcept { return network_.load(acquire); }  // A2: pairs with R2

    // --- messages ---

    void send(ProgressCall& call, core::Request& send, const Outbound& message);
    void post(ProgressCall& call, const Outbound& message, const Prefix& prefix,
              core::Request* completes);
    /// Takes the message out of the queue, or asks its receiver for it. The answer, or the message's own, completes the send.
    void cancel(ProgressCall& call, core::Request& send);
    /// Reads the first `bytes` of a message. False: its payload is to be asked for.
    bool read(ProgressCall& call, const Pull& pull, std::uint64_t bytes);
    /// The receiver has asked for the payload.
    void stream(ProgressCall& call, const CtsFields& fields);
    /// The receiver has it.
    void end(ProgressCall& call, core::Request& send);
    /// Gives the message of a send back if no receive has it yet.
    void answer_cancel(ProgressCall& call, std::int32_t process, const transport::Header& header);
    void end_cancelled(ProgressCall& call, core::Request& send);
    /// Whether payloads to that process are to stay here until they are matched.
    void set_pressure(std::int32_t process, bool on);
    /// To processes of other jobs, and to those of this one.
    void send_letter(core::Thread& thread, std::int32_t process, const LetterFields& letter);
    void send_letter(ProgressCall& call, std::int32_t process, const LetterFields& letter);

    // --- progress ---

    /// True if there was any.
    bool poll(core::Thread& thread);
    /// The same by the thread that sleeps for all (p2p/network_worker.hpp).
    bool poll_surely(core::Thread& thread);
    /// Has that thread look at who sleeps.
    void ring_worker() noexcept;
    bool all_handed_over() const noexcept;
    /// Whether everything that was sent there has been taken over. After it has first been asked, peers may go.
    bool is_drained();
    /// A thread is going to sleep until that request is complete: should it be a receive from one of them, its silence
    /// is a fault from now on, also if nothing has ever been sent there.
    void watch_sender(const core::Request& request) noexcept {
        if (network() != nullptr) [[unlikely]]
            watch_sender_of(request);
    }
    /// Silence of that process, of another node or job, is a fault from now on.
    void watch(std::int32_t process) noexcept;

    // --- accesses to windows (far_accesses.cpp) ---

    /// One that another process asks for.
    void deliver_access(ProgressCall& call, std::int32_t process, const transport::Header& header);

    /// Who hears what is asked about the window with this context.
    FarListeners& listeners() noexcept { return listeners_; }
    /// Of an access, in bytes.
    std::uint64_t most_payload() const noexcept;
    /// `completes` is done once the data may be changed.
    void ask(ProgressCall& call, const Outbound& message, const AccessFields& fields,
             core::Request* completes);
    /// To a request of that process: data from fields.offset on; or no more than fits behind the fields.
    void answer(ProgressCall& call, std::int32_t process, const DataFields& fields, Shape shape,
                const std::byte* data, core::Request* completes);
    void answer_briefly(ProgressCall& call, std::int32_t process, std::uint64_t receiver,
                        const void* data, std::uint64_t bytes);
    static constexpr std::uint64_t brief =
        node::inline_payload - sizeof(DataFields);  ///< bytes, at most
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
