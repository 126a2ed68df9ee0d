// SPDX-License-Identifier: BSD-3-Clause
#include "pmi_server.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "pmi_message.hpp"
#include "say.hpp"

namespace heddle::mpiexec {

namespace {

constexpr std::size_t longest_pmi_line = 65536;  // far above any legal line

int number(const std::string& text, int otherwise) {
    int value = otherwise;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

}  // namespace

PmiServer::PmiServer(EventLoop& loop, int ranks, int universe_size, Events events)
    : loop_(loop),
      events_(std::move(events)),
      clients_(static_cast<std::size_t>(ranks)),
      universe_size_(universe_size),
      space_(fmt::format("kvs_{}_0", ::getpid())) {
    keys_.emplace_back("PMI_process_mapping");
    values_[keys_.back()] = fmt::format("(vector,(0,1,{}))", ranks);  // all on one node
}

UniqueFd PmiServer::connect(int rank, int program) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw Failure(exit_failed,
                      fmt::format("cannot start rank {}: socketpair: {}", rank, error_text(errno)));
    Client& one = client(rank);
    one.socket = UniqueFd(ends[0]);
    one.program = program;
    loop_.watch(ends[0], POLLIN, [this, rank] { drain(rank); });
    return out_of_the_way(UniqueFd(ends[1]));
}

void PmiServer::close(int rank) {
    loop_.unwatch(client(rank).socket.get());
    client(rank).socket.reset();
}

void PmiServer::drain(int rank) {
    Client& one = client(rank);
    std::array<char, 4096> buffer{};
    while (one.socket) {
        const ssize_t size = ::recv(one.socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno == EAGAIN) return;
        if (size <= 0) return close(rank);
        one.unread.append(buffer.data(), static_cast<std::size_t>(size));
        answer_lines(rank);
        if (one.unread.size() > longest_pmi_line) return close(rank);
    }
}

void PmiServer::answer_lines(int rank) {
    std::string& unread = client(rank).unread;
    std::size_t start = 0;
    for (std::size_t end = 0; (end = unread.find('\n', start)) != std::string::npos;
         start = end + 1)
        answer(rank, unread.substr(start, end - start));
    unread.erase(0, start);
}

void PmiServer::answer(int rank, const std::string& line) {
    Client& one = client(rank);
    if (one.in_spawn || line.starts_with("mcmd=")) return spawn_line(rank, line);
    const PmiMessage message(line);
    const std::string command = message["cmd"];
    if (command == "init") {
        one.phase = PmiPhase::initialized;
        const bool ours = message["pmi_version"] == "1";
        reply(rank,
              fmt::format("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc={}",
                          ours ? 0 : -1));
        events_.waiting();
    } else if (command == "get_maxes") {
        reply(rank,
              fmt::format("cmd=maxes kvsname_max=256 keylen_max={} vallen_max={} rc=0", key_bytes,
                          value_bytes));
    } else if (command == "get_appnum") {
        reply(rank, fmt::format("cmd=appnum appnum={} rc=0", one.program));
    } else if (command == "get_my_kvsname") {
        reply(rank, fmt::format("cmd=my_kvsname kvsname={} rc=0", space_));
    } else if (command == "get_universe_size") {
        reply(rank, fmt::format("cmd=universe_size size={} rc=0", universe_size_));
    } else if (command == "put") {
        put(rank, message["key"], message["value"]);
    } else if (command == "get") {
        get(rank, message["key"]);
    } else if (command == "getbyidx") {
        get_by_index(rank, message["idx"]);
    } else if (command == "barrier_in") {
        enter_barrier(rank);
    } else if (command == "finalize") {
        one.phase = PmiPhase::finalized;
        reply(rank, "cmd=finalize_ack rc=0");
    } else if (command == "abort") {
        events_.abort(rank, number(message["exitcode"], exit_failed));
    } else if (command == "publish_name" || command == "unpublish_name" ||
               command == "lookup_name") {
        name_service(rank, command, message["service"], message["port"]);
    } else if (command == "create_kvs" || command == "destroy_kvs") {
        reply(rank,
              fmt::format("cmd={} rc=-1 msg=one_space_only",
                          command == "create_kvs" ? "newkvs" : "kvs_destroyed"));
    } else {
        reply(rank, fmt::format("cmd={} rc=-1 msg=unknown_command", command));
    }
}

/// Sends an answer. The client waits for it, so the socket has room; a socket without room is
/// broken.
void PmiServer::reply(int rank, std::string_view text) {
    const UniqueFd& socket = client(rank).socket;
    if (!socket) return;
    const std::string line = fmt::format("{}\n", text);
    const ssize_t sent =
        ::send(socket.get(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(line.size())) close(rank);
}

void PmiServer::put(int rank, const std::string& key, const std::string& value) {
    if (key.empty() || key.size() > key_bytes)
        return reply(rank, "cmd=put_result rc=-1 msg=bad_key");
    if (value.size() > value_bytes) return reply(rank, "cmd=put_result rc=-1 msg=value_too_long");
    if (values_.insert_or_assign(key, value).second) keys_.push_back(key);
    reply(rank, "cmd=put_result rc=0 msg=success");
}

void PmiServer::get(int rank, const std::string& key) {
    const auto found = values_.find(key);
    if (found == values_.end())
        return reply(rank, "cmd=get_result rc=-1 msg=key_not_found value=unknown");
    reply(rank, fmt::format("cmd=get_result rc=0 msg=success value={}", found->second));
}

void PmiServer::get_by_index(int rank, const std::string& index) {
    const auto at = static_cast<std::size_t>(number(index, -1));
    if (at >= keys_.size()) return reply(rank, "cmd=getbyidx_results rc=-2 reason=no_more_keyvals");
    reply(rank,
          fmt::format("cmd=getbyidx_results rc=0 nextidx={} key={} val={}", at + 1, keys_[at],
                      values_[keys_[at]]));
}

void PmiServer::enter_barrier(int rank) {
    if (client(rank).in_barrier) return;
    client(rank).in_barrier = true;
    if (++waiting_ < static_cast<int>(clients_.size())) return events_.waiting();
    waiting_ = 0;
    for (Client& one : clients_) one.in_barrier = false;
    for (int other = 0; other < static_cast<int>(clients_.size()); ++other)
        reply(other, "cmd=barrier_out rc=0");
}

void PmiServer::name_service(int rank, const std::string& command, const std::string& service,
                             const std::string& port) {
    if (command == "publish_name") {
        const bool fresh = names_.emplace(service, port).second;
        return reply(rank,
                     fresh ? "cmd=publish_result info=ok rc=0 msg=success"
                           : "cmd=publish_result info=error rc=-1 msg=already_published");
    }
    const auto found = names_.find(service);
    const char* answer = command == "lookup_name" ? "lookup_result" : "unpublish_result";
    if (found == names_.end())
        return reply(rank, fmt::format("cmd={} info=error rc=-1 msg=not_found", answer));
    if (command == "lookup_name")
        return reply(rank,
                     fmt::format("cmd={} info=ok rc=0 msg=success port={}", answer, found->second));
    names_.erase(found);
    reply(rank, fmt::format("cmd={} info=ok rc=0 msg=success", answer));
}

/// Takes a line of a spawn request. Only the request's end is answered.
void PmiServer::spawn_line(int rank, const std::string& line) {
    client(rank).in_spawn = line != "endcmd";
    if (line == "endcmd") reply(rank, "cmd=spawn_result rc=-1 errmsg=spawning_is_not_supported");
}

}  // namespace heddle::mpiexec
