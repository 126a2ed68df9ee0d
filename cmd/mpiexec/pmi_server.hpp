// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The PMI-1 server, by which the ranks of a job find each other, over one socket for each rank.
///
/// The protocol is asked and answered line by line. A rank has one question open at a time. The
/// server has one key-value space, a barrier and published names. It answers a request to spawn
/// with an error.

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "event_loop.hpp"
#include "unique_fd.hpp"

namespace heddle::mpiexec {

enum class PmiPhase { unused, initialized, finalized };

class PmiServer {
public:
    static constexpr std::size_t key_bytes = 64;
    static constexpr std::size_t value_bytes = 1024;

    struct Events {
        std::function<void(int rank, int code)> abort;  ///< called when a rank asks to end the job
        std::function<void()> waiting;                  ///< called when a rank begins to wait for
                                                        ///< others
    };

    PmiServer(EventLoop& loop, int ranks, int universe_size, Events events);

    /// Returns the rank's end of its connection, open until started(). Throws Failure if no
    /// connection can be made.
    UniqueFd connect(int rank, int program);

    /// Answers all requests that `rank` has sent so far. Call it before judging how the rank ended.
    void drain(int rank);

    [[nodiscard]] PmiPhase phase(int rank) const { return client(rank).phase; }
    [[nodiscard]] bool in_barrier(int rank) const { return client(rank).in_barrier; }
    [[nodiscard]] bool barrier_open() const { return waiting_ > 0; }

private:
    struct Client {
        UniqueFd socket;
        std::string unread;
        int program = 0;
        PmiPhase phase = PmiPhase::unused;
        bool in_barrier = false;
        bool in_spawn = false;  ///< between mcmd=spawn and endcmd
    };

    Client& client(int rank) { return clients_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] const Client& client(int rank) const {
        return clients_[static_cast<std::size_t>(rank)];
    }

    void close(int rank);
    void answer_lines(int rank);
    void answer(int rank, const std::string& line);
    void reply(int rank, std::string_view text);
    void put(int rank, const std::string& key, const std::string& value);
    void get(int rank, const std::string& key);
    void get_by_index(int rank, const std::string& index);
    void enter_barrier(int rank);
    void name_service(int rank, const std::string& command, const std::string& service,
                      const std::string& port);
    void spawn_line(int rank, const std::string& line);

    EventLoop& loop_;
    Events events_;
    std::vector<Client> clients_;
    int universe_size_;
    int waiting_ = 0;  ///< number of ranks inside the barrier
    std::string space_;
    std::unordered_map<std::string, std::string> values_;
    std::vector<std::string> keys_;  ///< the keys of values_, in the order in which they came
    std::unordered_map<std::string, std::string> names_;
};

}  // namespace heddle::mpiexec
