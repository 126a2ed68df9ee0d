// SPDX-License-Identifier: BSD-3-Clause

/// Measures new processes, and jobs that meet.
///
/// spawn    one process starts others by MPI_Comm_spawn and disconnects from them, again and again.
///          Figures are the call and both calls together. Each is the median of all rounds, of the
///          first ten and of the last ten. After --seconds it ends with the round that is under
///          way, but not before the twentieth.
/// connect  a server and a client connect and disconnect again and again. They are jobs of a
///          process each that share only a port name. The client measures MPI_Comm_connect, while
///          the server waits in MPI_Comm_accept. The first connection of the two is told apart, and
///          --jobs pairs of them are started one after the other.
///
/// The program starts children, servers and clients itself: plain MPI has no other means to start
/// two jobs.

#include "common.hpp"

namespace {

constexpr const char* usage =
    "processes --measure spawn|connect --rounds N --seconds S\n"
    "          --children N (of a spawn) --jobs N (pairs of a server and a client)\n1 rank\n";

enum Tag { port_tag = 1, times_tag };

struct Plan {
    std::string measure, role, port;
    int rounds, children, jobs;
    double seconds;
};

Plan read_plan(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    Plan plan{};
    plan.measure = options.choice("measure", "spawn", {"spawn", "connect"});
    plan.rounds = static_cast<int>(options.integer("rounds", 100, 1));
    plan.children = static_cast<int>(options.integer("children", 2, 1));
    plan.jobs = static_cast<int>(options.integer("jobs", 5, 1));
    plan.seconds = options.real("seconds", 60);
    plan.role = options.choice("role", "parent", {"parent", "child", "server", "client"});
    plan.port = options.text("port", "");
    options.done();
    return plan;
}

using Values = std::vector<double>;

double median_ms(Values::const_iterator begin, Values::const_iterator end) {
    return 1e3 * bench::median(Values(begin, end));
}
double median_ms(const Values& values) { return median_ms(values.begin(), values.end()); }
double first_ten_ms(const Values& values) {
    return median_ms(values.begin(), values.begin() + std::min<long>(10, std::ssize(values)));
}
double last_ten_ms(const Values& values) {
    return median_ms(values.end() - std::min<long>(10, std::ssize(values)), values.end());
}

MPI_Comm start(const char* program, int processes, std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    MPI_Comm children = MPI_COMM_NULL;
    MPI_Comm_spawn(program, arguments.data(), processes, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
                   MPI_ERRCODES_IGNORE);
    return children;
}

// --- spawn ---

void measure_spawn(const Plan& plan, const char* program) {
    Values call, both;
    const double start_of_all = bench::now();
    for (int round = 0; round < plan.rounds; ++round) {
        const double begin = bench::now();
        if (round >= 20 && begin > start_of_all + plan.seconds) break;
        MPI_Comm children = start(program, plan.children, {"--role=child"});
        call.push_back(bench::now() - begin);
        MPI_Comm_disconnect(&children);
        both.push_back(bench::now() - begin);
    }
    std::printf("spawn: %d rounds of %d processes: %.2f ms, with MPI_Comm_disconnect %.2f ms\n",
                static_cast<int>(call.size()), plan.children, median_ms(call), median_ms(both));
    std::printf(
        "result bench=processes measure=spawn children=%d rounds=%d call_ms=%.3f both_ms=%.3f "
        "first_ms=%.3f last_ms=%.3f most_ms=%.3f\n",
        plan.children, static_cast<int>(call.size()), median_ms(call), median_ms(both),
        first_ten_ms(both), last_ten_ms(both), 1e3 * *std::max_element(both.begin(), both.end()));
}

// --- connect ---

void serve(const Plan& plan, MPI_Comm parent) {
    char port[MPI_MAX_PORT_NAME] = {};
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, port_tag, parent);
    for (int round = 0; round < plan.rounds; ++round) {
        MPI_Comm client = MPI_COMM_NULL;
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &client);
        MPI_Comm_disconnect(&client);
    }
    MPI_Close_port(port);
}

void ask(const Plan& plan, MPI_Comm parent) {
    Values times;
    for (int round = 0; round < plan.rounds; ++round) {
        MPI_Comm server = MPI_COMM_NULL;
        const double begin = bench::now();
        MPI_Comm_connect(plan.port.c_str(), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &server);
        times.push_back(bench::now() - begin);
        MPI_Comm_disconnect(&server);
        times.push_back(bench::now() - begin);
    }
    MPI_Send(times.data(), static_cast<int>(times.size()), MPI_DOUBLE, 0, times_tag, parent);
}

/// Returns the times of one server and one client: connections, and connections with their ends, in
/// turn.
Values connections_of_two_jobs(const Plan& plan, const char* program) {
    const std::string rounds = "--rounds=" + std::to_string(plan.rounds);
    MPI_Comm server = start(program, 1, {"--role=server", rounds});
    char port[MPI_MAX_PORT_NAME] = {};
    MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, port_tag, server, MPI_STATUS_IGNORE);
    MPI_Comm client = start(program, 1, {"--role=client", rounds, "--port", port});
    Values times(2 * static_cast<std::size_t>(plan.rounds));
    MPI_Recv(times.data(), static_cast<int>(times.size()), MPI_DOUBLE, 0, times_tag, client,
             MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&client);
    MPI_Comm_disconnect(&server);
    return times;
}

void measure_connect(const Plan& plan, const char* program) {
    Values call, both, first;
    for (int job = 0; job < plan.jobs; ++job) {
        const Values times = connections_of_two_jobs(plan, program);
        first.push_back(times[0]);
        for (std::size_t i = 2; i < times.size(); i += 2) {
            call.push_back(times[i]);
            both.push_back(times[i + 1]);
        }
    }
    std::printf(
        "connect: %.3f ms, the first of two jobs %.3f ms, with MPI_Comm_disconnect %.3f ms\n",
        median_ms(call), median_ms(first), median_ms(both));
    std::printf(
        "result bench=processes measure=connect jobs=%d rounds=%d connect_ms=%.4f "
        "strangers_ms=%.4f connect_disconnect_ms=%.4f\n",
        plan.jobs, plan.rounds, median_ms(call), median_ms(first), median_ms(both));
}

void be_started(const Plan& plan) {
    MPI_Comm parent = MPI_COMM_NULL;
    MPI_Comm_get_parent(&parent);
    if (plan.role == "server") serve(plan, parent);
    if (plan.role == "client") ask(plan, parent);
    MPI_Comm_disconnect(&parent);
}

}  // namespace

int main(int argc, char** argv) {
    const Plan plan = read_plan(argc, argv);
    bench::initialise(&argc, &argv, "single");
    if (plan.role != "parent") {
        be_started(plan);
    } else {
        bench::require_ranks(1);
        plan.measure == "spawn" ? measure_spawn(plan, argv[0]) : measure_connect(plan, argv[0]);
    }
    MPI_Finalize();
}
