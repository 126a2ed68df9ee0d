// SPDX-License-Identifier: BSD-3-Clause
#include "io/opening.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "comm/agreement.hpp"
#include "comm/participants.hpp"
#include "comm/recycling.hpp"
#include "io/in_file_system.hpp"
#include "io/request.hpp"
#include "io/together.hpp"
#include "objects/errors.hpp"

namespace heddle::io {
namespace {

/// The tag while a file is being opened: it has no communicator yet, and messages are the parent's.
constexpr std::int32_t opening_tag = comm::file_agreement;

std::uint64_t digest(std::string_view text) noexcept {
    std::uint64_t hash = 14695981039346656037u;  // FNV-1a
    for (const char letter : text)
        hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211u;
    return hash;
}

/// The data that each process gives before it opens anything. So a process that has just deleted a
/// file of the name has come, too.
struct Proposal {
    std::uint32_t context;  ///< of rank 0
    node::Segment segment;  ///< likewise: for the shared pointer
    std::int32_t amode;
    std::uint64_t name;
    Agreed hints;
};

/// The data that each process gives when all have tried to open the file.
struct Answer {
    Failure failure;
    std::uint64_t identity;
    bool has_pointer;
    char host[40];
};

Answer answer_of(const OpenFile& file, const Failure& failure) noexcept {
    Answer answer{failure, 0, file.shared != nullptr && file.shared->is_there(), {}};
    if (file.storage != nullptr) answer.identity = file.storage->identity();
    if (gethostname(answer.host, sizeof answer.host - 1) != 0) answer.host[0] = '\0';
    return answer;
}

int flags_of(int amode) noexcept {
    if ((amode & MPI_MODE_RDWR) != 0) return O_RDWR;
    return (amode & MPI_MODE_WRONLY) != 0 ? O_WRONLY : O_RDONLY;
}

Failure open_storage(core::Thread& thread, OpenFile& file, bool first) {
    Opening opening;
    opening.flags = flags_of(file.amode);
    opening.any = file.sequential();
    opening.mode = file.hints.file_perm;
    if (first && (file.amode & MPI_MODE_CREATE) != 0) opening.flags |= O_CREAT;
    if (first && (file.amode & MPI_MODE_EXCL) != 0) opening.flags |= O_EXCL;
    int error = 0;
    const InFileSystem there(thread, file);
    file.storage = file.file_system->open(file.path, opening, error);
    if (file.storage != nullptr && file.hints.style != Style::unknown)
        file.storage->expect(file.hints.style);
    return file.storage == nullptr ? Failure::of_system(error) : Failure{};
}

int fail_without_file(core::Thread& thread, int error_class, const std::string& detail) {
    return objects::fail(thread, thread.process->files->null, error_class, detail);
}

/// Returns the argument that the ranks disagree about, or nullptr if there is none.
const char* difference(const std::vector<Proposal>& all) noexcept {
    for (const Proposal& one : all) {
        if (one.amode != all[0].amode) return "amode";
        if (one.name != all[0].name) return "filename";
    }
    return nullptr;
}

/// Raises the first failure, which all of them have got.
int raise_first(core::Thread& thread, const std::string& name, const std::vector<Answer>& all) {
    const auto first = std::find_if(
        all.begin(), all.end(), [](const Answer& one) { return static_cast<bool>(one.failure); });
    if (first == all.end()) return MPI_SUCCESS;
    std::string by;
    if (first != all.begin())
        by = " by rank " + std::to_string(first - all.begin()) + " on host " + first->host +
            ", although rank 0 on host " + all[0].host + " has opened it";
    return fail_without_file(thread, first->failure.error_class,
                             describe(first->failure, "opening \"" + name + '"' + by));
}

/// Checks that no rank has opened another file of the same name.
int check_identity(core::Thread& thread, const std::string& name, const std::vector<Answer>& all) {
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        if (all[rank].identity != all[0].identity)
            return fail_without_file(
                thread, MPI_ERR_NOT_SAME,
                "opening \"" + name + "\": rank " + std::to_string(rank) + " on host " +
                    all[rank].host + " finds another file there than rank 0 on host " +
                    all[0].host + "; a file must be on a file system that all hosts share");
    return MPI_SUCCESS;
}

int check_pointers(core::Thread& thread, const std::string& name, const std::vector<Answer>& all) {
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        if (!all[rank].has_pointer)
            return fail_without_file(thread, MPI_ERR_NO_MEM,
                                     "opening \"" + name + "\": rank " + std::to_string(rank) +
                                         " has no memory for the shared file pointer");
    return MPI_SUCCESS;
}

/// Returns a view of the bytes as they are, from the start.
ViewPointer first_view(const OpenFile& file) {
    objects::Process& process = file.process;
    ViewError error;
    objects::Datatype& byte = *process.datatype(MPI_BYTE);
    return make_view(0, byte, byte, file.common->representations.find("native"), false, error);
}

/// Sets all pointers to the end of the file for MPI_MODE_APPEND.
Failure go_to_end(core::Thread& thread, OpenFile& file) {
    if ((file.amode & MPI_MODE_APPEND) == 0 || !file.storage->seekable()) return {};
    std::int64_t bytes = 0;
    if (const int error = file.storage->size(bytes)) return Failure::of_system(error);
    file.position = bytes;
    if (file.communicator->rank == 0 && file.shared->store(thread, bytes) != MPI_SUCCESS)
        return Failure::of_class(MPI_ERR_OTHER, "the shared pointer is out of reach");
    return {};
}

class Opened {
public:
    Opened(core::Thread& thread, objects::Communicator& parent, const std::string& name)
        : thread_(thread),
          parent_(parent),
          name_(name),
          file_(std::make_shared<OpenFile>(*thread.process)) {}

    int open(int amode, const objects::Info* info) {
        const Named named = file_system_of(name_);
        file_->file_system = named.system;
        file_->path = named.path;
        file_->amode = amode;
        if (info != nullptr) apply(file_->hints, *info, true);
        if (const int error = propose()) return error;
        return answer();
    }
    std::shared_ptr<OpenFile> keep() noexcept { return std::move(file_); }

private:
    int propose() {
        thread_.process->recycling->step(thread_);
        Proposal mine{};
        mine.amode = file_->amode;
        mine.name = digest(name_);
        mine.hints = agreed_in(file_->hints);
        if (parent_.rank == 0) {
            mine.context = thread_.process->contexts.take();
            if (thread_.process->share_memory(parent_.group->processes))
                mine.segment =
                    thread_.process->node.segments().take(sizeof(std::atomic<std::int64_t>));
        }
        const comm::Participants all(parent_);
        if (const int error = comm::gather_all(thread_, all, opening_tag, proposals_, mine))
            return error;
        const char* const argument = difference(proposals_);
        const bool goes_on = argument == nullptr && proposals_[0].context != 0;
        Failure failure;
        if (goes_on) {
            if (parent_.rank == 0) failure = open_storage(thread_, *file_, true);
            if (const int error = comm::broadcast(thread_, all, comm::everybody(all), all.me(),
                                                  opening_tag, &failure, sizeof failure))
                return error;
        }
        if (goes_on && !failure) return MPI_SUCCESS;
        if (parent_.rank == 0) undo();
        return refuse(argument, failure);
    }
    int refuse(const char* argument, const Failure& failure) const {
        if (argument != nullptr)
            return fail_without_file(
                thread_, MPI_ERR_NOT_SAME,
                "argument " + std::string(argument) + ": differs between the processes");
        if (failure)
            return fail_without_file(thread_, failure.error_class,
                                     describe(failure, "opening \"" + name_ + '"'));
        return fail_without_file(thread_, MPI_ERR_OTHER, "no context id is left for another file");
    }
    void undo() {
        if (proposals_[0].context != 0) thread_.process->contexts.give_back(proposals_[0].context);
        if (proposals_[0].segment) thread_.process->node.segments().give(proposals_[0].segment);
    }

    int answer() {
        take(file_->hints, proposals_[0].hints);
        parent_.group->retain();
        file_->communicator = &objects::make_communicator(*thread_.process, parent_,
                                                          proposals_[0].context, *parent_.group);
        // A report about a job that hangs names it.
        file_->communicator->name = "file " + file_->path.substr(file_->path.rfind('/') + 1);
        file_->shared = std::make_unique<SharedPointer>(*thread_.process, *file_->communicator);
        for (auto& windows : file_->windows)
            windows = std::make_unique<SharedWindows>(*thread_.process, *file_->communicator);
        if (const int error = file_->shared->begin(thread_, proposals_[0].segment)) return error;
        file_->view = first_view(*file_);
        Failure failure = parent_.rank == 0 ? Failure{} : open_storage(thread_, *file_, false);
        if (!failure) failure = go_to_end(thread_, *file_);
        std::vector<Answer> answers;
        if (const int error =
                gather(thread_, *file_, next_tag(*file_), answers, answer_of(*file_, failure)))
            return error;
        int error = raise_first(thread_, name_, answers);
        if (error == MPI_SUCCESS) error = check_identity(thread_, name_, answers);
        if (error == MPI_SUCCESS) error = check_pointers(thread_, name_, answers);
        if (error != MPI_SUCCESS) (void)file_->shared->end(thread_);
        return error;
    }

    core::Thread& thread_;
    objects::Communicator& parent_;
    const std::string& name_;
    std::shared_ptr<OpenFile> file_;
    std::vector<Proposal> proposals_;
};

}  // namespace

int open(core::Thread& thread, objects::Communicator& parent, const std::string& name, int amode,
         const objects::Info* info, objects::File*& result) {
    Opened opened(thread, parent, name);
    if (const int error = opened.open(amode, info)) return error;
    count_opening(*thread.process);
    result = &objects::make_file(*thread.process, name, opened.keep());
    return MPI_SUCCESS;
}

Failure agree(core::Thread& thread, OpenFile& file, const Failure& mine) try {
    std::vector<Failure> all;
    if (gather(thread, file, next_tag(file), all, mine) != MPI_SUCCESS)
        return Failure::of_class(MPI_ERR_OTHER, "the other processes are out of reach");
    const auto first = std::find_if(all.begin(), all.end(),
                                    [](const Failure& one) { return static_cast<bool>(one); });
    if (mine) return mine;
    return first == all.end() ? Failure{} : *first;
} catch (const std::bad_alloc&) {
    return mine ? mine : Failure::of_class(MPI_ERR_NO_MEM, "a process is out of memory");
}

int raise(core::Thread& thread, objects::File& file, const Failure& failure,
          const std::string& doing) {
    if (!failure) return MPI_SUCCESS;
    return objects::fail(thread, file, failure.error_class, describe(failure, doing));
}

void wait_for_the_rest(OpenFile& file) noexcept {
    std::unique_lock guard(file.lock);
    file.over.wait(guard, [&file] { return file.under_way == 0; });
}

namespace {

int all_or_none(core::Thread& thread, objects::File& file, const Failure& mine,
                const std::string& doing) {
    return raise(thread, file, agree(thread, *file.open, mine), doing);
}

int refuse_to_close(core::Thread& thread, objects::File& file) {
    OpenFile& open = *file.open;
    std::unique_lock guard(open.lock);
    const std::uint32_t uncollected = open.uncollected;
    const bool split = open.split != Split::none;
    guard.unlock();
    if (split)
        return objects::fail(thread, file, MPI_ERR_FILE,
                             "a split collective access has begun and not ended");
    if (uncollected == 0) return MPI_SUCCESS;
    return objects::fail(
        thread, file, MPI_ERR_FILE,
        std::to_string(uncollected) +
            " nonblocking accesses have not been completed by MPI_Wait or its like");
}

Failure close_storage(core::Thread& thread, OpenFile& file) noexcept {
    const InFileSystem there(thread, file);
    return Failure::of_system(file.storage->close());
}

}  // namespace

int close(core::Thread& thread, objects::File& file) {
    if (const int error = refuse_to_close(thread, file)) return error;
    OpenFile& open = *file.open;
    wait_for_the_rest(open);
    Failure failure = close_storage(thread, open);
    failure = agree(thread, open, failure);
    if ((open.amode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
        Failure removed;
        if (open.communicator->rank == 0)
            removed = Failure::of_system(open.file_system->remove(open.path));
        removed = agree(thread, open, removed);
        if (!failure) failure = removed;
    }
    if (const int error = open.shared->end(thread)) return error;
    const int error = raise(thread, file, failure, "closing");
    objects::close_handle(*thread.process, file);
    return error;
}

int remove(core::Thread& thread, const std::string& name) {
    const Named named = file_system_of(name);
    const int error = named.system->remove(named.path);
    if (error == 0) return MPI_SUCCESS;
    return fail_without_file(thread, class_of_errno(error),
                             "deleting \"" + name + "\": " + words_of(error));
}

int check_same(core::Thread& thread, objects::File& file, const char* argument,
               std::int64_t value) {
    std::vector<std::int64_t> all;
    OpenFile& open = *file.open;
    if (const int error = gather(thread, open, next_tag(open), all, value)) return error;
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        if (all[rank] != all[0])
            return objects::fail(thread, file, MPI_ERR_NOT_SAME,
                                 "argument " + std::string(argument) + ": is " +
                                     std::to_string(all[0]) + " on rank 0 and " +
                                     std::to_string(all[rank]) + " on rank " +
                                     std::to_string(rank));
    return MPI_SUCCESS;
}

int resize(core::Thread& thread, objects::File& file, std::int64_t bytes) {
    if (const int error = check_same(thread, file, "size", bytes)) return error;
    Failure failure;
    if (file.open->communicator->rank == 0)
        failure = Failure::of_system(file.open->storage->resize(bytes));
    return all_or_none(thread, file, failure, "setting the size to " + std::to_string(bytes));
}

int allocate(core::Thread& thread, objects::File& file, std::int64_t bytes) {
    if (const int error = check_same(thread, file, "size", bytes)) return error;
    Failure failure;
    if (file.open->communicator->rank == 0)
        failure = Failure::of_system(file.open->storage->allocate(bytes));
    return all_or_none(thread, file, failure, "preallocating " + std::to_string(bytes));
}

int sync(core::Thread& thread, objects::File& file) {
    Failure failure;
    {
        const InFileSystem there(thread, *file.open);
        failure = Failure::of_system(file.open->storage->sync());
    }
    return all_or_none(thread, file, failure, "synchronising");
}

namespace {

/// Moves the view to the place of the shared pointer: in sequential mode there is no other place.
/// All processes have come, and none moves the pointer before all have asked for it.
int begin_at_pointer(core::Thread& thread, OpenFile& open, ViewPointer& view) {
    std::int64_t etypes = 0;
    if (const int error = open.shared->load(thread, etypes)) return error;
    const ViewPointer before = open.view_now();
    auto moved = std::make_shared<View>(*view);
    moved->displacement = before->has_data()
        ? before->data(true).place(static_cast<std::uint64_t>(etypes) * before->unit)
        : before->displacement;
    view = std::move(moved);
    return MPI_SUCCESS;
}

}  // namespace

int set_view(core::Thread& thread, objects::File& file, ViewPointer view,
             std::uint64_t etype_extent) {
    if (file.open->sequential())
        if (const int error = begin_at_pointer(thread, *file.open, view)) return error;
    if (const int error =
            check_same(thread, file, "etype (its extent)", static_cast<std::int64_t>(etype_extent)))
        return error;
    OpenFile& open = *file.open;
    {
        const std::lock_guard guard(open.lock);
        open.view = view;
        open.position = 0;
    }
    if (open.communicator->rank == 0)
        if (const int error = open.shared->store(thread, 0)) return error;
    // No process uses the shared pointer before it stands at the start.
    return all_or_none(thread, file, {}, "setting a view");
}

int set_atomicity(core::Thread& thread, objects::File& file, bool atomic) {
    if (const int error = check_same(thread, file, "flag", atomic)) return error;
    const std::lock_guard guard(file.open->lock);
    file.open->atomic = atomic;
    return MPI_SUCCESS;
}

}  // namespace heddle::io
