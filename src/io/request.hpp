// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// An access to a file from the call that asks for it to its end: blocking, with a request, or split
/// (MPI 5.0, 14.4).
///
/// Start          the caller's thread checks, finds the place (and moves the pointer that says it), and converts what
///                is to be written. What follows needs nothing that another call could change.
/// Between        blocking calls go on themselves. Others are run by threads of the library (io/workers.hpp), which
///                complete the request as whoever makes progress completes any other: a thread that waits sleeps.
/// End            whoever completes the request converts what was read, and gets the failure.
///
/// Errors         functions that answer int answer an MPI error code that the file's error handler has seen.

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

/// Which of the functions it is.
struct Kind {
    Pointer pointer = Pointer::given;
    bool writes = false;
    bool together = false;  ///< collective; by shared pointer: in the order of ranks
};

/// What the program passed.
struct Wish {
    std::int64_t offset = 0;  ///< in etypes; of Pointer::given
    std::byte* buffer = nullptr;
    std::int64_t count = 0;
    objects::Datatype* type = nullptr;
};

class Request final : public Job {
public:
    Request(core::Thread& thread, objects::File& file, Kind kind, const Wish& wish);

    /// Everything that comes before data move. The answer has been raised. Collective calls go on with nothing to
    /// do where this process alone has made a mistake: the others would wait for it.
    int prepare(core::Thread& thread);
    /// By the calling thread.
    void move(core::Thread& thread) noexcept;
    /// Takes part in a nonblocking collective access, after those before it, by the calling thread and without data.
    void move_nothing(core::Thread& thread) noexcept;
    /// Converts what has come, once.
    void finish();

    void set_status(MPI_Status* status) const noexcept;
    /// For reports, while it is under way.
    void tell(node::AwaitedEvent& event) const noexcept;
    int raise(core::Thread& thread) const;
    const Failure& failure() const noexcept { return outcome_.failure; }
    objects::File& file() const noexcept { return file_; }
    std::string doing() const;

    /// With a core::Request, which `run` completes. nullptr: no memory for one; the caller still owns this.
    core::Request* start(core::Thread& thread) noexcept;
    void run(core::Thread& thread) noexcept override;
    bool communicates() const noexcept override { return kind_.together; }

    static constexpr std::uint32_t completed = 1;
    static constexpr std::uint32_t collected = 2;
    static constexpr std::uint32_t let_go = 4;
    /// The owner of the handle is done with it; destroys this if it is over.
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

/// A blocking access.
int access(core::Thread& thread, objects::File& file, Kind kind, const Wish& wish,
           MPI_Status* status);
/// A nonblocking one.
int start(core::Thread& thread, objects::File& file, Kind kind, const Wish& wish,
          MPI_Request& handle);
/// A split one.
int begin(core::Thread& thread, objects::File& file, Split split, Kind kind, const Wish& wish);
int end(core::Thread& thread, objects::File& file, Split split, const void* buffer,
        MPI_Status* status);

}  // namespace heddle::io
