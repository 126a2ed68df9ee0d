// SPDX-License-Identifier: BSD-3-Clause
#include "objects/error_codes.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "mpi.h"
#include "objects/errors.hpp"

namespace heddle::objects {
namespace {

struct Code {
    int error_class;
    const char* text;
};

struct Registry {
    std::mutex lock;
    std::map<int, Code> codes;        ///< a class is also a code of itself
    std::deque<std::string> strings;  ///< all that ever were: a thread may be reading one
    int last_used = MPI_ERR_LASTCODE;

    int add(int error_class) {
        const int code = ++last_used;
        codes.emplace(code, Code{error_class == 0 ? code : error_class, ""});
        return code;
    }
};

/// Returns the registry, which is never destroyed: the program reads it until its end.
Registry& registry() noexcept {
    static Registry& all = *new Registry;
    return all;
}

}  // namespace

int add_error_class() noexcept {
    Registry& all = registry();
    std::lock_guard guard(all.lock);
    return all.add(0);
}

int add_error_code(int error_class) {
    if (class_of(error_class) != error_class) return 0;
    Registry& all = registry();
    std::lock_guard guard(all.lock);
    return all.add(error_class);
}

bool add_error_string(int code, const char* text) {
    Registry& all = registry();
    std::lock_guard guard(all.lock);
    const auto at = all.codes.find(code);
    if (at == all.codes.end()) return false;
    at->second.text = all.strings.emplace_back(text).c_str();
    return true;
}

int remove_error_class(int error_class) {
    Registry& all = registry();
    std::lock_guard guard(all.lock);
    const auto at = all.codes.find(error_class);
    if (at == all.codes.end() || at->second.error_class != error_class) return MPI_ERR_ARG;
    if (*at->second.text != '\0') return MPI_ERR_OTHER;
    for (const auto& [code, entry] : all.codes)
        if (code != error_class && entry.error_class == error_class) return MPI_ERR_OTHER;
    all.codes.erase(at);
    return MPI_SUCCESS;
}

int remove_error_code(int code) {
    Registry& all = registry();
    std::lock_guard guard(all.lock);
    const auto at = all.codes.find(code);
    if (at == all.codes.end() || at->second.error_class == code) return MPI_ERR_ARG;
    if (*at->second.text != '\0') return MPI_ERR_OTHER;
    all.codes.erase(at);
    return MPI_SUCCESS;
}

int remove_error_string(int code) {
    Registry& all = registry();
    std::lock_guard guard(all.lock);
    const auto at = all.codes.find(code);
    if (at == all.codes.end() || *at->second.text == '\0') return MPI_ERR_ARG;
    at->second.text = "";
    return MPI_SUCCESS;
}

int class_of(int code) {
    if (is_predefined_class(code)) return code;
    Registry& all = registry();
    std::lock_guard guard(all.lock);
    const auto at = all.codes.find(code);
    return at == all.codes.end() ? MPI_ERR_LASTCODE : at->second.error_class;
}

bool is_user_code(int code) {
    Registry& all = registry();
    std::lock_guard guard(all.lock);
    return all.codes.contains(code);
}

const char* user_text(int code) {
    Registry& all = registry();
    std::lock_guard guard(all.lock);
    const auto at = all.codes.find(code);
    return at == all.codes.end() ? "" : at->second.text;
}

int* last_used_code() noexcept { return &registry().last_used; }

}  // namespace heddle::objects
