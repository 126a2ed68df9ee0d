// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Names of threads that are the library's although they never call MPI: reports about a job that hangs do not count them
/// among the program's.

#include <pthread.h>

#include <string_view>

namespace heddle::launch {

inline constexpr const char* hang_up_thread = "heddle-hang-up";
inline constexpr const char* launcher_thread =
    "heddle-launcher";  ///< of the launcher's own library

inline bool is_of_library(std::string_view name) noexcept {
    return name == hang_up_thread || name == launcher_thread;
}

/// Names the threads that are started while this lives, which inherit the name of the one that starts them.
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
