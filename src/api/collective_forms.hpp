// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The three forms of a collective call, made of one function: it checks the arguments, except for
/// the communicator, and writes the schedule.
///
///   int bcast(const Site&, BcastBuffer, Count, Type, Root);
///   HEDDLE_COLLECTIVE_C(5, Bcast, 6, Ibcast, 7, Bcast_init, bcast)
///
/// `bcast` is also the name in coll::Collective.

#include "api/collective_site.hpp"
#include "api/entry.hpp"
#include "api/messages.hpp"
#include "api/object_arguments.hpp"
#include "coll/execution.hpp"
#include "coll/inter.hpp"
#include "coll/run.hpp"

namespace heddle::api {

/// Hands out the request, as the last step of calls that do not wait.
int hand_out_collective(Thread& thread, std::unique_ptr<coll::Execution> execution,
                        MPI_Request& handle);
int hand_out_persistent(Thread& thread, std::unique_ptr<coll::Execution> execution,
                        MPI_Request& handle);

template <coll::Collective what, auto plan, class = decltype(plan)>
struct Forms;

template <coll::Collective what, auto plan, class... Kinds>
struct Forms<what, plan, int (*)(const Site&, Kinds...)> {
    static int blocking(Thread& thread, Kinds... arguments, Comm comm) {
        coll::Schedule schedule(thread, *comm, tag_of(what, *thread.engine, *comm));
        coll::Numbered numbered(thread, *comm);
        if (const int error = write(thread, schedule, arguments...)) return error;
        numbered.begin();
        return coll::run(thread, schedule);
    }
    static int nonblocking(Thread& thread, Kinds... arguments, Comm comm,
                           Out<MPI_Request> request) {
        auto execution = std::make_unique<coll::Execution>(thread, *comm);
        if (const int error = write(thread, execution->schedule, arguments...)) return error;
        return hand_out_collective(thread, std::move(execution), *request);
    }
    /// Makes a persistent request. Hints have no effect yet.
    static int persistent(Thread& thread, Kinds... arguments, Comm comm, Hints,
                          Out<MPI_Request> request) {
        auto execution = std::make_unique<coll::Execution>(thread, *comm);
        if (const int error = write(thread, execution->schedule, arguments...)) return error;
        return hand_out_persistent(thread, std::move(execution), *request);
    }

private:
    static int write(Thread& thread, coll::Schedule& schedule, Kinds... arguments) {
        const Site site(thread, schedule);
        if (site.inter()) [[unlikely]]
            schedule.local = &objects::local_communicator(*thread.process, site.communicator);
        const int error = plan(site, arguments...);
        schedule.finish();
        return error;
    }
};

}  // namespace heddle::api

#define HEDDLE_FORMS(plan) ::heddle::api::Forms<::heddle::coll::Collective::plan, plan>

/// Arity and name of each form, and the function behind them.
#define HEDDLE_COLLECTIVE(a1, X, a2, IX, a3, X_init, plan) \
    MPI_ENTRY(a1, X, HEDDLE_FORMS(plan)::blocking)         \
    MPI_ENTRY(a2, IX, HEDDLE_FORMS(plan)::nonblocking)     \
    MPI_ENTRY(a3, X_init, HEDDLE_FORMS(plan)::persistent)
#define HEDDLE_COLLECTIVE_C(a1, X, a2, IX, a3, X_init, plan) \
    HEDDLE_COLLECTIVE(a1, X, a2, IX, a3, X_init, plan)       \
    HEDDLE_COLLECTIVE(a1, X##_c, a2, IX##_c, a3, X_init##_c, plan)
