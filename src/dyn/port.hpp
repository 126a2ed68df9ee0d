// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Port names (MPI 5.0, 11.9): the card of the process that has opened the port, and the key where
/// it gets letters of clients. They are text of letters, digits and colons with a checksum, shorter
/// than MPI_MAX_PORT_NAME. A process that has a port name may connect.

#include <optional>
#include <string>
#include <string_view>

#include "comm/letters.hpp"
#include "transport/guests.hpp"

namespace heddle::dyn {

struct Port {
    transport::GuestCard owner;
    comm::Key key = 0;
};

std::string to_text(const Port& port);
/// Returns nothing if the text is no port name.
std::optional<Port> read_port(std::string_view text);

}  // namespace heddle::dyn
