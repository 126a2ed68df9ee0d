// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// WaitsFor: the events that a thread inside an MPI call waits for, as data for a reader in another
/// process.
///
/// Ranks          a peer is named by its rank in the communicator and by its rank in
///                MPI_COMM_WORLD.
/// Memory         plain values of fixed size: it is copied to shared memory as it is
///                (node/board.hpp). Zeroes are a valid value, which says nothing.
/// Meaning        `peer` can make the event happen or, if any_peer is set, each of `members` can.
///                No other process can. If the processes are not known, `members` is empty and
///                `world_peer` negative.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace heddle::node {

/// An event that a thread waits for.
enum class AwaitedKind : std::uint8_t {
    unknown,
    receive,            ///< a message comes
    probe,              ///< likewise
    send,               ///< a receiver takes the message, or makes room for it
    collective,         ///< the peer comes to the same step of a collective call
    partitioned,        ///< all partitions are ready, and have come
    buffered,           ///< messages in attached buffers are taken by their receivers
    taken,              ///< messages that were sent are taken by their receivers
    composed,           ///< nonblocking collectives that were started are complete
    program,            ///< the program completes a generalized request
    file,               ///< an access to a file is over
    finalize,           ///< the peer calls MPI_Finalize
    window_post,        ///< a target calls MPI_Win_post
    window_complete,    ///< an origin calls MPI_Win_complete
    window_fence,       ///< another thread calls MPI_Win_fence
    window_answer,      ///< a target answers
    window_room,        ///< there is room on the path to a target
    window_flush,       ///< a target answers a flush
    window_lock,        ///< a lock of the target, or of all targets, can be had
    window_lock_asked,  ///< a target answers about its lock
    window_unlock,      ///< a target's lock is left
    window_lock_all,    ///< a target answers about the lock of all targets
    window_attached,    ///< a target answers about attached memory
};
inline constexpr std::size_t awaited_kinds =
    static_cast<std::size_t>(AwaitedKind::window_attached) + 1;

/// Returns whether the text of this kind names a window.
constexpr bool is_of_window(AwaitedKind kind) noexcept { return kind >= AwaitedKind::window_post; }

/// Whether all events are needed, or one.
enum class Need : std::uint8_t { all, any };

inline constexpr std::int32_t no_peer = -2;
inline constexpr std::int32_t any_peer = -1;  ///< MPI_ANY_SOURCE, or all targets
inline constexpr std::int32_t any_tag_awaited = -2;
/// Holder of a lock: it is not known, or has locked all targets.
inline constexpr std::int32_t holder_unknown = -1, holder_of_all = -2;

struct AwaitedEvent {
    static constexpr std::int32_t most_members = 256;

    AwaitedKind kind;
    bool any_peer;  ///< each of `members` suffices
    bool to_self;   ///< a send to the sender's own process
    bool no_room;   ///< a send that waits for memory at the receiver (HEDDLE_UNEXPECTED_LIMIT)
    std::uint32_t context;     ///< context of the communicator, even; 0: none
    std::int32_t tag;          ///< any_tag_awaited: any tag
    std::uint32_t number;      ///< number of the communicator's collective call, from 1 on; 0: none
    std::int32_t peer;         ///< rank in the communicator, any_peer or no_peer
    std::int32_t world_peer;   ///< its rank in MPI_COMM_WORLD; negative: not known
    std::int32_t holder;       ///< holder of a lock: rank in the window
    std::int32_t size;         ///< size of the group that messages go to; 0: not known
    std::uint64_t bytes;       ///< bytes of a send, or of an access to a file
    std::int64_t place;        ///< first byte of an access to a file; -1: none in particular
    std::uint64_t members[4];  ///< a bit for each rank in MPI_COMM_WORLD; none: not known
    char communicator[32];     ///< its name, ends in NUL; empty: it has none
    char detail
        [32];  ///< name of window, end of the path of a file; call that has started a collective

    void add_member(std::int32_t rank) noexcept {
        members[rank / 64] |= std::uint64_t{1} << rank % 64;
    }
    bool has_member(std::int32_t rank) const noexcept {
        return rank >= 0 && rank < most_members && (members[rank / 64] >> rank % 64 & 1) != 0;
    }
    int number_of_members() const noexcept {
        int sum = 0;
        for (const std::uint64_t word : members) sum += std::popcount(word);
        return sum;
    }
};

struct WaitsFor {
    static constexpr std::uint32_t most_listed = 6;

    std::int64_t since_ns;      ///< CLOCK_MONOTONIC, nanoseconds
    std::uint64_t called_from;  ///< the address at which the program goes on; 0: not known
    std::uint32_t events;       ///< how many there are; the first are listed
    std::uint16_t thread;       ///< number in the process by when it came to MPI, from 0 on
    Need need;
    char call[37];  ///< "MPI_Recv", ends in NUL
    AwaitedEvent listed[most_listed];

    std::uint32_t number_listed() const noexcept {
        return events < most_listed ? events : most_listed;
    }
    /// Returns the entry of one more event, or nullptr if it is only counted.
    AwaitedEvent* add() noexcept {
        const std::uint32_t place = events++;
        if (place >= most_listed) return nullptr;
        AwaitedEvent& event = listed[place];
        event = {};
        event.peer = no_peer;
        event.world_peer = -1;
        event.holder = holder_unknown;
        event.place = -1;
        return &event;
    }
};

/// Copies a text into an array of these structures, and cuts it if it is too long.
template <std::size_t bytes>
void put_text(char (&to)[bytes], std::string_view text) noexcept {
    text = text.substr(0, bytes - 1);
    std::memcpy(to, text.data(), text.size());
    to[text.size()] = '\0';
}

/// Does the same with the end of a text, such as a path.
template <std::size_t bytes>
void put_end(char (&to)[bytes], std::string_view text) noexcept {
    put_text(to, text.substr(text.size() - std::min(text.size(), bytes - 1)));
}

}  // namespace heddle::node
