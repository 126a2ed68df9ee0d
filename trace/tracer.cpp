// SPDX-License-Identifier: BSD-3-Clause
#include "tracer.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "clocks.hpp"
#include "pending.hpp"
#include "platform/cpu.hpp"

namespace heddle::trace {

bool on = false;

namespace {

using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;

constexpr std::uint64_t renew_clocks = 512;  ///< records between two readings of the clocks

/// Set when the program cancels a request, which few programs do.
std::atomic<bool> cancels{false};

/// The ring for threads that have none of their own. It is never read.
Ring* nowhere = nullptr;

// ---- the process ----

class Process {
public:
    /// Opens the file. Returns false if that fails, after printing why.
    bool open(const char* folder) noexcept;
    File& file() noexcept { return *file_; }
    Ring* take_ring() noexcept;
    std::uint16_t site(const void* address) noexcept;
    /// Returns the object's number, or 0 if it is unknown.
    std::uint16_t object(std::uint64_t handle) noexcept;
    void add(std::uint64_t handle, ObjectKind kind, std::span<const std::int32_t> members,
             std::span<const std::int32_t> all, std::int32_t rank, const char* name) noexcept;
    void forget(std::uint64_t handle) noexcept;
    std::atomic<std::uint32_t>& collectives(std::uint16_t object) noexcept {
        return collectives_[object];
    }
    /// Returns the count of the messages of a stream, or nullptr if memory has run out.
    std::atomic<std::uint32_t>* stream(std::uint64_t high, std::uint64_t low) noexcept;
    std::uint32_t epoch() const noexcept { return epoch_.load(memory_order_acquire); }

    PendingTable pending;

private:
    static constexpr std::size_t most_streams = 1 << 20;
    struct Key {
        std::uint64_t high, low;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const noexcept {
            return static_cast<std::size_t>(mix(key.high + mix(key.low)));
        }
    };

    File* file_ = nullptr;
    std::mutex lock_;
    std::uint32_t rings_ = 0;
    std::unordered_map<std::uint64_t, std::uint16_t> objects_;
    std::unordered_map<std::uint64_t, std::uint32_t> made_;  ///< number of objects with the same
                                                             ///< members
    std::unordered_map<Key, std::atomic<std::uint32_t>, Hash> streams_;
    std::array<std::atomic<std::uint32_t>, most_objects> collectives_{};
    std::atomic<std::uint32_t> epoch_{0};  ///< changes when a handle is forgotten
};

/// The process. The first call makes it, and it is never destroyed: threads may call MPI until the
/// process is gone.
constinit Process* only_process = nullptr;
Process& process() noexcept { return *only_process; }

bool Process::open(const char* folder) noexcept {
    std::array<char, sizeof File::host> host{};
    ::gethostname(host.data(), host.size() - 1);
    const std::string path =
        std::string(folder) + "/" + host.data() + "." + std::to_string(::getpid()) + file_ending;
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    void* memory = MAP_FAILED;
    if (fd >= 0 && ::ftruncate(fd, sizeof(File)) == 0)
        memory = ::mmap(nullptr, sizeof(File), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) ::close(fd);
    void* const discarded = ::mmap(nullptr, sizeof(Ring), PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || discarded == MAP_FAILED) {
        std::fprintf(stderr, "heddle: events are not kept: %s: %s\n", path.c_str(),
                     std::strerror(errno));
        return false;
    }
    nowhere = new (discarded) Ring;
    file_ = static_cast<File*>(memory);
    file_->pid = static_cast<std::uint32_t>(::getpid());
    file_->rank = no_rank;
    std::memcpy(file_->host, host.data(), sizeof file_->host);
    std::snprintf(file_->program, sizeof file_->program, "%s", program_invocation_short_name);
    measure_clock(*file_);
    file_->objects_used.store(1, memory_order_release);
    file_->sites_used.store(1, memory_order_release);
    file_->magic = file_magic;
    return true;
}

Ring* Process::take_ring() noexcept {
    const std::lock_guard guard(lock_);
    if (rings_ == most_rings) {
        file_->threads_without_ring.fetch_add(1, memory_order_relaxed);
        return nowhere;
    }
    Ring& ring = file_->rings[rings_++];
    // Takes the memory now, not by a fault for each page while events are measured.
    constexpr int populate_for_writing = 23;
    ::madvise(ring.records, sizeof ring.records, populate_for_writing);
    FILE* const comm = std::fopen("/proc/thread-self/comm", "re");
    if (comm != nullptr) {
        if (std::fgets(ring.name, sizeof ring.name, comm) != nullptr)
            ring.name[std::strcspn(ring.name, "\n")] = '\0';
        std::fclose(comm);
    }
    ring.thread = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    return &ring;
}

std::uint16_t Process::site(const void* address) noexcept {
    // The call lies before its return address.
    const std::uintptr_t within = reinterpret_cast<std::uintptr_t>(address) - 1;
    Dl_info info{};
    link_map* map = nullptr;
    if (::dladdr1(reinterpret_cast<void*>(within), &info, reinterpret_cast<void**>(&map),
                  RTLD_DL_LINKMAP) == 0 ||
        map == nullptr)
        return 0;
    const std::uint64_t offset = within - map->l_addr;
    std::string_view name = map->l_name;
    std::array<char, sizeof Site::file> own{};
    if (name.empty()) {
        const ssize_t length = ::readlink("/proc/self/exe", own.data(), own.size() - 1);
        name = {own.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
    }
    if (name.size() >= sizeof Site::file) name.remove_prefix(name.size() - sizeof Site::file + 1);
    const std::lock_guard guard(lock_);
    const std::uint32_t used = file_->sites_used.load(memory_order_relaxed);
    for (std::uint32_t i = 1; i < used; ++i)
        if (file_->sites[i].offset == offset && name == file_->sites[i].file)
            return static_cast<std::uint16_t>(i);
    if (used == most_sites) return 0;
    Site& site = file_->sites[used];
    site.offset = offset;
    std::memcpy(site.file, name.data(), name.size());
    file_->sites_used.store(used + 1, memory_order_release);
    return static_cast<std::uint16_t>(used);
}

std::uint16_t Process::object(std::uint64_t handle) noexcept {
    const std::lock_guard guard(lock_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? 0 : found->second;
}

void Process::add(std::uint64_t handle, ObjectKind kind, std::span<const std::int32_t> members,
                  std::span<const std::int32_t> all, std::int32_t rank, const char* name) noexcept
    try {
    const std::lock_guard guard(lock_);
    const std::uint32_t used = file_->objects_used.load(memory_order_relaxed);
    const std::uint32_t first = file_->members_used.load(memory_order_relaxed);
    if (used == most_objects || first + members.size() > most_members) return;
    // All members make objects with the same members in the same order. So they compute the same
    // identity.
    std::uint64_t identity = static_cast<std::uint64_t>(kind);
    for (const std::int32_t member : all)
        identity = mix(identity + static_cast<std::uint32_t>(member) + 1);
    identity = mix(identity + made_[identity]++);
    Object& object = file_->objects[used];
    object.identity = identity;
    object.kind = kind;
    object.first_member = first;
    object.size = static_cast<std::uint32_t>(members.size());
    object.rank = rank;
    std::snprintf(object.name, sizeof object.name, "%s", name);
    std::copy(members.begin(), members.end(), file_->members + first);
    file_->members_used.store(first + object.size, memory_order_relaxed);
    file_->objects_used.store(used + 1, memory_order_release);
    objects_[handle] = static_cast<std::uint16_t>(used);
    epoch_.fetch_add(1, memory_order_release);
} catch (const std::bad_alloc&) {
    return;  // its calls belong to no object
}

void Process::forget(std::uint64_t handle) noexcept {
    const std::lock_guard guard(lock_);
    objects_.erase(handle);
    epoch_.fetch_add(1, memory_order_release);
}

std::atomic<std::uint32_t>* Process::stream(std::uint64_t high, std::uint64_t low) noexcept try {
    const std::lock_guard guard(lock_);
    if (const auto found = streams_.find({high, low}); found != streams_.end())
        return &found->second;
    return streams_.size() < most_streams ? &streams_[{high, low}] : nullptr;
} catch (const std::bad_alloc&) {
    return nullptr;
}

// ---- a thread ----

/// The recent look-ups of a thread.
struct Recent {
    Ring* ring = nullptr;
    std::uint64_t ring_number = 0;  ///< bits 40 and above
    struct {
        const void* address = nullptr;
        std::uint16_t site = 0;
    } sites[64];
    struct {
        std::uint64_t handle = 0;
        std::uint32_t epoch = 0;
        std::uint16_t object = 0;
    } objects[16];
    struct {
        std::uint64_t high = 0, low = 0;
        std::atomic<std::uint32_t>* count = nullptr;
    } streams[64];
    Record* asleep = nullptr;
};
constinit thread_local Recent* recent = nullptr;

/// Gives memory back when the thread ends. Its ring stays.
struct Owner {
    ~Owner() {
        delete recent;
        recent = nullptr;
    }
};

Recent& first_call() {
    static thread_local Owner owner;
    static_cast<void>(owner);
    recent = new Recent;
    recent->ring = process().take_ring();
    if (recent->ring != nowhere)
        recent->ring_number = static_cast<std::uint64_t>(recent->ring - process().file().rings)
            << 40;
    return *recent;
}

Recent& here() {
    if (recent == nullptr) [[unlikely]]
        return first_call();
    return *recent;
}

std::uint16_t site_of(const void* address) noexcept {
    auto& known = here().sites[mix(reinterpret_cast<std::uintptr_t>(address)) >> 58];
    if (known.address != address) [[unlikely]] {
        known.site = process().site(address);
        known.address = address;
    }
    return known.site;
}

std::uint16_t find_object(std::uint64_t handle) noexcept {
    auto& known = here().objects[mix(handle) >> 60];
    const std::uint32_t epoch = process().epoch();
    if (known.handle != handle || known.epoch != epoch) [[unlikely]]
        known = {handle, epoch, process().object(handle)};
    return known.object;
}

/// Returns the number of the next message of a stream, or 0 if it is unknown.
std::uint32_t next_of_stream(std::uint16_t object, bool sent, std::int32_t peer,
                             std::int32_t tag) noexcept {
    if (object == 0 || peer < 0) return 0;
    const std::uint64_t high = static_cast<std::uint64_t>(object) << 1 | (sent ? 1 : 0);
    const std::uint64_t low = static_cast<std::uint64_t>(static_cast<std::uint32_t>(peer)) << 32 |
        static_cast<std::uint32_t>(tag);
    auto& known = here().streams[mix(low + (high << 20)) >> 58];
    if (known.count == nullptr || known.low != low || known.high != high) [[unlikely]]
        known = {high, low, process().stream(high, low)};
    return known.count == nullptr ? 0 : known.count->fetch_add(1, memory_order_relaxed) + 1;
}

/// Appends a record to the thread's ring.
Record& append(Recent& at, std::uint16_t kind, std::uint64_t begin) noexcept {
    const std::uint64_t number = at.ring->written.load(memory_order_relaxed);
    Record& record = at.ring->records[number % ring_records];
    // The line after the next one is fetched early, since it has left the caches.
    __builtin_prefetch(&at.ring->records[(number + 2) % ring_records], 1);
    record = {};
    record.begin = begin;
    record.peer = record.tag = no_rank;
    record.kind = kind;
    at.ring->written.store(number + 1, memory_order_release);
    if (number % renew_clocks == 0) [[unlikely]]
        renew_clock(process().file());
    return record;
}

std::uint64_t name_of_last(const Recent& at) noexcept {
    return at.ring == nowhere ? 0 : at.ring_number + at.ring->written.load(memory_order_relaxed);
}

// ---- what MPI says of itself ----

void note_sleep(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void*) noexcept {
    Recent& at = here();
    at.asleep = &append(at, kind_sleep, platform::ticks());
}
void note_waking(MPI_T_event_instance, MPI_T_event_registration, MPI_T_cb_safety, void*) noexcept {
    Recent& at = here();
    if (at.asleep != nullptr) at.asleep->end = platform::ticks();
    at.asleep = nullptr;
}
void note_unexpected(MPI_T_event_instance event, MPI_T_event_registration, MPI_T_cb_safety,
                     void*) noexcept {
    std::array<MPI_Count, 3> said{};
    for (int i = 0; i < 3; ++i)
        if (PMPI_T_event_read(event, i, &said[static_cast<std::size_t>(i)]) != MPI_SUCCESS) return;
    const std::uint64_t now = platform::ticks();
    Record& record = append(here(), kind_unexpected, now);
    record.end = now;
    record.peer = static_cast<std::int32_t>(said[0]);
    record.tag = static_cast<std::int32_t>(said[1]);
    record.bytes = said[2];
}

void listen(const char* name, MPI_T_event_cb_function* callback) noexcept {
    int index = 0;
    MPI_T_event_registration registration{};
    if (PMPI_T_event_get_index(name, &index) != MPI_SUCCESS ||
        PMPI_T_event_handle_alloc(index, nullptr, MPI_INFO_NULL, &registration) != MPI_SUCCESS)
        return;
    PMPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL,
                                   nullptr, callback);
}

void listen_to_library() noexcept {
    int provided = 0;
    if (PMPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS) return;
    listen("thread_sleeps", note_sleep);
    listen("thread_goes_on", note_waking);
    listen("unexpected_message", note_unexpected);
}

// ---- objects ----

void append_world_ranks(MPI_Group group, std::vector<std::int32_t>& members) {
    int size = 0;
    PMPI_Group_size(group, &size);
    std::vector<int> own(static_cast<std::size_t>(size)), world(own.size(), no_rank);
    for (int i = 0; i < size; ++i) own[static_cast<std::size_t>(i)] = i;
    int initialized = 0;
    PMPI_Initialized(&initialized);
    MPI_Group all = MPI_GROUP_NULL;
    if (initialized != 0 && PMPI_Comm_group(MPI_COMM_WORLD, &all) == MPI_SUCCESS) {
        PMPI_Group_translate_ranks(group, size, own.data(), all, world.data());
        PMPI_Group_free(&all);
    }
    for (const int rank : world) members.push_back(rank == MPI_UNDEFINED ? no_rank : rank);
}

struct Members {
    std::vector<std::int32_t>
        peers;  ///< the targets of messages; for an intercommunicator, the remote group
    std::vector<std::int32_t> all;  ///< equal in all processes
};

Members members_of(MPI_Comm comm) {
    int inter = 0;
    PMPI_Comm_test_inter(comm, &inter);
    MPI_Group local = MPI_GROUP_NULL, remote = MPI_GROUP_NULL;
    Members members;
    if (PMPI_Comm_group(comm, &local) != MPI_SUCCESS) return members;
    append_world_ranks(local, members.all);
    PMPI_Group_free(&local);
    members.peers = members.all;
    if (inter == 0 || PMPI_Comm_remote_group(comm, &remote) != MPI_SUCCESS) return members;
    members.peers.clear();
    append_world_ranks(remote, members.peers);
    PMPI_Group_free(&remote);
    members.all.insert(members.all.end(), members.peers.begin(), members.peers.end());
    std::sort(members.all.begin(), members.all.end());
    return members;
}

std::int32_t rank_in(MPI_Comm comm) noexcept {
    int rank = no_rank;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

void add_communicator(std::uint64_t handle, MPI_Comm like, const char* name) {
    const Members members = members_of(like);
    process().add(handle, ObjectKind::communicator, members.peers, members.all, rank_in(like),
                  name);
}

bool is_library_of_ours(const void* function) noexcept {
    Dl_info info{};
    return ::dladdr(function, &info) != 0 && info.dli_fname != nullptr &&
        std::strstr(info.dli_fname, "libmpi_abi.so") != nullptr;
}

/// Removes the library from the environment. Programs that this program starts are not traced.
void leave_environment() noexcept {
    ::unsetenv(folder_variable);
    const char* given = std::getenv("LD_PRELOAD");
    Dl_info own{};
    if (given == nullptr || ::dladdr(reinterpret_cast<const void*>(&begin_process), &own) == 0)
        return;
    std::string_view rest = given;
    if (!rest.starts_with(own.dli_fname)) return;
    rest.remove_prefix(std::strlen(own.dli_fname));
    if (rest.empty())
        ::unsetenv("LD_PRELOAD");
    else if (rest.front() == ':')
        ::setenv("LD_PRELOAD", std::string(rest.substr(1)).c_str(), 1);
}

/// Runs when the library is loaded, before any function of it is called.
[[gnu::constructor]] void begin() {
    const char* folder = std::getenv(folder_variable);
    on = folder != nullptr && *folder != '\0' &&
        is_library_of_ours(reinterpret_cast<const void*>(&PMPI_Send));
}

/// Opens the file at the first call of MPI. Programs that only start a rank make no file.
bool open_file() noexcept {
    static std::once_flag once;
    static bool opened = false;
    std::call_once(once, [] {
        const char* folder = std::getenv(folder_variable);
        only_process = new Process;
        opened = folder != nullptr && process().open(folder);
        if (opened) leave_environment();
        if (!opened) on = false;
    });
    return opened;
}

Ring* ring_to_write() noexcept {
    if (recent == nullptr && !open_file()) [[unlikely]] {
        static constinit Ring* none = nullptr;
        static std::once_flag once;
        std::call_once(once, [] { none = nowhere = new (std::nothrow) Ring; });
        recent = new Recent;
        recent->ring = none;
        return none;
    }
    return here().ring;
}

}  // namespace

// ---- as wrappers call it ----

void begin_process() noexcept try {
    if (!open_file()) return;
    File& file = process().file();
    PMPI_Comm_rank(MPI_COMM_WORLD, &file.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &file.size);
    add_communicator(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(MPI_COMM_WORLD)),
                     MPI_COMM_WORLD, "MPI_COMM_WORLD");
    add_communicator(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(MPI_COMM_SELF)),
                     MPI_COMM_SELF, "MPI_COMM_SELF");
    align_clock(file, 0);
    listen_to_library();
} catch (const std::bad_alloc&) {
    return;
}

void end_process() noexcept {
    if (!open_file()) return;
    File& file = process().file();
    align_clock(file, 1);
    renew_clock(file);
    file.finalized.store(1, memory_order_release);
}

std::int64_t bytes_of(std::int64_t count, MPI_Datatype type) noexcept {
    constexpr std::uintptr_t first_made = 4096;  // smaller handles are predefined
    thread_local MPI_Datatype last = MPI_DATATYPE_NULL;
    thread_local MPI_Count size = 0;
    if (type != last || reinterpret_cast<std::uintptr_t>(type) >= first_made) {
        if (type == MPI_DATATYPE_NULL || PMPI_Type_size_c(type, &size) != MPI_SUCCESS) size = 0;
        last = type;
    }
    return count * size;
}

Call::Call(Function which, const void* from) noexcept : ring_(ring_to_write()) {
    Recent& at = here();
    number_ = ring_->written.load(memory_order_relaxed);
    const std::uint16_t site = site_of(from);
    record_ = &append(at, static_cast<std::uint16_t>(which), platform::ticks());
    record_->site = site;
}

int Call::end(int error) noexcept {
    const std::uint64_t now = came_back_ != 0 ? came_back_ : platform::ticks();
    if (error != MPI_SUCCESS) record_->flags |= flag_failed;
    // Calls within this one may have overwritten its record.
    if (ring_->written.load(memory_order_relaxed) - number_ > ring_records) return error;
    record_->end = now;
    if (!vain_) return error;
    record_->flags |= flag_vain;
    if (number_ == 0 || ring_->written.load(memory_order_relaxed) != number_ + 1) return error;
    Record& before = ring_->records[(number_ - 1) % ring_records];
    if (before.kind != record_->kind || before.site != record_->site ||
        (before.flags & flag_vain) == 0)
        return error;
    before.end = now;
    ++before.repeats;
    ring_->written.store(number_, memory_order_release);
    return error;
}

void Call::object_of(std::uint64_t handle) noexcept { record_->object = find_object(handle); }
void Call::forget_object(std::uint64_t handle) noexcept {
    if (process().object(handle) > 2) process().forget(handle);
}

void Call::sends() noexcept {
    record_->flags |= flag_sends;
    record_->sequence = next_of_stream(record_->object, true, record_->peer, record_->tag);
}

void Call::collective() noexcept {
    record_->flags |= flag_collective;
    if (record_->object != 0)
        record_->sequence =
            process().collectives(record_->object).fetch_add(1, memory_order_relaxed) + 1;
}

void Call::keep(std::uint64_t handle, Pending::Kind kind, bool persistent) noexcept {
    process().pending.put({handle, here().ring == nowhere ? 0 : here().ring_number + number_ + 1,
                           record_->sequence, record_->peer, record_->tag, record_->object, kind,
                           persistent});
    record_->request = here().ring == nowhere ? 0 : here().ring_number + number_ + 1;
}

void Call::began(MPI_Message message, const MPI_Status& status) noexcept {
    record_->peer = status.MPI_SOURCE;
    record_->tag = status.MPI_TAG;
    keep(handle_of(message), Pending::receive, false);
}

void Call::of_message(MPI_Message message) noexcept {
    const Pending pending = process().pending.take(handle_of(message), true);
    if (pending.handle == 0) return;
    record_->object = pending.object;
    record_->peer = pending.peer;
    record_->tag = pending.tag;
    record_->flags |= flag_receives;
}

void Call::starts(const MPI_Request* requests, int count) noexcept {
    for (int i = 0; i < count; ++i) {
        Pending pending = process().pending.get(handle_of(requests[i]));
        if (pending.handle == 0) continue;
        const std::uint64_t now = platform::ticks();
        Record& record = append(here(),
                                pending.kind == Pending::send          ? kind_started_send
                                    : pending.kind == Pending::receive ? kind_started_receive
                                                                       : kind_started_other,
                                now);
        record.end = now;
        record.site = record_->site;
        record.object = pending.object;
        record.peer = pending.peer;
        record.tag = pending.tag;
        if (pending.kind == Pending::send) {
            record.flags = flag_sends;
            record.sequence = next_of_stream(record.object, true, record.peer, record.tag);
        } else if (pending.kind == Pending::receive) {
            record.flags = flag_receives;
        } else if (pending.kind == Pending::collective && record.object != 0) {
            record.flags = flag_collective;
            record.sequence =
                process().collectives(record.object).fetch_add(1, memory_order_relaxed) + 1;
        }
        record.request = pending.record = name_of_last(here());
        pending.sequence = record.sequence;
        process().pending.put(pending);
    }
}

void Call::cancels_one() noexcept { cancels.store(true, memory_order_relaxed); }

void Call::frees(MPI_Request request) noexcept {
    static_cast<void>(process().pending.take(handle_of(request), true));
}

void Call::received(const MPI_Status& status) noexcept {
    if (status.MPI_SOURCE < 0) return;
    record_->flags |= flag_complete;
    record_->peer = status.MPI_SOURCE;
    record_->tag = status.MPI_TAG;
    record_->sequence = next_of_stream(record_->object, false, record_->peer, record_->tag);
}

void Call::received_too(const MPI_Status& status) noexcept {
    complete({1, 0, 0, no_rank, no_rank, record_->object, Pending::receive, false}, status);
}

void Call::complete(const Pending& pending, const MPI_Status& status) noexcept {
    if (came_back_ == 0) came_back_ = platform::ticks();
    const std::uint64_t now = came_back_;
    std::uint16_t kind = kind_received;
    if (pending.kind == Pending::receive) {
        int cancelled = 0;
        if (cancels.load(memory_order_relaxed)) PMPI_Test_cancelled(&status, &cancelled);
        if (cancelled != 0 || status.MPI_SOURCE < 0) return;
    } else {
        if (pending.kind == Pending::other) return;
        kind = pending.kind == Pending::send ? kind_sent : kind_composed;
    }
    Record& record = append(here(), kind, now);
    record.end = now;
    record.site = record_->site;
    record.request = pending.record;
    record.object = pending.object;
    record.peer = pending.peer;
    record.tag = pending.tag;
    record.sequence = pending.sequence;
    if (pending.kind != Pending::receive) return;
    record.begin = pending.record == 0 ? record_->begin : now;
    record.flags = flag_complete;
    record.peer = status.MPI_SOURCE;
    record.tag = status.MPI_TAG;
    record.sequence = next_of_stream(record.object, false, record.peer, record.tag);
}

void Call::add(MPI_Comm* handle, MPI_Comm from) noexcept try {
    if (*handle == MPI_COMM_NULL) return;
    // A duplicate that is not complete yet has the processes of the original.
    const auto which = static_cast<Function>(record_->kind);
    const bool later =
        which == Function::MPI_Comm_idup || which == Function::MPI_Comm_idup_with_info;
    add_communicator(handle_of(*handle), later ? from : *handle, "");
} catch (const std::bad_alloc&) {
    return;
}
void Call::add(MPI_Comm* handle) noexcept { add(handle, MPI_COMM_NULL); }
void Call::add(MPI_Win* handle, MPI_Comm from) noexcept try {
    if (*handle == MPI_WIN_NULL) return;
    const Members members = members_of(from);
    process().add(handle_of(*handle), ObjectKind::window, members.peers, members.all, rank_in(from),
                  "");
} catch (const std::bad_alloc&) {
    return;
}
void Call::add(MPI_File* handle, MPI_Comm from) noexcept try {
    if (*handle == MPI_FILE_NULL) return;
    const Members members = members_of(from);
    process().add(handle_of(*handle), ObjectKind::file, members.peers, members.all, rank_in(from),
                  "");
} catch (const std::bad_alloc&) {
    return;
}

Requests::Requests(Call& call, const MPI_Request* requests, int count, bool until_complete) noexcept
    : call_(call), handles_(few_) {
    if (count > static_cast<int>(std::size(few_)))
        handles_ = static_cast<std::uint64_t*>(
            std::malloc(static_cast<std::size_t>(count) * sizeof *handles_));
    if (handles_ == nullptr) return;
    std::uint64_t first = 0;
    for (int i = 0; i < count; ++i) {
        handles_[i] = Call::handle_of(requests[i]);
        if (first == 0 && requests[i] != MPI_REQUEST_NULL) first = handles_[i];
    }
    // The peer is then known even if the call never returns.
    const Pending pending = until_complete && count == 1 ? process().pending.take(first, false)
                                                         : process().pending.get(first);
    if (until_complete && count == 1) only_ = pending;
    if (pending.handle == 0) return;
    call.record_->request = pending.record;
    call.record_->object = pending.object;
    call.record_->peer = pending.peer;
    call.record_->tag = pending.tag;
}
Requests::~Requests() {
    if (handles_ != few_) std::free(handles_);
}
void Requests::complete(int index, const MPI_Status& status) const noexcept {
    if (handles_ == nullptr) return;
    const Pending pending =
        only_.handle != 0 ? only_ : process().pending.take(handles_[index], false);
    if (pending.handle != 0) call_.complete(pending, status);
}

}  // namespace heddle::trace
