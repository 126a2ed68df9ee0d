// SPDX-License-Identifier: BSD-3-Clause
#include "comm/recycling.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "mpi.h"
#include "objects/process.hpp"
#include "p2p/buffered.hpp"
#include "p2p/far/network.hpp"
#include "p2p/waiting.hpp"

namespace heddle::comm {
namespace {

constexpr std::int32_t letter_tag = 0;

}  // namespace

Recycling::Recycling(objects::Contexts& contexts, objects::FreedContexts& freed, std::int32_t rank)
    : contexts_(contexts),
      freed_(freed),
      rank_(rank),
      letters_(std::make_shared<p2p::BsendBuffer>(MPI_BUFFER_AUTOMATIC, 0)) {}

Recycling::~Recycling() = default;

void Recycling::step(core::Thread& thread) {
    std::unique_lock guard(lock_, std::try_to_lock);
    if (!guard.owns_lock()) return;
    collect(thread);
    std::int32_t from = 0;
    for (Letter letter; receive(thread, from, letter);) handle(thread, from, letter);
    ask(thread);
}

/// Sends to each owner the entries that have gathered for it.
void Recycling::collect(core::Thread& thread) {
    for (const objects::FreedContexts::Entry& freed : freed_.take())
        left_[contexts_.owner_of(freed.context)].push_back({freed.context, freed.members});
    if (leaving_.empty()) {
        leaving_ = take_batches();
        if (network_ != nullptr && !leaving_.empty()) network_->mark();
    }
    if (network_ != nullptr && !leaving_.empty() && !network_->is_past_mark()) return;
    for (const auto& [owner, entries] : std::exchange(leaving_, {}))
        send(thread, owner, Kind::left, entries);
}

/// Takes the entries of owners that have enough for a letter.
Recycling::ByOwner Recycling::take_batches() {
    ByOwner taken;
    for (auto& [owner, entries] : left_)
        if (entries.size() >= batch) taken.emplace(owner, std::exchange(entries, {}));
    return taken;
}

void Recycling::send(core::Thread& thread, std::int32_t to, Kind kind,
                     const std::vector<Entry>& entries) {
    for (std::size_t first = 0; first < entries.size(); first += batch) {
        const std::size_t count = std::min(batch, entries.size() - first);
        Letter letter{kind, static_cast<std::uint32_t>(count), {}};
        std::copy_n(entries.begin() + static_cast<std::ptrdiff_t>(first), count, letter.entries);
        post(thread, to, letter);
    }
}

/// Sends a letter. If there is no memory for it, its ids are withheld.
void Recycling::post(core::Thread& thread, std::int32_t to, const Letter& letter) {
    if (to == rank_) return handle(thread, to, letter);
    (void)letters_->send(thread,
                         {{objects::recycling_context, rank_, letter_tag},
                          thread.process->numbers.number_of(to),
                          reinterpret_cast<const std::byte*>(&letter),
                          offsetof(Letter, entries) + letter.count * sizeof(Entry)});
}

bool Recycling::receive(core::Thread& thread, std::int32_t& from, Letter& letter) {
    p2p::Engine& engine = *thread.engine;
    const match::Pattern pattern{objects::recycling_context, match::any_source, letter_tag};
    core::Outcome found{};
    match::Message* message = engine.probes().take(thread, pattern, false, found);
    if (message == nullptr) return false;
    core::Request* request =
        engine.receiver().receive_matched(thread, *message,
                                          {pattern, false, reinterpret_cast<std::byte*>(&letter),
                                           sizeof letter, thread.process->world});
    if (request == nullptr) return false;
    p2p::wait_for(engine, thread, *request);  // returns at once: the payload came with the message
    engine.requests().free(thread, *request);
    from = found.source;
    return true;
}

void Recycling::handle(core::Thread& thread, std::int32_t from, const Letter& letter) {
    if (letter.kind == Kind::look) return look(thread, from, letter);
    for (std::uint32_t i = 0; i < letter.count; ++i) {
        if (letter.kind == Kind::left)
            note_departure(from, letter.entries[i]);
        else
            note_found(letter.entries[i]);
    }
}

void Recycling::note_departure(std::int32_t from, const Entry& entry) {
    Departure& departure = departures_[entry.context];
    departure.members.push_back(from);
    if (static_cast<std::int32_t>(departure.members.size()) == entry.value)
        ready_.push_back(entry.context);
}

/// Asks the members of the communicators that all have left. One batch at a time.
void Recycling::ask(core::Thread& thread) {
    if (asked_ != 0 || ready_.size() < batch) return;
    std::map<std::int32_t, std::vector<Entry>> questions;
    for (const std::uint32_t context : ready_) {
        Departure& departure = departures_[context];
        departure.missing = static_cast<std::int32_t>(departure.members.size());
        departure.empty = true;
        ++departure.looks;
        for (const std::int32_t member : departure.members)
            questions[member].push_back({context, 0});
    }
    asked_ = ready_.size();
    ready_.clear();
    for (const auto& [member, entries] : questions) send(thread, member, Kind::look, entries);
}

void Recycling::look(core::Thread& thread, std::int32_t owner, const Letter& letter) {
    p2p::Engine& engine = *thread.engine;
    const p2p::BusyContexts busy = engine.busy_contexts(thread);
    Letter answer = letter;
    answer.kind = Kind::found;
    std::vector<std::uint32_t> gone;
    for (std::uint32_t i = 0; i < answer.count; ++i) {
        const auto contexts = objects::contexts_of(answer.entries[i].context);
        answer.entries[i].value =
            std::none_of(contexts.begin(), contexts.end(),
                         [&](std::uint32_t context) { return busy.holds(context); });
        gone.insert(gone.end(), contexts.begin(), contexts.end());
    }
    engine.forget(gone);
    post(thread, owner, answer);
}

void Recycling::note_found(const Entry& entry) {
    const auto at = departures_.find(entry.context);
    Departure& departure = at->second;
    if (entry.value == 0) departure.empty = false;
    if (--departure.missing != 0) return;
    --asked_;
    if (departure.empty) {
        contexts_.give_back(entry.context);
    } else if (departure.looks < most_looks) {
        ready_.push_back(entry.context);
        return;
    }
    departures_.erase(at);
}

}  // namespace heddle::comm
