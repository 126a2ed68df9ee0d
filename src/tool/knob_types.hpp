// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Types of knobs: their values, how these are written, and how MPI_T passes them.
///
/// A type has     Value                                    of the member of Settings
///                static bool parse(std::string_view, Value&)   false: not allowed, nothing changed
///                static std::string print(const Value&)   a text for parse()
///                static std::string allowed()             for a message: "bytes from 0 to 8192"
///                static constexpr KnobForm form           the form that MPI_T passes:
///                    number:  one unsigned long long;
///                    choice:  one int, an item of choices();
///                    text:    up to text_room characters, the terminating zero among them.
///                static load(const Value&, void*) and static bool store(Value&, const void*)

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace heddle::tool {

enum class KnobForm : std::uint8_t { number, choice, text };

inline constexpr std::size_t text_room = 256;

template <std::uint64_t least, std::uint64_t most>
struct Bytes {
    using Value = std::uint64_t;
    static constexpr KnobForm form = KnobForm::number;
    static constexpr const char* name = "bytes";

    static bool parse(std::string_view text, Value& value) noexcept {
        Value read = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
        return error == std::errc{} && end == text.data() + text.size() && accept(read, value);
    }
    static std::string print(Value value) { return std::to_string(value); }
    static std::string allowed() {
        return "bytes from " + std::to_string(least) + " to " + std::to_string(most);
    }
    static std::span<const char* const> choices() noexcept { return {}; }
    static void load(Value value, void* place) noexcept {
        const unsigned long long number = value;
        std::memcpy(place, &number, sizeof number);
    }
    static bool store(Value& value, const void* place) noexcept {
        unsigned long long number = 0;
        std::memcpy(&number, place, sizeof number);
        return accept(number, value);
    }

private:
    static bool accept(Value given, Value& value) noexcept {
        if (given < least || given > most) return false;
        value = given;
        return true;
    }
};

/// A time.
struct Nanoseconds : Bytes<0, 1'000'000'000'000> {
    static constexpr const char* name = "nanoseconds";
    static std::string allowed() { return "nanoseconds from 0 to 1000000000000"; }
};

/// The words for the values 0, 1, ... of an enumeration.
template <class E>
inline constexpr std::span<const char* const> spelled = {};

template <class E>
struct Choice {
    using Value = E;
    static constexpr KnobForm form = KnobForm::choice;
    static constexpr const char* name = "choice";

    static bool parse(std::string_view text, Value& value) noexcept {
        const auto at = std::find(spelled<E>.begin(), spelled<E>.end(), text);
        if (at == spelled<E>.end()) return false;
        value = static_cast<E>(at - spelled<E>.begin());
        return true;
    }
    static std::string print(Value value) { return spelled<E>[static_cast<std::size_t>(value)]; }
    static std::string allowed() {
        std::string all;
        for (const char* one : spelled<E>) all += (all.empty() ? "" : ", ") + std::string(one);
        return all;
    }
    static std::span<const char* const> choices() noexcept { return spelled<E>; }
    static void load(Value value, void* place) noexcept {
        const int number = static_cast<int>(value);
        std::memcpy(place, &number, sizeof number);
    }
    static bool store(Value& value, const void* place) noexcept {
        int number = 0;
        std::memcpy(&number, place, sizeof number);
        if (number < 0 || static_cast<std::size_t>(number) >= spelled<E>.size()) return false;
        value = static_cast<E>(number);
        return true;
    }
};

/// Words in the argument of a template, separated by spaces.
template <std::size_t size>
struct Words {
    consteval Words(const char (&given)[size]) { std::copy(given, given + size, text); }
    consteval std::size_t count() const { return 1 + std::count(text, text + size, ' '); }
    /// Returns a copy in which each word ends with a zero.
    consteval Words ended() const {
        Words copy(text);
        std::replace(copy.text, copy.text + size, ' ', '\0');
        return copy;
    }
    char text[size];
};

/// The number of a word: a choice whose words are in the line of its knob.
template <Words words>
struct OneOf {
    std::uint8_t number = 0;

    constexpr OneOf() = default;
    explicit constexpr OneOf(std::integral auto of) noexcept
        : number(static_cast<std::uint8_t>(of)) {}
    template <std::integral Number>
    explicit constexpr operator Number() const noexcept {
        return static_cast<Number>(number);
    }
};
template <Words words>
struct Spelling {
    static constexpr Words ended = words.ended();
    static constexpr auto pointers = [] {
        std::array<const char*, words.count()> all{ended.text};
        for (std::size_t i = 0, word = 1; word < all.size(); ++i)
            if (ended.text[i] == '\0') all[word++] = ended.text + i + 1;
        return all;
    }();
};
template <Words words>
inline constexpr std::span<const char* const> spelled<OneOf<words>> = Spelling<words>::pointers;

enum class Switch : std::uint8_t { off, on };
inline constexpr const char* switch_names[] = {"off", "on"};
template <>
inline constexpr std::span<const char* const> spelled<Switch> = switch_names;

enum class Worker : std::uint8_t { automatic, off, on };
inline constexpr const char* worker_names[] = {"auto", "off", "on"};
template <>
inline constexpr std::span<const char* const> spelled<Worker> = worker_names;

/// The common part of types of texts. `Own` says which texts are allowed, and parses them.
template <class Own>
struct Text {
    using Value = std::string;
    static constexpr KnobForm form = KnobForm::text;

    static std::string print(const Value& value) { return value; }
    static std::span<const char* const> choices() noexcept { return {}; }
    static void load(const Value& value, void* place) noexcept {
        std::memcpy(place, value.c_str(), value.size() + 1);
    }
    static bool store(Value& value, const void* place) {
        const auto* text = static_cast<const char*>(place);
        return Own::parse({text, strnlen(text, text_room)}, value);
    }
};

/// The path of a directory.
struct Directory : Text<Directory> {
    static constexpr const char* name = "directory";

    static bool parse(std::string_view text, Value& value) {
        if (text.size() >= text_room) return false;
        value = text;
        return true;
    }
    static std::string allowed() {
        return "paths of at most " + std::to_string(text_room - 1) + " characters";
    }
};

/// A name. Its user finds out whether it exists.
struct Name : Text<Name> {
    static constexpr const char* name = "name";

    static bool parse(std::string_view text, Value& value) {
        if (text.empty() || text.size() >= text_room) return false;
        value = text;
        return true;
    }
    static std::string allowed() {
        return "names of at most " + std::to_string(text_room - 1) + " characters";
    }
};

/// A selection of named things. It is none (empty, or 0), those with something to say (1), or those
/// with matching names. They match an extended regular expression.
struct Selection : Text<Selection> {
    static constexpr const char* name = "selection";

    static bool parse(std::string_view text, Value& value);
    static std::string allowed() {
        return "0, 1, and extended regular expressions of at most " +
            std::to_string(text_room - 1) + " characters";
    }

    /// Returns whether `what` is selected. `says_something` tells whether it has something to say.
    static bool selects(const Value& value, const char* what, bool says_something);
};

}  // namespace heddle::tool
