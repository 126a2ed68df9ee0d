// SPDX-License-Identifier: BSD-3-Clause
#include "objects/window.hpp"

#include <bit>
#include <charconv>
#include <new>

#include "objects/process.hpp"

namespace heddle::objects {
namespace {

struct Switch {
    const char* key;
    Flag WindowHints::* value;
};
constexpr Switch switches[] = {
    {"no_locks", &WindowHints::no_locks},
    {"same_size", &WindowHints::same_size},
    {"same_disp_unit", &WindowHints::same_disp_unit},
    {"alloc_shared_noncontig", &WindowHints::noncontiguous},
};

struct Word {
    const char* key;
    std::string WindowHints::* value;
};
constexpr Word words[] = {
    {"accumulate_ordering", &WindowHints::accumulate_ordering},
    {"accumulate_ops", &WindowHints::accumulate_ops},
    {"mpi_accumulate_granularity", &WindowHints::granularity},
};

constexpr const char* alignment_key = "mpi_minimum_memory_alignment";
/// Mappings are aligned to pages.
constexpr std::size_t most_alignment = node::page_bytes;

std::size_t alignment_in(std::string_view text, std::size_t otherwise) noexcept {
    std::size_t bytes = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (problem != std::errc{} || bytes <= cache_line) return otherwise;
    return bytes >= most_alignment ? most_alignment : std::bit_ceil(bytes);
}

}  // namespace

Window& make_window(Process& process, Communicator& communicator) {
    Window* window = Process::make(process.windows, core::Kind::window);
    if (window == nullptr) throw std::bad_alloc();
    window->communicator = &communicator;
    window->ranks = communicator.peers;
    window->targets = std::make_unique<Target[]>(static_cast<std::size_t>(window->ranks));
    window->hints = {};
    window->errhandler = process.errors_are_fatal;
    window->errhandler->retain();
    return *window;
}

void close_handle(Process& process, Window& window) noexcept {
    window.kind.store(core::Kind::none, relaxed);
    drop(process, *window.errhandler);
    close_handle(process, *window.communicator);
    window.errhandler = nullptr;
    window.communicator = nullptr;
    window.open_to_all.store(0, relaxed);
    window.short_ranks = 0;
    window.short_flushes = 0;
    window.instances.store(0, relaxed);
    window.targets.reset();
    window.front = nullptr;
    window.target_states = nullptr;
    window.parties = nullptr;
    window.places = nullptr;
    window.regions = nullptr;
    window.locks.store(0, relaxed);
    window.exposure = {};
    window.started = {};
    window.name.clear();
    window.attributes.clear();
    window.mapping = nullptr;
    window.own_piece = nullptr;
    window.other_pieces.clear();
    window.service = nullptr;
    window.gathered = nullptr;
    window.far = nullptr;
    window.far_service = nullptr;
    window.here.clear();
    window.first_beside.clear();
    window.nodes.clear();
    window.segment = {};
    Process::destroy(process.windows, window);
}

void apply_hints(WindowHints& hints, const Info& info) {
    std::lock_guard guard(info_lock());
    for (const Switch& hint : switches) {
        const auto value = info.get(hint.key);
        if (value == "true" || value == "false") hints.*hint.value = value == "true";
    }
    for (const Word& hint : words)
        if (const auto value = info.get(hint.key)) hints.*hint.value = *value;
    if (const auto value = info.get(alignment_key))
        hints.alignment = alignment_in(*value, hints.alignment);
}

void report_hints(const WindowHints& hints, Info& info) {
    for (const Switch& hint : switches) info.set(hint.key, hints.*hint.value ? "true" : "false");
    for (const Word& hint : words) info.set(hint.key, hints.*hint.value);
    info.set(alignment_key, std::to_string(hints.alignment));
}

}  // namespace heddle::objects
