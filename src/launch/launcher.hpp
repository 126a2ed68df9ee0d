// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The interface to a launcher: data for the processes that it has started, and services to them.
///
/// Values         put() publishes a value of this rank: any bytes, of any length, under a short key
///                of letters and digits. After a fence() that all ranks have called, every rank can
///                get() it. No rank asks for a value that no rank has put: some launchers wait for
///                it. After leave() get() fails.
/// Node map       comes from the launcher, never from names of hosts: a launcher may show one
///                machine as several nodes, and hosts may share a name.
/// Abort          returns when the launcher knows of it: a word that is sent and not waited for
///                gets lost when the process exits at once. The caller exits then.
/// Errors         std::runtime_error with the launcher's answer. leave() and abort() ignore them,
///                since no caller is left to act on them.
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
    /// Returns the number of this program among the launcher's; -1 if it is not told.
    virtual int appnum() = 0;
    /// Returns how many processes the launcher could start in all; -1 if it is not told.
    virtual int universe_size() = 0;
    /// Returns the node map; empty if the launcher does not tell it.
    virtual NodeMap node_map() = 0;

    virtual void put(const std::string& key, const std::string& value) = 0;
    virtual void fence() = 0;
    virtual std::string get(int rank, const std::string& key) = 0;

    virtual void leave() noexcept = 0;
    virtual void abort(int code) noexcept = 0;
};

/// Returns the launcher that has started this process, if it is one that is understood. Returns
/// nullptr if none has. Programs that this one starts find none. Throws std::runtime_error if there
/// is one that cannot be talked to, or is not understood. Otherwise several programs that are alone
/// each would give wrong results in silence.
std::unique_ptr<Launcher> find_launcher();

}  // namespace heddle::launch
