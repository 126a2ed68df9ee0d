// SPDX-License-Identifier: BSD-3-Clause
/// A libpmix.so.2 for one rank whose server never answers an abort.

#include <cstring>
#include <unistd.h>

#include "launch/pmix_abi.hpp"

namespace pmix = heddle::launch::pmix;

extern "C" {

int PMIx_Init(pmix::Process* me, pmix::Info*, std::size_t) {
    std::strcpy(me->name_space, "alone");
    me->rank = 0;
    return pmix::success;
}
int PMIx_Finalize(const pmix::Info*, std::size_t) { return pmix::success; }
int PMIx_Abort(int, const char*, pmix::Process*, std::size_t) {
    for (;;) pause();
}
int PMIx_Put(std::uint8_t, const char*, pmix::Value*) { return pmix::success; }
int PMIx_Commit() { return pmix::success; }
int PMIx_Fence(const pmix::Process*, std::size_t, const pmix::Info*, std::size_t) {
    return pmix::success;
}
int PMIx_Get_nb(const pmix::Process*, const char* key, const pmix::Info*, std::size_t,
                pmix::Answered answered, void* data) {
    pmix::Value value{pmix::uint32, {}};
    value.data.number = std::strcmp(key, "pmix.job.size") == 0 ? 1 : 0;
    answered(pmix::success, &value, data);
    return pmix::success;
}
int PMIx_Register_event_handler(int*, std::size_t, pmix::Info*, std::size_t, pmix::Handler, void*,
                                void*) {
    return 0;
}
const char* PMIx_Error_string(int) { return "none"; }
}
