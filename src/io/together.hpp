// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages between the processes of a file in its collective calls.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "comm/participants.hpp"
#include "io/open_file.hpp"
#include "p2p/operations.hpp"

namespace heddle::io {

/// The share of each process, by rank. Among few processes every one sends to every other. So each
/// has to run only once before all can go on, which counts if they share cores. Many processes
/// exchange in rounds.
///
/// Memory         a process without memory for this sends empty messages, so that every process
///                learns that one share is missing.
template <class T>
class Gathering {
public:
    /// Begins to gather. Among few processes the caller's share is pending when this returns.
    /// `mine` is nullptr if the process has no memory to take part.
    Gathering(core::Thread& thread, OpenFile& file, std::int32_t tag, const T* mine) noexcept
        : thread_(thread),
          communicator_(*file.communicator),
          participants_(communicator_),
          tag_(tag),
          has_memory_(mine != nullptr && make_room()) {
        if (has_memory_) shares_[0] = {*mine, 1};
        const std::int32_t size = participants_.size();
        if (size > few) return;
        for (std::int32_t i = 1; i < size; ++i) start_receive(i, 1);
        for (std::int32_t i = 1; i < size; ++i) start_send(i, 1);
    }
    ~Gathering() { (void)complete(); }
    Gathering(const Gathering&) = delete;
    Gathering& operator=(const Gathering&) = delete;

    /// Gathers the rest. Returns an MPI error code that has been raised. If one process has no
    /// memory, throws std::bad_alloc in every process.
    int finish(std::vector<T>& all) {
        const std::int32_t size = participants_.size();
        int error = complete();
        for (std::int32_t step = 1; size > few && step < size; step *= 2) {
            const std::int32_t shares = std::min(step, size - step);
            start_receive(step, shares);
            start_send(step, shares);
            if (const int one = complete()) error = one;
        }
        if (error != MPI_SUCCESS) return error;
        if (!has_memory_) throw std::bad_alloc();
        for (std::int32_t i = 0; i < size; ++i) {
            const Given& given = shares_[static_cast<std::size_t>(i)];
            if (given.is_there == 0) throw std::bad_alloc();
            all_[static_cast<std::size_t>(after(i))] = given.share;
        }
        all = std::move(all_);
        return MPI_SUCCESS;
    }

private:
    static constexpr std::int32_t few = 16;
    struct Given {
        T share;
        std::uint32_t is_there;
    };

    bool make_room() noexcept try {
        shares_.resize(static_cast<std::size_t>(participants_.size()));
        all_.resize(shares_.size());
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
    std::int32_t after(std::int32_t distance) const noexcept {
        return (participants_.me() + distance) % participants_.size();
    }
    /// Receives from the process at that distance: its share, and those after it.
    void start_receive(std::int32_t distance, std::int32_t shares) noexcept {
        requests_[count_++] = comm::start_receive(
            thread_, participants_,
            has_memory_ ? &shares_[static_cast<std::size_t>(distance)] : nullptr, bytes(shares),
            after(distance), tag_);
    }
    /// Sends to the process at that distance before this one: the shares from this process's on.
    void start_send(std::int32_t distance, std::int32_t shares) noexcept {
        requests_[count_++] =
            comm::start_send(thread_, participants_, shares_.data(), bytes(shares),
                             after(participants_.size() - distance), tag_);
    }
    std::uint64_t bytes(std::int32_t shares) const noexcept {
        return has_memory_ ? static_cast<std::uint64_t>(shares) * sizeof(Given) : 0;
    }
    int complete() noexcept {
        int error = MPI_SUCCESS;
        while (count_ > 0) {
            core::Request* const request = requests_[--count_];
            if (!has_memory_)
                p2p::finish_unheard(thread_, request);  // the message was longer
            else if (const int one = p2p::finish(thread_, communicator_, request))
                error = one;
        }
        return error;
    }

    core::Thread& thread_;
    objects::Communicator& communicator_;
    const comm::Participants participants_;
    const std::int32_t tag_;
    std::vector<Given> shares_;  ///< from this process's on
    std::vector<T> all_;
    const bool has_memory_;
    core::Request* requests_[2 * few];
    std::size_t count_ = 0;
};

/// Gathers in one step. Throws std::bad_alloc likewise.
template <class T>
int gather(core::Thread& thread, OpenFile& file, std::int32_t tag, std::vector<T>& all,
           const T& mine) {
    return Gathering<T>(thread, file, tag, &mine).finish(all);
}

}  // namespace heddle::io
