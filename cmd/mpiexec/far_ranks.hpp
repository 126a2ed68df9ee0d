// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The ranks of a job on several hosts, as reported by their keepers there (root_link.hpp). Makes
/// reports and verdicts on all of them.
///
/// The cut        all ranks are looked at once, and again when the last has answered. A thread that
///                has slept from one look to the other has slept at the moment between. That holds
///                whatever the clocks of the hosts say. hangs::judge() does the rest with the
///                ranks' counts (docs/adr/0066-verdicts-on-several-hosts.md).
/// Watch          keepers send a frame when their rank begins to wait, and when it goes on. They
///                are asked only while all ranks wait.
/// heddle         where and top connect like keepers, and ask (far_askers.cpp). mpiexec prints
///                nothing for them.
/// Rank missing   the rank's keeper has not connected, or does not answer in time. The report says
///                so, and there is no verdict.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deadlock_watch.hpp"
#include "event_loop.hpp"
#include "framed.hpp"
#include "frames.hpp"
#include "hangs/snapshot.hpp"
#include "hangs/verdict.hpp"
#include "job.hpp"
#include "report_place.hpp"

namespace heddle::mpiexec {

class FarRanks {
public:
    /// `on_verdict` is called when the first verdict that a wait is for ever has been told. Its
    /// argument says whether that ends the job. `job` is the launcher's job.
    FarRanks(EventLoop& loop, const Job& job, DeadlockWatch::Reaction reaction,
             std::function<void(bool ends_job)> on_verdict);

    [[nodiscard]] bool any_connected() const;
    [[nodiscard]] bool all_connected() const;

    /// Tells where all ranks are, and calls `then`. Tells nothing if no thread has waited for
    /// `least_wait` seconds. Takes at most about `within`.
    void tell(std::function<void()> then, double least_wait, std::chrono::milliseconds within);

    /// Returns when look() is to be called next, on the clock of now_ms(). Returns -1 if it is not
    /// due before something arrives.
    [[nodiscard]] long long due() const;
    void look(long long now);

private:
    static constexpr long long usual_ms = 400, soon_ms = 100, most_ms = 60'000, deaf_ms = 500;
    static constexpr std::chrono::milliseconds for_answers{2000}, for_lines{2000};
    static constexpr std::uint32_t longest_watch_ms = 3'600'000;

    struct Rank {
        Framed* link = nullptr;   ///< nullptr if it is not connected
        std::uint64_t waits = 0;  ///< changes with each wait; 0 if the rank does not wait
        std::optional<hangs::Rank> end, answer;
    };
    /// A connection with a keeper, or with heddle.
    struct Connection {
        std::unique_ptr<Framed> link;
        int rank = -1;            ///< the keeper's rank; -1 if it is none, or has not sent it yet
        bool asks_where = false;  ///< the current question is also for this connection
        bool gone = false;
    };
    /// A question of heddle top whose rows are being gathered.
    struct Watched {
        Connection* asker;
        std::uint32_t round;
        long long until;
        std::vector<std::string> rows;  ///< each rank's rows, packed; empty until it answers
    };
    enum class Stage { first, between, second, lines };
    struct Question {
        Stage stage = Stage::first;
        long long until = 0;                            ///< the end of the stage
        std::chrono::milliseconds patience{}, lines{};  ///< for answers; for lines of the program
        hangs::Snapshot before, now;
        bool asked = false;    ///< by the user of mpiexec
        bool watches = false;  ///< the watch has asked
        int more_looks = 4;    ///< as long as threads move between two of them
        double least_wait = 0;
        std::vector<std::function<void()>> then;
    };

    void listen();
    void be_deaf();
    void accept();
    void hear(Connection& connection, char kind, std::string_view bytes);
    void introduce(Connection& connection, std::string_view bytes);
    [[nodiscard]] bool knows_secret(const transport::JobToken& secret, std::uint64_t layout) const;
    void take_answer(Rank& rank, std::string_view bytes);
    void lose(Connection& connection);

    void take_question(Connection& connection, std::string_view bytes);
    void ask_where(Connection& connection);
    void ask_activity(Connection& connection, std::uint32_t for_ms);
    void take_activity(int rank, std::string_view bytes);
    void look_at_watched(long long now);
    [[nodiscard]] bool answered(const Watched& watched) const;
    [[nodiscard]] std::string rows_of_silent(std::size_t rank) const;
    void send_activity(const Watched& watched) const;
    [[nodiscard]] bool is_asked_by_heddle() const;
    void send_where();

    [[nodiscard]] bool answered() const;
    [[nodiscard]] std::uint64_t fingerprint() const;
    [[nodiscard]] hangs::Snapshot snapshot() const;
    void watch(long long now);
    void begin(Question question);
    void ask(Stage stage);
    void go_on(long long now);
    [[nodiscard]] bool is_to_be_said(const hangs::Verdict& verdict) const;
    bool is_worth_another_look(const hangs::Verdict& verdict);
    void judge();
    void tell_all();
    void say_all(const hangs::Verdict& verdict);
    void end_question();

    EventLoop& loop_;
    UniqueFd socket_;
    const std::optional<ReportAddress> address_;
    const DeadlockWatch::Reaction reaction_;
    const std::function<void(bool)> on_verdict_;
    std::vector<Rank> ranks_;
    std::list<Connection> connections_;
    std::list<Watched> watched_;
    std::optional<Question> question_;
    long long deaf_until_ = -1;  ///< -1 while the socket is listened to
    std::uint32_t round_ = 0, watch_round_ = 0;
    std::uint64_t last_ = 0;      ///< the fingerprint when the watch last judged
    long long judge_at_ = -1;     ///< when the watch asks; -1 if some rank does not wait
    long long pause_ = usual_ms;  ///< the time until the watch asks again, after no verdict
    bool told_ = false;           ///< the watch has told its verdict
};

}  // namespace heddle::mpiexec
