// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The MPI library's counts about its locks: performance variables of MPI_T with Heddle's names. A
/// library without them counts nothing, and its result lines are shorter.
///
/// A path's efficiency is the number of productive operations for each acquisition of a lock.
/// Productive are creations, completions and releases of requests. It has no value on a path that
/// took no lock. Source: "Lock Contention Management in Multithreaded MPI", section 3.2.
///
/// Thread safety  read() while no other thread of the process is inside MPI: the numbers of
///                different counters then belong together.

#include <array>
#include <cstring>

#include "common.hpp"

namespace bench {

enum Counted : std::size_t {
    acquisitions_main,
    acquisitions_progress,
    contended,
    wait_ns,
    productive_main,
    productive_progress
};

/// The counts of one process, or the sums of several.
class LockCounts {
public:
    static constexpr std::size_t size = productive_progress + 1;

    double& operator[](Counted which) { return all_[which]; }
    double operator[](Counted which) const { return all_[which]; }
    double acquisitions() const { return all_[acquisitions_main] + all_[acquisitions_progress]; }

    /// Adds the counts between two readings.
    void add(const LockCounts& before, const LockCounts& after) {
        for (std::size_t i = 0; i < size; ++i) all_[i] += after.all_[i] - before.all_[i];
    }
    /// Adds up the counts of all processes of MPI_COMM_WORLD, in all of them.
    void sum_over_ranks() {
        MPI_Allreduce(MPI_IN_PLACE, all_.data(), size, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }

private:
    std::array<double, size> all_{};
};

/// The counters of this process, from MPI_Init until before MPI_Finalize.
class LockCounters {
public:
    LockCounters() {
        int level = 0;
        MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level);
        MPI_T_pvar_session_create(&session_);
        known_ = true;
        for (std::size_t i = 0; i < names.size(); ++i) known_ = known_ && open(i);
    }
    LockCounters(const LockCounters&) = delete;
    LockCounters& operator=(const LockCounters&) = delete;
    ~LockCounters() {
        MPI_T_pvar_session_free(&session_);
        MPI_T_finalize();
    }

    /// Returns whether the library has all of them; the same in all processes.
    bool known() const { return known_; }

    /// Returns the counts since MPI_Init, or zeros if the library has no counters.
    LockCounts read() const {
        LockCounts counts;
        for (std::size_t i = 0; known_ && i < names.size(); ++i) {
            unsigned long long value = 0;
            MPI_T_pvar_read(session_, handles_[i], &value);
            counts[static_cast<Counted>(i)] = static_cast<double>(value);
        }
        return counts;
    }

private:
    static constexpr std::array<const char*, LockCounts::size> names{
        // indexed by Counted
        "lock_acquisitions_main", "lock_acquisitions_progress", "lock_contended", "lock_wait",
        "productive_main",        "productive_progress"};

    /// Returns whether variable `index` is the counter. The name decides, since classes are the
    /// library's choice.
    static bool is(int index, const char* wanted, bool& runs_by_itself) {
        std::array<char, 256> name{};
        int length = name.size(), verbosity = 0, kind = 0, bind = 0, readonly = 0, continuous = 0;
        int atomic = 0, no_text = 0;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        if (MPI_T_pvar_get_info(index, name.data(), &length, &verbosity, &kind, &type, nullptr,
                                nullptr, &no_text, &bind, &readonly, &continuous,
                                &atomic) != MPI_SUCCESS)
            return false;
        runs_by_itself = continuous != 0;
        return std::strcmp(name.data(), wanted) == 0 && type == MPI_UNSIGNED_LONG_LONG &&
            bind == MPI_T_BIND_NO_OBJECT;
    }

    bool open(std::size_t which) {
        int variables = 0, count = 0;
        MPI_T_pvar_get_num(&variables);
        for (int i = 0; i < variables; ++i) {
            bool runs_by_itself = false;
            if (!is(i, names[which], runs_by_itself)) continue;
            if (MPI_T_pvar_handle_alloc(session_, i, nullptr, &handles_[which], &count) !=
                    MPI_SUCCESS ||
                count != 1)
                return false;
            if (!runs_by_itself) MPI_T_pvar_start(session_, handles_[which]);
            return true;
        }
        return false;
    }

    bool known_ = false;
    MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
    std::array<MPI_T_pvar_handle, LockCounts::size> handles_{};
};

/// Returns the ns that each thread of this process has waited for locks, by its number in the
/// library. Returns an empty list if the library does not count them. Call it while a LockCounters
/// lives and no other thread is inside MPI.
inline std::vector<unsigned long long> lock_waits() {
    int index = -1, count = 0;
    if (MPI_T_pvar_get_index("thread_lock_wait", MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS)
        return {};
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_pvar_session_create(&session);
    std::vector<unsigned long long> waits;
    // A new handle includes all threads that have come so far.
    if (MPI_T_pvar_handle_alloc(session, index, nullptr, &handle, &count) == MPI_SUCCESS) {
        waits.resize(static_cast<std::size_t>(count));
        MPI_T_pvar_read(session, handle, waits.data());
    }
    MPI_T_pvar_session_free(&session);
    return waits;
}

/// Returns ` key=value`, or nothing if `below` is zero.
inline std::string ratio_word(const char* key, double above, double below) {
    if (below <= 0) return {};
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), " %s=%.5g", key, above / below);
    return text.data();
}

/// Returns the words of a result line about both paths: efficiency, and acquisitions for each
/// message.
inline std::string path_words(const LockCounters& counters, const LockCounts& counts,
                              double messages) {
    if (!counters.known()) return {};
    return ratio_word("main_efficiency", counts[productive_main], counts[acquisitions_main]) +
        ratio_word("progress_efficiency", counts[productive_progress],
                   counts[acquisitions_progress]) +
        ratio_word("main_acquisitions", counts[acquisitions_main], messages) +
        ratio_word("progress_acquisitions", counts[acquisitions_progress], messages);
}

}  // namespace bench
