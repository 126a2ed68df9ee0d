// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Writes down what a thread tests for in vain (node::Tested), for reports about jobs that hang. A
/// thread in a loop of MPI_Test waits as one in MPI_Wait does, but never sleeps.
///
/// Cost           a look at the clock. A note is written at most once in `notice_after`.

#include "core/thread.hpp"
#include "node/board.hpp"
#include "progress/board.hpp"

namespace heddle::progress {

/// Returns true if the last note of the thread is old. The first tests of a thread need none.
bool is_note_due(core::Thread& thread, std::chrono::nanoseconds now) noexcept;
/// Writes the note. Writes nothing if memory has run out.
void publish_tested(core::Thread& thread, node::WaitsFor& what,
                    std::chrono::nanoseconds now) noexcept;

/// Is called now and then by a thread whose tests for the condition find nothing.
template <class Engine, class Condition>
void note_tests(Engine& engine, core::Thread& thread, const Condition& condition) noexcept {
    const std::chrono::nanoseconds now = sync::Native::now();
    if (!is_note_due(thread, now)) return;
    node::WaitsFor what{};
    condition.tell(thread, what);
    publish_tested(thread, what, now);
    if (engine.unexpected_notice().is_cheap()) engine.unexpected_notice().write(thread);
}

}  // namespace heddle::progress
