// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Memory for windows of aggregators that all processes of a file on one node map. Each process
/// puts its data there, or takes them, itself.
///
/// Segments       one for each file that has needed it, as long as the file is open. It is taken
///                only if at least half of the segments' memory is left to others.
/// Users          one access at a time: the blocking collectives of a file have one object, the
///                others another.

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>

#include "objects/communicator.hpp"
#include "objects/process.hpp"

namespace heddle::io {

struct Joint;

class SharedWindows {
public:
    /// The windows of each domain: one is filled while the other is written.
    static constexpr std::int64_t turns = 2;

    SharedWindows(objects::Process& process, objects::Communicator& communicator) noexcept
        : process_(process), communicator_(communicator) {}
    ~SharedWindows();
    SharedWindows(const SharedWindows&) = delete;
    SharedWindows& operator=(const SharedWindows&) = delete;

    /// Returns whether there is memory for the access, for all of its processes. Collective. Throws
    /// std::bad_alloc.
    bool has(const Joint& joint);

    /// Valid after has():
    std::int64_t window_bytes() const noexcept { return window_bytes_; }
    std::byte* window(std::int32_t domain, std::int64_t i) const noexcept {
        return memory_ + (domain * turns + i % turns) * window_bytes_;
    }

    std::mutex in_use;

private:
    bool take(const Joint& joint, std::uint64_t bytes);
    void give_back() noexcept;

    objects::Process& process_;
    objects::Communicator& communicator_;
    node::Segment segment_;
    std::shared_ptr<const platform::Mapping> mapping_;
    std::byte* memory_ = nullptr;
    std::int64_t window_bytes_ = 0;
    bool refused_ = false;  ///< there is no memory for so much
};

}  // namespace heddle::io
