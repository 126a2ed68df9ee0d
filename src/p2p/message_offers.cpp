// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/message_offers.hpp"

#include <cstring>
#include <new>

#include "instance/instance.hpp"

namespace heddle::p2p {
namespace {

/// The slots of the offers of one instance to one process.
struct OfferBlocks {
    const node::Rings& rings;
    std::size_t from, to, instance;

    template <class Use>
    auto with(std::uint8_t block, Use&& use) const noexcept {
        return rings.with_offers(from, to, instance, block, use);
    }
    bool add(std::uint8_t block) const noexcept {
        return rings.add_offers(from, to, instance, block);
    }
};

/// Returns the offer of a message; without a number if no sender can take it back.
MessageOffer offer_of(const match::Message& message) noexcept {
    return MessageOffer::of(is_offered(static_cast<MessageKind>(message.protocol)) ? message.offer()
                                                                                   : 0);
}

}  // namespace

void MessageOffers::offer(instance::HeldOutbox outbox, instance::Channel& channel,
                          node::Cell& cell) const noexcept {
    auto fields = fields_of<OfferedFields>(cell);
    const OfferBlocks blocks{rings_, static_cast<std::size_t>(rank_),
                             static_cast<std::size_t>(channel.process), outbox.number()};
    const auto [number, block] = channel.next_offer.offer(blocks, uses_again_);
    fields.offer = MessageOffer{number, outbox.number(), block}.word();
    std::memcpy(cell.payload(), &fields, sizeof fields);
    reinterpret_cast<core::Request*>(fields.sender)->order = fields.offer;
}

bool MessageOffers::take_back(const core::Request& send) const noexcept {
    const MessageOffer offer = MessageOffer::of(send.order);
    if (offer.number == node::Offers::none) return false;
    const auto fence = [&] {
        sync::NodeFence::heavy();
        if (board_.page(static_cast<std::size_t>(send.peer)).fences_refused.load(relaxed) != 0)
            sync::HeavyFences::wait_for_stores();
    };
    // Counts for any block: the receiver sweeps.
    with(rank_, send.peer, {0, offer.instance, 0}, [](auto& offers) { offers.note_taken_back(); });
    return with(rank_, send.peer, offer,
                [&](auto& offers) { return offers.take_back(offer.number, fence); });
}

void MessageOffers::reach(std::int32_t process, const transport::Header& header) const {
    const MessageOffer offer = MessageOffer::of(fields_of<OfferedFields>(header).offer);
    if (offer.block == 0) [[likely]]
        return;
    if (rings_.further_offers(static_cast<std::size_t>(process), static_cast<std::size_t>(rank_),
                              offer.instance, offer.block) == nullptr)
        throw std::bad_alloc();
}

bool MessageOffers::hold(std::int32_t process, MessageOffer offer) const noexcept {
    return offer.number == node::Offers::none ||
        with(process, rank_, offer, [&](auto& offers) { return offers.hold(offer.number); });
}

void MessageOffers::decide(std::int32_t process, MessageOffer offer, bool accepted) const noexcept {
    if (offer.number == node::Offers::none) return;
    with(process, rank_, offer, [&](auto& offers) {
        accepted ? offers.accept(offer.number) : offers.leave(offer.number);
    });
}

bool MessageOffers::hold(const match::Message& message) const noexcept {
    return hold(message.peer, offer_of(message));
}

void MessageOffers::decide(const match::Message& message, bool accepted) const noexcept {
    decide(message.peer, offer_of(message), accepted);
}

bool MessageOffers::accept(const match::Message& message) const noexcept {
    if (!hold(message)) return false;
    decide(message, true);
    return true;
}

bool MessageOffers::is_taken_back(const match::Message& message) const noexcept {
    const MessageOffer offer = offer_of(message);
    return offer.number != node::Offers::none &&
        with(message.peer, rank_, offer,
             [&](auto& offers) { return offers.is_taken_back(offer.number); });
}

bool MessageOffers::drops(const match::Message& message) const noexcept {
    return is_taken_back(message) && !hold(message);
}

bool MessageOffers::any_taken_back(const match::Message& message) const noexcept {
    const MessageOffer offer = offer_of(message);
    return offer.number != node::Offers::none &&
        with(message.peer, rank_, {0, offer.instance, 0},
             [](auto& offers) { return offers.any_taken_back(); });
}

}  // namespace heddle::p2p
