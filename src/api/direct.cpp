// SPDX-License-Identifier: BSD-3-Clause
/// Calls that faces hand on unconverted: the common part of both ABIs, and how a face gets the
/// functions.

#include "api/direct.hpp"

namespace heddle::api::direct {

constinit HeddleFace face{};

namespace {

/// A request and a status of the standard ABI that stand for those of another. The destructor
/// writes them to the latter, also after an exception of a function of the program.
template <class Abi>
class Standard {
public:
    Standard(Variable<Abi> variable, typename Abi::Status* status) noexcept
        : variable_(variable), to_(status) {}
    ~Standard() {
        if (request == MPI_REQUEST_NULL) set_null(variable_);
        if (is_wanted<Abi>(to_)) face.status_out(&written_, to_);
    }
    Standard(const Standard&) = delete;
    Standard& operator=(const Standard&) = delete;

    MPI_Status* status() noexcept {
        return is_wanted<Abi>(to_) ? heddle_blank(&written_) : MPI_STATUS_IGNORE;
    }
    MPI_Request request = nullptr;

private:
    Variable<Abi> variable_;
    typename Abi::Status* to_;
    MPI_Status written_{};
};

template <class Abi>
HeddleDirectCall* const* calls_of(const HeddleFace* given, HeddleFace** kept) noexcept {
#define HEDDLE_DIRECT_CALL(name) reinterpret_cast<HeddleDirectCall*>(&Calls<Abi>::name),
    static HeddleDirectCall* const table[] = {HEDDLE_DIRECT_CALLS(HEDDLE_DIRECT_CALL)};
#undef HEDDLE_DIRECT_CALL
    face = *given;
    *kept = &face;
    return table;
}

}  // namespace

#define COMPLETION(Abi)                                                                         \
    int complete_uncommon(Thread& thread, Variable<Abi> handle, Request& request,               \
                          Abi::Status* status) {                                                \
        Standard<Abi> standard(handle, status);                                                 \
        return api::complete_uncommon(thread, standard.request, request, standard.status());    \
    }                                                                                           \
    int complete(Thread& thread, Variable<Abi> handle, Request& request, Abi::Status* status) { \
        return complete_and_raise(thread, handle, request, status);                             \
    }
COMPLETION(Integers)
COMPLETION(Addresses)

}  // namespace heddle::api::direct

#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED HeddleDirectCallsOf heddle_integer_calls, heddle_address_calls;
HeddleDirectCall* const* heddle_integer_calls(const HeddleFace* face, HeddleFace** kept) {
    return heddle::api::direct::calls_of<heddle::api::direct::Integers>(face, kept);
}
HeddleDirectCall* const* heddle_address_calls(const HeddleFace* face, HeddleFace** kept) {
    return heddle::api::direct::calls_of<heddle::api::direct::Addresses>(face, kept);
}
