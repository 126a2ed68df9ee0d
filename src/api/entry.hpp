// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Entry points: one line each.
///
///   MPI_ENTRY_C(7, Isend, heddle::p2p::isend)
///
/// defines PMPI_Isend and its weak alias MPI_Isend with the parameters that mpi.h declares, and
/// (with _C) the large-count forms. The implementation takes the calling thread and arguments of
/// the kinds in api/arguments.hpp, as many as the MPI function has:
///
///   int isend(core::Thread&, Buffer, Count, Type, Dest, SendTag, Comm, Out<MPI_Request>);
///
/// Each kind looks its argument up and checks it. The first wrong one fails the call by the error
/// handler in force, which gets call, argument, communicator and rank. The implementation returns
/// an MPI error code, which it got from objects::fail() if it is not MPI_SUCCESS. A wrong number of
/// arguments does not compile.
///
/// Exceptions of ours become errors here. Those that leave functions of the program pass through
/// (objects/callback.hpp).

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "api/arguments.hpp"
#include "mpi.h"
#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "platform/sanitizers.hpp"
#include "sync/locks/sections.hpp"

namespace heddle::api {

/// Returns the process of the calling thread, or that of the program. Returns nullptr before there
/// is one.
inline objects::Process* process_here() noexcept {
    return objects::current_thread != nullptr ? objects::current_thread->process
                                              : objects::process_of_program();
}

/// Returns the calling thread if its process is alive, else nullptr. Attaches the thread if need
/// be.
[[gnu::cold]] core::Thread* enter_first(const char* call);
/// Fails `call`, for which enter_first() had no thread.
[[gnu::cold]] int refuse_outside(const char* call);

/// The section of a call. It exists under the recipe with one critical section for a whole call;
/// also if a race detector watches the program. No thread is current_thread between calls then, so
/// that each call comes here. Other calls pay nothing for the question.
class CallSection {
public:
    /// The section is false as a value if there was no thread for another reason.
    explicit CallSection(std::string_view call) noexcept;
    ~CallSection();
    CallSection(const CallSection&) = delete;
    CallSection& operator=(const CallSection&) = delete;
    explicit operator bool() const noexcept { return thread_ != nullptr; }

private:
    platform::LibraryCode library_code_;
    core::Thread* thread_;
    sync::locks::InSection section_;
};
template <class Again>
[[gnu::cold, gnu::noinline]] int call_from_outside(const char* name, Again again) {
    const CallSection section(name);
    return section ? again() : refuse_outside(name);
}
[[gnu::cold]] int refuse(core::Thread& thread, const objects::ErrorScope& scope, int error_class,
                         const char* argument, const std::string& detail);
/// The exception of code off the short path that finds a call's buffer where no memory can be.
struct NoBuffer {
    NoBuffer(objects::Communicator& of, const void* buffer) noexcept
        : communicator(of), address(buffer) {}
    objects::Communicator& communicator;
    const void* address;
};
/// Fails the call because of an exception that has been caught, or throws it again if it is the
/// program's.
[[gnu::cold]] int caught(core::Thread& thread, const objects::ErrorScope& scope = nullptr);

[[gnu::always_inline]] inline core::Thread* enter(const char* call) {
    core::Thread* thread = objects::current_thread;
    if (thread == nullptr ||
        thread->process->life.load(relaxed) != objects::Process::Life::initialized) [[unlikely]]
        thread = enter_first(call);
    if (thread != nullptr) [[likely]]
        thread->call = call;
    return thread;
}

/// Takes the argument by value, so that right arguments never need an address.
template <class Kind>
[[gnu::cold, gnu::noinline]] int refuse(core::Thread& thread, objects::Communicator* communicator,
                                        int error_class, Kind argument) {
    return refuse(thread, communicator, error_class, Kind::name, argument.wrong(communicator));
}

template <class Kind>
concept Scoped = requires(const Kind& argument, core::Thread& thread) { argument.scope(thread); };
template <class... Kinds>
inline constexpr bool has_scope = (Scoped<Kinds> || ...);

/// Finds the session, window or file among the arguments, if there is one. Its scope() says that
/// errors are raised on it.
template <class Kind>
void find_scope(core::Thread& thread, const Kind& argument,
                std::optional<objects::ErrorScope>& found) {
    if constexpr (Scoped<Kind>)
        if (!found) found = argument.scope(thread);
}
template <class... Kinds>
std::optional<objects::ErrorScope> scope_of(core::Thread& thread,
                                            const std::tuple<Kinds...>& arguments) {
    std::optional<objects::ErrorScope> found;
    std::apply([&](const Kinds&... argument) { (find_scope(thread, argument, found), ...); },
               arguments);
    return found;
}

/// Refuses the i-th argument: on the object that scope_of() finds, or else on the communicator.
template <std::size_t i, class... Kinds>
[[gnu::always_inline]] inline int refuse_argument(core::Thread& thread,
                                                  const std::tuple<Kinds...>& arguments,
                                                  objects::Communicator* communicator,
                                                  int error_class) {
    if constexpr (has_scope<Kinds...>)
        if (const auto scope = scope_of(thread, arguments))
            return refuse(thread, *scope, error_class,
                          std::tuple_element_t<i, std::tuple<Kinds...>>::name,
                          std::get<i>(arguments).wrong(communicator));
    return refuse(thread, communicator, error_class, std::get<i>(arguments));
}

/// Fails the call because of an exception that has been caught.
template <class... Kinds>
[[gnu::cold]] int caught_with(core::Thread& thread, const std::tuple<Kinds...>& arguments) {
    if constexpr (has_scope<Kinds...>)
        if (const auto scope = scope_of(thread, arguments)) return caught(thread, *scope);
    return caught(thread);
}

/// Returns whether nothing is sent or received by the i-th argument, a datatype. Then the count
/// before it is 0, or the peer after it MPI_PROC_NULL. Returns false for a reduction, since the
/// operation must go with the datatype.
template <std::size_t i, class Arguments>
[[gnu::always_inline]] inline bool no_data_of(const Arguments& arguments) noexcept {
    bool none = false;
    if constexpr (i > 0)
        if constexpr (std::is_base_of_v<Count, std::tuple_element_t<i - 1, Arguments>>)
            none = std::get<i - 1>(arguments).value == 0;
    if constexpr (i + 1 < std::tuple_size_v<Arguments>) {
        const auto& next = std::get<i + 1>(arguments);
        if constexpr (requires { next.operation_of_reduction; })
            return false;
        else if constexpr (requires {
                               next.rank;
                               next.null();
                           })
            none = none || next.null();
    }
    return none;
}

/// Returns whether the i-th argument is an array of no elements. Then the number before it is 0,
/// with only arrays and places of results between them. Such an array may have any address; some
/// languages give empty arrays small ones.
template <std::size_t i, class Arguments>
inline bool is_empty_array(const Arguments& arguments) noexcept {
    if constexpr (i > 0) {
        const auto& before = std::get<i - 1>(arguments);
        if constexpr (requires { before.is_array; } || requires { before.place; })
            return is_empty_array<i - 1>(arguments);
        else if constexpr (requires {
                               { before.value } -> std::convertible_to<std::int64_t>;
                           })
            return before.value == 0;
    }
    return false;
}

/// Returns whether a wrong argument does not matter, and makes it right: no datatype if none is
/// needed, an address of nothing.
template <std::size_t i, class Arguments>
[[gnu::always_inline]] inline bool let_pass(Process& process, Arguments& arguments) noexcept {
    auto& argument = std::get<i>(arguments);
    if constexpr (requires { argument.is_array; }) return is_empty_array<i>(arguments);
    if constexpr (requires { argument.let_pass(process); }) {
        if (argument.object != nullptr || !no_data_of<i>(arguments)) return false;
        argument.let_pass(process);
        return true;
    }
    return false;
}

template <class Function>
struct Implementation;
template <class... Kinds>
struct Implementation<int (*)(core::Thread&, Kinds...)> {
    static constexpr std::size_t arity = sizeof...(Kinds);
    using Arguments = std::tuple<Kinds...>;
};

/// Returns the communicator among the arguments, or that of the window among them, before the
/// others are checked. Returns nullptr if there is none.
template <class Arguments, std::size_t... i>
objects::Communicator* communicator_of(Arguments& arguments, std::index_sequence<i...>) noexcept {
    [[maybe_unused]] objects::Communicator* found = nullptr;
    (void)std::initializer_list<int>{([&] {
        using Kind = std::tuple_element_t<i, Arguments>;
        if constexpr (std::is_base_of_v<Comm, Kind>)
            if (found == nullptr) found = std::get<i>(arguments).object;
        if constexpr (requires { std::get<i>(arguments).window(); })
            if (std::get<i>(arguments).object != nullptr)
                found = std::get<i>(arguments).object->communicator;
        return 0;
    }())...};
    return found;
}

template <auto function, class... Raw>
[[gnu::always_inline]] inline int call(const char* name, Raw... raw) {
    using Callee = Implementation<decltype(function)>;
    static_assert(Callee::arity == sizeof...(Raw), "as many arguments as the MPI function has");
    using Arguments = typename Callee::Arguments;

    core::Thread* thread = enter(name);
    if (thread == nullptr) [[unlikely]]
        return call_from_outside(name, [name, raw...] { return call<function>(name, raw...); });
    return [&]<std::size_t... i>(std::index_sequence<i...> all) __attribute__((always_inline)) {
        Arguments arguments{std::tuple_element_t<i, Arguments>(*thread->process, raw)...};
        [[maybe_unused]] objects::Communicator* communicator = communicator_of(arguments, all);
        int error = MPI_SUCCESS;
        try {
            // The first wrong argument ends the fold with the result of refuse().
            const bool wrong =
                ((error = std::get<i>(arguments).error(communicator),
                  __builtin_expect(error != MPI_SUCCESS, 0) &&
                          !let_pass<i>(*thread->process, arguments)
                      ? (error = refuse_argument<i>(*thread, arguments, communicator, error), true)
                      : false) ||
                 ...);
            if (wrong) [[unlikely]]
                return error;
            return function(*thread, std::get<i>(arguments)...);
        } catch (...) {
            return caught_with(*thread, arguments);
        }
    }(std::index_sequence_for<Raw...>{});
}

/// The same for functions that may be called at any time, also before MPI_Init and after
/// MPI_Finalize. They take what they need to fail:
///
///   int info_create(Anytime&, Out<MPI_Info>);
struct Anytime {
    const char* call;
    core::Thread* thread;  ///< nullptr: the process is not alive, or does not know the thread
    platform::LibraryCode library_code;

    explicit Anytime(const char* name) noexcept;
    [[gnu::cold]] int fail(int error_class, const std::string& detail);
    [[gnu::cold]] int caught();  ///< as above
};

template <class... Kinds>
struct Implementation<int (*)(Anytime&, Kinds...)> {
    static constexpr std::size_t arity = sizeof...(Kinds);
    using Arguments = std::tuple<Kinds...>;
};

template <auto function, class... Raw>
int call_anytime(const char* name, Raw... raw) {
    using Callee = Implementation<decltype(function)>;
    static_assert(Callee::arity == sizeof...(Raw), "as many arguments as the MPI function has");
    using Arguments = typename Callee::Arguments;

    Anytime caller(name);
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
        Arguments arguments{std::tuple_element_t<i, Arguments>(caller, raw)...};
        int error = MPI_SUCCESS;
        try {
            const bool wrong =
                ((error = std::get<i>(arguments).error(nullptr),
                  error != MPI_SUCCESS &&
                      (error = caller.fail(
                           error,
                           "argument " + std::string(std::tuple_element_t<i, Arguments>::name) +
                               ": " + std::get<i>(arguments).wrong(nullptr)),
                       true)) ||
                 ...);
            if (wrong) return error;
            return function(caller, std::get<i>(arguments)...);
        } catch (...) {
            return caller.caught();
        }
    }(std::index_sequence_for<Raw...>{});
}

/// The i-th parameter type of an MPI function.
template <class Function, std::size_t i>
struct Parameter;
template <class Result, class... Parameters, std::size_t i>
struct Parameter<Result(Parameters...), i> {
    using type = std::tuple_element_t<i, std::tuple<Parameters...>>;
};

}  // namespace heddle::api

#define HEDDLE_P(function, i) typename ::heddle::api::Parameter<decltype(function), i>::type a##i
#define HEDDLE_PARAMETERS_1(f) HEDDLE_P(f, 0)
#define HEDDLE_PARAMETERS_2(f) HEDDLE_PARAMETERS_1(f), HEDDLE_P(f, 1)
#define HEDDLE_PARAMETERS_3(f) HEDDLE_PARAMETERS_2(f), HEDDLE_P(f, 2)
#define HEDDLE_PARAMETERS_4(f) HEDDLE_PARAMETERS_3(f), HEDDLE_P(f, 3)
#define HEDDLE_PARAMETERS_5(f) HEDDLE_PARAMETERS_4(f), HEDDLE_P(f, 4)
#define HEDDLE_PARAMETERS_6(f) HEDDLE_PARAMETERS_5(f), HEDDLE_P(f, 5)
#define HEDDLE_PARAMETERS_7(f) HEDDLE_PARAMETERS_6(f), HEDDLE_P(f, 6)
#define HEDDLE_PARAMETERS_8(f) HEDDLE_PARAMETERS_7(f), HEDDLE_P(f, 7)
#define HEDDLE_PARAMETERS_9(f) HEDDLE_PARAMETERS_8(f), HEDDLE_P(f, 8)
#define HEDDLE_PARAMETERS_10(f) HEDDLE_PARAMETERS_9(f), HEDDLE_P(f, 9)
#define HEDDLE_PARAMETERS_11(f) HEDDLE_PARAMETERS_10(f), HEDDLE_P(f, 10)
#define HEDDLE_PARAMETERS_12(f) HEDDLE_PARAMETERS_11(f), HEDDLE_P(f, 11)
#define HEDDLE_PARAMETERS_13(f) HEDDLE_PARAMETERS_12(f), HEDDLE_P(f, 12)
#define HEDDLE_ARGUMENTS_1 a0
#define HEDDLE_ARGUMENTS_2 HEDDLE_ARGUMENTS_1, a1
#define HEDDLE_ARGUMENTS_3 HEDDLE_ARGUMENTS_2, a2
#define HEDDLE_ARGUMENTS_4 HEDDLE_ARGUMENTS_3, a3
#define HEDDLE_ARGUMENTS_5 HEDDLE_ARGUMENTS_4, a4
#define HEDDLE_ARGUMENTS_6 HEDDLE_ARGUMENTS_5, a5
#define HEDDLE_ARGUMENTS_7 HEDDLE_ARGUMENTS_6, a6
#define HEDDLE_ARGUMENTS_8 HEDDLE_ARGUMENTS_7, a7
#define HEDDLE_ARGUMENTS_9 HEDDLE_ARGUMENTS_8, a8
#define HEDDLE_ARGUMENTS_10 HEDDLE_ARGUMENTS_9, a9
#define HEDDLE_ARGUMENTS_11 HEDDLE_ARGUMENTS_10, a10
#define HEDDLE_ARGUMENTS_12 HEDDLE_ARGUMENTS_11, a11
#define HEDDLE_ARGUMENTS_13 HEDDLE_ARGUMENTS_12, a12

/// Defines MPI_X as a weak alias of PMPI_X, so that a tool may replace it.
#define HEDDLE_ALIAS(X) \
    extern "C" decltype(PMPI_##X) MPI_##X __attribute__((weak, alias("PMPI_" #X)));

#define MPI_ENTRY(arity, X, ...)                                                       \
    extern "C" int PMPI_##X(HEDDLE_PARAMETERS_##arity(PMPI_##X)) {                     \
        return ::heddle::api::call<&__VA_ARGS__>("MPI_" #X, HEDDLE_ARGUMENTS_##arity); \
    }                                                                                  \
    HEDDLE_ALIAS(X)

#define MPI_ENTRY_C(arity, X, ...)   \
    MPI_ENTRY(arity, X, __VA_ARGS__) \
    MPI_ENTRY(arity, X##_c, __VA_ARGS__)

/// `short_way` takes the long path, to be called without arguments, and then the call's arguments
/// as they are. It returns the call's result. Either it does the call by itself, without further
/// questions, or it calls the long path, out of line.
#define MPI_ENTRY_SHORT(arity, X, short_way, ...)                                                \
    [[gnu::noinline]] static int long_##X(HEDDLE_PARAMETERS_##arity(PMPI_##X)) {                 \
        return ::heddle::api::call<&__VA_ARGS__>("MPI_" #X, HEDDLE_ARGUMENTS_##arity);           \
    }                                                                                            \
    extern "C" int PMPI_##X(HEDDLE_PARAMETERS_##arity(PMPI_##X)) {                               \
        return short_way(                                                                        \
            [=]() __attribute__((always_inline)) { return long_##X(HEDDLE_ARGUMENTS_##arity); }, \
            HEDDLE_ARGUMENTS_##arity);                                                           \
    }                                                                                            \
    HEDDLE_ALIAS(X)

#define MPI_ENTRY_SHORT_C(arity, X, short_way, ...)   \
    MPI_ENTRY_SHORT(arity, X, short_way, __VA_ARGS__) \
    MPI_ENTRY_SHORT(arity, X##_c, short_way, __VA_ARGS__)

#define MPI_ENTRY_ANYTIME(arity, X, ...)                                                       \
    extern "C" int PMPI_##X(HEDDLE_PARAMETERS_##arity(PMPI_##X)) {                             \
        return ::heddle::api::call_anytime<&__VA_ARGS__>("MPI_" #X, HEDDLE_ARGUMENTS_##arity); \
    }                                                                                          \
    HEDDLE_ALIAS(X)

/// Defines a function without parameters.
#define MPI_ENTRY_0(X, ...)                                                                \
    extern "C" int PMPI_##X(void) { return ::heddle::api::call<&__VA_ARGS__>("MPI_" #X); } \
    HEDDLE_ALIAS(X)
