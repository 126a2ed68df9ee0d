// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The children that this process has started, for as long as their life is bound to its own: a family for each call of
/// MPI_Comm_spawn of which this was the root.
///
/// Watching       a thread of each family reads what the starter reports (launch/children.hpp). Before the children have
///                connected, the first report of a failure is left as a letter at the family's key. Afterwards a family that
///                ends with an error ends this job, too, while the two are connected.
/// Letting go     children that this process is not connected with any more live on without it, as do all when MPI is
///                finalized. A family that is destroyed otherwise is ended.
/// Thread safety  any thread.

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "comm/letters.hpp"
#include "launch/children.hpp"
#include "objects/group.hpp"
#include "platform/alarm.hpp"

namespace heddle::objects {
class Process;
}

namespace heddle::dyn {

class Family {
public:
    /// `key` hears of children that will not connect. Throws std::system_error.
    Family(objects::Process& process, launch::Children children, comm::Key key);
    ~Family();
    Family(const Family&) = delete;
    Family& operator=(const Family&) = delete;

    const launch::Children& children() const noexcept { return children_; }
    /// What has kept the children from connecting.
    launch::ChildReport failure();
    /// They have connected, and are these.
    void has_connected(objects::Members members);
    bool is_connected() const;
    /// They live on.
    void release();

private:
    void watch();
    void take(const launch::ChildReport& report);

    objects::Process& process_;
    const comm::Key key_;
    mutable std::mutex lock_;  ///< guards what follows
    launch::Children children_;
    launch::ChildReport failure_;
    bool failed_ = false;
    bool connected_ = false;
    bool ends_ = false;
    objects::Members members_;
    platform::Alarm alarm_;
    std::thread thread_;  ///< last: it uses all of the above
};

class Families {
public:
    void add(std::unique_ptr<Family> family);
    /// Releases those that this process is not connected with any more.
    void let_go();
    /// Releases all.
    void let_all_go();

private:
    std::mutex lock_;
    std::list<std::unique_ptr<Family>> families_;
};

/// Of a process; made when they are first asked for.
Families& families_of(objects::Process& process);

}  // namespace heddle::dyn
