// SPDX-License-Identifier: BSD-3-Clause
#include "io/hints.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string_view>

namespace heddle::io {
namespace {

struct NumberHint {
    const char* key;
    std::uint64_t Hints::* value;
    std::uint64_t least, most;
    bool only_at_open;
};
constexpr std::uint64_t most_buffer = std::uint64_t{1} << 30;
constexpr NumberHint numbers[] = {
    {"cb_buffer_size", &Hints::cb_buffer_size, 4096, most_buffer, false},
    {"cb_nodes", &Hints::cb_nodes, 1, 1 << 24, true},
    {"ind_rd_buffer_size", &Hints::ind_rd_buffer_size, 4096, most_buffer, false},
    {"ind_wr_buffer_size", &Hints::ind_wr_buffer_size, 4096, most_buffer, false},
    {"striping_unit", &Hints::striping_unit, 1, most_buffer, true},
};

struct ChoiceHint {
    const char* key;
    Choice Hints::* value;
};
constexpr ChoiceHint choices[] = {
    {"romio_cb_read", &Hints::cb_read},
    {"romio_cb_write", &Hints::cb_write},
    {"romio_ds_read", &Hints::ds_read},
};

std::optional<std::uint64_t> number_in(std::string_view text, int base = 10) noexcept {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value, base);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return value;
}

std::optional<Choice> choice_in(std::string_view text) noexcept {
    if (text == "automatic") return Choice::automatic;
    if (text == "enable" || text == "true") return Choice::enable;
    if (text == "disable" || text == "false") return Choice::disable;
    return std::nullopt;
}

/// Returns the first of a list of words that has an effect.
Style style_in(std::string_view words) noexcept {
    while (!words.empty()) {
        const std::size_t comma = std::min(words.find(','), words.size());
        const std::string_view word = words.substr(0, comma);
        if (word == "sequential") return Style::sequential;
        if (word == "random") return Style::random;
        words.remove_prefix(std::min(comma + 1, words.size()));
    }
    return Style::unknown;
}

const char* text_of(Choice choice) noexcept {
    switch (choice) {
        case Choice::enable: return "enable";
        case Choice::disable: return "disable";
        default: return "automatic";
    }
}

}  // namespace

void apply(Hints& hints, const objects::Info& info, bool opens) {
    std::lock_guard guard(objects::info_lock());
    for (const NumberHint& hint : numbers) {
        const auto text = info.get(hint.key);
        if (!text || (hint.only_at_open && !opens)) continue;
        const auto value = number_in(*text);
        if (value && *value >= hint.least && *value <= hint.most) hints.*hint.value = *value;
    }
    for (const ChoiceHint& hint : choices)
        if (const auto text = info.get(hint.key))
            if (const auto value = choice_in(*text)) hints.*hint.value = *value;
    if (const auto text = info.get("collective_buffering"); text && choice_in(*text))
        hints.cb_read = hints.cb_write = *choice_in(*text);
    if (const auto text = info.get("access_style")) hints.style = style_in(*text);
    if (!opens) return;
    if (const auto text = info.get("file_perm"))
        if (const auto mode = number_in(*text, 8); mode && *mode <= 07777)
            hints.file_perm = static_cast<int>(*mode);
}

Agreed agreed_in(const Hints& hints) noexcept {
    return {hints.cb_buffer_size, hints.cb_nodes, hints.striping_unit, hints.cb_read,
            hints.cb_write};
}

void take(Hints& hints, const Agreed& agreed) noexcept {
    hints.cb_buffer_size = agreed.cb_buffer_size;
    hints.cb_nodes = agreed.cb_nodes;
    hints.striping_unit = agreed.striping_unit;
    hints.cb_read = agreed.cb_read;
    hints.cb_write = agreed.cb_write;
}

void report(const Hints& hints, objects::Info& info) {
    for (const NumberHint& hint : numbers)
        if (hints.*hint.value != 0) info.set(hint.key, std::to_string(hints.*hint.value));
    for (const ChoiceHint& hint : choices) info.set(hint.key, text_of(hints.*hint.value));
    info.set("collective_buffering", hints.cb_write == Choice::disable ? "false" : "true");
    // Bytes that the program has not written are never written.
    info.set("romio_ds_write", "disable");
    // Each process opens the file itself.
    info.set("romio_no_indep_rw", "false");
    if (hints.style != Style::unknown)
        info.set("access_style", hints.style == Style::random ? "random" : "sequential");
    char mode[16];
    std::snprintf(mode, sizeof mode, "%o", static_cast<unsigned>(hints.file_perm));
    info.set("file_perm", mode);
}

}  // namespace heddle::io
