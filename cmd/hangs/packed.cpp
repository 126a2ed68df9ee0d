// SPDX-License-Identifier: BSD-3-Clause
#include "packed.hpp"

#include <cstring>
#include <type_traits>

namespace heddle::hangs {
namespace {

constexpr std::uint32_t most_entries = 1 << 20;

class Packer {
public:
    template <class T>
    void operator()(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void operator()(const std::string& text) {
        (*this)(static_cast<std::uint32_t>(text.size()));
        bytes.append(text);
    }
    template <class T>
    void operator()(const std::vector<T>& list) {
        (*this)(static_cast<std::uint32_t>(list.size()));
        for (const T& one : list) each(*this, one);
    }
    std::string bytes;
};

class Unpacker {
public:
    explicit Unpacker(std::string_view bytes) : left_(bytes) {}

    template <class T>
    void operator()(T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        const std::string_view taken = take(sizeof value);
        if (!failed_) std::memcpy(&value, taken.data(), sizeof value);
    }
    void operator()(std::string& text) { text = take(length()); }
    template <class T>
    void operator()(std::vector<T>& list) {
        const std::uint32_t count = length();
        for (std::uint32_t i = 0; i < count && !failed_; ++i) each(*this, list.emplace_back());
    }
    bool succeeded() const { return !failed_ && left_.empty(); }

private:
    std::uint32_t length() {
        std::uint32_t count = 0;
        (*this)(count);
        if (count > most_entries) failed_ = true;
        return failed_ ? 0 : count;
    }
    std::string_view take(std::size_t bytes) {
        if (bytes > left_.size()) failed_ = true;
        if (failed_) return {};
        const std::string_view taken = left_.substr(0, bytes);
        left_.remove_prefix(bytes);
        return taken;
    }
    std::string_view left_;
    bool failed_ = false;
};

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

/// All but `end`, which may be missing.
template <class Pack, class R>
void each_of_rank(Pack& pack, R& rank) {
    pack(rank.rank);
    pack(rank.pid);
    pack(rank.host);
    pack(rank.knows_phase);
    pack(rank.phase);
    pack(rank.in_barrier);
    pack(rank.thread_level);
    pack(rank.more_waiting);
    pack(rank.traffic);
    pack(rank.waiting);
    pack(rank.threads);
}

}  // namespace

std::string packed(const Rank& rank) {
    Packer pack;
    pack(rank.end.has_value());
    pack(rank.end.value_or(""));
    each_of_rank(pack, rank);
    return std::move(pack.bytes);
}

std::optional<Rank> unpacked(std::string_view bytes) {
    Unpacker unpack(bytes);
    bool has_ended = false;
    std::string end;
    Rank rank;
    unpack(has_ended);
    unpack(end);
    each_of_rank(unpack, rank);
    if (!unpack.succeeded()) return {};
    if (has_ended) rank.end = std::move(end);
    for (Waiting& waiting : rank.waiting) make_fit(waiting.what);
    return rank;
}

}  // namespace heddle::hangs
