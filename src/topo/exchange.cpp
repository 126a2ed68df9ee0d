// SPDX-License-Identifier: BSD-3-Clause
#include "topo/exchange.hpp"

#include "p2p/operations.hpp"

namespace heddle::topo {
namespace {

/// The tag in the collective context. Collectives and comm/agreement.hpp use smaller ones.
constexpr std::int32_t tag = 1100;

/// Messages from and to all members, started together.
class Round {
public:
    Round(core::Thread& thread, objects::Communicator& communicator, std::size_t members)
        : thread_(thread), communicator_(communicator) {
        requests_.reserve(2 * members);
    }
    void receive(void* data, std::size_t bytes, std::size_t from) {
        requests_.push_back(p2p::start_receive(thread_, communicator_, communicator_.context + 1,
                                               data, bytes, static_cast<std::int32_t>(from), tag));
    }
    void send(const void* data, std::size_t bytes, std::size_t to) {
        requests_.push_back(p2p::start_send(thread_, communicator_, communicator_.context + 1, data,
                                            bytes, static_cast<std::int32_t>(to), tag));
    }
    int finish() {
        int first = MPI_SUCCESS;
        for (core::Request* request : requests_) {
            const int error = p2p::finish(thread_, communicator_, request);
            if (first == MPI_SUCCESS) first = error;
        }
        return first;
    }

private:
    core::Thread& thread_;
    objects::Communicator& communicator_;
    std::vector<core::Request*> requests_;
};

std::size_t bytes_of(const List& list) noexcept { return list.size() * sizeof(std::int32_t); }

int exchange_sizes(core::Thread& thread, objects::Communicator& communicator, const Lists& out,
                   Lists& in) {
    const std::size_t members = out.size();
    std::vector<std::uint64_t> sizes(2 * members);
    Round round(thread, communicator, members);
    for (std::size_t rank = 0; rank < members; ++rank)
        round.receive(&sizes[rank], sizeof sizes[rank], rank);
    for (std::size_t rank = 0; rank < members; ++rank) {
        sizes[members + rank] = out[rank].size();
        round.send(&sizes[members + rank], sizeof sizes[rank], rank);
    }
    const int error = round.finish();
    if (error != MPI_SUCCESS) return error;
    in.assign(members, {});
    for (std::size_t rank = 0; rank < members; ++rank) in[rank].resize(sizes[rank]);
    return MPI_SUCCESS;
}

}  // namespace

int exchange(core::Thread& thread, objects::Communicator& communicator, const Lists& out,
             Lists& in) {
    if (const int error = exchange_sizes(thread, communicator, out, in)) return error;
    Round round(thread, communicator, out.size());
    for (std::size_t rank = 0; rank < in.size(); ++rank)
        if (!in[rank].empty()) round.receive(in[rank].data(), bytes_of(in[rank]), rank);
    for (std::size_t rank = 0; rank < out.size(); ++rank)
        if (!out[rank].empty()) round.send(out[rank].data(), bytes_of(out[rank]), rank);
    return round.finish();
}

int tell_all(core::Thread& thread, objects::Communicator& communicator, std::int32_t members,
             const List& mine, Lists& all) {
    const Lists out(static_cast<std::size_t>(members), mine);
    return exchange(thread, communicator, out, all);
}

}  // namespace heddle::topo
