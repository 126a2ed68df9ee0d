// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The client side of PMI-1: lines of key=value over a connection to the launcher
/// (launch/launcher.hpp).
///
/// Either the launcher has connected the process already (PMI_FD), or the process calls it
/// (PMI_PORT). Values are cut into pieces as short as the launcher wants them (launch/pieces.hpp).
///
/// Patience       a host may be cut off before the lanes between hosts exist that would notice. All
///                ranks have come to MPI_Init when the first fence() has returned. So later ones,
///                and all other answers, are waited for as long as the patience lasts. Then an
///                error names the other hosts. The first fence() waits without an end, since
///                programs may compute for hours before MPI_Init; it says so once.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "launch/hang_up.hpp"
#include "launch/launcher.hpp"

namespace heddle::launch {

class Pmi final : public Launcher {
public:
    static constexpr std::chrono::milliseconds usual_patience{60'000};

    /// Connects to a launcher that has told this rank by other means.
    Pmi(int descriptor, int rank, int size, std::chrono::milliseconds patience = usual_patience);
    /// Connects to one that tells the rank when it gets the number that it has given this process.
    Pmi(int descriptor, const std::string& id);
    ~Pmi() override;

    int rank() const noexcept override { return rank_; }
    int size() const noexcept override { return size_; }
    int appnum() override;
    int universe_size() override;
    NodeMap node_map() override;
    void put(const std::string& key, const std::string& value) override;
    void fence() override;
    std::string get(int rank, const std::string& key) override;
    void leave() noexcept override;
    /// Returns when the launcher has hung up, or after some seconds.
    void abort(int code) noexcept override;

private:
    void begin();
    /// Sends a command and returns the reply line, which must be of the expected kind.
    std::string ask(const std::string& command, const std::string& expected);
    /// Does the same if the launcher may say that it does not know.
    std::string ask_perhaps(const std::string& command);
    void send(const std::string& line);
    std::string receive();
    /// Waits for bytes of the launcher, as long as the patience lasts.
    void await_bytes();
    [[noreturn]] void give_up();
    /// Returns "node2 (ranks 2 and 3)" for each other node, as far as it is known.
    std::string other_hosts();
    std::string key_of(int rank, const std::string& key, std::size_t piece) const;

    int descriptor_;
    int rank_ = -1;
    int size_ = -1;
    std::size_t longest_key_ = 0;
    std::size_t longest_value_ = 0;
    std::string store_;     ///< name of the job's key-value store
    std::string received_;  ///< bytes of a line that is not complete yet
    std::optional<HangUp> hang_up_;
    std::chrono::milliseconds patience_;
    std::uint32_t fences_ = 0;     ///< that have ended
    bool in_first_fence_ = false;  ///< this one may take any time
    bool given_up_ = false;        ///< questions now are for the error's sake
    std::string node_text_;        ///< the launcher's node map, once it was asked for
    bool left_ = false;
};

}  // namespace heddle::launch
