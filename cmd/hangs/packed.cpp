// SPDX-License-Identifier: BSD-3-Clause
#include "packed.hpp"

#include <type_traits>

#include "packer.hpp"

namespace heddle::hangs {

/// Found by argument-dependent lookup: Packer and Unpacker call it for each entry of a list.
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
    pack(rank.pollers);
    pack(rank.threads);
    pack(rank.unexpected);
    pack(rank.end);
}

}  // namespace

std::string packed(const Rank& rank) {
    Packer pack;
    each_of_rank(pack, rank);
    return std::move(pack.bytes);
}

std::optional<Rank> unpacked(std::string_view bytes) {
    Unpacker unpack(bytes);
    Rank rank;
    each_of_rank(unpack, rank);
    if (!unpack.succeeded()) return {};
    for (Waiting* waiting : waiting_and_pollers(rank)) make_fit(waiting->what);
    make_fit(rank.unexpected);
    return rank;
}

}  // namespace heddle::hangs
