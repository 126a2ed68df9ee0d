// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Packs values as bytes for another host, and unpacks them. Numbers have the processor's format.
/// Texts and lists have their length before them, and an optional value says whether it is there.
/// Other types are packed by the function each(pack, value) of their namespace.

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle::hangs {

/// A type that needs no function of its own.
template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string>;

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
        for (const T& one : list) pack(one);
    }
    template <class T>
    void operator()(const std::optional<T>& value) {
        (*this)(value.has_value());
        if (value) pack(*value);
    }
    std::string bytes;

private:
    template <class T>
    void pack(const T& value) {
        if constexpr (Plain<T>)
            (*this)(value);
        else
            each(*this, value);
    }
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
        for (std::uint32_t i = 0; i < count && !failed_; ++i) unpack(list.emplace_back());
    }
    template <class T>
    void operator()(std::optional<T>& value) {
        bool has_value = false;
        (*this)(has_value);
        if (has_value && !failed_) unpack(value.emplace());
    }
    bool succeeded() const { return !failed_ && left_.empty(); }

private:
    static constexpr std::uint32_t most_entries = 1 << 20;

    template <class T>
    void unpack(T& value) {
        if constexpr (Plain<T>)
            (*this)(value);
        else
            each(*this, value);
    }

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

}  // namespace heddle::hangs
