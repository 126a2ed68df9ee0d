// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Accesses to memory that the kernel lets no other process at (containers, ptrace_scope): messages to the process
/// whose memory it is, which answers them whenever one of its threads makes progress in MPI.
///
/// Windows        those on memory of processes' own of which one process has found, when the window was made, that it
///                does not get at the memory of another. All processes of such a window serve it.
/// Questions      one at a time at each process: what is to be read, written or changed lies side by side and fits
///                into a message. The process looks whether it is in the window, as the asking one has.
/// Deadlock       who answers takes the target's lock for accumulates for a moment. Nobody has it while it waits
///                for an answer.
/// Thread safety  read() and its like from any thread. A stage of serving is run by whichever thread completes the
///                message before, once that thread holds no lock, as in coll/execution.hpp.
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
#include "p2p/listener.hpp"
#include "rma/piece.hpp"

namespace heddle::rma {

class Service final : public p2p::Listener, public core::Work {
public:
    /// `to_be_asked`: for each rank, whether this process has to ask it.
    static std::shared_ptr<Service> begin(core::Thread& thread, objects::Window& window,
                                          std::vector<bool> to_be_asked);
    ~Service();
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    bool asks(std::int32_t rank) const { return to_be_asked_[static_cast<std::size_t>(rank)]; }

    /// Everybody has come to free the window: nobody asks any more.
    void end(core::Thread& thread);

    // Of process `rank` of the window. False: it has refused, or memory has run out.

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
    objects::Window& window_;  ///< while there are questions
    objects::Communicator& communicator_;
    const std::vector<bool> to_be_asked_;
    std::atomic<std::uint32_t> asked_{0};

    const std::unique_ptr<std::byte[]> question_, answer_;
    bool answering_ = true;  ///< or listening
    core::Request* complete_ = nullptr;
    std::mutex lock_;                     ///< of what follows
    core::Request* listening_ = nullptr;  ///< for a question
    bool ending_ = false;
    std::shared_ptr<Service> self_;
};

}  // namespace heddle::rma
