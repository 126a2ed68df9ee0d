// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <system_error>

#include "core/request_type.hpp"
#include "objects/process.hpp"
#include "p2p/buffered.hpp"
#include "p2p/engine.hpp"
#include "p2p/network.hpp"
#include "p2p/node_worker.hpp"
#include "platform/tick_rate.hpp"

namespace heddle::p2p {

namespace {

/// To cool a ring costs every core of the node an interrupt; to ring, a sender a few locked instructions. So many
/// cells through a hot ring, for each other process of the node, are worth that. Before a ring is hot that was cold
/// while its receiver slept, some visits find messages in it: twice as many each time that it was not worth it.
constexpr std::uint32_t cells_worth_cooling = 8;
constexpr int batch = 64;  ///< messages from one ring before the next one has its turn
constexpr std::size_t most_messages = std::size_t{1} << 26;

/// Recipes of the laboratory have none, nor has a program whose threads a race detector watches.
bool has_short_ways(const tool::Settings& settings) noexcept {
    return !tool::in_laboratory(settings) && !platform::races_are_sought();
}

}  // namespace

Engine::Engine(const transport::shm::Node& node, const launch::Numbering& numbers,
               core::Arena<core::Request>& requests, tool::Settings settings)
    : node_(node),
      rank_(numbers.own()),
      here_(numbers.here()),
      settings_(settings),
      counts_stamps_(settings.stamps == tool::Stamps::automatic
                         ? !platform::ticks_order_threads()
                         : settings.stamps == tool::Stamps::counter),
      inline_below_(has_short_ways(settings) && !counts_stamps_ ? transport::shm::inline_payload + 1
                                                                : 0),
      at_once_below_(has_short_ways(settings) && !counts_stamps_ ? settings.eager_limit + 1 : 0),
      requests_(requests),
      pool_(node, rank_, numbers.size(), transport::Guests::most, settings),
      classes_(node.mailbox(static_cast<std::size_t>(rank_)).use),
      pressure_(settings.unexpected_limit, node.processes(), pool_.size(),
                node.mailbox(static_cast<std::size_t>(rank_)).under_pressure),
      recording_(settings.record.empty() ? nullptr
                                         : std::make_unique<match::Recording>(
                                               settings.record, numbers.rank(), numbers.size())),
      laboratory_(tool::in_laboratory(settings)
                      ? std::make_unique<Laboratory>(settings, pool_.size(), node.processes())
                      : nullptr),
      offers_(node, rank_, !is_sequenced()),
      backlog_(node, rank_, pool_, offers_, announced_, endings_, is_sequenced()),
      node_cores_(node, rank_),
      payload_rings_(node, rank_, settings),
      copies_(*this, node, rank_, settings.single_copy != tool::SingleCopy::never, pool_, backlog_,
              payload_rings_, announced_, node_cores_),
      attention_(&node.mailbox(static_cast<std::size_t>(rank_)).rung),
      idle_rings_(pool_, node, rank_, std::chrono::nanoseconds{settings.idle_rings}),
      send_buffer_(settings.send_buffer == 0
                       ? nullptr
                       : std::make_shared<BsendBuffer>(MPI_BUFFER_AUTOMATIC, settings.send_buffer)),
      messages_(most_messages, core::large_chunk) {
    agree_on_fences();
    requests.leave_out(&completed_send_);
    completed_send_.operation = core::Operation::send;
    completed_send_.immortal = true;
    completed_send_.done.store(true, relaxed);
    completed_send_.kind.store(core::Kind::request, relaxed);
    wildcards_.select(tool::Choice<tool::MatcherName>::print(settings.matcher));
    if (tool::matching_is_watched(settings)) wildcards_.take_for_granted();
    for (std::size_t i = 0; i < pool_.size(); ++i)
        pool_[i].matcher.standard.report_to(classes_.engine(i));
    if (!in_laboratory() && !tool::matching_is_watched(settings))
        homes_.allow(tool::Choice<tool::MatcherName>::print(settings.matcher));
    // Rings are emptied past the branch for messages that are to be put in order.
    for (std::uint32_t context = 0; is_sequenced() && context < 64; ++context)
        wildcards_.demand_order(context, +1);
}

Engine::~Engine() = default;

/// Registers this process for the fences of the others. Where the kernel refuses that, those who wait for
/// messages of this process take naps: also who waits already, and who starts later.
void Engine::agree_on_fences() {
    const int refusal = sync::HeavyFences::refusal();
    if (refusal == 0) return;
    node_.page(static_cast<std::size_t>(rank_)).fences_refused.store(refusal, relaxed);
    for (std::size_t process = 0; process < node_.processes(); ++process)
        node_.mailbox(process).bell.expect_missed_rings();
}

void Engine::count_thread(int change) noexcept {
    change > 0 ? lone_thread_.arrive() : lone_thread_.leave();
    find_out_about_cores();
}

void Engine::find_out_about_cores() noexcept {
    // The worker of the network is a thread that hardly ever wants a core.
    node_cores_.find_out(static_cast<int>(lone_thread_.threads()) - (network() != nullptr ? 1 : 0));
}

bool Engine::fence_before_sleep() noexcept {
    if (!node_cores_.all_known()) find_out_about_cores();
    return fence_.pass_before_sleep();
}

/// What stands in the mailbox, and what has come from other nodes; true if there was anything.
bool Engine::attend(core::Thread& thread) {
    bool moved = false;
    if (node_.mailbox(static_cast<std::size_t>(rank_)).rung.load(relaxed) != 0) {
        ProgressCall call(thread);
        finish_after(call, [&] { answer_mailbox(call); });
        moved = true;
    }
    // After the mailbox, which says that there is something.
    if (has_left_to_program() && !thread.of_library) [[unlikely]] {
        do_what_was_left(thread);
        moved = true;
    }
    return poll_network(thread) || moved;
}

/// The mailbox, the network, and the count.
[[gnu::always_inline]] inline bool Engine::end_poll(core::Thread& thread, bool moved) {
    if (attention_.load(relaxed)->load(relaxed) != 0) [[unlikely]]
        moved = attend(thread) || moved;
    if (moved) {
        thread.progress.progress_productive.add();
        return true;
    }
    thread.progress.progress_empty.add();
    if (thread.sent_last.process >= 0) [[unlikely]]
        take_lines_ahead(thread);
    return false;
}

bool Engine::poll(core::Thread& thread, Instances which) {
    bool moved = false;
    // One instance? (std::has_single_bit() is a call where the processor's popcnt may not be used.)
    if (which != 0 && (which & (which - 1)) == 0) [[likely]]
        moved = visit(thread, pool_[static_cast<std::size_t>(std::countr_zero(which))]);
    else if (which != 0)
        moved = visit_in_turn(thread, which & in_progress());
    return end_poll(thread, moved);
}

/// Until one has something; the next time the one after it comes first.
bool Engine::visit_in_turn(core::Thread& thread, Instances which) {
    const auto first = static_cast<int>(thread.visits_from);
    for (Instances left = std::rotr(which, first); left != 0; left &= left - 1) {
        const auto number = static_cast<std::uint32_t>(first + std::countr_zero(left)) % 64;
        if (!visit(thread, pool_[number])) continue;
        thread.visits_from = static_cast<std::uint8_t>((number + 1) % 64);
        return true;
    }
    return false;
}

void Engine::poll_all(core::Thread& thread) {
    bool moved = false;
    for_each(in_progress(),
             [&](instance::Instance& instance) { moved |= visit(thread, instance); });
    end_poll(thread, moved);
    if (may_release_deferred()) [[unlikely]] {
        ProgressCall call(thread);
        call.needs_order = true;
        finish(call);
    }
    endings_.reap(thread);
}

bool Engine::poll_for_program(core::Thread& thread) {
    // First the program has to come by: whoever answers the mailbox now keeps it from that.
    if (has_left_to_program()) return false;
    lone_thread_.arrive();
    const std::uint64_t before = thread.progress.progress_productive.value();
    bool left = false;
    try {
        poll_all(thread);
        left = something_came();  // also where a lock was not free
    } catch (const std::bad_alloc&) {
        // What came stays where it is, for the program's threads.
    }
    lone_thread_.leave();
    if (has_left_to_program()) tell_program();  // this thread may have answered the mailbox since
    return left || thread.progress.progress_productive.value() != before;
}

/// Where it is not asked for by name, nobody hears if there can be no other thread.
void Engine::start_worker() noexcept {
    if (!node_cores_.all_known()) find_out_about_cores();  // others may have started since
    if (!node_cores_.one_is_spare()) return;
    NodeWorker* const worker = to_start_.exchange(nullptr, acq_rel);
    if (worker == nullptr) return;
    try {
        worker->start();
    } catch (const std::system_error&) {}
}

/// Makes progress on the instance if there is any to be made and nobody else does. A backlog that finds
/// no room is no progress.
bool Engine::visit(core::Thread& thread, instance::Instance& instance) {
    const bool backlog = instance.backlog.load(relaxed) != 0;
    if (!instance.something_came() && !backlog) return false;
    ProgressCall call(thread);
    bool moved = false;
    finish_after(call, [&] {
        if (const std::unique_lock held(instance.lock, std::try_to_lock); held.owns_lock())
            moved = drain(call, instance) || call.needs_order;
        if (backlog && backlog_.flush(call, instance)) moved = true;
    });
    return moved;
}

bool Engine::drain(ProgressCall& call, instance::Instance& instance) {
    const std::uint32_t count = instance.polled_count.load(relaxed);
    match::note_posted(instance.matcher.standard.counters);
    bool moved = false;
    for (std::uint32_t i = 0; i < count; ++i)
        if (drain(call, instance, *instance.polled[i].load(relaxed))) moved = true;
    return moved;
}

/// Delivers what has come through one ring; true if that was anything. Instance locked.
bool Engine::drain(ProgressCall& call, instance::Instance& instance, instance::Inlet& inlet) {
    int delivered = 0;
    for (; delivered < batch; ++delivered) {
        transport::shm::Cell* cell = inlet.ring.front();
        if (cell == nullptr) break;
        if (platform::has_bit(instance.attention, cell->context) &&
            !is_control(static_cast<MessageKind>(cell->kind)) &&
            awaits_order(instance, cell->context)) [[unlikely]] {
            call.needs_order = true;
            call.left = {&instance, &inlet};
            if (!set_aside(call, instance, inlet.process, *cell)) break;
            inlet.ring.pop(*cell);
            continue;
        }
        deliver(call, instance, inlet, *cell);
        inlet.ring.pop(*cell);
    }
    if (delivered != 0) after_draining(instance, inlet);
    // Nobody will be told of what is left in a cold ring, and this thread may go away. The leader says
    // that it sleeps before it takes this lock for a last look.
    if (delivered == batch && lot_.leader() == progress::Lot::Leader::asleep) [[unlikely]]
        bell().ring();
    return delivered != 0;
}

void Engine::after_draining(instance::Instance& instance, instance::Inlet& inlet) noexcept {
    if (!inlet.ring.hot()) [[unlikely]]
        warm(instance, inlet);
    if (inlet.ring.producer_starves()) [[unlikely]]
        notify(inlet.process, instance);
}

/// Spares senders the bell, unless somebody sleeps who depends on it. Instance locked.
///
/// A leader says that it goes to sleep before it cools rings, with this lock held: it will either
/// find this ring hot and cool it, or is seen asleep here. A leader that is awake cools before it
/// sleeps, and so does one who takes the lead.
void Engine::warm(instance::Instance& instance, instance::Inlet& inlet) noexcept {
    const auto leader = lot_.leader();
    const bool sleepers =
        instance.parked.load(relaxed) != 0 || parked_everywhere_.load(relaxed) != 0;
    if (sleepers && leader != progress::Lot::Leader::awake) return;
    if (inlet.cold_visits != 0) {
        --inlet.cold_visits;
        return;
    }
    inlet.ring.set_hot(true);
    inlet.hot_since = inlet.ring.consumed();
    inlet.settled = false;
    if (leader == progress::Lot::Leader::asleep) bell().ring();  // to keep an eye on this ring
}

/// Looks at what senders have announced.
void Engine::answer_mailbox(ProgressCall& call) {
    auto& rung = node_.mailbox(static_cast<std::size_t>(rank_)).rung;
    for_each(rung.load(relaxed), [&](instance::Instance& instance) {
        const std::unique_lock held(instance.lock, std::try_to_lock);
        if (!held.owns_lock()) return;
        if (!instance.used) [[unlikely]]
            first_use(instance);
        // The bit goes with the lock held: nobody may find the mailbox quiet before the inlet is listed,
        // neither the leader nor a thread that delivers in order.
        rung.fetch_and(~(Instances{1} << instance.number), seq_cst);
        list_rung(instance);
        drain(call, instance);
    });
    backlog_.flush_all(call);
}

/// Lists the inlets whose senders have rung. Instance locked.
void Engine::list_rung(instance::Instance& instance) {
    for (std::size_t word = 0; word < node_.source_words(); ++word) {
        auto& sources = node_.rung_sources(static_cast<std::size_t>(rank_), instance.number, word);
        for (std::uint64_t left = sources.exchange(0, seq_cst); left != 0; left &= left - 1) {
            const auto from = static_cast<std::int32_t>(word * 64) + std::countr_zero(left);
            instance.list(pool_.inlet(instance, from));
        }
    }
}

/// What was put off while locks were held.
void Engine::finish(ProgressCall& call) {
    for (;;) {
        call.wake_all();
        if (call.needs_order) [[unlikely]] {
            call.needs_order = false;
            restore_order(call);
        } else if (call.pulled != call.pulls.size()) [[unlikely]] {
            pull(call, Pull(call.pulls[call.pulled++]));
        } else if (!call.shares.empty()) [[unlikely]] {
            const Share next = call.shares.back();
            call.shares.pop_back();
            copies_.help(call, next);
        } else if (!call.undone.empty()) [[unlikely]] {
            const Undone next = call.undone.back();
            call.undone.pop_back();
            copies_.finish_sharing(call, next);
        } else if (call.thread.put_off != nullptr && !call.thread.working) [[unlikely]] {
            run_put_off(call.thread);
        } else {
            return;
        }
    }
}

/// One after the other, not one within the other: what this puts off, nested turns leave to this loop.
void Engine::run_put_off(core::Thread& thread) {
    thread.working = true;
    while (core::Work* work = thread.put_off) {
        thread.put_off = work->next;
        if (thread.of_library && work->calls_program()) [[unlikely]]
            leave_to_program(*work);
        else
            work->run(thread);
    }
    thread.working = false;
}

/// Has a thread of the program do it, in its next poll.
void Engine::leave_to_program(core::Work& work) noexcept {
    work.next = left_to_program_.load(relaxed);
    while (!left_to_program_.compare_exchange_weak(work.next, &work, release, relaxed)) {}
    tell_program();
}

/// Something was left to it. Any instance's bit has polls come to the mailbox.
void Engine::tell_program() noexcept {
    node_.mailbox(static_cast<std::size_t>(rank_)).rung.fetch_or(1, seq_cst);
    bell().ring();
}

void Engine::do_what_was_left(core::Thread& thread) {
    ProgressCall call(thread);
    for (core::Work* work = left_to_program_.exchange(nullptr, acquire); work != nullptr;) {
        core::Work* const next = work->next;
        call.put_off(*work);
        work = next;
    }
    finish(call);
}

void Engine::cool(Instances which) {
    for_each(which & used(), [this](instance::Instance& instance) {
        const std::lock_guard held(instance.lock);
        const std::uint32_t count = instance.polled_count.load(relaxed);
        for (std::uint32_t i = 0; i < count; ++i) cool(instance, *instance.polled[i].load(relaxed));
    });
}

/// Instance locked. The caller passes fence_before_sleep() later.
void Engine::cool(instance::Instance& instance, instance::Inlet& inlet) noexcept {
    give_cells_back(instance, inlet);
    const bool hot = inlet.ring.hot();
    if (hot) {
        const auto others =
            std::max<std::uint32_t>(1, static_cast<std::uint32_t>(node_.processes()) - 1);
        const std::uint32_t worth = cells_worth_cooling * others;
        inlet.visits_before_warm = inlet.ring.consumed() - inlet.hot_since >= worth
            ? instance::Inlet::fewest_cold_visits
            : std::min(worth, 2 * inlet.visits_before_warm);
    }
    inlet.cold_visits = inlet.visits_before_warm;
    if (!hot) return;
    inlet.ring.set_hot(false);
    fence_.uncover();
}

/// So that the sender sees whether the ring is empty. Instance locked.
void Engine::give_cells_back(instance::Instance& instance, instance::Inlet& inlet) noexcept {
    inlet.ring.give_back_all();
    if (inlet.ring.producer_starves()) notify(inlet.process, instance);
}

bool Engine::cool_idle() {
    bool busy = false;
    const bool alone = lone_thread_.threads() <= 1;
    for_each(used(), [&](instance::Instance& instance) {
        const std::lock_guard held(instance.lock);
        const bool sleepers =
            alone || instance.parked.load(relaxed) != 0 || parked_everywhere_.load(relaxed) != 0;
        for (std::uint32_t i = instance.polled_count.load(relaxed); i-- > 0;) {
            instance::Inlet& inlet = *instance.polled[i].load(relaxed);
            const bool moved = inlet.ring.consumed() != inlet.seen;
            inlet.seen = inlet.ring.consumed();
            if (moved && !sleepers && inlet.ring.hot()) {
                busy = true;
                continue;
            }
            // Cold since before a leader's last fence: a message would have been announced. A ring that
            // another thread has cooled since may hold one that was sent while it was hot.
            if (inlet.settled && !moved && !inlet.ring.ready()) instance.unlist(inlet);
            cool(instance, inlet);
            inlet.settled = true;
        }
    });
    return busy;
}

void Engine::add_parked(Instances which, int change) noexcept {
    const auto difference = static_cast<std::uint32_t>(change);
    const std::uint32_t before = sleepers_.fetch_add(difference, relaxed);
    if (before == 0 && network() != nullptr) network()->ring();
    if (which == all) {
        parked_everywhere_.fetch_add(difference,
                                     relaxed);  // cool() locks after this, warm() before
        return;
    }
    for_each(which, [&](instance::Instance& instance) {
        instance.parked.fetch_add(difference, relaxed);  // likewise
    });
}

bool Engine::something_came() {
    bool found = node_.mailbox(static_cast<std::size_t>(rank_)).rung.load(seq_cst) != 0 ||
        may_release_deferred();
    for_each(used(),
             [&](instance::Instance& instance) { found = found || instance.something_came(); });
    return found;
}

void Engine::drop_blocked(core::Thread& thread, std::uint32_t context) {
    ProgressCall call(thread);
    finish_after(call, [&] { backlog_.drop(call, context); });
}

bool Engine::something_to_do(core::Thread& thread, Instances announced) {
    bool found = something_came();
    if (found || all_handed_over()) return found;
    ProgressCall call(thread);
    finish_after(call, [&] { found = backlog_.flush_all(call); });
    return found || (backlog_.instances() & ~announced) != 0;
}

void Engine::drop_layout(core::Thread& thread, core::Request& request) noexcept {
    request.laid_out = false;
    objects::drop(*thread.process, *request.layout);
}

void Engine::free_completed(core::Thread& thread, core::Request& request) noexcept {
    const core::RequestType& type = core::type_of(request);
    if (type.free != nullptr)
        type.free(thread, request);
    else
        free_request(thread, request);
}

}  // namespace heddle::p2p
