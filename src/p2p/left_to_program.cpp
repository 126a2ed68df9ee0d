// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/left_to_program.hpp"

namespace heddle::p2p {

void LeftToProgram::leave(core::Work& work) noexcept {
    work.next = first_.load(relaxed);
    while (!first_.compare_exchange_weak(work.next, &work, release, relaxed)) {
    }  // R1: pairs with A1
    tell();
}

void LeftToProgram::tell() noexcept {
    mailbox_.rung.fetch_or(1, seq_cst);  // the bit of any instance makes polls look at the mailbox
    mailbox_.bell.ring();
}

void LeftToProgram::run(core::Thread& thread) {
    ProgressCall call(thread);
    for (core::Work* work = first_.exchange(nullptr, acquire); work != nullptr;) {  // A1
        core::Work* const next = work->next;
        call.put_off(*work);
        work = next;
    }
    finish(call);
}

}  // namespace heddle::p2p
