// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The client side of PMI-1: lines of key=value over a descriptor that the launcher hands down.
///
/// Errors         std::runtime_error with what the launcher answered; finalize() and abort() ignore
///                them, since nobody is left to act on them.

#include <string>

namespace heddle::launch {

class PmiClient {
public:
    explicit PmiClient(int descriptor);

    void put(const std::string& key, const std::string& value);
    std::string get(const std::string& key);
    /// Returns when all ranks have called it; what they put before can be got after it.
    void barrier();
    void finalize() noexcept;
    /// Returns when the launcher has hung up, or after some seconds; the caller exits then.
    void abort(int code) noexcept;

private:
    /// Sends a command and answers the reply line, which must be of the expected kind.
    std::string ask(const std::string& command, const std::string& expected);
    void send(const std::string& line);
    std::string receive();

    int descriptor_;
    std::string store_;     ///< name of the job's key-value store
    std::string received_;  ///< bytes of a line that is not complete yet
};

}  // namespace heddle::launch
