// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A session (MPI 5.0, 11.3): one of several independent uses of MPI.
///
/// A process may have any number of them, beside the world model or without it. They share
/// everything below. Each has its own error handler, buffer for buffered sends, and thread level.
/// Groups and communicators that come from a session hold it, counted.

#include <memory>
#include <string>

#include "core/object.hpp"
#include "mpi.h"

namespace heddle::p2p {
class BsendBuffer;
}  // namespace heddle::p2p

namespace heddle::objects {

class Process;
struct Errhandler;

struct Session : core::Object {
    Session* next = nullptr;
    int thread_level = MPI_THREAD_SINGLE;
    Errhandler* errhandler = nullptr;          ///< counted; guarded by the process's set-up lock
    std::shared_ptr<p2p::BsendBuffer> buffer;  ///< guarded likewise

    MPI_Session handle() noexcept { return reinterpret_cast<MPI_Session>(this); }
};

/// The process sets that every session knows.
inline constexpr const char* world_set = "mpi://WORLD";
inline constexpr const char* self_set = "mpi://SELF";
/// Compares names of process sets without regard to case (MPI 5.0, 11.3.2).
bool is_name_of_set(const std::string& name, const char* set) noexcept;

/// Makes a session with the handle's reference. Throws std::bad_alloc.
Session& make_session(Process& process, int thread_level, Errhandler& errhandler);
/// Drops a reference. The last one destroys the session.
void drop(Process& process, Session& session) noexcept;

}  // namespace heddle::objects
