// SPDX-License-Identifier: BSD-3-Clause
/// Info objects (MPI 5.0, 10). All of these may be called before MPI_Init and after MPI_Finalize.

#include <algorithm>
#include <cstring>

#include "api/entry.hpp"
#include "api/object_arguments.hpp"

namespace heddle::api {
namespace {

struct Key : Text {
    static constexpr const char* name = "key";
    using Text::Text;
    int error(const Communicator*) const noexcept {
        return !is_memory(value) || *value == '\0' || std::strlen(value) >= MPI_MAX_INFO_KEY
            ? MPI_ERR_INFO_KEY
            : MPI_SUCCESS;
    }
    std::string wrong(const Communicator*) const {
        if (!is_memory(value)) return no_memory(value);
        if (*value == '\0') return "an empty key";
        return "a key of " + std::to_string(std::strlen(value)) + " characters, when " +
            std::to_string(MPI_MAX_INFO_KEY - 1) + " are the most";
    }
};

struct Value : Text {
    static constexpr const char* name = "value";
    using Text::Text;
    int error(const Communicator*) const noexcept {
        return !is_memory(value) || std::strlen(value) >= MPI_MAX_INFO_VAL ? MPI_ERR_INFO_VALUE
                                                                           : MPI_SUCCESS;
    }
    std::string wrong(const Communicator*) const {
        if (!is_memory(value)) return no_memory(value);
        return "a value of " + std::to_string(std::strlen(value)) + " characters, when " +
            std::to_string(MPI_MAX_INFO_VAL - 1) + " are the most";
    }
};

int read_only(Anytime& caller) {
    return caller.fail(MPI_ERR_INFO, "argument info: MPI_INFO_ENV cannot be changed");
}

int create_info(Anytime&, Out<MPI_Info> result) {
    *result = objects::handle_of(objects::make_info());
    return MPI_SUCCESS;
}

int create_env(Anytime&, Raw<int> argc, Array<char*> argv, Out<MPI_Info> result) {
    std::vector<std::string> arguments;
    for (int i = 0; argv.value != nullptr && i < argc.value && argv.value[i] != nullptr; ++i)
        arguments.emplace_back(argv.value[i]);
    objects::Info& info = objects::make_info();
    objects::describe_environment(info, arguments);
    *result = objects::handle_of(info);
    return MPI_SUCCESS;
}

int duplicate_info(Anytime&, Info info, Out<MPI_Info> result) {
    objects::Info& copy = objects::make_info();
    std::lock_guard guard(objects::info_lock());
    copy.entries = info->entries;
    *result = objects::handle_of(copy);
    return MPI_SUCCESS;
}

int release(Anytime& caller, InOut<MPI_Info> handle) {
    const Info info(caller, *handle);
    if (info.object == nullptr)
        return caller.fail(MPI_ERR_INFO, "argument info: " + info.wrong(nullptr));
    if (*handle == MPI_INFO_ENV) return read_only(caller);
    objects::free_info(*info);
    *handle = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

int set_value(Anytime& caller, Raw<MPI_Info> handle, Key key, Value value) {
    const Info info(caller, handle.value);
    if (info.object == nullptr)
        return caller.fail(MPI_ERR_INFO, "argument info: " + info.wrong(nullptr));
    if (handle.value == MPI_INFO_ENV) return read_only(caller);
    std::lock_guard guard(objects::info_lock());
    info->set(key.value, value.value);
    return MPI_SUCCESS;
}

int erase(Anytime& caller, Raw<MPI_Info> handle, Key key) {
    const Info info(caller, handle.value);
    if (info.object == nullptr)
        return caller.fail(MPI_ERR_INFO, "argument info: " + info.wrong(nullptr));
    if (handle.value == MPI_INFO_ENV) return read_only(caller);
    bool erased = false;
    {
        std::lock_guard guard(objects::info_lock());
        erased = info->erase(key.value);
    }
    if (erased) return MPI_SUCCESS;
    return caller.fail(MPI_ERR_INFO_NOKEY,
                       "argument key: there is no \"" + std::string(key.value) + "\"");
}

/// Returns a copy of the value, since the lock is not held while the caller looks at it.
std::optional<std::string> entry_of(const objects::Info& info, const char* key) {
    std::lock_guard guard(objects::info_lock());
    const auto value = info.get(key);
    return value ? std::optional<std::string>(*value) : std::nullopt;
}

int get_value(Anytime& caller, Info info, Key key, Raw<int> room, Array<char> place,
              Out<int> flag) {
    if (room.value < 0) return caller.fail(MPI_ERR_ARG, "argument valuelen: negative");
    if (place.value == nullptr) return caller.fail(MPI_ERR_ARG, "argument value: a null pointer");
    const auto value = entry_of(*info, key.value);
    *flag = value.has_value();
    if (value) write_text(*value, place.value, static_cast<std::size_t>(room.value) + 1);
    return MPI_SUCCESS;
}

int get_string(Anytime& caller, Info info, Key key, InOut<int> length, Array<char> place,
               Out<int> flag) {
    if (*length < 0) return caller.fail(MPI_ERR_ARG, "argument buflen: negative");
    const auto value = entry_of(*info, key.value);
    *flag = value.has_value();
    if (!value) return MPI_SUCCESS;
    if (*length > 0 && place.value == nullptr)
        return caller.fail(MPI_ERR_ARG, "argument value: a null pointer");
    if (*length > 0) write_text(*value, place.value, static_cast<std::size_t>(*length));
    *length = static_cast<int>(value->size()) + 1;
    return MPI_SUCCESS;
}

int get_valuelen(Anytime&, Info info, Key key, Out<int> length, Out<int> flag) {
    const auto value = entry_of(*info, key.value);
    *flag = value.has_value();
    if (value) *length = static_cast<int>(value->size());
    return MPI_SUCCESS;
}

int get_nkeys(Anytime&, Info info, Out<int> count) {
    std::lock_guard guard(objects::info_lock());
    *count = static_cast<int>(info->entries.size());
    return MPI_SUCCESS;
}

int get_nthkey(Anytime& caller, Info info, Raw<int> n, Out<char> place) {
    std::string key;
    {
        std::lock_guard guard(objects::info_lock());
        if (n.value >= 0 && static_cast<std::size_t>(n.value) < info->entries.size())
            key = info->entries[static_cast<std::size_t>(n.value)].first;
    }
    if (key.empty())  // no key is empty
        return caller.fail(MPI_ERR_ARG,
                           "argument n: there is no key number " + std::to_string(n.value));
    write_text(key, place.place, MPI_MAX_INFO_KEY);
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY_ANYTIME(1, Info_create, create_info)
MPI_ENTRY_ANYTIME(3, Info_create_env, create_env)
MPI_ENTRY_ANYTIME(2, Info_dup, duplicate_info)
MPI_ENTRY_ANYTIME(1, Info_free, release)
MPI_ENTRY_ANYTIME(3, Info_set, set_value)
MPI_ENTRY_ANYTIME(2, Info_delete, erase)
MPI_ENTRY_ANYTIME(5, Info_get, get_value)
MPI_ENTRY_ANYTIME(5, Info_get_string, get_string)
MPI_ENTRY_ANYTIME(4, Info_get_valuelen, get_valuelen)
MPI_ENTRY_ANYTIME(2, Info_get_nkeys, get_nkeys)
MPI_ENTRY_ANYTIME(3, Info_get_nthkey, get_nthkey)
