// SPDX-License-Identifier: BSD-3-Clause
#include "dyn/joining.hpp"

#include <cerrno>
#include <cstring>
#include <exception>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <utility>

#include "comm/leaders.hpp"
#include "comm/letters.hpp"
#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "platform/random.hpp"

namespace heddle::dyn {
namespace {

struct Greeting {
    char what[8];
    transport::PackedCard card;
    std::uint64_t number;
};
constexpr char what[] = {'h', 'e', 'd', 'd', 'l', 'e', 'J', '1'};

/// Moves all bytes in one direction. It also works if the program has made the socket nonblocking.
template <class Move>
void move_all(int descriptor, short direction, std::size_t bytes, Move&& move) {
    for (std::size_t done = 0; done < bytes;) {
        const ssize_t moved = move(done, bytes - done);
        if (moved > 0) {
            done += static_cast<std::size_t>(moved);
        } else if (moved == 0) {
            throw std::runtime_error("the other process has closed the socket");
        } else if (errno == EAGAIN) {
            pollfd ready{descriptor, direction, 0};
            poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            throw std::runtime_error(std::strerror(errno));
        }
    }
}

Greeting exchange(int descriptor, const Greeting& mine) {
    Greeting theirs{};
    move_all(descriptor, POLLOUT, sizeof mine, [&](std::size_t done, std::size_t left) {
        return send(descriptor, reinterpret_cast<const char*>(&mine) + done, left, MSG_NOSIGNAL);
    });
    move_all(descriptor, POLLIN, sizeof theirs, [&](std::size_t done, std::size_t left) {
        return recv(descriptor, reinterpret_cast<char*>(&theirs) + done, left, 0);
    });
    if (std::memcmp(theirs.what, what, sizeof what) != 0)
        throw std::runtime_error("something else than MPI_Comm_join of this version answers there");
    return theirs;
}

/// Exchanges cards and random numbers. Returns a route that only the two processes know.
comm::Route greet(objects::Process& process, objects::Communicator& comm, int descriptor) {
    Greeting mine{{}, transport::pack(process.need_guests().own()), 0};
    std::memcpy(mine.what, what, sizeof what);
    platform::random_bytes(&mine.number, sizeof mine.number);
    const Greeting theirs = exchange(descriptor, mine);
    if (theirs.card.name == mine.card.name)
        throw std::runtime_error("this process is at both ends of the socket");
    comm::Pin pin = process.letters->pin();
    if (theirs.card.name.job != process.job_name)
        process.need_guests().introduce(transport::unpack(theirs.card));
    const std::uint64_t place = mine.number ^ theirs.number;
    const bool first = mine.card.name < theirs.card.name;
    return {&comm,
            static_cast<std::uint32_t>(place >> 32) | objects::tagged_context,
            static_cast<std::int32_t>(place & 0x7fffffff),
            first ? 0 : 1,
            first ? 1 : 0,
            process.number_of(theirs.card.name),
            MPI_SUCCESS,
            std::move(pin)};
}

}  // namespace

int join(core::Thread& thread, objects::Communicator& comm, int descriptor, comm::Part& part) try {
    const comm::Route route = greet(*thread.process, comm, descriptor);
    return comm::introduce(thread, comm::Participants(comm), 0, route, part);
} catch (const std::exception& problem) {
    return objects::fail(thread, &comm, MPI_ERR_ARG,
                         "argument fd: " + std::to_string(descriptor) + ": " + problem.what());
}

}  // namespace heddle::dyn
