// SPDX-License-Identifier: BSD-3-Clause
/// The tool interface: its life, enumerations and categories (MPI 5.0, 15.3.4, 15.3.5 and 15.3.9).

#include "api/mpit.hpp"

#include <cstring>

#include "tool/counters.hpp"
#include "tool/events.hpp"
#include "tool/knobs.hpp"

namespace heddle::api::mpit {

Interface& interface() noexcept {
    // Never destroyed: it may be called until the program ends.
    static Interface& all = *new Interface;
    return all;
}

Process* process() noexcept {
    return objects::current_thread != nullptr ? objects::current_thread->process
                                              : objects::process_of_program();
}

void give_text(std::string_view text, char* place, int* length) noexcept {
    if (length == nullptr) return;
    if (place != nullptr && *length > 0) {
        const std::size_t copied = text.copy(place, static_cast<std::size_t>(*length) - 1);
        place[copied] = '\0';
    }
    *length = static_cast<int>(text.size()) + 1;
}

namespace {

int init_thread(int required, int* provided) noexcept {
    if (!is_memory(provided)) return MPI_T_ERR_INVALID;
    Interface& all = interface();
    std::lock_guard guard(all.lock);
    all.users.fetch_add(1, relaxed);
    // Every call is safe with threads, independently of the requested level.
    *provided = MPI_THREAD_MULTIPLE;
    for (const int level : {MPI_THREAD_SERIALIZED, MPI_THREAD_FUNNELED, MPI_THREAD_SINGLE})
        if (required <= level) *provided = level;
    return MPI_SUCCESS;
}

int finalize() noexcept {
    {
        Interface& all = interface();
        std::lock_guard guard(all.lock);
        if (all.users.load(relaxed) == 0) return MPI_T_ERR_NOT_INITIALIZED;
        if (all.users.fetch_sub(1, relaxed) > 1) return MPI_SUCCESS;
        drop_cvar_handles();
        drop_pvar_sessions();
    }
    drop_registrations();
    return MPI_SUCCESS;
}

// --- enumerations: each knob with choices is one ---

const tool::Knob* find_enum(MPI_T_enum handle) {
    for (const tool::Knob& knob : tool::knob_table())
        if (&knob == reinterpret_cast<const tool::Knob*>(handle) && !knob.choices().empty())
            return &knob;
    return nullptr;
}

int enum_get_info(MPI_T_enum handle, int* num, char* name, int* name_len) {
    const tool::Knob* knob = find_enum(handle);
    if (knob == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    if (wrong_length(name_len)) return MPI_T_ERR_INVALID;
    give(num, knob->choices().size());
    give_text(knob->name, name, name_len);
    return MPI_SUCCESS;
}

int enum_get_item(MPI_T_enum handle, int item, int* value, char* name, int* name_len) {
    const tool::Knob* knob = find_enum(handle);
    if (knob == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    if (!is_index(item, knob->choices().size())) return MPI_T_ERR_INVALID_INDEX;
    if (wrong_length(name_len)) return MPI_T_ERR_INVALID;
    give(value, item);
    give_text(knob->choices()[static_cast<std::size_t>(item)], name, name_len);
    return MPI_SUCCESS;
}

// --- categories: number 0 contains all the others ---

constexpr tool::CategoryInfo everything{"heddle", "All of Heddle"};

std::size_t category_count() noexcept { return tool::category_table().size() + 1; }
const tool::CategoryInfo& category(std::size_t index) noexcept {
    return index == 0 ? everything : tool::category_table()[index - 1];
}
bool belongs(tool::Category category, int index) noexcept {
    return static_cast<int>(category) + 1 == index;
}

/// Calls `function` with the index of each line of `table` that belongs to the category.
template <class Table, class Function>
void for_each_in(const Table& table, int index, Function&& function) {
    for (std::size_t i = 0; i < table.size(); ++i)
        if (belongs(table[i].category, index)) function(static_cast<int>(i));
}
template <class Table>
int count_in(const Table& table, int index) {
    int count = 0;
    for_each_in(table, index, [&](int) { ++count; });
    return count;
}

/// Lists the first `room` lines of `table` that belong to the category.
template <class Table>
int list_in(const Table& table, int index, int room, int* indices) {
    if (!is_index(index, category_count())) return MPI_T_ERR_INVALID_INDEX;
    if (room < 0 || (room > 0 && indices == nullptr)) return MPI_T_ERR_INVALID;
    int next = 0;
    for_each_in(table, index, [&](int line) {
        if (next < room) indices[next++] = line;
    });
    return MPI_SUCCESS;
}

int category_get_num(int* num) {
    if (num == nullptr) return MPI_T_ERR_INVALID;
    *num = static_cast<int>(category_count());
    return MPI_SUCCESS;
}

int category_get_info(int index, char* name, int* name_len, char* desc, int* desc_len,
                      int* num_cvars, int* num_pvars, int* num_categories) {
    if (!is_index(index, category_count())) return MPI_T_ERR_INVALID_INDEX;
    if (wrong_length(name_len) || wrong_length(desc_len)) return MPI_T_ERR_INVALID;
    const tool::CategoryInfo& found = category(static_cast<std::size_t>(index));
    give_text(found.name, name, name_len);
    give_text(found.doc, desc, desc_len);
    give(num_cvars, count_in(tool::knob_table(), index));
    give(num_pvars, count_in(tool::counter_table(), index));
    give(num_categories, index == 0 ? category_count() - 1 : 0);
    return MPI_SUCCESS;
}

int category_get_index(const char* name, int* index) {
    if (name == nullptr || index == nullptr) return MPI_T_ERR_INVALID;
    for (std::size_t i = 0; i < category_count(); ++i) {
        if (std::strcmp(category(i).name, name) != 0) continue;
        *index = static_cast<int>(i);
        return MPI_SUCCESS;
    }
    return MPI_T_ERR_INVALID_NAME;
}

int category_get_cvars(int index, int room, int* indices) {
    return list_in(tool::knob_table(), index, room, indices);
}

int category_get_pvars(int index, int room, int* indices) {
    return list_in(tool::counter_table(), index, room, indices);
}

int category_get_categories(int index, int room, int* indices) {
    if (!is_index(index, category_count())) return MPI_T_ERR_INVALID_INDEX;
    if (room < 0 || (room > 0 && indices == nullptr)) return MPI_T_ERR_INVALID;
    if (index != 0) return MPI_SUCCESS;
    for (int i = 0; i < room && i + 1 < static_cast<int>(category_count()); ++i) indices[i] = i + 1;
    return MPI_SUCCESS;
}

int category_get_num_events(int index, int* num) {
    if (!is_index(index, category_count())) return MPI_T_ERR_INVALID_INDEX;
    if (num == nullptr) return MPI_T_ERR_INVALID;
    *num = count_in(tool::event_table(), index);
    return MPI_SUCCESS;
}

int category_get_events(int index, int room, int* indices) {
    return list_in(tool::event_table(), index, room, indices);
}

/// Returns a constant, since categories never change.
int category_changed(int* update_number) {
    if (update_number == nullptr) return MPI_T_ERR_INVALID;
    *update_number = 0;
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api::mpit

using namespace heddle::api::mpit;

extern "C" int PMPI_T_init_thread(int required, int* provided) {
    return init_thread(required, provided);
}
HEDDLE_ALIAS(T_init_thread)
extern "C" int PMPI_T_finalize(void) { return heddle::api::mpit::finalize(); }
HEDDLE_ALIAS(T_finalize)

MPIT_ENTRY(4, enum_get_info, enum_get_info)
MPIT_ENTRY(5, enum_get_item, enum_get_item)
MPIT_ENTRY(1, category_get_num, category_get_num)
MPIT_ENTRY(8, category_get_info, category_get_info)
MPIT_ENTRY(2, category_get_index, category_get_index)
MPIT_ENTRY(3, category_get_cvars, category_get_cvars)
MPIT_ENTRY(3, category_get_pvars, category_get_pvars)
MPIT_ENTRY(3, category_get_categories, category_get_categories)
MPIT_ENTRY(2, category_get_num_events, category_get_num_events)
MPIT_ENTRY(3, category_get_events, category_get_events)
MPIT_ENTRY(1, category_changed, category_changed)
