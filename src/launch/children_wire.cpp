// SPDX-License-Identifier: BSD-3-Clause
#include "launch/children_wire.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace heddle::launch {
namespace {

constexpr std::string_view version = "heddle children 1";

/// A writer of words that end with a zero each: no word of a command line or of info has one.
class Writer {
public:
    void add(std::string_view word) { bytes_.append(word).push_back('\0'); }
    void add(std::size_t number) { add(std::to_string(number)); }
    std::string take() { return std::move(bytes_); }

private:
    std::string bytes_;
};

class Reader {
public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}

    std::string word() {
        const std::size_t end = rest_.find('\0');
        if (end == std::string_view::npos) {
            good_ = false;
            return {};
        }
        std::string found(rest_.substr(0, end));
        rest_.remove_prefix(end + 1);
        return found;
    }
    /// Returns a count, which is not more than there are words left: a wrong number costs no
    /// memory.
    std::size_t count() {
        const std::string text = word();
        std::size_t value = 0;
        const char* const end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, value);
        good_ = good_ && read.ec == std::errc{} && read.ptr == end && value <= rest_.size();
        return good_ ? value : 0;
    }
    int number() {
        const std::string text = word();
        int value = 0;
        const char* const end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, value);
        good_ = good_ && read.ec == std::errc{} && read.ptr == end && value >= 0;
        return value;
    }
    bool good() const { return good_; }

private:
    std::string_view rest_;
    bool good_ = true;
};

/// The part before the reason.
struct Head {
    std::uint32_t version;
    std::uint32_t kind;
    std::int32_t command, rank, exit_code, signal, error;
};
constexpr std::uint32_t report_version = 0x4843'0001;

}  // namespace

std::string write_description(const Description& description) {
    Writer to;
    to.add(version);
    to.add(description.parent);
    to.add(description.commands.size());
    for (const Description::One& one : description.commands) {
        to.add(static_cast<std::size_t>(one.processes));
        to.add(one.command.size());
        for (const std::string& word : one.command) to.add(word);
        to.add(one.info.size());
        for (const auto& [key, value] : one.info) {
            to.add(key);
            to.add(value);
        }
    }
    to.add(description.without_effect.size());
    for (const std::string& key : description.without_effect) to.add(key);
    return to.take();
}

std::optional<Description> read_description(std::string_view bytes) {
    Reader from(bytes);
    if (from.word() != version) return std::nullopt;
    Description description;
    description.parent = from.word();
    description.commands.resize(from.count());
    for (Description::One& one : description.commands) {
        one.processes = from.number();
        one.command.resize(from.count());
        for (std::string& word : one.command) word = from.word();
        one.info.resize(from.count());
        for (auto& [key, value] : one.info) {
            key = from.word();
            value = from.word();
        }
    }
    description.without_effect.resize(from.count());
    for (std::string& key : description.without_effect) key = from.word();
    if (!from.good()) return std::nullopt;
    return description;
}

std::string write_report(const ChildReport& report) {
    const Head head{report_version,   static_cast<std::uint32_t>(report.kind),
                    report.command,   report.rank,
                    report.exit_code, report.signal,
                    report.error};
    std::string record(sizeof head, '\0');
    std::memcpy(record.data(), &head, sizeof head);
    return record + report.reason.substr(0, longest_report - sizeof head);
}

std::optional<ChildReport> read_report(std::string_view record) {
    Head head{};
    if (record.size() < sizeof head) return std::nullopt;
    std::memcpy(&head, record.data(), sizeof head);
    if (head.version != report_version ||
        head.kind > static_cast<std::uint32_t>(ChildReport::Kind::ended))
        return std::nullopt;
    return ChildReport{static_cast<ChildReport::Kind>(head.kind),
                       head.command,
                       head.rank,
                       head.exit_code,
                       head.signal,
                       head.error,
                       std::string(record.substr(sizeof head))};
}

}  // namespace heddle::launch
