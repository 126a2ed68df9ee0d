// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmi.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using heddle::launch::Pmi;

/// A launcher of four ranks on two nodes. It answers every rank at once, except for barriers.
class Server {
public:
    /// Answers `barriers` barriers. A barrier takes `late`.
    explicit Server(int barriers, std::chrono::milliseconds late = {})
        : barriers_(barriers), late_(late) {}
    ~Server() {
        for (std::thread& thread : threads_)
            if (thread.joinable()) thread.join();
    }
    /// Returns the descriptor of a rank.
    int connect() {
        std::array<int, 2> ends{};
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
        threads_[ranks_++] = std::thread([this, end = ends[0]] { serve(end); });
        return ends[1];
    }

private:
    static std::string field(const std::string& line, const std::string& key) {
        const std::size_t at = line.find(" " + key + "=");
        if (at == std::string::npos) return {};
        const std::size_t begin = at + key.size() + 2;
        return line.substr(begin, line.find(' ', begin) - begin);
    }
    std::string answer(const std::string& line) {
        const std::lock_guard guard(lock_);
        if (line.find("cmd=init ") == 0) return "cmd=response_to_init pmi_version=1 rc=0";
        if (line.find("cmd=get_maxes") == 0)
            return "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024";
        if (line.find("cmd=get_my_kvsname") == 0) return "cmd=my_kvsname kvsname=store";
        if (line.find("cmd=put ") == 0) {
            values_[field(line, "key")] = field(line, "value");
            return "cmd=put_result rc=0";
        }
        if (field(line, "key") == "PMI_process_mapping")
            return "cmd=get_result rc=0 value=(vector,(0,2,2))";
        if (line.find("cmd=get ") == 0)
            return "cmd=get_result rc=0 value=" + values_[field(line, "key")];
        if (line.find("cmd=barrier_in") == 0) return barriers_-- > 0 ? "cmd=barrier_out" : "";
        return line.find("cmd=finalize") == 0 ? "cmd=finalize_ack" : "";
    }
    void serve(int descriptor) {
        std::string bytes;
        for (char more = 0; read(descriptor, &more, 1) == 1;) {
            if (more != '\n') {
                bytes += more;
                continue;
            }
            std::string reply = answer(bytes);
            if (bytes.find("cmd=barrier_in") == 0) std::this_thread::sleep_for(late_);
            const bool is_over = bytes.find("cmd=finalize") == 0;
            bytes.clear();
            if (reply.empty()) continue;
            reply += '\n';
            EXPECT_EQ(write(descriptor, reply.data(), reply.size()),
                      static_cast<ssize_t>(reply.size()));
            if (is_over) break;
        }
        close(descriptor);
    }

    std::mutex lock_;
    int barriers_;  ///< that are still answered
    const std::chrono::milliseconds late_;
    std::map<std::string, std::string> values_;
    std::array<std::thread, 4> threads_;
    std::size_t ranks_ = 0;
};

std::string own_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

TEST(Pmi, names_the_other_hosts_when_a_later_barrier_does_not_end) {
    Server server(1);
    Pmi other(server.connect(), 2, 4, std::chrono::milliseconds{50});
    Pmi pmi(server.connect(), 0, 4, std::chrono::milliseconds{50});
    EXPECT_EQ(pmi.node_map().size(), 4U);
    pmi.fence();
    std::string what;
    try {
        pmi.fence();
    } catch (const std::runtime_error& problem) {
        what = problem.what();
    }
    EXPECT_NE(what.find("has not answered"), std::string::npos) << what;
    EXPECT_NE(what.find(own_name() + " (rank 2)"), std::string::npos) << what;
    EXPECT_EQ(what.find("(rank 0)"), std::string::npos) << what;
    pmi.leave();
    other.leave();
}

TEST(Pmi, waits_in_the_first_barrier_for_who_comes_late) {
    Server server(1, std::chrono::milliseconds{300});  // several times the patience
    Pmi pmi(server.connect(), 0, 4, std::chrono::milliseconds{20});
    EXPECT_NO_THROW(pmi.fence());
    pmi.leave();
}

}  // namespace
