// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A schedule that runs without a thread that waits for it: a nonblocking collective, or one start
/// of a persistent one.
///
/// Progress       the caller runs the first stage, which is everything before the first wait. The
///                thread that completes the last message of a stage runs the next one, once it
///                holds no lock. A thread of the program runs it if it calls an operation of the
///                program. A thread that waits for the request sleeps meanwhile. The completion of
///                the whole wakes it.
/// Messages       have the tag of the call's number among the nonblocking and persistent calls on
///                its communicator. The number is the same in every process (MPI 5.0, 6.12). So
///                pending calls do not mix, and are spread over instances.
/// Errors         the first one goes to the request. It stops nothing: the other processes do not
///                know of it, and still get what they wait for. An exception that leaves an
///                operation of the program is an error, too (MPI_ERR_OTHER): there may be no call
///                for it to pass through.
/// Objects        communicator, operation and datatypes are held until the end: the user may free
///                them.
/// Thread safety  one thread runs a stage; `left_` hands over to the next. The owner of the handle
///                and the completion may come in any order: `ended_` says which of them destroys.

#include <atomic>
#include <memory>
#include <vector>

#include "coll/schedule.hpp"
#include "coll/step.hpp"
#include "p2p/requests/listener.hpp"

namespace heddle::coll {

class Execution final : public p2p::Listener, public core::Work {
public:
    Execution(core::Thread& writer, objects::Communicator& communicator) noexcept
        : schedule(writer, communicator), call(writer.call), process_(*writer.process) {}
    ~Execution();

    Schedule schedule;         ///< to be written before anything else happens
    const char* const call;    ///< the MPI function that has made it
    std::uint32_t number = 0;  ///< of the call among all on its communicator

    /// Takes references and the tag, after the schedule has been written.
    void prepare();
    /// Runs the first stage. Returns a request, or the completed send if everything has completed.
    /// Returns nullptr if memory has run out.
    core::Request* start(core::Thread& thread);
    /// Ends the use by the owner of the handle. Destroys this object and its request (nullptr:
    /// there is none) now, or when it is complete.
    void let_go(core::Thread& thread, core::Request* request) noexcept;

    void completed(p2p::ProgressCall& call, core::Request& message) noexcept override;
    void run(core::Thread& thread) noexcept override;
    bool calls_program() const noexcept override;

private:
    static constexpr std::uint32_t by_completion = 1;
    static constexpr std::uint32_t by_owner = 2;

    bool advance(core::Thread& thread) noexcept;
    std::uint32_t messages_ahead() const noexcept;
    std::uint32_t start_stage(core::Thread& thread) noexcept;
    core::Request* start(core::Thread& thread, const Step& step) noexcept;
    void do_here(const Step& step) noexcept;
    void collect(core::Thread& thread) noexcept;
    void complete(core::Thread& thread) noexcept;

    objects::Process& process_;
    std::vector<objects::Datatype*> types_;  ///< held
    bool prepared_ = false;

    core::Request* request_ = nullptr;  ///< of the whole, while it runs
    std::size_t next_ = 0;              ///< step
    std::vector<core::Request*> under_way_;
    Failure failure_;
    /// Pending messages, and one for the thread that starts them.
    std::atomic<std::uint32_t> left_{0};
    std::atomic<std::uint32_t> ended_{by_completion};  ///< not running, or let go
};

/// Starts a nonblocking call. Returns the same as Execution::start().
core::Request* start(core::Thread& thread, std::unique_ptr<Execution> execution);

/// Makes a persistent request.
core::Request* make_persistent(core::Thread& thread, std::unique_ptr<Execution> execution);

}  // namespace heddle::coll
