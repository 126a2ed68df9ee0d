// SPDX-License-Identifier: BSD-3-Clause
#include "row.hpp"

#include <type_traits>
#include <utility>

#include "hangs/packer.hpp"

namespace heddle::activity {
namespace {

template <class Pack, class Value>
void each_optional(Pack& pack, Value& value) {
    bool has_value = value.has_value();
    pack(has_value);
    auto content = value.value_or(typename std::remove_const_t<Value>::value_type{});
    pack(content);
    if constexpr (!std::is_const_v<Value>)
        if (has_value) value = content;
}

template <class Pack, class T>
    requires std::is_same_v<std::remove_const_t<T>, Traffic>
void each_of_traffic(Pack& pack, T& traffic) {
    pack(traffic.in_mpi);
    pack(traffic.messages);
    pack(traffic.calls);
    each_optional(pack, traffic.waits_for);
}

}  // namespace

/// Found by argument: Packer and Unpacker call it for each entry of a list.
template <class Pack, class R>
    requires std::is_same_v<std::remove_const_t<R>, Row>
void each(Pack& pack, R& row) {
    pack(row.rank);
    pack(row.pid);
    pack(row.host);
    pack(row.thread);
    pack(row.state);
    each_optional(pack, row.processor);
    each_optional(pack, row.in_mpi);
    bool has_traffic = row.traffic.has_value();
    pack(has_traffic);
    Traffic traffic = row.traffic.value_or(Traffic{});
    each_of_traffic(pack, traffic);
    if constexpr (!std::is_const_v<R>)
        if (has_traffic) row.traffic = traffic;
    pack(row.memory);
    pack(row.call);
    pack(row.end);
    each_optional(pack, row.waits_for);
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
