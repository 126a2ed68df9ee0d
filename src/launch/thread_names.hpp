// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Names of threads that are the library's although they never call MPI. Reports about a job that
/// hangs do not count them among the program's.

#include <pthread.h>

#include <string_view>

namespace heddle::launch {

inline constexpr const char* hang_up_thread = "heddle-hang-up";
/// The thread of the launcher's own library.
inline constexpr const char* launcher_thread = "heddle-launcher";

inline bool is_of_library(std::string_view name) noexcept {
    return name == hang_up_thread || name == launcher_thread;
}

/// Names threads that are started while the object lives: they inherit the name of the thread that
/// starts them.
class NamedChildren {
public:
    explicit NamedChildren(const char* name) noexcept {
        if (pthread_getname_np(pthread_self(), before_, sizeof before_) != 0) before_[0] = '\0';
        pthread_setname_np(pthread_self(), name);
    }
    ~NamedChildren() {
        if (before_[0] != '\0') pthread_setname_np(pthread_self(), before_);
    }
    NamedChildren(const NamedChildren&) = delete;
    NamedChildren& operator=(const NamedChildren&) = delete;

private:
    char before_[16]{};
};

}  // namespace heddle::launch
