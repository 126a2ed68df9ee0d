// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Where keepers on other hosts tell mpiexec of their ranks: a socket, and a variable by which it is found.
///
/// Secret         the variable has a number that only this job knows. Whoever connects has to say it.

#include <optional>
#include <string>

#include "hangs/report_variable.hpp"
#include "transport/sockets/address.hpp"
#include "unique_fd.hpp"

namespace heddle::mpiexec {

using ReportAddress = transport::sockets::Address;

using hangs::report_variable;

/// A socket that listens on all addresses of this host, and its address. Empty if there can be none.
UniqueFd listen_for_reports(ReportAddress& address);

/// Digits for a variable.
std::string text_of(const ReportAddress& address);
/// Nothing if it is no such text.
std::optional<ReportAddress> report_address_of(const std::string& text);

/// A socket that begins to connect, and does not block. Empty: it cannot.
UniqueFd begin_to_connect(const transport::sockets::Endpoint& endpoint);

}  // namespace heddle::mpiexec
