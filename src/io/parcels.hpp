// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Messages between processes in a collective access with aggregators.

#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "io/window.hpp"
#include "p2p/operations.hpp"

namespace heddle::io {

using objects::Section;
using objects::Sections;

/// The tags of a call.
enum : std::int32_t {
    plan_message,
    list_message,
    data_message,
    end_message,
    memory_message,
    mapped_message,
    done_message,
};

/// The head that comes before the data of a process in a window. It has the sections if they are
/// few; otherwise they follow.
struct ListHead {
    static constexpr std::size_t few = 8;
    std::uint64_t sections = 0;
    std::uint64_t bytes = 0;  ///< of the data
    Section first[few];
};

/// Pending messages.
class Messages {
public:
    Messages(core::Thread& thread, objects::Communicator& communicator) noexcept
        : thread_(thread), communicator_(communicator) {}
    ~Messages() { finish(); }
    Messages(const Messages&) = delete;
    Messages& operator=(const Messages&) = delete;

    void send(const void* data, std::uint64_t bytes, std::int32_t to, std::int32_t tag) noexcept {
        add(p2p::start_send(thread_, communicator_, communicator_.context + 1, data, {bytes}, to,
                            tag));
    }
    void receive(void* data, std::uint64_t bytes, std::int32_t from, std::int32_t tag) noexcept {
        add(p2p::start_receive(thread_, communicator_, communicator_.context + 1, data, {bytes},
                               from, tag));
    }
    void finish() noexcept {
        for (core::Request* request : requests_)
            if (p2p::finish(thread_, communicator_, request) != MPI_SUCCESS) failed = true;
        requests_.clear();
    }
    /// Waits for a message for which there is no memory, so that its sender goes on.
    void lose(std::int32_t from, std::int32_t tag) noexcept {
        p2p::finish_unheard(thread_,
                            p2p::start_receive(thread_, communicator_, communicator_.context + 1,
                                               nullptr, {0}, from, tag));
    }
    bool failed = false;

private:
    /// Adds a request. Without memory to remember it, waits for it at once.
    void add(core::Request* request) noexcept try {
        if (request != nullptr) requests_.push_back(request);
        failed = failed || request == nullptr;
    } catch (const std::bad_alloc&) {
        failed = p2p::finish(thread_, communicator_, request) != MPI_SUCCESS || failed;
    }

    core::Thread& thread_;
    objects::Communicator& communicator_;
    std::vector<core::Request*> requests_;
};

/// The sections of a process in a window, and the place of their data. Used for one window after
/// the other.
class Parcel {
public:
    ListHead head;
    std::byte* data = nullptr;  ///< in the program's memory, or in room()

    void clear() noexcept { head.sections = head.bytes = 0; }
    /// Forgets the sections: the data have no place, although their message comes or goes.
    void forget_sections() noexcept { head.sections = 0; }
    std::span<Section> sections() noexcept {
        if (head.sections <= ListHead::few) return {head.first, head.sections};
        return list_;
    }
    bool has_list() const noexcept { return head.sections > ListHead::few; }
    /// Returns room for the list that the head announces. The head has come.
    std::span<Section> list_to_come() {
        list_.resize(head.sections);
        return list_;
    }
    void make_list(Sections sections) {
        list_.clear();
        for (Section section; sections.next(section);) list_.push_back(section);
        head.sections = list_.size();
        if (!has_list()) std::copy(list_.begin(), list_.end(), head.first);
    }
    std::byte* room() { return room_.get(head.bytes); }

private:
    std::vector<Section> list_;
    Room room_;
};

}  // namespace heddle::io
