// SPDX-License-Identifier: BSD-3-Clause
/// Control variables: the knobs (MPI 5.0, 15.3.6).
///
/// A process takes its settings when MPI_Init starts it. So they can be written before that, and
/// not afterwards.

#include "api/mpit.hpp"
#include "tool/knobs.hpp"

namespace heddle::api::mpit {
namespace {

struct CvarHandle {
    const tool::Knob* knob;
};

Handles<CvarHandle>& handles() noexcept {
    static Handles<CvarHandle>& all = *new Handles<CvarHandle>;
    return all;
}

MPI_Datatype datatype_of(tool::KnobForm form) noexcept {
    switch (form) {
        case tool::KnobForm::number: return MPI_UNSIGNED_LONG_LONG;
        case tool::KnobForm::choice: return MPI_INT;
        default: return MPI_CHAR;
    }
}

int cvar_get_num(int* num) {
    if (num == nullptr) return MPI_T_ERR_INVALID;
    *num = static_cast<int>(tool::knob_table().size());
    return MPI_SUCCESS;
}

int cvar_get_info(int index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatype,
                  MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* scope) {
    if (!is_index(index, tool::knob_table().size())) return MPI_T_ERR_INVALID_INDEX;
    if (wrong_length(name_len) || wrong_length(desc_len)) return MPI_T_ERR_INVALID;
    const tool::Knob& knob = tool::knob_table()[static_cast<std::size_t>(index)];
    give_text(knob.name, name, name_len);
    give_text(knob.doc, desc, desc_len);
    give(verbosity, MPI_T_VERBOSITY_TUNER_BASIC);
    give(datatype, datatype_of(knob.form));
    if (enumtype != nullptr)
        *enumtype = knob.choices().empty()
            ? MPI_T_ENUM_NULL
            : reinterpret_cast<MPI_T_enum>(const_cast<tool::Knob*>(&knob));  // only for comparisons
    give(bind, MPI_T_BIND_NO_OBJECT);
    give(scope, MPI_T_SCOPE_LOCAL);
    return MPI_SUCCESS;
}

int cvar_get_index(const char* name, int* index) {
    return find_name(tool::knob_table(), name, index);
}

int cvar_handle_alloc(int index, void*, MPI_T_cvar_handle* handle, int* count) {
    if (!is_index(index, tool::knob_table().size())) return MPI_T_ERR_INVALID_INDEX;
    if (handle == nullptr || count == nullptr) return MPI_T_ERR_INVALID;
    const tool::Knob& knob = tool::knob_table()[static_cast<std::size_t>(index)];
    *handle = reinterpret_cast<MPI_T_cvar_handle>(&handles().add(&knob));
    *count = knob.form == tool::KnobForm::text ? static_cast<int>(tool::text_room) : 1;
    return MPI_SUCCESS;
}

int cvar_handle_free(MPI_T_cvar_handle* handle) {
    if (handle == nullptr) return MPI_T_ERR_INVALID;
    const CvarHandle* found = handles().find(*handle);
    if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    handles().erase(*found);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

int cvar_read(MPI_T_cvar_handle handle, void* place) {
    const CvarHandle* found = handles().find(handle);
    if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    if (place == nullptr) return MPI_T_ERR_INVALID;
    const Process* here = process();
    found->knob->load(here != nullptr ? here->settings : tool::settings_now(), place);
    return MPI_SUCCESS;
}

int cvar_write(MPI_T_cvar_handle handle, const void* value) {
    const CvarHandle* found = handles().find(handle);
    if (found == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    if (value == nullptr) return MPI_T_ERR_INVALID;
    if (process() != nullptr) return MPI_T_ERR_CVAR_SET_NOT_NOW;
    return tool::ask_for(*found->knob, value) ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

}  // namespace

void drop_cvar_handles() noexcept { handles().clear(); }

}  // namespace heddle::api::mpit

using namespace heddle::api::mpit;

MPIT_ENTRY(1, cvar_get_num, cvar_get_num)
MPIT_ENTRY(10, cvar_get_info, cvar_get_info)
MPIT_ENTRY(2, cvar_get_index, cvar_get_index)
MPIT_ENTRY(4, cvar_handle_alloc, cvar_handle_alloc)
MPIT_ENTRY(1, cvar_handle_free, cvar_handle_free)
MPIT_ENTRY(2, cvar_read, cvar_read)
MPIT_ENTRY(2, cvar_write, cvar_write)
