// SPDX-License-Identifier: BSD-3-Clause
#include "packed.hpp"

#include <type_traits>

#include "packer.hpp"

namespace heddle::hangs {

/// Found by argument: Packer and Unpacker call it for each entry of a list.
template <class Pack, class W>
    requires std::is_same_v<std::remove_const_t<W>, Waiting>
void each(Pack& pack, W& waiting) {
    pack(waiting.thread);
    pack(waiting.version);
    pack(waiting.seconds);
    pack(waiting.what);
    pack(waiting.name);
    pack(waiting.location);
}

template <class Pack, class T>
    requires std::is_same_v<std::remove_const_t<T>, Thread>
void each(Pack& pack, T& thread) {
    pack(thread.thread);
    pack(thread.state);
    pack(thread.ticks);
    pack(thread.switches);
    pack(thread.attached);
    pack(thread.of_library);
    pack(thread.is_counted);
    pack(thread.wait);
    pack(thread.call);
    pack(thread.tests);
}

namespace {

/// All but `end`, which may be missing.
template <class Pack, class R>
void each_of_rank(Pack& pack, R& rank) {
    pack(rank.rank);
    pack(rank.pid);
    pack(rank.host);
    pack(rank.is_heard_of);
    pack(rank.knows_phase);
    pack(rank.phase);
    pack(rank.in_barrier);
    pack(rank.thread_level);
    pack(rank.more_waiting);
    pack(rank.traffic);
    pack(rank.waiting);
    pack(rank.threads);
}

}  // namespace

std::string packed(const Rank& rank) {
    Packer pack;
    pack(rank.end.has_value());
    pack(rank.end.value_or(""));
    each_of_rank(pack, rank);
    return std::move(pack.bytes);
}

std::optional<Rank> unpacked(std::string_view bytes) {
    Unpacker unpack(bytes);
    bool has_ended = false;
    std::string end;
    Rank rank;
    unpack(has_ended);
    unpack(end);
    each_of_rank(unpack, rank);
    if (!unpack.succeeded()) return {};
    if (has_ended) rank.end = std::move(end);
    for (Waiting& waiting : rank.waiting) make_fit(waiting.what);
    return rank;
}

}  // namespace heddle::hangs
