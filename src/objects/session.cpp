// SPDX-License-Identifier: BSD-3-Clause
#include "objects/session.hpp"

#include <new>
#include <strings.h>

#include "objects/process.hpp"

namespace heddle::objects {

Session& make_session(Process& process, int thread_level, Errhandler& errhandler) {
    Session* session = Process::make(process.sessions, core::Kind::session);
    if (session == nullptr) throw std::bad_alloc();
    session->thread_level = thread_level;
    process.tell_thread_level(thread_level);
    session->errhandler = &errhandler;
    errhandler.retain();
    return *session;
}

bool is_name_of_set(const std::string& name, const char* set) noexcept {
    return strcasecmp(name.c_str(), set) == 0;
}

void drop(Process& process, Session& session) noexcept {
    if (!session.release_reference()) return;
    drop(process, *session.errhandler);
    session.errhandler = nullptr;
    session.buffer.reset();
    Process::destroy(process.sessions, session);
}

}  // namespace heddle::objects
