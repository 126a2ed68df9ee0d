// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Guests: processes of other jobs that this one has met. From their tokens a lane knows which of
/// them has sent a batch.
///
/// Name           job and rank there: the same for every process that knows it.
/// Card           what a process must know of another to send to it: name, address and secret. A
///                process that has the card of another may send to it. Cards travel in port names
///                and between processes that connect.
/// Introduction   the first batch from one process to another bears the secret of its receiver. Its
///                first message is the card of its sender. Later batches bear a token. Both
///                processes compute it from the secret and the sender's name.
/// Peer           the place of a guest in this table, known to this process alone.
/// End            a guest that has ended, and that nothing mentions any more, is forgotten: its
///                place may be another's then. Names do not come again.
/// Thread safety  Guests: any thread. GuestMembers: as its lane.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/batch.hpp"

namespace heddle::transport {

struct ProcessName {
    std::uint64_t job = 0;  ///< random; 0: none
    std::uint32_t rank = 0;
    auto operator<=>(const ProcessName&) const = default;
};

struct GuestCard {
    ProcessName name;
    JobToken secret{};
    std::string address;  ///< of its lane for guests; at most most_address bytes
    bool operator==(const GuestCard&) const = default;
};
/// A card as plain data, for messages.
struct PackedCard {
    ProcessName name;
    JobToken secret;
    std::uint32_t address_bytes;
    std::array<char, most_address> address;
};
PackedCard pack(const GuestCard& card) noexcept;
/// Throws std::runtime_error if that is no card.
GuestCard unpack(const PackedCard& card);
std::string to_bytes(const GuestCard& card);
/// Throws std::runtime_error if that is no card.
GuestCard read_guest_card(std::string_view bytes);

class Guests {
public:
    static constexpr std::size_t most = 1024;

    /// Guests of a process that has this card; its address comes with set_address().
    explicit Guests(GuestCard own) : own_(std::move(own)) {}

    /// Sets the address, before any thread asks for the card.
    void set_address(std::string address) { own_.address = std::move(address); }
    const GuestCard& own() const noexcept { return own_; }

    /// Returns the place of that process, new or known. Throws std::bad_alloc, or
    /// std::runtime_error if there are too many.
    Peer introduce(const GuestCard& card);
    /// Adds `change` to the number of communicators that have the guest as a member.
    void connect(Peer peer, std::int32_t change) noexcept;
    std::int32_t connections(Peer peer) const noexcept;
    std::optional<Peer> find(const ProcessName& name) const;
    /// Returns a bound: places are below it.
    std::size_t places() const;
    std::size_t count() const;
    /// Returns the card, which stays until the guest is forgotten.
    const GuestCard& card(Peer peer) const;
    /// Adds `change` to the number of groups that name the guest.
    void mention(Peer peer, std::int32_t change) noexcept;
    /// Forgets the guests that no group names and for which `has_ended` returns true.
    template <class HasEnded>
    void forget(HasEnded&& has_ended);

private:
    struct Guest {
        GuestCard card;  ///< without a name there is no guest here
        std::int32_t connections = 0;
        std::int32_t groups = 0;
    };

    GuestCard own_;
    mutable std::mutex lock_;
    std::deque<Guest> guests_;
    std::vector<Peer> free_;  ///< places
    std::map<ProcessName, Peer> places_;
};

template <class HasEnded>
void Guests::forget(HasEnded&& has_ended) {
    const std::lock_guard guard(lock_);
    for (Peer peer = 0; peer < guests_.size(); ++peer) {
        Guest& guest = guests_[peer];
        if (guest.card.name.job == 0 || guest.groups != 0) continue;
        free_.reserve(free_.size() + 1);
        if (!has_ended(peer)) continue;
        places_.erase(guest.card.name);
        guest = {};
        free_.push_back(peer);
    }
}

/// Members of a lane for guests: it takes batches of processes that know the secret of this one
/// (transport/lane.hpp, Members).
class GuestMembers {
public:
    /// `guests` must live as long. `checked`: batches that are sent have a checksum.
    explicit GuestMembers(Guests& guests, bool checked = false) noexcept
        : guests_(guests), checked_(checked) {}

    static constexpr bool end_alone = true;
    static constexpr Peer limit() noexcept { return static_cast<Peer>(Guests::most); }
    /// Begins a new batch to the peer, of which this is the number.
    void begin(BatchWriter& batch, Peer to, std::uint32_t number) const;
    BatchHeader header(Peer to, std::uint32_t number) const;
    /// Returns the sender of the batch, or nothing for a stranger. `reader` stands at the batch's
    /// first message.
    std::optional<Peer> sender(const BatchHeader& batch, const BatchReader& reader) noexcept;
    /// Forgets the guest: from now on its batches count as a stranger's.
    void forget(Peer peer) noexcept;

private:
    std::optional<Peer> introduced(const BatchReader& reader);

    Guests& guests_;
    const bool checked_;
    std::map<JobToken, Peer> senders_;  ///< by the token that their batches bear
};

}  // namespace heddle::transport
