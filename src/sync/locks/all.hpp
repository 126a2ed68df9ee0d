// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The lock protocols that ship. A new one is a line in FlatLocks, and its names in
/// tool/recipe.hpp. Its combinations with the others, the conformance test, the micro-benchmark and
/// the simulation follow.

#include <type_traits>

#include "sync/locks/hmcs.hpp"
#include "sync/locks/mcs.hpp"
#include "sync/locks/mutex.hpp"
#include "sync/locks/priority.hpp"
#include "sync/locks/ticket.hpp"

namespace heddle::sync::locks {

template <class...>
struct List {};

template <class World = Native>
using FlatLocks = List<MutexLock<World>, Ticket<World>, Mcs<World>, Hmcs<World>>;

namespace detail {
template <class World, class High, class... Low>
List<TwoLevelPriority<High, Low, World>...> with_each(List<Low...>);
template <class... A, class... B>
List<A..., B...> operator+(List<A...>, List<B...>);
template <class World, class... Flat>
auto priority_locks(List<Flat...> all) -> decltype((with_each<World, Flat>(all) + ...));
}  // namespace detail

/// Every protocol among main-path threads with every one among progress-path threads.
template <class World = Native>
using PriorityLocks = decltype(detail::priority_locks<World>(FlatLocks<World>{}));

template <class World = Native>
using Locks = decltype(detail::operator+(FlatLocks<World>{}, PriorityLocks<World>{}));

}  // namespace heddle::sync::locks
