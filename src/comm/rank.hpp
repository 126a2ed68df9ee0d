// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A complete process of a job: the objects that it owns (objects/process.hpp), its engine, and the
/// parts that work above point-to-point messages.
///
/// Functions that only use a process see its objects::Process, which points at the rest. So the
/// folders of objects and of messages do not depend on how the other is made.

#include <functional>
#include <memory>
#include <mutex>

#include "comm/letters.hpp"
#include "comm/recycling.hpp"
#include "launch/job.hpp"
#include "node/node.hpp"
#include "objects/process.hpp"
#include "p2p/engine.hpp"

namespace heddle::p2p {
class Network;
class NetworkWorker;
class NodeWorker;
}  // namespace heddle::p2p
namespace heddle::transport {
class AnyLane;
}
namespace heddle::comm {

class Rank final : public objects::Process {
public:
    /// Joins the job and makes everything that MPI_Init promises. Throws std::runtime_error.
    explicit Rank(launch::Job job);
    /// Does the same with memory that is mapped already, for several processes in one address
    /// space. Calls `open_network` if there are other nodes.
    using OpenNetwork =
        std::function<std::unique_ptr<p2p::Network>(const launch::Numbering& numbers)>;
    /// Opens a lane to processes of other jobs, when one is first needed.
    using OpenGuestLane = std::function<std::unique_ptr<transport::AnyLane>(
        transport::Guests& guests, const tool::Settings& settings)>;
    Rank(launch::Job job, node::Node node, const OpenNetwork& open_network,
         OpenGuestLane open_guest_lane = {});
    ~Rank() override;

    transport::Guests& need_guests() override;
    void forget_guests() override;

    bool welcome(core::Thread& thread) override;
    void see_off(core::Thread& thread) override;

private:
    bool memory_is_back() override;
    void memory_goes(core::Thread& thread) override;
    bool needs_launcher_later() const noexcept override;
    void stays_open() noexcept override;
    void start_node_worker();

    p2p::Engine engine_;
    Recycling recycling_;
    Letters letters_;
    const OpenGuestLane open_guest_lane_;
    std::mutex meeting_;                       ///< held while guests_ is made
    std::unique_ptr<transport::Guests> made_;  ///< guests_
    /// nullptr if the job is on one node, and has met no other.
    std::unique_ptr<p2p::Network> network_;
    std::unique_ptr<p2p::NetworkWorker> worker_;    ///< likewise
    std::unique_ptr<p2p::NodeWorker> node_worker_;  ///< nullptr if none is wanted
};

/// Returns the process of the program. Makes it, if there is none, by joining the job. Throws
/// std::runtime_error, also in a child that was forked from an MPI process. Ends the job if a
/// launcher started it and this process cannot take part.
objects::Process& need_process_of_program();

}  // namespace heddle::comm
