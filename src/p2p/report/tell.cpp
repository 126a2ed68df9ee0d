// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/report/tell.hpp"

#include "core/request_type.hpp"
#include "objects/communicator.hpp"
#include "objects/process.hpp"

namespace heddle::p2p {
namespace {

using node::AwaitedEvent;
using node::AwaitedKind;

/// Tells an event in a context of the library, which has all processes in the order of their ranks.
void tell_library(core::Thread& thread, AwaitedEvent& event, std::int32_t number) noexcept {
    event.kind = AwaitedKind::finalize;
    if (number >= 0) event.peer = thread.process->numbers.rank_of(number);
    if (event.peer >= 0) event.world_peer = event.peer;
    if (event.any_peer) tell_everybody(thread, event);
}

}  // namespace

void tell_everybody(core::Thread& thread, AwaitedEvent& event) noexcept {
    const std::int32_t size = thread.process->size();
    event.any_peer = true;
    event.peer = node::any_peer;
    if (size > AwaitedEvent::most_members || thread.process->has_met_others()) return;
    for (std::int32_t rank = 0; rank < size; ++rank) event.add_member(rank);
}

void tell_context(core::Thread& thread, std::uint32_t context, AwaitedEvent& event,
                  std::int32_t number) noexcept {
    if (context == objects::library_context) return tell_library(thread, event, number);
    // No communicator has these. Their peers are known only by their numbers.
    if (context == objects::recycling_context || (context & objects::tagged_context) != 0) return;
    const std::uint32_t kept = context & ~objects::partitioned_context & ~std::uint32_t{1};
    objects::tell_communicator(*thread.process, kept, event, number);
    if (context % 2 == 0) return;
    event.kind = AwaitedKind::collective;
    event.number = thread.collective;
}

void tell_pattern(core::Thread& thread, const match::Pattern& pattern,
                  AwaitedEvent& event) noexcept {
    event.any_peer = pattern.source == match::any_source;
    event.peer = event.any_peer ? node::any_peer : pattern.source;
    event.tag = pattern.tag == match::any_tag ? node::any_tag_awaited : pattern.tag;
    tell_context(thread, pattern.context, event);
}

void tell_request(core::Thread& thread, const core::Request& request,
                  AwaitedEvent& event) noexcept {
    const core::RequestType& type = core::type_of(request);
    if (type.tell != nullptr) type.tell(thread, request, event);
}

void tell_request(core::Thread& thread, const core::Request& request,
                  node::WaitsFor& what) noexcept {
    if (AwaitedEvent* event = what.add()) tell_request(thread, request, *event);
}

}  // namespace heddle::p2p
