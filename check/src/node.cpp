// SPDX-License-Identifier: BSD-3-Clause
#include "node.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <numeric>
#include <optional>
#include <vector>

#include "checks.hpp"
#include "findings.hpp"
#include "spin_lock.hpp"

namespace heddle::check {

namespace {

constexpr std::uint32_t buckets = 1 << 14, records = 1 << 16, most_modules = 256,
                        findings = 1 << 13, most_ranks = 4096;
constexpr std::uint32_t records_at_once = 64;  ///< number of records that a rank takes at once

struct Memory {
    std::uint64_t token;  ///< first, where mpiexec puts it
    std::atomic<std::uint32_t> left,
        unused;  ///< number of ranks that have left; records that were never taken
    SpinLock modules_guard;
    std::atomic<std::uint32_t> number_of_modules;
    std::array<std::array<char, 512>, most_modules> paths;
    std::array<std::atomic<std::uint64_t>, findings> told;
    /// By rank in MPI_COMM_WORLD. Only the first process of a rank uses them.
    std::array<std::atomic<bool>, most_ranks> lost, without_records, taken;
    std::array<std::atomic<std::uint32_t>, most_ranks>
        returned;  ///< lists of records, by place on the node
    struct alignas(64) Head {
        SpinLock guard;
        std::uint32_t first, last;
    };
    std::array<Head, buckets> heads;
    std::array<Record, records> all;  ///< the first is none
};

Memory* memory = nullptr;
bool is_given = false;  ///< mpiexec has made the memory
Node node;
std::vector<int> places;  ///< by rank in MPI_COMM_WORLD
std::vector<int> ranks;   ///< in MPI_COMM_WORLD, by place
int own_place = 0;
SentMessages sent_messages;
std::mutex free_guard;
std::uint32_t free_list = 0;

std::uint64_t random_number() {
    std::uint64_t value = 0;
    return ::getrandom(&value, sizeof value, 0) == sizeof value ? value : 0;
}

/// Returns the size of the memory. Messages come after the rest.
std::size_t bytes(int ranks_here) noexcept {
    return sizeof(Memory) + SentMessages::bytes(ranks_here);
}

Memory* map(int file, std::size_t length) {
    void* const address = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return address == MAP_FAILED ? nullptr : static_cast<Memory*>(address);
}

/// The address of a file of memory in another process.
struct Address {
    long long pid, file;
    std::uint64_t token;
};

/// Maps the memory, or returns nullptr.
Memory* open_at(const Address& address, std::size_t length) {
    const std::string path =
        "/proc/" + std::to_string(address.pid) + "/fd/" + std::to_string(address.file);
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    // All processes that find it grow it to the same size.
    Memory* found = file >= 0 && ::lseek(file, 0, SEEK_END) <= static_cast<off_t>(length) &&
            ::ftruncate(file, static_cast<off_t>(length)) == 0
        ? map(file, length)
        : nullptr;
    if (file >= 0) ::close(file);
    // The process with this number may be another one.
    if (found != nullptr && found->token != address.token) {
        ::munmap(found, length);
        found = nullptr;
    }
    return found;
}

/// Memory that mpiexec has made for the ranks that it starts. All of these are on this machine
/// (cmd/mpiexec/checker.hpp).
struct Given {
    Address address;
    int ranks;
};
/// Takes the variable out of the environment, so that programs started by this process do not
/// inherit it.
std::optional<Given> take_given() {
    constexpr const char* variable = "HEDDLE_CHECK_MEMORY";
    const char* text = std::getenv(variable);
    Given given{};
    unsigned long long token = 0;
    const int read = text == nullptr ? 0
                                     : std::sscanf(text, "%lld:%lld:%d:%llx", &given.address.pid,
                                                   &given.address.file, &given.ranks, &token);
    ::unsetenv(variable);
    if (read != 4) return {};
    given.address.token = token;
    return given;
}

/// Shares memory: the first rank makes it, the others open it by its number in /proc. Returns
/// nullptr if that is not possible.
Memory* share(MPI_Comm comm, int ranks_here) {
    const std::size_t length = bytes(ranks_here);
    Address address{::getpid(), -1, random_number()};
    int file = -1;
    Memory* found = nullptr;
    if (own_place == 0) {
        file = ::memfd_create("heddle-check", MFD_CLOEXEC);
        if (file >= 0 && ::ftruncate(file, static_cast<off_t>(length)) == 0)
            found = map(file, length);
        if (found != nullptr) found->token = address.token;
        address.file = file;
    }
    library().Bcast(&address, sizeof address, MPI_BYTE, 0, comm);
    if (own_place != 0 && address.file >= 0) found = open_at(address, length);
    int all = found != nullptr ? 1 : 0;
    library().Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm);
    if (file >= 0) ::close(file);
    return all == 1 ? found : nullptr;
}

void find_places(MPI_Comm comm, int ranks_here, int size) {
    MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
    library().Comm_group(MPI_COMM_WORLD, &world);
    library().Comm_group(comm, &group);
    std::vector<int> local(static_cast<std::size_t>(ranks_here));
    for (std::size_t i = 0; i < local.size(); ++i) local[i] = static_cast<int>(i);
    ranks.resize(local.size());
    library().Group_translate_ranks(group, ranks_here, local.data(), world, ranks.data());
    places.assign(static_cast<std::size_t>(size), -1);
    for (std::size_t i = 0; i < ranks.size(); ++i)
        places[static_cast<std::size_t>(ranks[i])] = static_cast<int>(i);
    library().Group_free(&group);
    library().Group_free(&world);
}

/// Uses the given memory. All ranks know their places, and none waits for another one. A rank that
/// cannot map the memory is checked on its own, and announces nothing to the others.
Memory* use(const Given& given, int rank) {
    own_place = rank;
    places.resize(static_cast<std::size_t>(given.ranks));
    std::iota(places.begin(), places.end(), 0);
    ranks = places;
    if (given.ranks > static_cast<int>(most_ranks)) return nullptr;
    Memory* const found = open_at(given.address, bytes(given.ranks));
    return found != nullptr && !found->taken[static_cast<std::size_t>(rank)].exchange(true)
        ? found
        : nullptr;
}

}  // namespace

void Node::join() {
    int rank = 0, size = 0;
    library().Comm_rank(MPI_COMM_WORLD, &rank);
    library().Comm_size(MPI_COMM_WORLD, &size);
    const std::optional<Given> given = take_given();
    if (!given || given->ranks != size) return meet(size);
    is_given = true;
    memory = use(*given, rank);
    if (memory != nullptr) return sent_messages.attach(memory + 1, size, rank);
    note("this rank cannot reach the memory of the others: it is checked by itself");
}

void Node::meet(int size) {
    MPI_Comm comm = MPI_COMM_NULL;
    if (library().Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm) !=
        MPI_SUCCESS)
        return;
    int ranks_here = 0;
    library().Comm_rank(comm, &own_place);
    library().Comm_size(comm, &ranks_here);
    find_places(comm, ranks_here, size);
    Memory* const shared = size <= static_cast<int>(most_ranks) ? share(comm, ranks_here) : nullptr;
    library().Comm_free(&comm);
    if (shared != nullptr) sent_messages.attach(shared + 1, ranks_here, own_place);
    memory = shared;
    if (shared == nullptr && own_place == 0)
        note("ranks of this machine cannot share memory: each one is checked by itself");
}

bool Node::has_joined(int world_rank) noexcept {
    return !is_given ||
        (memory != nullptr && memory->taken[static_cast<std::size_t>(world_rank)].load());
}

Node* Node::get() noexcept { return memory == nullptr ? nullptr : &node; }

int Node::place_of(int world_rank) const noexcept {
    return static_cast<std::size_t>(world_rank) < places.size()
        ? places[static_cast<std::size_t>(world_rank)]
        : -1;
}
int Node::rank_at(int place) const noexcept { return ranks[static_cast<std::size_t>(place)]; }
SentMessages& Node::messages() noexcept { return sent_messages; }

bool Node::is_new(std::uint64_t finding) noexcept {
    if (finding == 0) finding = 1;
    for (std::uint32_t i = 0; i < findings; ++i) {
        std::atomic<std::uint64_t>& entry = memory->told[(finding + i) % findings];
        std::uint64_t before = 0;
        if (entry.compare_exchange_strong(before, finding)) return true;
        if (before == finding) return false;
    }
    return true;
}

std::uint32_t Node::module(const char* path) noexcept {
    const std::lock_guard<SpinLock> held(memory->modules_guard);
    const std::uint32_t number = memory->number_of_modules.load();
    for (std::uint32_t i = 0; i < number; ++i)
        if (std::strncmp(memory->paths[i].data(), path, memory->paths[i].size() - 1) == 0) return i;
    if (number == most_modules) return most_modules - 1;
    std::strncpy(memory->paths[number].data(), path, memory->paths[number].size() - 1);
    memory->number_of_modules.store(number + 1);
    return number;
}
std::string Node::module(std::uint32_t number) const {
    return number < most_modules ? memory->paths[number].data() : "";
}

void Node::lose_sight_of(int world_rank) noexcept {
    if (place_of(world_rank) >= 0) memory->lost[static_cast<std::size_t>(world_rank)] = true;
}
bool Node::is_lost(int world_rank) const noexcept {
    return place_of(world_rank) < 0 || memory->lost[static_cast<std::size_t>(world_rank)];
}
void Node::lose_records_of(int world_rank) noexcept {
    lose_sight_of(world_rank);
    memory->without_records[static_cast<std::size_t>(world_rank)] = true;
}
bool Node::has_all_records(int world_rank) const noexcept {
    return !memory->without_records[static_cast<std::size_t>(world_rank)].load(
        std::memory_order_relaxed);
}
bool Node::leave() noexcept { return memory->left.fetch_add(1) + 1 == ranks.size(); }

std::uint32_t Node::index_of(const Record& record) const noexcept {
    return static_cast<std::uint32_t>(&record - memory->all.data());
}
Record& Node::at(std::uint32_t index) noexcept { return memory->all[index]; }

std::uint32_t Node::take() noexcept {
    const std::lock_guard held(free_guard);
    if (free_list == 0)
        free_list = memory->returned[static_cast<std::size_t>(own_place)].exchange(
            0, std::memory_order_acquire);
    if (free_list == 0) {
        if (memory->unused.load() + records_at_once + 1 > records) return 0;
        const std::uint32_t first = memory->unused.fetch_add(records_at_once) + 1;
        if (first + records_at_once > records) return 0;
        for (std::uint32_t i = 0; i < records_at_once; ++i)
            at(first + i).next = i + 1 < records_at_once ? first + i + 1 : 0;
        free_list = first;
    }
    const std::uint32_t index = free_list;
    free_list = at(index).next;
    return index;
}

void Node::give(std::uint32_t index) noexcept {
    Record& record = at(index);
    if (record.owner == static_cast<std::uint32_t>(own_place)) {
        const std::lock_guard held(free_guard);
        record.next = free_list;
        free_list = index;
        return;
    }
    auto& list = memory->returned[record.owner];
    record.next = list.load(std::memory_order_relaxed);
    while (!list.compare_exchange_weak(record.next, index, std::memory_order_release,
                                       std::memory_order_relaxed)) {}
}

Bucket::Bucket(Node& of, const Key& key) noexcept : node_(of), key_(key) {
    std::uint64_t hash =
        (key.communicator ^ static_cast<std::uint64_t>(key.sort)) * 0x9e3779b97f4a7c15;
    hash = (hash ^ (hash >> 29) ^ key.first) * 0xbf58476d1ce4e5b9;
    hash = (hash ^ (hash >> 32) ^ key.second) * 0x94d049bb133111eb;
    number_ = static_cast<std::uint32_t>(hash >> 32) % buckets;
    memory->heads[number_].guard.lock();
}
Bucket::~Bucket() { memory->heads[number_].guard.unlock(); }

Record* Bucket::find(const Record* after) const noexcept {
    for (std::uint32_t index = after == nullptr ? memory->heads[number_].first : after->next;
         index != 0; index = node_.at(index).next)
        if (node_.at(index).key == key_) return &node_.at(index);
    return nullptr;
}

Record* Bucket::add() noexcept {
    const std::uint32_t index = node_.take();
    if (index == 0) return nullptr;
    Record& record = node_.at(index);
    record = Record{};
    record.key = key_;
    record.owner = static_cast<std::uint32_t>(own_place);
    Memory::Head& head = memory->heads[number_];
    (head.first == 0 ? head.first : node_.at(head.last).next) = index;
    head.last = index;
    return &record;
}

void Bucket::remove(Record& record) noexcept {
    const std::uint32_t index = node_.index_of(record);
    Memory::Head& head = memory->heads[number_];
    std::uint32_t before = 0;
    for (std::uint32_t at = head.first; at != index; at = node_.at(at).next) {
        if (at == 0) return;
        before = at;
    }
    (before == 0 ? head.first : node_.at(before).next) = record.next;
    if (head.last == index) head.last = before;
    node_.give(index);
}

}  // namespace heddle::check
