// SPDX-License-Identifier: BSD-3-Clause
#include "tool/knobs.hpp"

#include <regex.h>

#include <cctype>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

namespace heddle::tool {
namespace {

/// A compiled extended regular expression, or none if the text is none.
class Expression {
public:
    explicit Expression(const char* text)
        : good_(regcomp(&compiled_, text, REG_EXTENDED | REG_NOSUB) == 0) {}
    ~Expression() {
        if (good_) regfree(&compiled_);
    }
    Expression(const Expression&) = delete;
    Expression& operator=(const Expression&) = delete;

    bool good() const noexcept { return good_; }
    bool matches(const char* text) const noexcept {
        return good_ && regexec(&compiled_, text, 0, nullptr, 0) == 0;
    }

private:
    regex_t compiled_{};
    bool good_;
};

std::vector<Knob> make_table() {
    std::vector<Knob> table;
    // Each type prints its own standard values.
    static const Settings standard;
    static std::deque<std::string> printed;  // the table points into it
    Category here{};
#define CATEGORY(Type, name, doc) here = Category::name;
#define KNOB(type_, name_, standard_, doc_)                                              \
    table.push_back(                                                                     \
        {#name_, printed.emplace_back(type_::print(standard.name_)).c_str(), doc_, here, \
         type_::name, type_::form, &type_::choices, &type_::allowed,                     \
         [](const Settings& s) { return std::string(type_::print(s.name_)); },           \
         [](std::string_view text, Settings& s) { return type_::parse(text, s.name_); }, \
         [](const Settings& s, void* place) { type_::load(s.name_, place); },            \
         [](const void* place, Settings& s) { return type_::store(s.name_, place); }});
#include "tool/all.def"
    return table;
}

/// The values set by other means than the environment, as text, by knob. Like the environment they
/// belong to the program and not to a process: MPI_T is there before MPI_Init.
struct Asked {
    std::mutex lock;
    std::vector<std::optional<std::string>> values{knob_table().size()};
};
Asked& asked() {
    static Asked& all = *new Asked;  // never destroyed, since it is read until the program ends
    return all;
}

std::size_t index_of(const Knob& knob) {
    return static_cast<std::size_t>(&knob - knob_table().data());
}

/// Returns the value of the variable, or nullptr if it is not set or empty.
const char* given(const Knob& knob) {
    const char* value = std::getenv(knob.variable().c_str());
    return value != nullptr && *value != '\0' ? value : nullptr;
}

/// Returns the text that sets the knob, or nothing if none does.
std::optional<std::string> said(const Knob& knob, SetBy& who) {
    {
        Asked& all = asked();
        std::lock_guard guard(all.lock);
        if (const auto& value = all.values[index_of(knob)]) {
            who = SetBy::tool;
            return value;
        }
    }
    const char* value = given(knob);
    who = value != nullptr ? SetBy::environment : SetBy::standard;
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

/// Keeps the text that sets the knob. No text removes it.
void note_asked(const Knob& knob, std::optional<std::string> text) {
    Asked& all = asked();
    std::lock_guard guard(all.lock);
    all.values[index_of(knob)] = std::move(text);
}

}  // namespace

std::string Knob::variable() const {
    std::string result = "HEDDLE_";
    for (const char* at = name; *at != '\0'; ++at)
        result += static_cast<char>(std::toupper(static_cast<unsigned char>(*at)));
    return result;
}

std::span<const Knob> knob_table() {
    static const std::vector<Knob>& table = *new std::vector<Knob>(make_table());
    return table;
}

SetBy set_by(const Knob& knob) {
    SetBy who{};
    Settings scratch;
    const auto text = said(knob, who);
    return text && knob.parse(*text, scratch) ? who : SetBy::standard;
}

Settings settings_now() {
    Settings settings;
    SetBy who{};
    for (const Knob& knob : knob_table())
        if (const auto text = said(knob, who)) (void)knob.parse(*text, settings);
    return settings;
}

Settings settings_for_start() {
    Settings settings;
    SetBy who{};
    for (const Knob& knob : knob_table()) {
        const auto text = said(knob, who);
        if (text && !knob.parse(*text, settings))
            throw std::runtime_error(knob.variable() + "=" + *text + ": allowed are " +
                                     knob.allowed());
    }
    if (std::string why = contradiction(settings); !why.empty()) throw std::runtime_error(why);
    return settings;
}

bool ask_for(const Knob& knob, const void* value) {
    std::optional<std::string> text;
    if (value != nullptr) {
        Settings settings;
        if (!knob.store(value, settings)) return false;
        text = knob.print(settings);
    }
    note_asked(knob, std::move(text));
    return true;
}

std::string ask_for(std::string_view key, std::string_view text) {
    constexpr std::string_view prefix = "heddle_";
    if (!key.starts_with(prefix)) return {};
    for (const Knob& knob : knob_table()) {
        if (key.substr(prefix.size()) != knob.name) continue;
        Settings scratch;
        if (!knob.parse(text, scratch))
            return std::string(key) + "=" + std::string(text) + ": allowed are " + knob.allowed();
        note_asked(knob, std::string(text));
    }
    return {};
}

bool Selection::parse(std::string_view text, Value& value) {
    std::string given(text);
    if (given.size() >= text_room || (!given.empty() && !Expression(given.c_str()).good()))
        return false;
    value = std::move(given);
    return true;
}

bool Selection::selects(const Value& value, const char* what, bool says_something) {
    if (value.empty() || value == "0") return false;
    return value == "1" ? says_something : Expression(value.c_str()).matches(what);
}

}  // namespace heddle::tool
