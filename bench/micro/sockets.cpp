// SPDX-License-Identifier: BSD-3-Clause
/// Measures a lane over sockets, without MPI: two processes of this machine. They use a ring in
/// shared memory, the sockets alone, and TCP at the loopback interface.
///
///   micro_sockets
///
/// It measures the same operations as micro_lanes.

#include <cstdio>
#include <stdexcept>

#include "transport/sockets/wire.hpp"
#include "two_sides.hpp"

namespace {

using namespace heddle::transport;

void run(Peer me, int socket, const char* what, const sockets::Options& options) {
    sockets::Lane lane({me, 2, {1, 2}}, {}, options);
    lane.connect(1 - me, heddle::bench::exchange(socket, lane.address()));
    if (me == 0) std::printf("%s\n", what);
    std::fflush(stdout);
    heddle::bench::measure_all(lane, me);
}

void run(const char* what, const sockets::Options& options) {
    heddle::bench::in_two_processes([&](Peer me, int socket) { run(me, socket, what, options); });
}

}  // namespace

int main() try {
    run("ring", {.same_machine = true, .other_hosts = false, .interface = {}});
    run("sockets", {.same_machine = true, .other_hosts = false, .interface = {}, .rings = false});
    run("TCP", {.same_machine = false, .other_hosts = true, .interface = "lo"});
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "micro_sockets: %s\n", error.what());
    return 1;
}
