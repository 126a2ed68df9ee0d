// SPDX-License-Identifier: BSD-3-Clause
#include "scale/ranks.hpp"

#include <stdexcept>
#include <unistd.h>

#include "coll/shared_scratch.hpp"
#include "node/file.hpp"
#include "objects/nodes.hpp"

namespace heddle::scale {

/// A process that is alone in its job.
class Ranks::Alone {
public:
    Alone()
        : descriptor_(node::create_file(node::File::of(1, node::Token::fresh()))),
          rank_({}, map(), comm::Rank::OpenNetwork{}) {}
    ~Alone() { close(descriptor_); }
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;

    comm::Rank& rank() noexcept { return rank_; }

private:
    node::Node map() const {
        auto node = node::Node::map_all(descriptor_, 1);
        if (!node) throw std::runtime_error("no shared memory");
        return std::move(*node);
    }

    const int descriptor_;
    comm::Rank rank_;
};

namespace {

std::int32_t most_on_a_node(const launch::RegularMap& map) noexcept { return map.size_of(0); }

bool share_scratch(const launch::RegularMap& map) noexcept {
    return most_on_a_node(map) > 1 && most_on_a_node(map) <= coll::ScratchLayout::most_ranks;
}

platform::Mapping scratch_of(const launch::RegularMap& map) {
    if (!share_scratch(map)) return {};
    platform::Mapping memory =
        platform::reserve(static_cast<std::size_t>(map.nodes) * node::stage_bytes);
    if (!memory) throw std::runtime_error("no address space for the scratch memory of all nodes");
    return memory;
}

/// Returns the shared memory that ranks agree on in a job.
objects::SharedScratch shared(std::byte* memory, std::int32_t place, std::int32_t places) {
    objects::SharedScratch scratch;
    scratch.known = true;
    if (places < 2) return scratch;
    scratch.memory = memory;
    scratch.room = coll::ScratchLayout::slots(places) - 1;
    scratch.place = place;
    scratch.places = places;
    return scratch;
}

}  // namespace

Ranks::Ranks(const launch::RegularMap& map)
    : map_(map),
      alone_(std::make_unique<Alone>()),
      scratch_(scratch_of(map)),
      communicators_(
          std::make_unique<objects::Communicator[]>(static_cast<std::size_t>(map.ranks))) {
    writer_.process = &alone_->rank();
    writer_.engine = alone_->rank().engine;
    for (std::int32_t rank = 0; rank < size(); ++rank) place(rank);
}

Ranks::~Ranks() = default;

void Ranks::place(std::int32_t rank) {
    objects::Communicator& communicator = (*this)[rank];
    communicator.rank = rank;
    communicator.peers = size();
    communicator.context = objects::world_context;
    communicator.scratch.known = true;
    const std::int32_t node = node_of(rank);
    std::byte* const memory = scratch_ ? static_cast<std::byte*>(scratch_.address()) +
            static_cast<std::size_t>(node) * node::stage_bytes
                                       : nullptr;
    const auto scratch = [&] {
        return memory == nullptr ? communicator.scratch
                                 : shared(memory, map_.place_of(rank), map_.size_of(node));
    };
    if (map_.nodes == 1) {
        communicator.scratch = scratch();
        return;
    }
    auto nodes = std::make_shared<objects::Nodes>();
    objects::place_ranks(*nodes, map_, rank);
    nodes->scratch = scratch();
    nodes->scratch.ranks = nodes->here.data();
    communicator.nodes = std::move(nodes);
}

objects::Reduction Ranks::sum(bool of_doubles) const {
    comm::Rank& rank = alone_->rank();
    return {*rank.operation(MPI_SUM), *rank.datatype(of_doubles ? MPI_DOUBLE : MPI_UINT64_T)};
}

std::uint64_t Ranks::bytes_of_rank(std::int32_t rank) const noexcept {
    const objects::Communicator& communicator = communicators_[static_cast<std::size_t>(rank)];
    std::uint64_t bytes = sizeof communicator;
    if (const objects::Nodes* nodes = communicator.nodes.get())
        bytes += sizeof *nodes +
            sizeof(std::int32_t) *
                (nodes->here.capacity() + nodes->listed_ranks.capacity() +
                 nodes->listed_begins.capacity());
    return bytes;
}

}  // namespace heddle::scale
