// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The memory of this process in a window, served to processes of other nodes
/// (rma/far_targets.hpp). Any thread that finds their messages on the network serves them. This is
/// the library's own thread while the program's threads compute.
///
/// Data           are moved by the thread that finds the message, with the lane locked. So the
///                questions of one process are served in order. Accumulates are as atomic to those
///                of near processes as those are to each other. They use the processor's
///                instructions or the target's mutex, by the same rule (rma/accumulate.hpp).
/// Locks          are acquired and released once that thread holds no lock: this may take a message
///                to a process on this node. A process has one such question pending for a target,
///                so that their order does not matter. No thread waits. A process that is not
///                admitted is told that. It is left at the target or at the lock of all targets.
///                The process that lets it in notifies it.
/// Trust          places are checked again: memory may have been detached.
/// Life           shared with questions that are put off.

#include <cstdint>
#include <memory>
#include <vector>

#include "core/thread.hpp"
#include "objects/window.hpp"
#include "p2p/engine.hpp"
#include "p2p/far/far_access.hpp"
#include "rma/atomic.hpp"
#include "rma/far_messages.hpp"
#include "rma/whole_lock.hpp"

namespace heddle::rma {

class FarService final : public p2p::FarListener, public std::enable_shared_from_this<FarService> {
public:
    /// Serves a window that answers questions as long as it lives.
    explicit FarService(objects::Window& window);

    void asked(p2p::ProgressCall& call, std::int32_t process,
               const transport::Header& header) override;

private:
    struct Question;
    class Result;
    class LockQuestion;

    std::byte* find(std::uint64_t address, std::uint64_t bytes) const noexcept;
    void put(const Question& question);
    void get(const Question& question) const;
    void accumulate(const Question& question);
    void compare_and_swap(const Question& question);
    void flush(const Question& question);
    void find_region(const Question& question) const;

    void refuse(const Question& question, std::uint64_t bytes);
    static void answer(const Question& question, std::unique_ptr<std::byte[]> data,
                       std::uint64_t bytes) noexcept;
    bool is_atomic(const ElementOperation& operation, objects::Place place) const noexcept;

    LockAnswer lock(core::Thread& thread, std::int32_t rank, bool exclusive,
                    const p2p::AccessFields& asked);
    bool is_let_in(std::int32_t rank, LockStage stage, bool holds) noexcept;
    void unlock(core::Thread& thread, bool exclusive, std::uint32_t ticket);
    WholeState whole(core::Thread& thread, std::int32_t rank, WholeStep step);
    void tell_all_let_in(core::Thread& thread);
    void pass_on(core::Thread& thread, std::uint32_t entry);

    objects::Window& window_;
    const std::int32_t rank_;  ///< of this process
    /// Refused operations that bring nothing back, such as puts, by rank; under the lane's lock.
    std::vector<std::uint32_t> refused_;
};

}  // namespace heddle::rma
