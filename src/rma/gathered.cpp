// SPDX-License-Identifier: BSD-3-Clause
#include "rma/gathered.hpp"

#include <span>
#include <utility>
#include <vector>

#include "p2p/engine.hpp"
#include "rma/access.hpp"

namespace heddle::rma {

using objects::Place;

namespace {

Place end_of(const iovec& piece) noexcept {
    return reinterpret_cast<Place>(piece.iov_base) + piece.iov_len;
}

}  // namespace

void Gathered::Pieces::add(std::byte* here, Place there, std::uint64_t bytes) noexcept {
    here_[here_used_++] = {here, bytes};
    if (there_used_ != 0 && end_of(there_[there_used_ - 1]) == there)
        there_[there_used_ - 1].iov_len += bytes;
    else
        there_[there_used_++] = {reinterpret_cast<void*>(there), bytes};
}

std::optional<Place> Gathered::Pieces::copy(const p2p::PeerMemory& memory, std::int32_t process,
                                            Direction direction) noexcept {
    const std::span<const iovec> here(here_.data(), std::exchange(here_used_, 0)),
        there(there_.data(), std::exchange(there_used_, 0));
    const auto move = [&](std::span<const iovec> local, std::span<const iovec> remote) {
        return direction == Direction::put ? memory.write(process, remote, local)
                                           : memory.read(process, local, remote);
    };
    if (there.empty() || move(here, there)) return std::nullopt;
    // Copies the pieces one by one to find the one that the kernel refuses.
    for (std::size_t i = 0, next = 0; i < there.size(); ++i) {
        for (std::size_t left = there[i].iov_len; left > 0; ++next) {
            const iovec piece{static_cast<std::byte*>(there[i].iov_base) + there[i].iov_len - left,
                              here[next].iov_len};
            if (!move({&here[next], 1}, {&piece, 1}))
                return reinterpret_cast<Place>(piece.iov_base);
            left -= piece.iov_len;
        }
    }
    return std::nullopt;
}

std::optional<std::int64_t> Gathered::copy(core::Thread& thread, std::int32_t rank, Pieces& pieces,
                                           Direction direction) const noexcept {
    const objects::Target& target = window_.targets[rank];
    const auto refused = pieces.copy(thread.engine->peer_memory(), target.process, direction);
    if (!refused) return std::nullopt;
    return static_cast<std::int64_t>(*refused - target.address) / target.unit;
}

int Gathered::raise(core::Thread& thread, std::int32_t rank, std::int64_t displacement) {
    return not_there(thread, window_, {rank, displacement, 1, nullptr});
}

int Gathered::add(core::Thread& thread, std::int32_t rank, Direction direction, std::byte* here,
                  Place place, std::uint64_t bytes) {
    Batch& batch = [&]() -> Batch& {
        const std::lock_guard guard(lock_);
        return batches_[rank];
    }();
    std::optional<std::int64_t> refused;
    {
        const std::lock_guard guard(batch.lock);
        Pieces& pieces = direction == Direction::put ? batch.puts : batch.gets;
        if (pieces.is_full()) refused = copy(thread, rank, pieces, direction);
        pieces.add(here, place, bytes);
    }
    return refused ? raise(thread, rank, *refused) : MPI_SUCCESS;
}

int Gathered::flush(core::Thread& thread, std::int32_t rank, Batch& batch) {
    std::optional<std::int64_t> put, got;
    {
        const std::lock_guard guard(batch.lock);
        put = copy(thread, rank, batch.puts, Direction::put);
        got = copy(thread, rank, batch.gets, Direction::get);
    }
    if (!put && !got) return MPI_SUCCESS;
    // Raised while no lock is held: handlers are the program's.
    return raise(thread, rank, put ? *put : *got);
}

int Gathered::flush(core::Thread& thread, std::int32_t rank) {
    Batch* batch = nullptr;
    {
        const std::lock_guard guard(lock_);
        if (const auto at = batches_.find(rank); at != batches_.end()) batch = &at->second;
    }
    return batch == nullptr ? MPI_SUCCESS : flush(thread, rank, *batch);
}

int Gathered::flush_all(core::Thread& thread) {
    std::vector<std::pair<std::int32_t, Batch*>> all;
    {
        const std::lock_guard guard(lock_);
        all.reserve(batches_.size());
        for (auto& [rank, batch] : batches_) all.emplace_back(rank, &batch);
    }
    int first = MPI_SUCCESS;
    for (const auto& [rank, batch] : all)
        if (const int error = flush(thread, rank, *batch); first == MPI_SUCCESS) first = error;
    return first;
}

}  // namespace heddle::rma
