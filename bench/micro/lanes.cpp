// SPDX-License-Identifier: BSD-3-Clause
/// Measures a lane to another host, without MPI: two processes of this machine, over libfabric.
///
///   micro_lanes [FABRIC [INTERFACE]]      default: auto, lo
///
/// It measures half a round trip of 8 bytes, windows of 64 such messages, and 1 MiB in pieces. If
/// the provider can, it also measures 1 MiB read by the receiver.

#include <cstdio>
#include <stdexcept>

#include "transport/business_card.hpp"
#include "transport/ofi/wire.hpp"
#include "two_sides.hpp"

namespace {

using namespace heddle::transport;

void run(Peer me, int socket, const ofi::Wanted& wanted) {
    const ofi::Choice choice = ofi::choose(wanted);
    ofi::Lane lane({me, 2, 1}, {}, choice, ofi::Sleeps::no);
    const BusinessCard own{choice.offer.provider, lane.address(), 1};
    lane.connect(1 - me, read_card(heddle::bench::exchange(socket, to_bytes(own)), own).address);
    if (me == 0)
        std::printf("%s on %s\n", choice.offer.provider.c_str(), choice.offer.interface.c_str());
    heddle::bench::measure_all(lane, me);
}

}  // namespace

int main(int argc, char** argv) try {
    const ofi::Wanted wanted{argc > 1 ? argv[1] : "auto", argc > 2 ? argv[2] : "lo"};
    heddle::bench::in_two_processes([&](Peer me, int socket) { run(me, socket, wanted); });
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "micro_lanes: %s\n", error.what());
    return 1;
}
