// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The socket at which keepers on other hosts report to mpiexec, and the variable by which they
/// find it.
///
/// Secret         the variable has a number that only this job knows. A process that connects has
///                to send it.

#include <optional>
#include <string>

#include "hangs/report_variable.hpp"
#include "transport/sockets/address.hpp"
#include "unique_fd.hpp"

namespace heddle::mpiexec {

using ReportAddress = transport::sockets::Address;

using hangs::report_variable;

/// Returns a socket that listens on all addresses of this host, and sets `address`. Returns an
/// empty one if it cannot be made.
UniqueFd listen_for_reports(ReportAddress& address);

/// Returns the address as digits for a variable.
std::string text_of(const ReportAddress& address);
/// Returns nothing if `text` has another form.
std::optional<ReportAddress> report_address_of(const std::string& text);

/// Returns a socket that begins to connect, and does not block. Returns an empty one if it cannot.
UniqueFd begin_to_connect(const transport::sockets::Endpoint& endpoint);

}  // namespace heddle::mpiexec
