// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Ends this process when its launcher hangs up. A daemon that is killed takes no process along. A
/// rank that waits for messages does not read the words of its launcher.
///
/// Cost           a thread that sleeps. If there is no thread to be had, the launcher is not
///                watched.
/// Patience       a launcher that ends a job hangs up and kills. It is given a moment for that,
///                since this process has nothing to report then.

namespace heddle::launch {

class HangUp {
public:
    /// Watches the connection, which stays open as long as the process lives.
    HangUp(int descriptor, int rank) noexcept;

    /// Allows the launcher to hang up from now on.
    void expect() noexcept;

private:
    struct Watch;
    Watch* watch_;  ///< never deleted: its thread may outlive this object
};

}  // namespace heddle::launch
