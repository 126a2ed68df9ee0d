// SPDX-License-Identifier: BSD-3-Clause
#include "io/in_file_system.hpp"

#include "objects/file.hpp"
#include "objects/process.hpp"

namespace heddle::io {
namespace {

constexpr std::uint64_t small = 4096;

node::AwaitedEvent event_of(const OpenFile& file, std::int64_t at, std::uint64_t bytes) noexcept {
    node::AwaitedEvent event{};
    event.kind = node::AwaitedKind::file;
    event.peer = node::no_peer;
    event.world_peer = -1;
    event.holder = node::holder_unknown;
    event.bytes = bytes;
    event.place = at;
    node::put_end(event.detail, file.path);
    return event;
}

}  // namespace

InFileSystem::InFileSystem(core::Thread& thread, OpenFile& file, std::int64_t at,
                           std::uint64_t bytes, bool alone) noexcept
    : file_(file),
      alone_(alone),
      since_(sync::Native::now()),
      told_(thread, since_, event_of(file, at, bytes)) {}

InFileSystem::~InFileSystem() {
    const std::chrono::nanoseconds took = so_far();
    objects::Files& files = *file_.process.files;
    const std::lock_guard guard(files.counting);
    files.counted.file_transfers.add(tally_.transfers);
    files.counted.file_read_bytes.add(tally_.read);
    files.counted.file_written_bytes.add(tally_.written);
    files.counted.file_system_time.add(static_cast<std::uint64_t>(took.count()));
    if (!alone_) return;
    files.counted.file_accesses.add();
    if (tally_.small_writes != 0) note_small_writes(files);
}

Moved InFileSystem::read(std::int64_t at, std::byte* to, std::uint64_t bytes) noexcept {
    const Moved moved = file_.storage->read(at, to, bytes);
    ++tally_.transfers;
    tally_.read += moved.bytes;
    return moved;
}

Moved InFileSystem::write(std::int64_t at, const std::byte* from, std::uint64_t bytes) noexcept {
    const Moved moved = file_.storage->write(at, from, bytes);
    ++tally_.transfers;
    tally_.written += moved.bytes;
    const std::int64_t end = at + static_cast<std::int64_t>(bytes);
    if (file_.written_to.exchange(end, relaxed) != at && bytes < small) {
        ++tally_.small_writes;
        tally_.small_bytes += bytes;
    }
    return moved;
}

/// Notes small writes for advice (p2p/report/advice.hpp).
void InFileSystem::note_small_writes(objects::Files& files) noexcept {
    files.counted.file_small_writes.add(tally_.small_writes);
    file_.small_writes += tally_.small_writes;
    file_.small_bytes += tally_.small_bytes;
    if (file_.small_writes <= files.small_writes.writes) return;
    objects::SmallWrites& most = files.small_writes;
    if (most.file != file_.path) {
        try {
            most.file = file_.path;
        } catch (const std::bad_alloc&) {
            return;  // advice is about another file
        }
    }
    most.writes = file_.small_writes;
    most.bytes = file_.small_bytes;
    most.ranks = file_.communicator->peers;
}

void count(objects::Process& process, const Exchanged& exchanged) noexcept {
    const std::lock_guard guard(process.files->counting);
    process.files->counted.file_exchanged_bytes.add(exchanged.bytes);
    process.files->counted.file_windows.add(exchanged.windows);
    process.files->counted.file_message_time.add(exchanged.message_ns);
}

void count_opening(objects::Process& process) noexcept {
    const std::lock_guard guard(process.files->counting);
    process.files->counted.file_opens.add();
}

void count_collective(objects::Process& process) noexcept {
    const std::lock_guard guard(process.files->counting);
    process.files->counted.file_accesses.add();
}

}  // namespace heddle::io
