// SPDX-License-Identifier: BSD-3-Clause
#include "rma/making.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "comm/agreement.hpp"
#include "comm/participants.hpp"
#include "comm/recycling.hpp"
#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "platform/limits.hpp"
#include "rma/completion.hpp"
#include "rma/control.hpp"
#include "rma/far_service.hpp"
#include "rma/meeting.hpp"
#include "rma/service.hpp"

namespace heddle::rma {
namespace {

using objects::Window;

/// The data that each process gives about itself. Rank 0 gives the context for all.
struct Part {
    std::uint32_t context;
    std::int32_t first_beside;  ///< the first rank of its node
    bool noncontiguous;
    std::uint64_t bytes;
    std::int64_t unit;
    std::uint64_t address;
    std::uint64_t alignment;
    node::Segment pages;  ///< of the node's file in which memory of MPI_Alloc_mem lies
};
using Parts = std::vector<Part>;

/// The most bytes of a window, over all nodes, so that every node decides alike.
constexpr std::uint64_t most_bytes = node::segments_bytes / 2;

bool has_memory(int flavor) noexcept {
    return flavor == MPI_WIN_FLAVOR_ALLOCATE || flavor == MPI_WIN_FLAVOR_SHARED;
}

/// Returns where the memory of each process begins in the segment of its node, and where the last
/// one ends. Every process of the node finds the same. Parts of other nodes have no bytes in the
/// segment. Returns an empty list if the parts are larger than addresses.
std::vector<std::uint64_t> places_in_segment(int flavor, const Window& window, const Parts& parts) {
    const bool dynamic = flavor == MPI_WIN_FLAVOR_DYNAMIC;
    std::uint64_t at = ControlLayout::of(static_cast<std::int32_t>(parts.size()), dynamic).end;
    std::vector<std::uint64_t> places;
    std::uint64_t all = 0, alignment = cache_line;
    for (const Part& part : parts) alignment = std::max(alignment, part.alignment);
    const bool side_by_side = flavor == MPI_WIN_FLAVOR_SHARED && !parts[0].noncontiguous;
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
        const Part& part = parts[rank];
        // Pages of different processes are kept apart, if they have any.
        const std::uint64_t unit = part.bytes >= node::page_bytes ? node::page_bytes : alignment;
        if (!side_by_side || places.empty()) at = (at + unit - 1) / unit * unit;
        places.push_back(at);
        if (!has_memory(flavor)) continue;
        if (__builtin_add_overflow(all, part.bytes, &all) || all > most_bytes) return {};
        if (!window.targets[rank].far) at += part.bytes;
    }
    places.push_back(at);
    return places;
}

/// Returns the pages of a piece that `memory` lies in.
node::Segment pages_of(const objects::NodeMemory::Piece& piece, const void* memory,
                       std::uint64_t bytes) noexcept {
    using node::page_bytes;
    const auto begin =
        static_cast<std::uint64_t>(static_cast<const std::byte*>(memory) - piece.begin());
    const std::uint64_t first = begin / page_bytes * page_bytes;
    const std::uint64_t end = (begin + bytes + page_bytes - 1) / page_bytes * page_bytes;
    return {piece.segment().offset + first, end - first};
}

/// Returns whether this process is the first of its node, which takes the shared state.
bool is_first_here(const Window& window) noexcept {
    return window.here.front() == window.communicator->rank;
}

/// A window that is being made. Its destructor frees the window unless it is kept.
class WindowParts {
public:
    WindowParts(objects::Process& process, Window& window) noexcept
        : process_(process), window_(&window) {}
    ~WindowParts() {
        if (window_ == nullptr) return;
        if (window_->far_service != nullptr)
            process_.engine->far().listeners().remove(context_of(*window_->communicator));
        if (window_->segment && is_first_here(*window_))
            process_.node.segments().give(window_->segment);
        objects::close_handle(process_, *window_);
    }
    WindowParts(const WindowParts&) = delete;
    WindowParts& operator=(const WindowParts&) = delete;
    Window& operator*() const noexcept { return *window_; }
    Window& keep() noexcept { return *std::exchange(window_, nullptr); }

private:
    objects::Process& process_;
    Window* window_;
};

Window& furnish(objects::Process& process, objects::Communicator& parent, const Wish& wish,
                const Parts& parts) {
    parent.group->retain();
    Window& window = objects::make_window(
        process, objects::make_communicator(process, parent, parts[0].context, *parent.group));
    window.flavor = wish.flavor;
    window.bytes = wish.bytes;
    window.unit = static_cast<int>(std::min<std::int64_t>(wish.unit, INT32_MAX));
    window.base = wish.memory;
    if (wish.info != nullptr) objects::apply_hints(window.hints, *wish.info);
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
        objects::Target& target = window.targets[rank];
        target.bytes = parts[rank].bytes;
        target.unit = parts[rank].unit;
        target.process = window.communicator->processes[rank];
        target.address = parts[rank].address;
        target.far = process.engine->base().is_far(target.process);
        if (!target.far) window.here.push_back(static_cast<std::int32_t>(rank));
        window.first_beside.push_back(parts[rank].first_beside);
        if (parts[rank].first_beside == static_cast<std::int32_t>(rank))
            window.nodes.push_back(parts[rank].first_beside);
    }
    return window;
}

void point_into(Window& window, const std::vector<std::uint64_t>& places) {
    auto* begin = static_cast<std::byte*>(window.mapping->address());
    const ControlLayout layout =
        ControlLayout::of(window.ranks, window.flavor == MPI_WIN_FLAVOR_DYNAMIC);
    window.front = reinterpret_cast<Front*>(begin);
    window.target_states = reinterpret_cast<TargetState*>(begin + layout.target_states);
    window.parties = reinterpret_cast<WholeParty*>(begin + layout.parties);
    window.places = reinterpret_cast<std::atomic<std::uint32_t>*>(begin + layout.places);
    window.regions = reinterpret_cast<Region*>(begin + layout.regions);
    const auto me = static_cast<std::size_t>(window.communicator->rank);
    if (has_memory(window.flavor)) {
        for (const std::int32_t rank : window.here) {
            window.targets[rank].memory = begin + places[static_cast<std::size_t>(rank)];
            window.targets[rank].mapped_by_all = true;
        }
        window.base = window.targets[me].memory;
    } else if (window.flavor == MPI_WIN_FLAVOR_CREATE) {
        window.targets[me].memory = static_cast<std::byte*>(window.base);
    }
}

/// Maps the pages of other processes of this node, by rank. Returns false if some cannot be mapped.
bool map_pieces(const objects::Process& process, Window& window, const Parts& parts) {
    window.other_pieces.resize(parts.size());
    for (const std::int32_t here : window.here) {
        const auto rank = static_cast<std::size_t>(here);
        if (!parts[rank].pages || here == window.communicator->rank) continue;
        window.other_pieces[rank] = process.node.segments().map(parts[rank].pages);
        if (window.other_pieces[rank] == nullptr) return false;
    }
    return true;
}

/// Makes memory of MPI_Alloc_mem accessible as that of MPI_Win_allocate is, if all processes have
/// mapped it.
int share_pieces(core::Thread& thread, Window& window, const Parts& parts) {
    if (std::none_of(parts.begin(), parts.end(),
                     [](const Part& part) { return static_cast<bool>(part.pages); }))
        return MPI_SUCCESS;
    bool mapped = map_pieces(*thread.process, window, parts);
    if (const int error = all_agree(thread, *window.communicator, mapped)) return error;
    if (!mapped) {
        window.other_pieces.clear();
        return MPI_SUCCESS;
    }
    for (const std::int32_t here : window.here) {
        const auto rank = static_cast<std::size_t>(here);
        if (!parts[rank].pages) continue;
        objects::Target& target = window.targets[rank];
        target.mapped_by_all = true;
        if (const platform::Mapping* pages = window.other_pieces[rank].get())
            target.memory =
                static_cast<std::byte*>(pages->address()) + target.address % node::page_bytes;
    }
    return MPI_SUCCESS;
}

/// Returns whether the kernel, and not messages, makes the copies for some target of this node.
bool has_targets_of_the_kernel(const core::Thread& thread, const Window& window) {
    if (!thread.engine->base().features.free_windows) return false;
    const bool dynamic = window.flavor == MPI_WIN_FLAVOR_DYNAMIC;  // has memory that comes later
    return std::any_of(window.here.begin(), window.here.end(), [&](std::int32_t rank) {
        const objects::Target& target = window.targets[rank];
        return target.memory == nullptr && (dynamic || target.bytes != 0) &&
            rank != window.communicator->rank &&
            (window.service == nullptr || !window.service->asks(rank));
    });
}

/// Opens the short paths, if there are any. Flushes have more to do if operations are gathered.
void open_short_ways(const p2p::Engine& engine, Window& window) noexcept {
    if (!engine.base().features.fast_paths) return;
    window.short_ranks = window.ranks;
    if (window.gathered == nullptr) window.short_flushes = window.ranks;
    for (std::int32_t rank = 0; rank < window.ranks; ++rank) {
        objects::Target& target = window.targets[rank];
        if (target.memory != nullptr) target.short_bytes = target.bytes;
    }
}

/// Learns the place of this node's segment from the node's first process.
int hear_of_segment(core::Thread& thread, Window& window) {
    const comm::Participants participants(*window.communicator);
    const auto me = std::find(window.here.begin(), window.here.end(), window.communicator->rank);
    return comm::broadcast(thread, participants, window.here,
                           static_cast<std::int32_t>(me - window.here.begin()), making_message,
                           &window.segment, sizeof window.segment);
}

/// Maps the segment of this node. Sets `mapped` to whether all processes have mapped theirs.
int share_segment(core::Thread& thread, Window& window, std::uint64_t bytes, bool& mapped) {
    const node::Segments& segments = thread.process->node.segments();
    objects::Communicator& communicator = *window.communicator;
    if (is_first_here(window)) window.segment = segments.take(bytes);
    if (const int error = hear_of_segment(thread, window)) return error;
    if (window.segment) window.mapping = segments.map(window.segment);
    mapped = window.mapping != nullptr;
    return all_agree(thread, communicator, mapped);
}

int no_memory(core::Thread& thread, objects::Communicator& parent, std::uint64_t bytes) {
    const std::string why = platform::limit_that_forbids(
        {.addresses = bytes, .file = thread.process->node.bytes_with_segment(bytes)});
    return objects::fail(thread, &parent, MPI_ERR_NO_MEM,
                         "no shared memory for a window of " + std::to_string(bytes) +
                             " bytes in all" + (why.empty() ? "" : ": " + why));
}

/// Returns by rank whether the kernel or the user keeps this process from the memory of that rank.
std::vector<bool> ranks_out_of_reach(core::Thread& thread, const Window& window) {
    const bool never = thread.process->settings.single_copy == tool::SingleCopy::never;
    const bool dynamic = window.flavor == MPI_WIN_FLAVOR_DYNAMIC;
    p2p::PeerMemory& memory = thread.engine->peer_memory();
    std::vector<bool> ranks(static_cast<std::size_t>(window.ranks));
    for (const std::int32_t rank : window.here) {
        const objects::Target& target = window.targets[rank];
        const bool copied = target.memory == nullptr && (target.bytes != 0 || dynamic) &&
            rank != window.communicator->rank;
        ranks[static_cast<std::size_t>(rank)] =
            copied && (never || !memory.writable(target.process));
    }
    return ranks;
}

/// Makes all processes serve their memory if one process cannot reach the memory of another.
int begin_service(core::Thread& thread, Window& window) {
    if (has_memory(window.flavor)) return MPI_SUCCESS;
    std::vector<bool> to_be_asked = ranks_out_of_reach(thread, window);
    bool reached = std::find(to_be_asked.begin(), to_be_asked.end(), true) == to_be_asked.end();
    if (const int error = all_agree(thread, *window.communicator, reached)) return error;
    if (!reached) window.service = Service::begin(thread, window, std::move(to_be_asked));
    return MPI_SUCCESS;
}

/// Begins to serve other nodes. Their processes may ask as soon as all are ready to serve.
int serve_other_nodes(core::Thread& thread, Window& window) {
    if (window.here.size() == static_cast<std::size_t>(window.ranks)) return MPI_SUCCESS;
    window.far = std::make_shared<FarTargets>(window);
    window.far_service = std::make_shared<FarService>(window);
    thread.engine->far().listeners().add(context_of(*window.communicator), window.far_service);
    return meet(thread, *window.communicator);
}

/// Refuses to share memory across nodes.
int check_sharing(core::Thread& thread, objects::Communicator& parent, const Wish& wish) {
    if (wish.flavor != MPI_WIN_FLAVOR_SHARED ||
        thread.process->share_memory(parent.group->processes))
        return MPI_SUCCESS;
    return objects::fail(
        thread, &parent, MPI_ERR_RMA_SHARED,
        "argument comm: its processes are on several hosts, which share no memory; "
        "MPI_Comm_split_type with MPI_COMM_TYPE_SHARED makes communicators of those that do");
}

std::int32_t first_beside(const p2p::Engine& engine, const objects::Communicator& parent) noexcept {
    std::int32_t rank = 0;
    while (rank < parent.rank &&
           engine.base().is_far(parent.processes[static_cast<std::size_t>(rank)]))
        ++rank;
    return rank;
}

/// Does everything that needs the other processes.
int agree(core::Thread& thread, objects::Communicator& parent, const Wish& wish,
          const objects::NodeMemory::Piece* piece, Parts& parts) {
    objects::Process& process = *thread.process;
    process.recycling->step(thread);
    objects::WindowHints hints;
    if (wish.info != nullptr) objects::apply_hints(hints, *wish.info);
    const auto bytes = static_cast<std::uint64_t>(wish.bytes);
    const Part mine{parent.rank == 0 ? process.contexts.take() : 0,
                    first_beside(*process.engine, parent),
                    hints.noncontiguous,
                    bytes,
                    wish.unit,
                    reinterpret_cast<std::uint64_t>(wish.memory),
                    hints.alignment,
                    piece == nullptr ? node::Segment{} : pages_of(*piece, wish.memory, bytes)};
    if (const int error = comm::gather_all(thread, comm::Participants(parent),
                                           comm::window_agreement, parts, mine))
        return error;
    if (parts[0].context != 0) return MPI_SUCCESS;
    return objects::fail(thread, &parent, MPI_ERR_OTHER,
                         "no context id is left for another window");
}

}  // namespace

int make(core::Thread& thread, objects::Communicator& parent, const Wish& wish, Window*& result) {
    if (const int error = check_sharing(thread, parent, wish)) return error;
    Parts parts;
    objects::NodeMemory::Holder piece;
    if (wish.flavor == MPI_WIN_FLAVOR_CREATE && wish.bytes > 0)
        piece = thread.process->node_memory.piece_with(wish.memory,
                                                       static_cast<std::size_t>(wish.bytes));
    if (const int error = agree(thread, parent, wish, piece.get(), parts)) return error;
    WindowParts made(*thread.process, furnish(*thread.process, parent, wish, parts));
    (*made).own_piece = std::move(piece);
    const std::vector<std::uint64_t> places = places_in_segment(wish.flavor, *made, parts);
    if (places.empty())
        return objects::fail(thread, &parent, MPI_ERR_SIZE, "the window is larger than addresses");
    bool mapped = false;
    if (const int error = share_segment(thread, *made, places.back(), mapped)) return error;
    if (!mapped) return no_memory(thread, parent, places.back());
    point_into(*made, places);
    if (const int error = share_pieces(thread, *made, parts)) return error;
    if (const int error = begin_service(thread, *made)) return error;
    if (const int error = serve_other_nodes(thread, *made)) return error;
    if (has_targets_of_the_kernel(thread, *made))
        (*made).gathered = std::make_shared<Gathered>(*made);
    open_short_ways(*thread.engine, *made);
    result = &made.keep();
    return MPI_SUCCESS;
}

int free(core::Thread& thread, Window& window) {
    (void)complete_operations(thread, window);  // operations may follow a fence until here
    if (const int error = meet(thread, *window.communicator)) return error;
    if (window.service != nullptr) window.service->end(thread);
    const WindowParts gone(*thread.process, window);
    return MPI_SUCCESS;
}

}  // namespace heddle::rma
