// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What a launcher tells the processes that it has started, and does for them.
///
/// Values         put() publishes a value of this rank: any bytes, of any length, under a short key of letters
///                and digits. After a fence() that all ranks have called, every rank can get() it. Nobody asks for what nobody
///                has put: some launchers wait for it. After leave() get() fails.
/// Node map       comes from the launcher, never from names of hosts: a launcher may show one machine as several
///                nodes, and hosts may share a name.
/// Abort          returns when the launcher knows of it: a word that is sent and not waited for gets lost when the
///                process exits at once. The caller exits then.
/// Errors         std::runtime_error with what the launcher answered; leave() and abort() ignore them, since
///                nobody is left to act on them.
/// Thread safety  one thread at a time; abort() from any.

#include <memory>
#include <string>

#include "launch/node_map.hpp"

namespace heddle::launch {

class Launcher {
public:
    Launcher() = default;
    Launcher(const Launcher&) = delete;
    Launcher& operator=(const Launcher&) = delete;
    virtual ~Launcher() = default;

    virtual int rank() const noexcept = 0;
    virtual int size() const noexcept = 0;
    /// Which of the launcher's programs this is; -1: not said.
    virtual int appnum() = 0;
    /// How many processes it could start in all; -1: not said.
    virtual int universe_size() = 0;
    /// Empty if the launcher does not tell.
    virtual NodeMap node_map() = 0;

    virtual void put(const std::string& key, const std::string& value) = 0;
    virtual void fence() = 0;
    virtual std::string get(int rank, const std::string& key) = 0;

    virtual void leave() noexcept = 0;
    virtual void abort(int code) noexcept = 0;
};

/// The launcher that has started this process, if it is one that is understood; nullptr: none has. Programs that
/// this one starts find none. Throws std::runtime_error if one is there and cannot be talked to, or is not
/// understood: several programs that are alone each would give wrong results in silence.
std::unique_ptr<Launcher> find_launcher();

}  // namespace heddle::launch
