// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The children that this process has started, while their life is bound to its own. Each call of
/// MPI_Comm_spawn of which this process was the root makes a family.
///
/// Watching       a thread of each family reads the reports of the starter (launch/children.hpp).
///                Before the children have connected, the first report of a failure becomes a
///                letter at the family's key. Afterwards a family that ends with an error ends this
///                job, too, while the two are connected.
/// Letting go     children that this process is not connected with any more live on without it. So
///                do all children when MPI is finalized. If a family is destroyed otherwise, its
///                children are ended.
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
    /// A letter at `key` tells of children that will not connect. Throws std::system_error.
    Family(objects::Process& process, launch::Children children, comm::Key key);
    ~Family();
    Family(const Family&) = delete;
    Family& operator=(const Family&) = delete;

    const launch::Children& children() const noexcept { return children_; }
    /// Returns what has kept the children from connecting.
    launch::ChildReport failure();
    /// Tells that the children have connected, and that they are `members`.
    void has_connected(objects::Members members);
    bool is_connected() const;
    /// Lets the children live on.
    void release();

private:
    void watch();
    void take(const launch::ChildReport& report);

    objects::Process& process_;
    const comm::Key key_;
    mutable std::mutex lock_;  ///< guards all fields below
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
    /// Releases the families that this process is not connected with any more.
    void let_go();
    /// Releases all families.
    void let_all_go();

private:
    std::mutex lock_;
    std::list<std::unique_ptr<Family>> families_;
};

/// Returns the families of a process. The first call makes them.
Families& families_of(objects::Process& process);

}  // namespace heddle::dyn
