// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The file in which a traced process keeps its events: one mapping, written by the process, read
/// at any time.
///
/// Writers        `rings[i]` belongs to one thread. `sites`, `objects` and `members` are filled
///                under a lock of the process. An entry below the published number never changes.
/// Readers        mpiexec, while the process runs or after it has ended, however it did. A record
///                that is overwritten while it is read may be torn. So a reader checks every value
///                that it uses as an index.
/// Newest kept    a ring holds the last `ring_records` events of its thread; `written` counts all
///                of them.
/// Zeroes         are a valid empty file. It is sparse: only rings that are used take room.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heddle::trace {

inline constexpr std::uint64_t file_magic = 0x3165'6361'7274'4821;
inline constexpr const char* folder_variable = "HEDDLE_TRACE_FOLDER";
inline constexpr const char* file_ending = ".heddletrace";

inline constexpr std::size_t most_sites = 2048, most_objects = 2048, most_members = 1 << 18,
                             most_rings = 64, ring_records = 1 << 15;

/// Kinds of records above those of MPI functions, which have their numbers in the table of
/// functions.
enum SpecialKind : std::uint16_t {
    kind_received = 0xff00,  ///< a receive is complete; `request` made it
    kind_sent = 0xff01,      ///< a send for which a call has waited is complete
    kind_started_send = 0xff02,
    kind_started_receive = 0xff03,
    kind_started_other = 0xff04,
    kind_composed = 0xff05,  ///< a nonblocking collective is complete
    kind_sleep = 0xff06,
    kind_unexpected = 0xff07,  ///< a message came before its receive
};

enum RecordFlags : std::uint16_t {
    flag_sends = 1,       ///< `sequence` numbers the messages of the stream (object, peer, tag)
    flag_receives = 2,    ///< posts a receive
    flag_complete = 4,    ///< the receive is complete; `peer`, `tag`, `sequence` are the message's
    flag_collective = 8,  ///< `sequence` numbers the collectives of the object
    flag_vain = 16,       ///< `repeats` tests found nothing
    flag_failed = 32,
};

inline constexpr std::int32_t no_rank = -1;

struct Record {
    std::uint64_t begin;  ///< ticks
    std::uint64_t end;    ///< 0 if the call has not returned
    /// The record by which the request began: thread << 40 | number + 1. It is 0 if there is none,
    /// or it is unknown.
    std::uint64_t request;
    std::int64_t bytes;
    std::uint32_t sequence;  ///< from 1 on; 0 if it is unknown
    std::int32_t peer;       ///< rank in the object, or the root of a collective; negative for none
    std::int32_t tag;
    std::uint32_t repeats;  ///< number of equal calls that followed at once
    std::uint16_t kind;
    std::uint16_t site;
    std::uint16_t object;
    std::uint16_t flags;
    std::uint64_t reserved;
};
static_assert(sizeof(Record) == 64);

/// The place of a call in the program.
struct Site {
    std::uint64_t offset;  ///< address in the file's own numbering
    char file[248];
};

enum class ObjectKind : std::uint32_t { none, communicator, window, file };

/// A communicator, a window or a file.
struct Object {
    std::uint64_t identity;  ///< the same in all its processes
    ObjectKind kind;
    std::uint32_t first_member;  ///< the first of `size` ranks in MPI_COMM_WORLD; a rank is
                                 ///< negative if it is unknown
    std::uint32_t size;
    std::int32_t rank;
    char name[40];
};

struct alignas(64) Ring {
    std::atomic<std::uint64_t> written;
    std::uint32_t thread;  ///< the kernel's number; 0 if no thread has this ring
    char name[16];
    alignas(64) Record records[ring_records];
};

struct alignas(4096) File {
    std::uint64_t magic;
    std::uint32_t pid;
    std::int32_t rank;  ///< in MPI_COMM_WORLD; valid if size is not 0
    std::int32_t size;
    std::atomic<std::uint32_t> finalized;
    char host[64];
    char program[64];
    /// Two readings of the clocks: ticks, CLOCK_MONOTONIC and CLOCK_REALTIME in nanoseconds. The
    /// second one is renewed.
    std::uint64_t first_ticks, first_real;
    std::atomic<std::uint64_t> last_ticks, last_real;
    /// The offsets to add to this host's clock for rank 0's clock, and when they were measured
    /// (CLOCK_REALTIME).
    std::int64_t correction[2];
    std::uint64_t corrected_at[2];  ///< 0 if it was not measured
    std::atomic<std::uint32_t> sites_used, objects_used, members_used, threads_without_ring;
    Site sites[most_sites];
    Object objects[most_objects];
    std::int32_t members[most_members];
    Ring rings[most_rings];
};

}  // namespace heddle::trace
