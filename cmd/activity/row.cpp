// SPDX-License-Identifier: BSD-3-Clause
#include "row.hpp"

#include <type_traits>
#include <utility>

#include "hangs/packer.hpp"

namespace heddle::activity {

/// Found by argument-dependent lookup. Packer and Unpacker call them for entries of lists and for
/// optional values.
template <class Pack, class T>
    requires std::is_same_v<std::remove_const_t<T>, Traffic>
void each(Pack& pack, T& traffic) {
    pack(traffic.in_mpi);
    pack(traffic.messages);
    pack(traffic.calls);
    pack(traffic.waits_for);
}

template <class Pack, class R>
    requires std::is_same_v<std::remove_const_t<R>, Row>
void each(Pack& pack, R& row) {
    pack(row.rank);
    pack(row.pid);
    pack(row.host);
    pack(row.thread);
    pack(row.state);
    pack(row.processor);
    pack(row.in_mpi);
    pack(row.traffic);
    pack(row.memory);
    pack(row.call);
    pack(row.end);
    pack(row.waits_for);
    pack(row.seconds);
}

std::string packed(const std::vector<Row>& rows) {
    hangs::Packer pack;
    pack(rows);
    return std::move(pack.bytes);
}

std::optional<std::vector<Row>> unpacked(std::string_view bytes) {
    hangs::Unpacker unpack(bytes);
    std::vector<Row> rows;
    unpack(rows);
    if (!unpack.succeeded()) return {};
    return rows;
}

}  // namespace heddle::activity
