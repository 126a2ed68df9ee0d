// SPDX-License-Identifier: BSD-3-Clause
#include "core/arena.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace heddle::core {
namespace {

struct Thing {
    Thing* next = nullptr;
    std::size_t value = 0;
    std::string text;  // has a destructor
};

constexpr std::size_t most = 100'000;

std::vector<Thing*> take_all(Arena<Thing>& arena) {
    std::vector<Thing*> all;
    while (Thing* thing = arena.take()) {
        thing->value = all.size();
        all.push_back(thing);
    }
    return all;
}

TEST(Arena, objects_keep_their_place_and_number_while_it_grows) {
    Arena<Thing> arena(most);
    const std::vector<Thing*> all = take_all(arena);
    ASSERT_EQ(all.size(), most);
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i]->value, i);
        EXPECT_TRUE(arena.contains(all[i]));
        EXPECT_EQ(arena.numbered(arena.number_of(all[i])), all[i]);
        EXPECT_LT(arena.number_of(all[i]), first_number + most);
    }
    std::size_t places = 0;
    while (arena.at_place(places) != nullptr) ++places;
    EXPECT_EQ(places, all.size());
    EXPECT_EQ(arena.numbered(first_number + most), nullptr);
    EXPECT_EQ(arena.numbered(first_number - 1), nullptr);
}

TEST(Arena, lower_halves_of_addresses_are_numbers_of_its_objects_alone) {
    Arena<Thing> arena(most, small_chunk, Numbers::lower_halves);
    EXPECT_FALSE(arena.contains(&arena));
    const Thing other;
    arena.leave_out(&other);
    const std::vector<Thing*> all = take_all(arena);
    ASSERT_EQ(all.size(), most);
    EXPECT_EQ(arena.numbered(lower_half(&other)), nullptr);
    std::set<std::uint32_t> numbers;
    for (Thing* thing : all) {
        const std::uint32_t number = arena.number_of(thing);
        EXPECT_EQ(number, lower_half(thing));
        EXPECT_GE(number, first_number);
        EXPECT_EQ(arena.numbered(number), thing);
        EXPECT_EQ(arena.numbered(number + 8), nullptr);
        numbers.insert(number);
    }
    EXPECT_EQ(numbers.size(), most);
    for (std::uint32_t number = 0; number < first_number; ++number)
        EXPECT_EQ(arena.numbered(number), nullptr);
}

TEST(Arena, knows_its_objects_from_other_addresses) {
    Arena<Thing> arena(most);
    const std::vector<Thing*> all = take_all(arena);
    const Thing elsewhere;
    EXPECT_FALSE(arena.contains(&elsewhere));
    EXPECT_FALSE(arena.contains(nullptr));
    for (std::size_t i = 0; i < all.size(); i += 997)
        EXPECT_FALSE(arena.contains(reinterpret_cast<const char*>(all[i]) + 8));
}

TEST(Arena, reserves_little_at_first_and_at_most_twice_what_is_used) {
    Arena<Thing> arena(std::size_t{1} << 26);
    EXPECT_LE(arena.reserved(), small_chunk);
    for (std::size_t taken = 0; taken < most; ++taken) ASSERT_NE(arena.take(), nullptr);
    EXPECT_LE(arena.reserved(), 2 * most * sizeof(Thing) + small_chunk);
}

TEST(Arena, gives_chunks_back_that_nobody_uses) {
    Arena<Thing> arena(most);
    std::vector<Thing*> all = take_all(arena);
    Thing* kept = all[most / 2];
    kept->text = "a text that is too long to lie in the object itself";
    for (Thing* thing : all)
        if (thing != kept) {
            thing->next = nullptr;
            arena.give(thing);
        }
    const std::size_t full = arena.reserved();
    arena.trim();
    EXPECT_LT(arena.reserved(), full);
    EXPECT_TRUE(arena.contains(kept));
    EXPECT_EQ(kept->text, "a text that is too long to lie in the object itself");
    EXPECT_FALSE(arena.contains(all.front()));
    EXPECT_FALSE(arena.contains(all.back()));
    // Everything but the kept object can be taken again, once.
    all = take_all(arena);
    EXPECT_EQ(all.size(), most - 1);
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
    EXPECT_TRUE(std::find(all.begin(), all.end(), kept) == all.end());
}

TEST(Arena, an_arena_that_nobody_uses_keeps_its_first_chunk) {
    Arena<Thing> arena(most);
    for (Thing* thing : take_all(arena)) {
        thing->next = nullptr;
        arena.give(thing);
    }
    arena.trim();
    EXPECT_LE(arena.reserved(), small_chunk);
    EXPECT_EQ(take_all(arena).size(), most);
}

/// Runs `body` in a process that may add so many bytes of address space.
int with_address_space(std::size_t more, int (*body)()) {
    const pid_t child = fork();
    if (child == 0) {
        long pages = 0;
        if (FILE* file = std::fopen("/proc/self/statm", "r")) {
            if (std::fscanf(file, "%ld", &pages) != 1) pages = 0;
            std::fclose(file);
        }
        const rlim_t bytes = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE)) + more;
        const rlimit limit{bytes, bytes};
        setrlimit(RLIMIT_AS, &limit);
        _exit(body());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Arena, uses_what_address_space_there_is) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer takes what it needs of the same address space";
#endif
    constexpr std::size_t room = std::size_t{100} << 20;
    const auto fill = [] {
        static Arena<Thing> arena(std::size_t{1} << 26, large_chunk);
        while (arena.take() != nullptr) {}
        return arena.reserved() > room * 8 / 10 ? 0 : 1;
    };
    EXPECT_EQ(with_address_space(room, fill), 0);
}

}  // namespace
}  // namespace heddle::core
