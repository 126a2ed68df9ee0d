// SPDX-License-Identifier: BSD-3-Clause
#include "transport/guests.hpp"

#include <array>
#include <cstring>
#include <new>
#include <span>
#include <stdexcept>

#include "transport/own_kinds.hpp"

namespace heddle::transport {
namespace {

constexpr std::size_t fixed_bytes =
    sizeof(std::uint64_t) + sizeof(std::uint32_t) + sizeof(JobToken);

[[noreturn]] void no_card() { throw std::runtime_error("this is no card of a process"); }

std::uint64_t mixed(std::uint64_t value) noexcept {
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9U;
    value = (value ^ value >> 27) * 0x94d049bb133111ebU;
    return value ^ value >> 31;
}

/// Returns the token of batches from that sender to the process that has the secret.
JobToken token_between(const JobToken& secret, const ProcessName& sender) noexcept {
    return {mixed(secret[0] ^ mixed(sender.job + 1)),
            mixed(secret[1] ^ mixed(sender.job ^ mixed(sender.rank + 1)))};
}

template <class T>
void append(std::string& bytes, const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
void take(std::string_view& bytes, T& value) noexcept {
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes.remove_prefix(sizeof value);
}

}  // namespace

PackedCard pack(const GuestCard& card) noexcept {
    PackedCard packed{card.name, card.secret, static_cast<std::uint32_t>(card.address.size()), {}};
    card.address.copy(packed.address.data(), packed.address.size());
    return packed;
}

GuestCard unpack(const PackedCard& card) {
    if (card.address_bytes > most_address) no_card();
    return {card.name, card.secret, {card.address.data(), card.address_bytes}};
}

std::string to_bytes(const GuestCard& card) {
    std::string bytes;
    append(bytes, card.name.job);
    append(bytes, card.name.rank);
    append(bytes, card.secret);
    return bytes + card.address;
}

GuestCard read_guest_card(std::string_view bytes) {
    if (bytes.size() <= fixed_bytes || bytes.size() > fixed_bytes + most_address) no_card();
    GuestCard card;
    take(bytes, card.name.job);
    take(bytes, card.name.rank);
    take(bytes, card.secret);
    card.address = bytes;
    return card;
}

// --- Guests ---

Peer Guests::introduce(const GuestCard& card) {
    const std::lock_guard guard(lock_);
    if (const auto known = places_.find(card.name); known != places_.end()) return known->second;
    if (free_.empty()) {
        if (guests_.size() == most)
            throw std::runtime_error("this process has met too many processes of other jobs");
        free_.push_back(static_cast<Peer>(guests_.size()));
        guests_.emplace_back();
    }
    const Peer peer = free_.back();
    guests_[peer].card = card;
    places_[card.name] = peer;
    free_.pop_back();
    return peer;
}

void Guests::mention(Peer peer, std::int32_t change) noexcept {
    const std::lock_guard guard(lock_);
    guests_[peer].groups += change;
}

std::optional<Peer> Guests::find(const ProcessName& name) const {
    const std::lock_guard guard(lock_);
    const auto at = places_.find(name);
    return at == places_.end() ? std::nullopt : std::optional(at->second);
}

void Guests::connect(Peer peer, std::int32_t change) noexcept {
    const std::lock_guard guard(lock_);
    guests_[peer].connections += change;
}

std::int32_t Guests::connections(Peer peer) const noexcept {
    const std::lock_guard guard(lock_);
    return guests_[peer].connections;
}

std::size_t Guests::places() const {
    const std::lock_guard guard(lock_);
    return guests_.size();
}

std::size_t Guests::count() const {
    const std::lock_guard guard(lock_);
    return places_.size();
}

const GuestCard& Guests::card(Peer peer) const {
    const std::lock_guard guard(lock_);
    return guests_.at(peer).card;
}

// --- GuestMembers ---

void GuestMembers::begin(BatchWriter& batch, Peer, std::uint32_t number) const {
    if (number != 0) return;
    Header header{};
    header.kind = introduction;
    const std::string card = to_bytes(guests_.own());
    batch.append(header, {}, std::as_bytes(std::span(card)));
}

BatchHeader GuestMembers::header(Peer to, std::uint32_t number) const {
    const GuestCard& card = guests_.card(to);
    return {number == 0 ? card.secret : token_between(card.secret, guests_.own().name), 0, checked_,
            number};
}

std::optional<Peer> GuestMembers::sender(const BatchHeader& batch,
                                         const BatchReader& reader) noexcept try {
    if (const auto known = senders_.find(batch.token); known != senders_.end())
        return known->second;
    return batch.token == guests_.own().secret ? introduced(reader) : std::nullopt;
} catch (const std::exception&) {
    return std::nullopt;  // no card, or no memory for another guest
}

void GuestMembers::forget(Peer peer) noexcept {
    std::erase_if(senders_, [peer](const auto& sender) { return sender.second == peer; });
}

std::optional<Peer> GuestMembers::introduced(const BatchReader& reader) {
    const Header* const first = reader.front();
    if (first == nullptr || first->kind != introduction) return std::nullopt;
    const GuestCard card =
        read_guest_card({reinterpret_cast<const char*>(first->payload()), first->length});
    const Peer peer = guests_.introduce(card);
    senders_[token_between(guests_.own().secret, card.name)] = peer;
    return peer;
}

}  // namespace heddle::transport
