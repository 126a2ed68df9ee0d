// SPDX-License-Identifier: BSD-3-Clause
/// Files (MPI 5.0, 14.2), and properties of all accesses: pointers, atomicity, synchronisation.

#include <cerrno>

#include "api/entry.hpp"
#include "api/file_arguments.hpp"
#include "io/plan.hpp"
#include "objects/errors.hpp"

namespace heddle::api {
namespace {

using core::Thread;

int file_open(Thread& thread, FileComm comm, FileName name, AccessMode amode, Hints hints,
              Out<MPI_File> result) {
    *result = MPI_FILE_NULL;
    objects::File* file = nullptr;
    if (const int error = io::open(thread, *comm, name.value, amode.value, hints.object, file))
        return error;
    *result = file->handle();
    return MPI_SUCCESS;
}

int file_close(Thread& thread, InOut<MPI_File> handle) {
    const Fh file(*thread.process, *handle);
    if (file.object == nullptr)
        return refuse(thread, *file.scope(thread), MPI_ERR_FILE, Fh::name, file.wrong(nullptr));
    const int error = io::close(thread, *file);
    if (!file->is(core::Kind::file)) *handle = MPI_FILE_NULL;
    return error;
}

int delete_file(Thread& thread, FileName name, Hints) { return io::remove(thread, name.value); }

// --- size ---

int refuse_size(Thread& thread, Fh file) {
    if (!file->open->writable())
        return objects::fail(thread, *file, MPI_ERR_READ_ONLY,
                             "the file has been opened with MPI_MODE_RDONLY");
    if (file->open->sequential())
        return objects::fail(thread, *file, MPI_ERR_UNSUPPORTED_OPERATION,
                             "the file has been opened with MPI_MODE_SEQUENTIAL");
    return MPI_SUCCESS;
}

int set_size(Thread& thread, Fh file, FileSize size) {
    if (const int error = refuse_size(thread, file)) return error;
    return io::resize(thread, *file, size.value);
}

int preallocate(Thread& thread, Fh file, FileSize size) {
    if (const int error = refuse_size(thread, file)) return error;
    return io::allocate(thread, *file, size.value);
}

int size_of(Thread& thread, Fh file, std::int64_t& bytes) {
    const int error = file->open->storage->size(bytes);
    return io::raise(thread, *file, io::Failure::of_system(error), "asking for the size");
}

int get_size(Thread& thread, Fh file, Out<MPI_Offset> size) {
    std::int64_t bytes = 0;
    if (const int error = size_of(thread, file, bytes)) return error;
    *size = bytes;
    return MPI_SUCCESS;
}

// --- properties ---

int file_group(Thread&, Fh file, Out<MPI_Group> result) {
    objects::Group& group = *file->open->communicator->group;
    group.hand_out();
    *result = reinterpret_cast<MPI_Group>(&group);
    return MPI_SUCCESS;
}

int get_amode(Thread&, Fh file, Out<int> amode) {
    *amode = file->open->amode;
    return MPI_SUCCESS;
}

int set_file_info(Thread&, Fh file, Info info) {
    io::apply_hints(*file->open, *info);
    return MPI_SUCCESS;
}

int file_info(Thread&, Fh file, Out<MPI_Info> result) {
    const io::OpenFile& open = *file->open;
    io::Hints hints;
    {
        const std::lock_guard guard(open.lock);
        hints = open.hints;
    }
    const auto ranks = static_cast<std::uint64_t>(open.communicator->peers);
    if (hints.cb_nodes == 0 || hints.cb_nodes > ranks) hints.cb_nodes = ranks;
    hints.striping_unit = static_cast<std::uint64_t>(io::domain_unit(open, hints));
    const io::Striping striping = open.storage->striping();
    objects::Info& info = objects::make_info();
    info.set("filename", open.path);
    if (striping.factor != 0) info.set("striping_factor", std::to_string(striping.factor));
    io::report(hints, info);
    *result = objects::handle_of(info);
    return MPI_SUCCESS;
}

// --- consistency ---

int set_atomicity(Thread& thread, Fh file, Raw<int> flag) {
    return io::set_atomicity(thread, *file, flag.value != 0);
}

int get_atomicity(Thread&, Fh file, Out<int> flag) {
    const std::lock_guard guard(file->open->lock);
    *flag = file->open->atomic;
    return MPI_SUCCESS;
}

int file_sync(Thread& thread, Fh file) { return io::sync(thread, *file); }

// --- pointers ---

int refuse_sequential(Thread& thread, Fh file) {
    if (!file->open->sequential()) return MPI_SUCCESS;
    return objects::fail(
        thread, *file, MPI_ERR_UNSUPPORTED_OPERATION,
        "the file has been opened with MPI_MODE_SEQUENTIAL, where there are no places");
}

/// Finds the place that `whence` and `offset` mean, in etypes. `current` is where the pointer is.
int place_of(Thread& thread, Fh file, std::int64_t offset, int whence, std::int64_t current,
             std::int64_t& place) {
    std::int64_t from = 0;
    if (whence == MPI_SEEK_END) {
        if (const int error = size_of(thread, file, from)) return error;
        from = file->open->view_now()->etypes_before(from);
    } else if (whence == MPI_SEEK_CUR) {
        from = current;
    } else if (whence != MPI_SEEK_SET) {
        return refuse(
            thread, *file, MPI_ERR_ARG, "whence",
            std::to_string(whence) + " is not MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END");
    }
    if (!__builtin_add_overflow(from, offset, &place) && place >= 0) return MPI_SUCCESS;
    return refuse(thread, *file, MPI_ERR_ARG, "offset",
                  std::to_string(offset) + " from " + std::to_string(from) +
                      " on is not within the file's view");
}

int seek(Thread& thread, Fh file, Raw<MPI_Offset> offset, Raw<int> whence) {
    if (const int error = refuse_sequential(thread, file)) return error;
    io::OpenFile& open = *file->open;
    std::unique_lock guard(open.lock);
    const std::int64_t current = open.position;
    guard.unlock();
    std::int64_t place = 0;
    if (const int error = place_of(thread, file, offset.value, whence.value, current, place))
        return error;
    guard.lock();
    open.position = place;
    return MPI_SUCCESS;
}

int get_position(Thread& thread, Fh file, Out<MPI_Offset> offset) {
    if (const int error = refuse_sequential(thread, file)) return error;
    const std::lock_guard guard(file->open->lock);
    *offset = file->open->position;
    return MPI_SUCCESS;
}

/// Seeks collectively. Rank 0 moves the pointer once all have come, and all wait until it has.
int seek_shared(Thread& thread, Fh file, Raw<MPI_Offset> offset, Raw<int> whence) {
    if (const int error = refuse_sequential(thread, file)) return error;
    if (const int error = io::check_same(thread, *file, "whence", whence.value)) return error;
    if (const int error = io::check_same(thread, *file, "offset", offset.value)) return error;
    io::OpenFile& open = *file->open;
    std::int64_t current = 0, place = 0;
    if (const int error = open.shared->load(thread, current)) return error;
    const int wrong = place_of(thread, file, offset.value, whence.value, current, place);
    // No process reads the pointer any more when it is moved.
    const auto mine = wrong == MPI_SUCCESS
        ? io::Failure{}
        : io::Failure::of_class(wrong, "another process has failed");
    const io::Failure all = io::agree(thread, open, mine);
    if (wrong != MPI_SUCCESS) return wrong;
    if (all) return io::raise(thread, *file, all, "moving the shared file pointer");
    if (open.communicator->rank == 0)
        if (const int error = open.shared->store(thread, place)) return error;
    return io::raise(thread, *file, io::agree(thread, open, {}), "moving the shared file pointer");
}

int get_position_shared(Thread& thread, Fh file, Out<MPI_Offset> offset) {
    if (const int error = refuse_sequential(thread, file)) return error;
    std::int64_t etypes = 0;
    if (const int error = file->open->shared->load(thread, etypes)) return error;
    *offset = etypes;
    return MPI_SUCCESS;
}

int get_byte_offset(Thread& thread, Fh file, Offset offset, Out<MPI_Offset> place) {
    if (const int error = refuse_sequential(thread, file)) return error;
    const io::ViewPointer view = file->open->view_now();
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(offset.value, static_cast<std::int64_t>(view->unit), &bytes))
        return refuse(thread, *file, MPI_ERR_ARG, "offset", "is beyond 2^63 bytes");
    *place = view->has_data() ? view->data(true).place(static_cast<std::uint64_t>(bytes))
                              : view->displacement;
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(5, File_open, file_open)
MPI_ENTRY(1, File_close, file_close)
MPI_ENTRY(2, File_delete, delete_file)
MPI_ENTRY(2, File_set_size, set_size)
MPI_ENTRY(2, File_preallocate, preallocate)
MPI_ENTRY(2, File_get_size, get_size)
MPI_ENTRY(2, File_get_group, file_group)
MPI_ENTRY(2, File_get_amode, get_amode)
MPI_ENTRY(2, File_set_info, set_file_info)
MPI_ENTRY(2, File_get_info, file_info)
MPI_ENTRY(2, File_set_atomicity, set_atomicity)
MPI_ENTRY(2, File_get_atomicity, get_atomicity)
MPI_ENTRY(1, File_sync, file_sync)
MPI_ENTRY(3, File_seek, seek)
MPI_ENTRY(2, File_get_position, get_position)
MPI_ENTRY(3, File_seek_shared, seek_shared)
MPI_ENTRY(2, File_get_position_shared, get_position_shared)
MPI_ENTRY(3, File_get_byte_offset, get_byte_offset)
