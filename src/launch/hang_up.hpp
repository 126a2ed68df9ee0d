// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Ends this process when its launcher hangs up: a daemon that is killed takes nobody along, and a rank that waits for
/// messages does not read what its launcher says.
///
/// Cost           a thread that sleeps. Where it cannot be had, nobody watches.
/// Patience       a launcher that ends a job hangs up and kills: it is given a moment for that, since then there is
///                nothing to be said.

namespace heddle::launch {

class HangUp {
public:
    /// Watches the connection, which stays open as long as the process lives.
    HangUp(int descriptor, int rank) noexcept;

    /// From now on the launcher may hang up.
    void expect() noexcept;

private:
    struct Watch;
    Watch* watch_;  ///< never deleted: its thread may outlive this
};

}  // namespace heddle::launch
