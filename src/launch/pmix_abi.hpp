// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The part of the binary interface of PMIx that is needed. Libraries of versions 3 to 6 share it
/// (PMIx standard 4.1, chapters 3 to 7).

#include <cstddef>
#include <cstdint>

namespace heddle::launch::pmix {

inline constexpr int success = 0;
inline constexpr int lost_connection = -61;
inline constexpr std::uint32_t of_all_ranks = 0xffff'fffe;
inline constexpr std::uint8_t to_all = 3;  ///< scope of a value: ranks of this node and of others

/// Types of values.
enum Type : std::uint16_t { boolean = 1, string = 3, uint32 = 14 };

struct Process {
    char name_space[256];
    std::uint32_t rank;
};

struct Value {
    std::uint16_t type;
    union {
        bool flag;
        char* text;
        std::uint32_t number;
        std::uint64_t largest[3];
    } data;
};
static_assert(sizeof(Value) == 32);

struct Info {
    char key[512];
    std::uint32_t flags;
    Value value;
};
static_assert(sizeof(Info) == 552);

using Reported = void (*)(int status, Info* results, std::size_t count, void* done, void* with_done,
                          void* data);
using Handler = void (*)(std::size_t id, int status, const Process* source, Info* info,
                         std::size_t count, Info* results, std::size_t results_count, Reported next,
                         void* data);

/// The value stays the library's.
using Answered = void (*)(int status, Value* value, void* data);

/// The functions, as PMIx_NAME.
struct Functions {
    int (*Init)(Process*, Info*, std::size_t);
    int (*Finalize)(const Info*, std::size_t);
    int (*Abort)(int, const char*, Process*, std::size_t);
    int (*Put)(std::uint8_t, const char*, Value*);
    int (*Commit)();
    int (*Fence)(const Process*, std::size_t, const Info*, std::size_t);
    int (*Get_nb)(const Process*, const char*, const Info*, std::size_t, Answered, void* data);
    int (*Register_event_handler)(int*, std::size_t, Info*, std::size_t, Handler, void*, void*);
    const char* (*Error_string)(int);
};

}  // namespace heddle::launch::pmix
