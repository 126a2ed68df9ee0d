// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Several messages as the bytes of one batch. It begins with its sender. Then come the messages,
/// each with its header, at multiples of 8 bytes. Then comes their checksum, if the sender makes
/// one. All else on which two sides must agree is on their business cards (business_card.hpp).
///
/// A reader does not trust bytes from a network. It never looks beyond those that it was given, and
/// says whether they were a batch.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "platform/crc32c.hpp"
#include "transport/transport.hpp"

namespace heddle::transport {

struct BatchHeader {
    JobToken token;              ///< token that strangers do not have
    std::uint32_t process : 31;  ///< number of the sender
    std::uint32_t checked : 1;   ///< the last 8 bytes are a checksum of all that is before them
    std::uint32_t sequence;      ///< number among the batches of the sender's lane to this one
};
static_assert(sizeof(BatchHeader) == 24);
using BatchChecksum = std::uint64_t;  ///< CRC32C; 8 bytes, as everything is a multiple of them

constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) & ~std::size_t{7}; }
constexpr std::size_t room_for(std::size_t payload) noexcept {
    return sizeof(Header) + padded(payload);
}

class BatchWriter {
public:
    /// `begin`: memory for `capacity` bytes, of which the batch header takes the first.
    void open(std::byte* begin, std::size_t capacity) noexcept {
        begin_ = begin;
        capacity_ = capacity;
        used_ = sizeof(BatchHeader);
    }
    bool is_open() const noexcept { return begin_ != nullptr; }
    bool empty() const noexcept { return used_ == sizeof(BatchHeader); }
    bool fits(std::size_t payload) const noexcept {
        return room_for(payload) + sizeof(BatchChecksum) <= capacity_ - used_;
    }
    std::size_t used() const noexcept { return used_; }
    std::byte* begin() const noexcept { return begin_; }

    void append(const Header& header, Bytes prefix, Bytes payload) noexcept {
        std::byte* at = begin_ + used_;
        Header written = header;
        const std::size_t bytes = prefix.size() + payload.size();
        written.length = static_cast<std::uint32_t>(bytes);
        std::memcpy(at, &written, sizeof written);
        at += sizeof written;
        if (!prefix.empty()) std::memcpy(at, prefix.data(), prefix.size());
        if (!payload.empty()) std::memcpy(at + prefix.size(), payload.data(), payload.size());
        std::memset(at + bytes, 0, padded(bytes) - bytes);
        used_ += room_for(bytes);
    }
    /// Returns how many bytes there are to send. The batch may grow later, and be sealed again.
    std::size_t seal(const BatchHeader& header) noexcept {
        std::memcpy(begin_, &header, sizeof header);
        if (header.checked == 0) return used_;
        const BatchChecksum sum = platform::crc32c({begin_, used_});
        std::memcpy(begin_ + used_, &sum, sizeof sum);
        return used_ + sizeof sum;
    }
    void close() noexcept { begin_ = nullptr; }

private:
    std::byte* begin_ = nullptr;
    std::size_t capacity_ = 0;
    std::size_t used_ = 0;
};

/// Goes through the messages of a batch, which begins where a Header may.
class BatchReader {
public:
    BatchReader() = default;
    explicit BatchReader(std::span<std::byte> bytes) noexcept : rest_(bytes) {}

    /// Returns false if these are no batch.
    bool read_header(BatchHeader& header) noexcept {
        if (rest_.size() < sizeof header) return false;
        std::memcpy(&header, rest_.data(), sizeof header);
        whole_ = rest_;
        rest_ = rest_.subspan(sizeof header);
        return true;
    }
    /// Takes the checksum off a batch that has one. Returns false if the bytes that have come are
    /// not those that were sent.
    bool check() noexcept {
        BatchChecksum sum = 0;
        if (rest_.size() < sizeof sum) return false;
        rest_ = rest_.first(rest_.size() - sizeof sum);
        const auto before = whole_.first(whole_.size() - sizeof sum);
        std::memcpy(&sum, before.data() + before.size(), sizeof sum);
        return sum == platform::crc32c(before);
    }
    bool at_end() const noexcept { return rest_.empty(); }
    /// Returns the next message, in its place; it stays the next. Returns nullptr if what is left
    /// is no message.
    Header* front() const noexcept {
        if (rest_.size() < sizeof(Header)) return nullptr;
        auto* const header = reinterpret_cast<Header*>(rest_.data());
        return room_for(header->length) <= rest_.size() ? header : nullptr;
    }
    void pop(const Header& header) noexcept { rest_ = rest_.subspan(room_for(header.length)); }

private:
    std::span<std::byte> rest_;
    std::span<std::byte> whole_;
};

}  // namespace heddle::transport
