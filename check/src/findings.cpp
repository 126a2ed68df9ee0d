// SPDX-License-Identifier: BSD-3-Clause
#include "findings.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

#include "checks.hpp"
#include "json.hpp"
#include "node.hpp"

namespace heddle::check {

namespace {

std::atomic<int> rank{-1};

bool as_json() noexcept {
    const char* value = std::getenv("HEDDLE_CHECK");
    return value != nullptr && std::strcmp(value, "json") == 0;
}

std::uint64_t hash_of_text(const std::string& text, std::uint64_t hash) noexcept {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

/// Returns true once on this node for each kind and place, on whichever rank.
bool is_new(const char* kind, Place place, const char* call) {
    const std::uint64_t finding =
        hash_of_text(kind, hash_of_text(call, place * 0x9e3779b97f4a7c15 + 0xcbf29ce484222325));
    if (Node* node = Node::get()) return node->is_new(finding);
    static std::mutex& guard = *new std::mutex;
    static auto& told = *new std::set<std::uint64_t>;
    const std::lock_guard<std::mutex> held(guard);
    return told.insert(finding).second;
}

void write_line(std::string line) {
    line += '\n';
    const char* next = line.data();
    for (std::size_t left = line.size(); left > 0;) {
        const ssize_t written = ::write(STDERR_FILENO, next, left);
        if (written <= 0) return;
        next += written;
        left -= static_cast<std::size_t>(written);
    }
}

}  // namespace

void set_own_rank(int own) noexcept { rank = own; }
int own_rank() noexcept { return rank; }

void tell(const char* kind, const char* call, Place place, const std::string& text,
          const char* advice, int of_rank) {
    if (!is_new(kind, place, call)) return;
    const int whose = of_rank >= 0 ? of_rank : own_rank();
    const int thread = of_rank >= 0 ? 0 : own_thread();
    const std::string location = location_of(place);
    if (as_json()) {
        write_line("{\"check\":" + json_string(kind) + ",\"rank\":" + std::to_string(whose) +
                   ",\"thread\":" + std::to_string(thread) + ",\"call\":" + json_string(call) +
                   ",\"at\":" + json_string(location) + ",\"text\":" + json_string(text) +
                   ",\"advice\":" + json_string(advice) + "}");
        return;
    }
    std::string line = "check: rank " + std::to_string(whose);
    if (thread > 0) line += ", thread " + std::to_string(thread);
    if (!location.empty()) line += " at " + location;
    write_line(line + ", " + call + ": " + text + ". " + advice);
}

void note(const std::string& text) {
    if (as_json()) return write_line("{\"check\":\"note\",\"text\":" + json_string(text) + "}");
    write_line("check: " + text);
}

}  // namespace heddle::check
