// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A process of a job, whole: the objects that it owns (objects/process.hpp), its engine, and what works above
/// point-to-point messages.
///
/// Functions that only use a process see the objects::Process in it, which points at the rest. So the folders
/// of objects and of messages need nothing of each other's making.

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
    /// The same with memory that is mapped already, for several processes in one address space, and with what leads to
    /// other nodes. `open_network` is called if there are any.
    using OpenNetwork =
        std::function<std::unique_ptr<p2p::Network>(const launch::Numbering& numbers)>;
    /// A lane to processes of other jobs, made when it is first needed.
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
    std::unique_ptr<p2p::Network>
        network_;  ///< nullptr: the job is on one node, and has met no other
    std::unique_ptr<p2p::NetworkWorker> worker_;    ///< likewise
    std::unique_ptr<p2p::NodeWorker> node_worker_;  ///< nullptr: none is wanted
};

/// The process of the program, made if there is none: it joins the job. Throws std::runtime_error, also in a
/// child that was forked from an MPI process; ends a job that a launcher has started and that it cannot take part in.
objects::Process& need_process_of_program();

}  // namespace heddle::comm
