// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Accesses to memory that the kernel lets no other process reach (containers, ptrace_scope). The
/// process sends messages to the owner of the memory. The owner answers them whenever one of its
/// threads makes progress in MPI.
///
/// Windows        on memory of the processes' own, if one process has found that it cannot reach
///                the memory of another. It finds this when the window is made. All processes of
///                such a window serve it.
/// Questions      one at a time at each process. The data to be read, written or changed lie side
///                by side and fit into a message. The process checks that they are in the window,
///                as the asking one has done.
/// Deadlock       the thread that answers takes the target's lock for accumulates for a moment. No
///                thread holds it while it waits for an answer.
/// Thread safety  read(), write(), accumulate() and compare_and_swap() from any thread. The thread
///                that completes a message runs the next stage of serving, once it holds no lock,
///                as in coll/execution.hpp.
/// Life           until end(), or later: until the thread that serves has left it.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/thread.hpp"
#include "objects/block_copy.hpp"
#include "objects/window.hpp"
#include "p2p/requests/listener.hpp"
#include "rma/piece.hpp"

namespace heddle::rma {

class Service final : public p2p::Listener, public core::Work {
public:
    /// Begins to serve a window. `to_be_asked` says for each rank whether this process has to ask
    /// it.
    static std::shared_ptr<Service> begin(core::Thread& thread, objects::Window& window,
                                          std::vector<bool> to_be_asked);
    ~Service();
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    bool asks(std::int32_t rank) const { return to_be_asked_[static_cast<std::size_t>(rank)]; }

    /// Ends the service. All processes have come to free the window, and none asks any more.
    void end(core::Thread& thread);

    // These access process `rank` of the window. They return false if it has refused, or memory has
    // run out.

    bool read(core::Thread& thread, std::int32_t rank, std::byte* to, objects::Place place,
              std::uint64_t bytes);
    bool write(core::Thread& thread, std::int32_t rank, objects::Place place, const std::byte* from,
               std::uint64_t bytes);
    bool accumulate(core::Thread& thread, std::int32_t rank, const ElementOperation& operation,
                    const objects::Datatype& element, const Piece& piece);
    bool compare_and_swap(core::Thread& thread, std::int32_t rank, objects::Place place,
                          const std::byte* origin, const std::byte* compare, std::byte* result,
                          std::uint64_t bytes);

    void completed(p2p::ProgressCall& call, core::Request& request) noexcept override;
    void run(core::Thread& thread) noexcept override;

private:
    struct Question;
    struct Data;

    Service(core::Thread& thread, objects::Window& window, std::vector<bool> to_be_asked);
    bool ask(core::Thread& thread, std::int32_t rank, Question question, Data first, Data second,
             std::byte* result);

    void listen_for_question(core::Thread& thread) noexcept;
    void answer(core::Thread& thread, std::int32_t asking) noexcept;
    bool serve(core::Thread& thread, const Question& question, const std::byte* data) noexcept;
    void be_over() noexcept;
    bool is_in_window(const Question& question) const noexcept;

    objects::Process& process_;
    objects::Window& window_;  ///< valid while there are questions
    objects::Communicator& communicator_;
    const std::vector<bool> to_be_asked_;
    std::atomic<std::uint32_t> asked_{0};

    const std::unique_ptr<std::byte[]> question_, answer_;
    bool answering_ = true;  ///< false: it listens
    core::Request* complete_ = nullptr;
    std::mutex lock_;                     ///< guards the members below
    core::Request* listening_ = nullptr;  ///< for a question
    bool ending_ = false;
    std::shared_ptr<Service> self_;
};

}  // namespace heddle::rma
