// SPDX-License-Identifier: BSD-3-Clause
/// Data access (MPI 5.0, 14.4). Every function is one of a few forms with a Kind.

#include "api/entry.hpp"
#include "api/file_arguments.hpp"
#include "io/request.hpp"
#include "objects/errors.hpp"

namespace heddle::api {
namespace {

using core::Thread;
using io::Kind;
using io::Pointer;
using io::Split;

constexpr Kind read_at{Pointer::given, false, false};
constexpr Kind read_at_all{Pointer::given, false, true};
constexpr Kind write_at{Pointer::given, true, false};
constexpr Kind write_at_all{Pointer::given, true, true};
constexpr Kind read_next{Pointer::individual, false, false};
constexpr Kind read_next_all{Pointer::individual, false, true};
constexpr Kind write_next{Pointer::individual, true, false};
constexpr Kind write_next_all{Pointer::individual, true, true};
constexpr Kind read_shared{Pointer::shared, false, false};
constexpr Kind read_ordered{Pointer::shared, false, true};
constexpr Kind write_shared{Pointer::shared, true, false};
constexpr Kind write_ordered{Pointer::shared, true, true};

/// Returns memory that is only read.
std::byte* memory_of(SendBuffer buffer) noexcept { return const_cast<std::byte*>(buffer.address); }
std::byte* memory_of(ReceiveBuffer buffer) noexcept { return buffer.address; }

/// Returns whether this is a buffer. A null pointer is MPI_BOTTOM, too; its data have addresses for
/// displacements.
bool is_buffer(const std::byte* buffer, Count count, Type type) noexcept {
    if (is_memory(buffer) || count.value == 0 || type->size == 0) return true;
    constexpr auto page = static_cast<std::int64_t>(first_address);
    return buffer == nullptr && (type->true_lower_bound <= -page || page <= type->true_lower_bound);
}

template <class Buffer>
int wish_of(Thread& thread, Fh file, std::int64_t offset, Buffer buffer, Count count, Type type,
            io::Wish& wish) {
    wish = {offset, memory_of(buffer), count.value, type.object};
    if (is_buffer(wish.buffer, count, type)) return MPI_SUCCESS;
    return refuse(thread, *file, MPI_ERR_BUFFER, Buffer::name, no_memory(wish.buffer));
}

template <Kind kind, class Buffer>
int access_at(Thread& thread, Fh file, Offset offset, Buffer buffer, Count count, Type type,
              Status status) {
    io::Wish wish;
    if (const int error = wish_of(thread, file, offset.value, buffer, count, type, wish))
        return error;
    return io::access(thread, *file, kind, wish, status.place);
}
template <Kind kind, class Buffer>
int access(Thread& thread, Fh file, Buffer buffer, Count count, Type type, Status status) {
    io::Wish wish;
    if (const int error = wish_of(thread, file, 0, buffer, count, type, wish)) return error;
    return io::access(thread, *file, kind, wish, status.place);
}

template <Kind kind, class Buffer>
int start_at(Thread& thread, Fh file, Offset offset, Buffer buffer, Count count, Type type,
             Out<MPI_Request> request) {
    io::Wish wish;
    if (const int error = wish_of(thread, file, offset.value, buffer, count, type, wish))
        return error;
    return io::start(thread, *file, kind, wish, *request);
}
template <Kind kind, class Buffer>
int start_access(Thread& thread, Fh file, Buffer buffer, Count count, Type type,
                 Out<MPI_Request> request) {
    io::Wish wish;
    if (const int error = wish_of(thread, file, 0, buffer, count, type, wish)) return error;
    return io::start(thread, *file, kind, wish, *request);
}

template <Kind kind, Split split, class Buffer>
int begin_at(Thread& thread, Fh file, Offset offset, Buffer buffer, Count count, Type type) {
    io::Wish wish;
    if (const int error = wish_of(thread, file, offset.value, buffer, count, type, wish))
        return error;
    return io::begin(thread, *file, split, kind, wish);
}
template <Kind kind, Split split, class Buffer>
int begin(Thread& thread, Fh file, Buffer buffer, Count count, Type type) {
    io::Wish wish;
    if (const int error = wish_of(thread, file, 0, buffer, count, type, wish)) return error;
    return io::begin(thread, *file, split, kind, wish);
}
template <Split split, class Buffer>
int end(Thread& thread, Fh file, Buffer buffer, Status status) {
    return io::end(thread, *file, split, buffer.address, status.place);
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;
namespace io = heddle::io;

MPI_ENTRY_C(6, File_read_at, access_at<read_at, ReceiveBuffer>)
MPI_ENTRY_C(6, File_read_at_all, access_at<read_at_all, ReceiveBuffer>)
MPI_ENTRY_C(6, File_write_at, access_at<write_at, SendBuffer>)
MPI_ENTRY_C(6, File_write_at_all, access_at<write_at_all, SendBuffer>)
MPI_ENTRY_C(6, File_iread_at, start_at<read_at, ReceiveBuffer>)
MPI_ENTRY_C(6, File_iread_at_all, start_at<read_at_all, ReceiveBuffer>)
MPI_ENTRY_C(6, File_iwrite_at, start_at<write_at, SendBuffer>)
MPI_ENTRY_C(6, File_iwrite_at_all, start_at<write_at_all, SendBuffer>)

MPI_ENTRY_C(5, File_read, access<read_next, ReceiveBuffer>)
MPI_ENTRY_C(5, File_read_all, access<read_next_all, ReceiveBuffer>)
MPI_ENTRY_C(5, File_write, access<write_next, SendBuffer>)
MPI_ENTRY_C(5, File_write_all, access<write_next_all, SendBuffer>)
MPI_ENTRY_C(5, File_iread, start_access<read_next, ReceiveBuffer>)
MPI_ENTRY_C(5, File_iread_all, start_access<read_next_all, ReceiveBuffer>)
MPI_ENTRY_C(5, File_iwrite, start_access<write_next, SendBuffer>)
MPI_ENTRY_C(5, File_iwrite_all, start_access<write_next_all, SendBuffer>)

MPI_ENTRY_C(5, File_read_shared, access<read_shared, ReceiveBuffer>)
MPI_ENTRY_C(5, File_write_shared, access<write_shared, SendBuffer>)
MPI_ENTRY_C(5, File_iread_shared, start_access<read_shared, ReceiveBuffer>)
MPI_ENTRY_C(5, File_iwrite_shared, start_access<write_shared, SendBuffer>)
MPI_ENTRY_C(5, File_read_ordered, access<read_ordered, ReceiveBuffer>)
MPI_ENTRY_C(5, File_write_ordered, access<write_ordered, SendBuffer>)

MPI_ENTRY_C(5, File_read_at_all_begin, begin_at<read_at_all, Split::read_at_all, ReceiveBuffer>)
MPI_ENTRY(3, File_read_at_all_end, end<Split::read_at_all, ReceiveBuffer>)
MPI_ENTRY_C(5, File_write_at_all_begin, begin_at<write_at_all, Split::write_at_all, SendBuffer>)
MPI_ENTRY(3, File_write_at_all_end, end<Split::write_at_all, SendBuffer>)
MPI_ENTRY_C(4, File_read_all_begin, begin<read_next_all, Split::read_all, ReceiveBuffer>)
MPI_ENTRY(3, File_read_all_end, end<Split::read_all, ReceiveBuffer>)
MPI_ENTRY_C(4, File_write_all_begin, begin<write_next_all, Split::write_all, SendBuffer>)
MPI_ENTRY(3, File_write_all_end, end<Split::write_all, SendBuffer>)
MPI_ENTRY_C(4, File_read_ordered_begin, begin<read_ordered, Split::read_ordered, ReceiveBuffer>)
MPI_ENTRY(3, File_read_ordered_end, end<Split::read_ordered, ReceiveBuffer>)
MPI_ENTRY_C(4, File_write_ordered_begin, begin<write_ordered, Split::write_ordered, SendBuffer>)
MPI_ENTRY(3, File_write_ordered_end, end<Split::write_ordered, SendBuffer>)
