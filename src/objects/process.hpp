// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// One MPI process: it owns the objects of the library. comm::Rank (comm/rank.hpp) completes it.
///
/// A program has one, made by MPI_Init. A test may have several in one address space; each thread
/// then acts for the process that it is attached to.
///
/// Life           fresh -> initialized -> finalized, and initialized again if a session is opened.
///                In a child that the program has forked it is forked for ever: the child is no
///                rank of any job. Functions that may be called at any time do not need it to be
///                alive. All others use api/entry.hpp, which checks.
/// Locking        `set_up` guards what changes rarely: contexts in use, info, names, attributes. It
///                is never taken on the data path and never held while user code is called.

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/arena.hpp"
#include "core/thread.hpp"
#include "launch/job.hpp"
#include "node/node.hpp"
#include "objects/communicator.hpp"
#include "objects/datatype.hpp"
#include "objects/errhandler.hpp"
#include "objects/group.hpp"
#include "objects/info.hpp"
#include "objects/node_memory.hpp"
#include "objects/operation.hpp"
#include "objects/plain_types.hpp"
#include "objects/session.hpp"
#include "objects/tag_ranges.hpp"
#include "objects/window.hpp"
#include "tool/settings.hpp"
#include "transport/guests.hpp"

namespace heddle::p2p {
class Engine;
}

namespace heddle::dyn {
class Families;
class Names;
}  // namespace heddle::dyn

namespace heddle::comm {
class Letters;
class Recycling;
}  // namespace heddle::comm

namespace heddle::objects {

class Files;
struct File;

class Process {
public:
    enum class Life : std::uint8_t { fresh, initialized, finalized, forked };

    /// Makes the objects that MPI_Init promises. Throws std::runtime_error.
    Process(launch::Job job, node::Node node);
    virtual ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    std::int32_t rank() const noexcept { return job.rank; }
    std::int32_t size() const noexcept { return job.size; }
    /// Returns this process's number. Below MPI's ranks, numbers name processes
    /// (launch/numbering.hpp).
    std::int32_t number() const noexcept { return numbers.own(); }
    /// Returns the name of a process, which is the same in all processes that have met it.
    transport::ProcessName name_of(std::int32_t number) const;
    /// Returns -1 if this process has not met it.
    std::int32_t number_of(const transport::ProcessName& name) const;
    /// Counts a communicator with these processes that is there from now on (+1), or no longer
    /// (-1).
    void count_connections(std::span<const std::int32_t> processes, std::int32_t change) noexcept;
    /// Does the same for a group.
    void count_mentions(std::span<const std::int32_t> processes, std::int32_t change) noexcept;
    /// Returns whether there is a communicator with that process of another job.
    bool is_connected_with(std::int32_t process) const noexcept;
    /// Returns whether it has met processes of other jobs.
    bool has_met_others() const noexcept { return guests_.load(acquire) != nullptr; }
    /// Returns whether processes of other jobs are among them.
    bool has_guests(std::span<const std::int32_t> processes) const noexcept;
    /// Returns the processes of other jobs that this one has met. From the first call on it can
    /// meet some. Throws std::runtime_error if it cannot.
    virtual transport::Guests& need_guests() = 0;
    /// Forgets guests that have ended and that no group names.
    virtual void forget_guests() = 0;
    /// Returns whether all of them are on this node, and share its memory.
    bool share_memory(std::span<const std::int32_t> processes) const noexcept;

    launch::Job job;
    const launch::Numbering numbers;
    node::Node node;

    core::Arena<core::Thread> threads;
    core::Arena<core::Request> requests;
    core::Arena<Communicator> communicators;
    core::Arena<Group> groups;
    core::Arena<Datatype> datatypes;
    core::Arena<Errhandler> errhandlers;
    core::Arena<Operation> operations;
    core::Arena<Session> sessions;
    core::Arena<Window> windows;
    const std::unique_ptr<Files> files;  ///< see objects/file.hpp

    // These live as long as the process. The world model determines whether handles name them.
    Communicator* world = nullptr;
    Communicator* self = nullptr;
    std::atomic<bool> self_has_errhandler{false};  ///< the program has set one on MPI_COMM_SELF
    Group* empty_group = nullptr;
    Errhandler* errors_are_fatal = nullptr;
    Errhandler* errors_abort = nullptr;
    Errhandler* errors_return = nullptr;
    /// The predefined types by handle, which is below this size for all of them.
    std::array<Datatype*, 1024> predefined_types{};
    std::array<Operation*, 64> predefined_operations{};  ///< likewise
    PlainTypes plain_types;

    /// Types that MPI_Type_create_f90_* made, by combiner, precision and range; guarded by set_up.
    std::map<std::array<int, 3>, Datatype*> numeric_types;
    const tool::Settings settings;  ///< from the time of its start

    Contexts contexts;
    ContextsBetweenJobs contexts_between_jobs;
    FreedContexts freed_contexts;
    TagRanges partition_tags;
    Keyvals keyvals;
    PredefinedAttributes predefined_attributes;
    std::unordered_map<const Datatype*, Attributes> type_attributes;  ///< guarded by set_up
    std::shared_ptr<p2p::BsendBuffer> buffer;  ///< MPI_Buffer_attach; guarded by set_up
    NodeMemory node_memory{node.segments()};   ///< MPI_Alloc_mem

    MPI_Comm parent = MPI_COMM_NULL;  ///< the intercommunicator with the parents of this job
    std::shared_ptr<dyn::Families> families;  ///< nullptr if it has started none
    std::shared_ptr<dyn::Names> names;        ///< nullptr if it has published and looked up none

    // Parts that work with these objects; comm::Rank makes and owns them:
    p2p::Engine* engine = nullptr;
    comm::Recycling* recycling = nullptr;  ///< of context ids
    comm::Letters* letters = nullptr;      ///< to and from processes of other jobs

    std::uint64_t job_name = 0;  ///< random; part of the names of its processes

    std::mutex set_up;
    int thread_level = MPI_THREAD_SINGLE;
    core::Thread* main_thread = nullptr;
    /// Writes on the board that the program was given this level, by MPI_Init or a session.
    void tell_thread_level(int level) noexcept;

    /// These return the object behind a handle, or nullptr if it is no live object of the kind.
    Communicator* communicator(MPI_Comm handle) noexcept {
        if (handle == MPI_COMM_WORLD) [[likely]]
            return named_world_.load(relaxed);
        if (handle == MPI_COMM_SELF) return named_world_.load(relaxed) != nullptr ? self : nullptr;
        return find_soon(communicators, handle, core::Kind::communicator);
    }
    Datatype* datatype(MPI_Datatype handle) noexcept {
        const auto value = reinterpret_cast<std::uintptr_t>(handle);
        if (value < predefined_types.size()) [[likely]]
            return predefined_types[value];
        return find_soon(datatypes, handle, core::Kind::datatype);
    }
    Group* group(MPI_Group handle) noexcept {
        if (handle == MPI_GROUP_EMPTY) return empty_group;
        return named(find(groups, handle, core::Kind::group));
    }
    Errhandler* errhandler(MPI_Errhandler handle) noexcept;
    Session* session(MPI_Session handle) noexcept {
        return find(sessions, handle, core::Kind::session);
    }
    Window* window(MPI_Win handle) noexcept {
        return find_soon(windows, handle, core::Kind::window);
    }
    File* file(MPI_File handle) noexcept;
    Operation* operation(MPI_Op handle) noexcept {
        const auto value = reinterpret_cast<std::uintptr_t>(handle);
        if (value < predefined_operations.size()) [[likely]]
            return predefined_operations[value];
        return find(operations, handle, core::Kind::operation);
    }

    /// Makes an object of the kind with one reference. Returns nullptr if there is no room for one.
    template <class T>
    static T* make(core::Arena<T>& arena, core::Kind kind) {
        T* object = arena.take();
        if (object == nullptr) return nullptr;
        object->references.store(1, relaxed);
        object->kind.store(kind, relaxed);
        return object;
    }
    /// Takes the object back. No reference to it is left, and its own clear-up has emptied it.
    template <class T>
    static void destroy(core::Arena<T>& arena, T& object) {
        object.kind.store(core::Kind::none, relaxed);
        object.next = nullptr;
        arena.give(&object);
    }

    /// The world model and each session keep MPI usable. The first one opens the process and the
    /// last one closes it; it may be opened again. close() returns whether it was the last. open()
    /// throws std::runtime_error if memory that was given back is not to be had again.
    void open();
    bool close() noexcept;
    bool is_last_use() noexcept;
    std::mutex closing;  ///< held while the world model or a session ends
    /// Takes leave of the launcher: after the last close(), or when the program ends if the
    /// launcher may be needed again.
    void leave_launcher() noexcept;
    /// Gives back the memory that is not needed to be opened again. The caller does this after the
    /// last close() and everything that follows it. Does nothing if the process has been opened
    /// meanwhile.
    void give_memory_back(core::Thread& thread);

    std::atomic<Life> life{Life::fresh};

    /// Returns the life of the world model alone. From `initialized` until `finalized`,
    /// MPI_COMM_WORLD and MPI_COMM_SELF may be used.
    Life world_life() const noexcept { return world_life_.load(acquire); }
    void begin_world() noexcept;
    void end_world() noexcept;

    /// Marks this as a copy of the parent's process in a forked child. A copy must not do anything.
    void become_copy() noexcept;
    bool is_copy() const noexcept { return life.load(relaxed) == Life::forked; }

    // Calls from threads (objects/attach.cpp) and about memory, which comm::Rank passes to the
    // engine.

    /// The thread has been attached. Returns whether it is within MPI from now on, as opposed to
    /// within sections that are calls (recipe global).
    virtual bool welcome(core::Thread& thread) = 0;
    /// The thread, which has ended, is about to be detached.
    virtual void see_off(core::Thread& thread) = 0;

protected:
    std::atomic<transport::Guests*> guests_{nullptr};  ///< nullptr if it has met none

    /// Maps the memory of the job, with the rings to this rank. If addresses are limited, it also
    /// maps its rings to others. Throws std::runtime_error.
    static node::Node map_node(const launch::Job& job);

    /// The memory of the node has been mapped again, perhaps elsewhere. Returns false if there is
    /// no room for more (errno).
    virtual bool memory_is_back() = 0;
    /// The memory of the node is about to be unmapped.
    virtual void memory_goes(core::Thread& thread) = 0;
    /// Returns whether the launcher is asked again when the process is opened again.
    virtual bool needs_launcher_later() const noexcept = 0;
    /// There is a use, even if another one has just ended that might have been the last.
    virtual void stays_open() noexcept = 0;

private:
    void agree_on_recipe() const;
    template <class T, class Handle>
    static T* find(core::Arena<T>& arena, Handle handle, core::Kind kind) noexcept {
        if (!arena.contains(handle)) return nullptr;
        T* object = reinterpret_cast<T*>(handle);
        return object->is(kind) ? object : nullptr;
    }
    /// Does the same for the objects of data paths, whose arena has one chunk.
    template <class T, class Handle>
    static T* find_soon(core::Arena<T>& arena, Handle handle, core::Kind kind) noexcept {
        if (!arena.in_first(handle)) return nullptr;
        T* object = reinterpret_cast<T*>(handle);
        return object->is(kind) ? object : nullptr;
    }

    /// Returns an object whose handles come and go, if it has a handle left.
    template <class T>
    static T* named(T* object) noexcept {
        return object != nullptr && object->has_handles() ? object : nullptr;
    }

    int uses_ = 0;                   ///< guarded by set_up
    bool gave_memory_back_ = false;  ///< likewise
    std::atomic<Life> world_life_{Life::fresh};
    std::atomic<Communicator*> named_world_{nullptr};  ///< by MPI_COMM_WORLD
};

/// The calling thread, once it is attached to its process. Only attach() writes it.
extern constinit thread_local core::Thread* current_thread
    __attribute__((tls_model("initial-exec")));

inline constexpr const char* forked_text =
    "called in a process that was forked from an MPI process, which is no rank of the job; it may "
    "start other "
    "programs, or end";

/// Returns the process of the program, or nullptr while there is none.
Process* process_of_program() noexcept;
/// Makes `process` the program's, once, for the rest of the program. A child that the program forks
/// gets a copy of it, which is no rank.
void be_process_of_program(Process& process);

/// Attaches the calling thread to `process`, until the thread ends, unless it is attached.
/// `of_library`: the thread works for the library, and never runs the program.
core::Thread& attach(Process& process, bool of_library = false);
/// Attaches the calling thread of a forked child to nothing. It gives nothing back when it ends,
/// since other threads of the parent may have held locks.
void forget_attached_thread() noexcept;

/// Returns the calling thread if it is attached. With the recipe global it is current_thread only
/// within the section that is a call; this function also returns it outside of that.
core::Thread* attached_thread() noexcept;

}  // namespace heddle::objects
