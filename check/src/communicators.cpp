// SPDX-License-Identifier: BSD-3-Clause
#include "communicators.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <shared_mutex>
#include <unordered_map>

#include "checks.hpp"
#include "findings.hpp"
#include "node.hpp"

namespace heddle::check {

namespace {

/// All communicators. They are never destroyed: threads of the program may call MPI to the end.
struct Comms {
    std::shared_mutex guard;
    std::unordered_map<MPI_Comm, std::shared_ptr<Comm>> known;
    std::atomic<std::uint64_t> changes{1};
};
Comms& comms() {
    static Comms& all = *new Comms;
    return all;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    return hash ^ (hash >> 29);
}

/// Frees the group. Returns nothing if any of its processes is of another job.
std::vector<int> world_ranks(MPI_Group group) {
    MPI_Group all = MPI_GROUP_NULL;
    int size = 0;
    library().Comm_group(MPI_COMM_WORLD, &all);
    library().Group_size(group, &size);
    std::vector<int> own(static_cast<std::size_t>(size)), found(own.size(), -1);
    for (int i = 0; i < size; ++i) own[static_cast<std::size_t>(i)] = i;
    library().Group_translate_ranks(group, size, own.data(), all, found.data());
    library().Group_free(&group);
    library().Group_free(&all);
    for (const int rank : found)
        if (rank < 0) return {};
    return found;
}

std::uint64_t hash_of_ranks(const std::vector<int>& ranks) {
    std::uint64_t hash = ranks.size();
    for (const int rank : ranks) hash = mix(hash, static_cast<std::uint64_t>(rank));
    return hash;
}

/// Mixes two numbers. Their order does not matter.
std::uint64_t mix_both(std::uint64_t one, std::uint64_t other) noexcept {
    return mix(std::min(one, other), std::max(one, other));
}

using Inquiry = int (*)(MPI_Comm, MPI_Group*);
std::vector<int> members(MPI_Comm comm, Inquiry inquiry) {
    MPI_Group group = MPI_GROUP_NULL;
    inquiry(comm, &group);
    return world_ranks(group);
}

int number_here(const std::vector<int>& ranks) {
    return static_cast<int>(std::count_if(ranks.begin(), ranks.end(),
                                          [](int rank) { return Node::get()->is_here(rank); }));
}

bool have_joined(const std::vector<int>& ranks) {
    return std::all_of(ranks.begin(), ranks.end(), Node::has_joined);
}

/// Finds the members. Returns false if not all are ranks of MPI_COMM_WORLD.
bool find_members(Comm& comm) {
    const std::vector<int> own = members(comm.handle, library().Comm_group);
    comm.world = comm.inter ? members(comm.handle, library().Comm_remote_group) : own;
    if (own.empty() || comm.world.empty() ||
        (comm.inter && !(have_joined(own) && have_joined(comm.world)))) {
        comm.world.clear();
        return false;
    }
    comm.members =
        comm.inter ? mix_both(hash_of_ranks(own), hash_of_ranks(comm.world)) : hash_of_ranks(own);
    if (Node::get() == nullptr) return true;
    for (const int rank : comm.world) comm.places.push_back(Node::get()->place_of(rank));
    comm.here = number_here(own) + (comm.inter ? number_here(comm.world) : 0);
    comm.id = 1;
    return true;
}

std::shared_ptr<Comm> make(MPI_Comm handle) {
    auto made = std::make_shared<Comm>();
    made->handle = handle;
    int inter = 0;
    library().Comm_test_inter(handle, &inter);
    made->inter = inter != 0;
    library().Comm_rank(handle, &made->rank);
    library().Comm_size(handle, &made->size);
    return made;
}

void keep(const std::shared_ptr<Comm>& comm) {
    std::unique_lock held(comms().guard);
    comms().known[comm->handle] = comm;
    ++comms().changes;
}

/// Keeps a communicator for ever, so that its users are not counted.
void keep_for_ever(const std::shared_ptr<Comm>& comm) {
    const auto& kept = *new std::shared_ptr<Comm>(comm);
    keep({std::shared_ptr<Comm>(), kept.get()});
}

}  // namespace

const std::shared_ptr<Comm>& comm_of(MPI_Comm comm) {
    struct Entry {
        MPI_Comm comm;
        std::uint64_t changes;
        const std::shared_ptr<Comm>* found;
    };
    static const std::shared_ptr<Comm> none_such;
    thread_local std::array<Entry, 4> last{};
    const std::uint64_t changes = comms().changes.load(std::memory_order_acquire);
    Entry& entry = last[(reinterpret_cast<std::uintptr_t>(comm) >> 6) % last.size()];
    if (entry.comm == comm && entry.changes == changes) return *entry.found;
    std::shared_lock held(comms().guard);
    // A question to the library about a wrong handle would end the program here already.
    const auto found = comms().known.find(comm);
    entry = {comm, changes, found == comms().known.end() ? &none_such : &found->second};
    return *entry.found;
}

void first_communicators() {
    const auto world = make(MPI_COMM_WORLD), self = make(MPI_COMM_SELF);
    for (const auto& comm : {world, self})
        if (Node::get() != nullptr) find_members(*comm);
    if (self->id != 0) self->id = mix(2, static_cast<std::uint64_t>(world->rank));
    keep_for_ever(world);
    keep_for_ever(self);
}

void new_communicator(MPI_Comm of, int tag, MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) {
        if (const auto& parent = comm_of(of); parent != nullptr && tag == in_order)
            ++parent->children;
        return;
    }
    const auto parent = comm_of(of);
    const auto made = make(comm);
    if (parent != nullptr && parent->id != 0) find_members(*made);
    std::uint64_t before = 0;
    if (parent != nullptr && tag == in_order) before = parent->children++;
    if (made->id != 0) {
        if (tag != in_order) {
            const std::lock_guard<std::mutex> held(parent->guard);
            before = parent->groups[{made->members, tag}]++;
        }
        made->id =
            mix(mix(mix(parent->id, made->members), before), static_cast<std::uint64_t>(tag)) | 4;
    }
    keep(made);
}

/// Numbers an intercommunicator. Each side sends the other its own number. If processes have
/// another MPI_COMM_WORLD, or none, all members see that, and nothing is sent.
void new_intercommunicator(MPI_Comm local, MPI_Comm comm) {
    const auto& side = comm_of(local);
    std::uint64_t own = 0, other = 0;
    if (side != nullptr) own = mix(side->id, side->children++);
    if (comm == MPI_COMM_NULL || comm_of(MPI_COMM_WORLD) == nullptr) return;
    const auto made = make(comm);
    if (find_members(*made)) {
        if (side == nullptr || side->id == 0) own = 0;
        library().Allreduce(&own, &other, 1, MPI_UINT64_T, MPI_MAX, comm);
    }
    made->id =
        made->id == 0 || own == 0 || other == 0 ? 0 : mix(mix_both(own, other), made->members) | 4;
    keep(made);
}

void forget_communicator(MPI_Comm comm) {
    if (reinterpret_cast<std::uintptr_t>(comm) < 4096) return;
    std::unique_lock held(comms().guard);
    comms().known.erase(comm);
    ++comms().changes;
}

void promised(MPI_Comm comm, MPI_Info info) {
    const auto found = comm_of(comm);
    if (found == nullptr || info == MPI_INFO_NULL) return;
    const auto says = [info](const char* key) {
        char value[8] = "";
        int length = sizeof value, flag = 0;
        return library().Info_get_string(info, key, &length, value, &flag) == MPI_SUCCESS &&
            flag != 0 && std::strcmp(value, "true") == 0;
    };
    if (says("mpi_assert_no_any_source")) found->no_any_source = true;
    if (says("mpi_assert_no_any_tag")) found->no_any_tag = true;
    if (says("mpi_assert_exact_length")) found->exact_length = true;
}

std::string words(const Comm& comm) {
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    if (comm.handle == MPI_COMM_WORLD) return "MPI_COMM_WORLD";
    if (comm.handle == MPI_COMM_SELF) return "MPI_COMM_SELF";
    if (library().Comm_get_name(comm.handle, name, &length) == MPI_SUCCESS && length > 0)
        return "'" + std::string(name) + "'";
    return "a communicator of " + std::to_string(comm.size) + " ranks";
}

}  // namespace heddle::check
