// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// An access to a file from the call that asks for it to its end: blocking, with a request, or
/// split (MPI 5.0, 14.4).
///
/// Start          the caller's thread checks, finds the place (and moves the pointer that gives
///                it), and converts data to be written. The rest of the access needs nothing that
///                another call could change.
/// Between        blocking calls go on themselves. Threads of the library run the others
///                (io/workers.hpp). They complete the request as any thread that makes progress
///                completes any other: a thread that waits sleeps.
/// End            the thread that completes the request converts data that were read, and gets the
///                failure.
///
/// Errors         functions that return int return an MPI error code that the file's error handler
///                has seen.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "core/request.hpp"
#include "core/thread.hpp"
#include "io/access.hpp"
#include "io/open_file.hpp"
#include "mpi.h"
#include "node/waits_for.hpp"
#include "objects/file.hpp"

namespace heddle::io {

enum class Pointer : std::uint8_t { given, individual, shared };

/// The function of an access.
struct Kind {
    Pointer pointer = Pointer::given;
    bool writes = false;
    bool together = false;  ///< collective; by shared pointer: in the order of ranks
};

/// The arguments of the program.
struct Wish {
    std::int64_t offset = 0;  ///< in etypes; of Pointer::given
    std::byte* buffer = nullptr;
    std::int64_t count = 0;
    objects::Datatype* type = nullptr;
};

class Request final : public Job {
public:
    Request(core::Thread& thread, objects::File& file, Kind kind, const Wish& wish);

    /// Does everything that comes before data move. Its error has been raised. If this process
    /// alone has made a mistake, collective calls go on without data: the others would wait for it.
    int prepare(core::Thread& thread);
    /// Moves the data, by the calling thread.
    void move(core::Thread& thread) noexcept;
    /// Takes part in a nonblocking collective access, after those before it, by the calling thread
    /// and without data.
    void move_nothing(core::Thread& thread) noexcept;
    /// Converts the received data, once.
    void finish();

    void set_status(MPI_Status* status) const noexcept;
    /// Writes the access down for reports, while it is pending.
    void tell(node::AwaitedEvent& event) const noexcept;
    int raise(core::Thread& thread) const;
    const Failure& failure() const noexcept { return outcome_.failure; }
    objects::File& file() const noexcept { return file_; }
    std::string doing() const;

    /// Starts the access with a core::Request, which run() completes. Returns nullptr if there is
    /// no memory for one. The caller then still owns this object.
    core::Request* start(core::Thread& thread) noexcept;
    void run(core::Thread& thread) noexcept override;
    bool communicates() const noexcept override { return kind_.together; }

    static constexpr std::uint32_t completed = 1;
    static constexpr std::uint32_t collected = 2;
    static constexpr std::uint32_t let_go = 4;
    /// Ends the use by the owner of the handle. Destroys this object if the access has ended.
    void leave(core::Thread& thread, std::uint32_t how) noexcept;

private:
    int check(core::Thread& thread);
    int check_mode(core::Thread& thread) const;
    int find_place(core::Thread& thread, std::int64_t etypes, std::int64_t& from);
    int order(core::Thread& thread, std::int64_t etypes, std::int64_t& from);
    int convert(core::Thread& thread);
    template <class Step>
    int with_memory(core::Thread& thread, Step step);
    int fail(core::Thread& thread, int error_class, const std::string& detail) const;
    void end(core::Thread& thread, std::uint32_t how) noexcept;

    objects::File& file_;
    OpenFile& open_;
    const Kind kind_;
    Wish wish_;
    std::optional<Stream> stream_;
    Part part_;
    std::int32_t tag_ = 0;
    Outcome outcome_;
    bool finished_ = false;
    core::Request* request_ = nullptr;
    std::atomic<std::uint32_t> ended_{0};
};

/// Does a blocking access.
int access(core::Thread& thread, objects::File& file, Kind kind, const Wish& wish,
           MPI_Status* status);
/// Starts a nonblocking access.
int start(core::Thread& thread, objects::File& file, Kind kind, const Wish& wish,
          MPI_Request& handle);
/// Begin and end a split access.
int begin(core::Thread& thread, objects::File& file, Split split, Kind kind, const Wish& wish);
int end(core::Thread& thread, objects::File& file, Split split, const void* buffer,
        MPI_Status* status);

}  // namespace heddle::io
