// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/engine.hpp"

#include <limits>

#include "p2p/buffered.hpp"
#include "p2p/far/network.hpp"
#include "platform/sanitizers.hpp"
#include "sync/asymmetric_fence.hpp"

namespace heddle::p2p {

Engine::Engine(const node::Node& node, const launch::Numbering& numbers,
               core::Arena<core::Request>& requests, const tool::Settings& settings)
    : base_(node, numbers, requests, settings),
      pressure_(settings.unexpected_limit, node.processes(), base_.pool.size(),
                base_.mailbox().under_pressure),
      offers_(base_.rings, base_.board, base_.rank, !base_.is_sequenced()),
      threads_(base_.mailboxes, base_.rank, base_.lone_thread),
      backlog_(base_.rings, base_.mailboxes, base_.rank, base_.pool, offers_, announced_, endings_,
               base_.is_sequenced()),
      payload_rings_(base_.rings, base_.rank, settings),
      copies_(base_, sender_, backlog_, payload_rings_, announced_, threads_.cores()),
      unexpected_(base_, messages_, offers_, pressure_, base_.recording.get()),
      unexpected_notice_(base_, offers_),
      rings_(base_),
      sender_(base_, backlog_, announced_, payload_rings_,
              {far_, receiver_, recipes_, polling_, offers_, threads_}),
      receiver_(
          base_,
          {messages_, unexpected_, offers_, copies_, any_tag_, sender_, far_, threads_, parts_}),
      any_tag_(base_, {receiver_, unexpected_, rings_}),
      far_(base_,
           {sender_, receiver_, any_tag_, unexpected_, backlog_, copies_, announced_, endings_,
            parts_}),
      recipes_(base_, {sender_, receiver_, polling_, backlog_, messages_}),
      polling_(base_,
               {sender_, receiver_, any_tag_, far_, recipes_, copies_, backlog_, endings_, threads_,
                rings_, unexpected_notice_}),
      probes_(base_, {any_tag_, unexpected_, polling_, far_}) {
    agree_on_fences();
}

Engine::~Engine() = default;

void finish(ProgressCall& call) { call.thread.engine->polling().finish(call); }

/// Registers this process for the fences of the others. If the kernel refuses that, threads that
/// wait for messages of this process take naps. That also holds for threads that wait already, and
/// for later ones.
void Engine::agree_on_fences() {
    const int refusal = sync::HeavyFences::refusal();
    if (refusal == 0) return;
    base_.board.page(static_cast<std::size_t>(base_.rank)).fences_refused.store(refusal, relaxed);
    for (std::size_t process = 0; process < base_.mailboxes.processes(); ++process)
        base_.mailboxes.of(process).bell.expect_missed_rings();
}

void Engine::use_network(Network& network) noexcept {
    far_.use(network);
    threads_.expect_network_worker();
    polling_.look_at_network();
}

void Engine::drop_blocked(core::Thread& thread, std::uint32_t context) {
    ProgressCall call(thread);
    finish_after(call, [&] { backlog_.drop(call, context); });
}

std::int32_t Engine::exact_tags_from() const noexcept {
    const bool watched = base_.laboratory != nullptr || tool::matching_is_watched(base_.settings) ||
        platform::races_are_sought();
    return watched ? std::numeric_limits<std::int32_t>::max() : match::any_tag + 1;
}

bool Engine::calls_are_sections() const noexcept {
    return platform::races_are_sought() ||
        (base_.laboratory != nullptr &&
         base_.settings.critical_section == tool::Granularity::global);
}

std::string Engine::close_recording() {
    return base_.recording == nullptr ? "" : base_.recording->close();
}

}  // namespace heddle::p2p
