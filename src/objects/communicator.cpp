// SPDX-License-Identifier: BSD-3-Clause
#include "objects/communicator.hpp"

#include <atomic>
#include <new>

#include "objects/process.hpp"

namespace heddle::objects {
namespace {

struct Hint {
    const char* key;
    bool Hints::*value;
};
constexpr Hint hints[] = {
    {"mpi_assert_no_any_tag", &Hints::no_any_tag},
    {"mpi_assert_no_any_source", &Hints::no_any_source},
    {"mpi_assert_exact_length", &Hints::exact_length},
    {"mpi_assert_allow_overtaking", &Hints::allow_overtaking},
};

}  // namespace

Communicator& make_communicator(Process& process, const Communicator& parent, std::uint32_t context,
                                Group& group) {
    Communicator* communicator = Process::make(process.communicators, core::Kind::communicator);
    if (communicator == nullptr) throw std::bad_alloc();
    communicator->context = context;
    communicator->group = &group;
    communicator->rank = group.rank;
    communicator->peers = group.size();
    communicator->processes = group.processes.data();
    communicator->hints = {};
    communicator->handle = reinterpret_cast<MPI_Comm>(communicator);
    communicator->collectives = 0;
    std::lock_guard guard(process.set_up);
    communicator->errhandler = parent.errhandler;
    communicator->errhandler->retain();
    return *communicator;
}

void drop(Process& process, Communicator& communicator) noexcept {
    if (!communicator.release_reference()) return;
    drop(process, *communicator.group);
    drop(process, *communicator.errhandler);
    communicator.group = nullptr;
    communicator.errhandler = nullptr;
    communicator.name.clear();
    communicator.attributes.clear();
    communicator.buffer.reset();
    communicator.topology.reset();
    Process::destroy(process.communicators, communicator);
}

void close_handle(Process& process, Communicator& communicator) noexcept {
    communicator.kind.store(core::Kind::none, relaxed);
    drop(process, communicator);
}

void apply_hints(Communicator& communicator, const Info& info) {
    std::lock_guard guard(info_lock());
    for (const Hint& hint : hints) {
        const auto value = info.get(hint.key);
        if (!value || (*value != "true" && *value != "false")) continue;
        std::atomic_ref<bool>(communicator.hints.*hint.value).store(*value == "true", relaxed);
    }
}

void report_hints(const Communicator& communicator, Info& info) {
    for (const Hint& hint : hints)
        info.set(hint.key, communicator.hints.*hint.value ? "true" : "false");
}

}  // namespace heddle::objects
