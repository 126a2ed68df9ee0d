// SPDX-License-Identifier: BSD-3-Clause
/// Neighbourhood collectives (MPI 5.0, 8.6) on random topologies, in all forms. They are compared
/// with messages that are sent by hand, each with a tag that belongs to its edge.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <vector>

extern "C" {
#include "check.h"
}

namespace {

int rank, size;
using Random = std::mt19937;
using Bytes = std::vector<std::byte>;
constexpr std::byte canary{0xab};

// --- topologies ---

/// One end of an edge: the other end, and a tag that tells it from other edges between the two.
struct End {
    int peer;
    int tag;
};

struct Topology {
    MPI_Comm comm;
    std::vector<End> in, out;
};

/// Makes a grid: a message that leaves in a direction arrives from the opposite one.
Topology random_cart(Random& random) {
    int dims[4] = {0, 0, 0, 0}, periods[4];
    const int ndims = static_cast<int>(random() % 4);
    for (int& period : periods) period = random() % 2 != 0;
    const int members = ndims == 0 ? 1 : size;
    OK(MPI_Dims_create(members, ndims, dims));
    std::shuffle(dims, dims + ndims, random);
    Topology result;
    OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, random() % 2 != 0, &result.comm));
    if (result.comm == MPI_COMM_NULL) return result;
    for (int d = 0; d < ndims; ++d) {
        int below, above;
        OK(MPI_Cart_shift(result.comm, d, 1, &below, &above));
        const int downwards = 2 * d, upwards = 2 * d + 1;
        result.out.push_back({below, downwards});
        result.out.push_back({above, upwards});
        result.in.push_back({below, upwards});
        result.in.push_back({above, downwards});
    }
    return result;
}

/// Returns edges with tags: the first edge to a peer has tag 0, the next tag 1.
std::vector<End> numbered(const std::vector<int>& peers) {
    std::map<int, int> seen;
    std::vector<End> ends;
    for (const int peer : peers) ends.push_back({peer, seen[peer]++});
    return ends;
}

Topology random_graph(Random& random) {
    const unsigned nodes = 1 + random() % static_cast<unsigned>(size);
    std::vector<std::vector<int>> neighbours(nodes);
    for (unsigned i = random() % (2 * nodes + 1); i > 0; --i) {
        const unsigned a = random() % nodes, b = random() % nodes;
        neighbours[a].push_back(static_cast<int>(b));
        if (a != b) neighbours[b].push_back(static_cast<int>(a));
    }
    std::vector<int> ends, edges;
    for (auto& list : neighbours) {
        std::shuffle(list.begin(), list.end(), random);
        edges.insert(edges.end(), list.begin(), list.end());
        ends.push_back(static_cast<int>(edges.size()));
    }
    Topology result;
    OK(MPI_Graph_create(MPI_COMM_WORLD, static_cast<int>(nodes), ends.data(), edges.data(), 0,
                        &result.comm));
    if (result.comm == MPI_COMM_NULL) return result;
    result.in = result.out = numbered(neighbours[static_cast<std::size_t>(rank)]);
    return result;
}

Topology random_dist_graph(Random& random) {
    std::vector<int> sources, destinations;
    std::vector<std::array<int, 2>> edges;
    for (unsigned i = random() % (4 * static_cast<unsigned>(size)); i > 0; --i)
        edges.push_back({static_cast<int>(random() % static_cast<unsigned>(size)),
                         static_cast<int>(random() % static_cast<unsigned>(size))});
    for (const auto& [from, to] : edges) {
        if (to == rank) sources.push_back(from);
        if (from == rank) destinations.push_back(to);
    }
    Random own(static_cast<unsigned>(rank) + random());
    std::shuffle(sources.begin(), sources.end(), own);
    std::shuffle(destinations.begin(), destinations.end(), own);
    Topology result;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources.size()),
                                      sources.data(), MPI_UNWEIGHTED,
                                      static_cast<int>(destinations.size()), destinations.data(),
                                      MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &result.comm));
    result.in = numbered(sources);
    result.out = numbered(destinations);
    return result;
}

// --- the data exchanged ---

/// Dense types, and types with gaps, which no operation may touch.
struct Types {
    static constexpr std::size_t count = 6;
    std::array<MPI_Datatype, count> all{MPI_BYTE, MPI_INT64_T, MPI_DOUBLE_INT, {}, {}, {}};
    static constexpr std::array<std::size_t, count> extents{1, 8, 16, 12, 16, 8};
    /// Returns whether this byte of an element is data.
    static bool is_data(std::size_t type, std::size_t byte) {
        switch (type) {
            case 2: return byte < 12;
            case 4: return byte < 4 || byte >= 12;
            case 5: return byte >= 2 && byte < 6;
            default: return true;
        }
    }
    Types() {
        OK(MPI_Type_contiguous(3, MPI_INT32_T, &all[3]));
        OK(MPI_Type_vector(2, 1, 3, MPI_INT32_T, &all[4]));
        MPI_Datatype half;
        OK(MPI_Type_create_hindexed_block(1, 2, std::array<MPI_Aint, 1>{2}.data(), MPI_INT16_T,
                                          &half));
        OK(MPI_Type_create_resized(half, 0, 8, &all[5]));
        OK(MPI_Type_free(&half));
        for (std::size_t i = 3; i < count; ++i) OK(MPI_Type_commit(&all[i]));
    }
    ~Types() {
        for (std::size_t i = 3; i < count; ++i) MPI_Type_free(&all[i]);
    }
};

/// The blocks of one side of an exchange.
struct Side {
    std::vector<std::size_t> types;  ///< numbers
    std::vector<MPI_Count> counts;
    std::vector<MPI_Aint> starts;     ///< in elements; for Alltoallw in bytes
    std::vector<std::size_t> places;  ///< bytes
    Bytes data;

    std::size_t bytes(std::size_t block) const {
        return static_cast<std::size_t>(counts[block]) * Types::extents[types[block]];
    }
};

enum class Operation { allgather, allgatherv, alltoall, alltoallv, alltoallw };
enum class Form { blocking, nonblocking, persistent };

/// Returns a number that both ends of an edge compute.
unsigned of_edge(unsigned salt, int from, int to, int tag) {
    unsigned x = salt * 2654435761u + static_cast<unsigned>(from * 7919 + to * 104729 + tag * 31);
    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ (x >> 13);
}

class Exchange {
public:
    Exchange(const Topology& topology, Operation operation, unsigned salt, const Types& types)
        : topology_(topology), operation_(operation), salt_(salt), types_(types) {
        OK(MPI_Comm_rank(topology.comm, &me_));
        const bool gathers =
            operation == Operation::allgather || operation == Operation::allgatherv;
        for (const End& end : topology.out) add(out_, me_, end.peer, end.tag);
        if (gathers && out_.counts.empty()) add(out_, me_, 0, 0);  // a block that goes to no rank
        for (const End& end : topology.in) add(in_, end.peer, me_, end.tag);
        place(in_, false);
        place(out_, gathers);
    }

    void fill(unsigned round) {
        Random random(salt_ + round * 1000003u + static_cast<unsigned>(me_));
        for (std::byte& byte : out_.data) byte = static_cast<std::byte>(random());
        std::fill(in_.data.begin(), in_.data.end(), canary);
    }

    void call(Form form, bool large, MPI_Request* request) {
        large ? call_with<MPI_Count, MPI_Aint>(form, request) : call_with<int, int>(form, request);
    }

    /// Checks the data against the messages by hand, which are bytes.
    void compare(MPI_Comm by_hand) const {
        Side expected = in_;
        std::fill(expected.data.begin(), expected.data.end(), canary);
        std::vector<MPI_Request> requests;
        std::vector<Bytes> messages(topology_.in.size() + topology_.out.size());
        auto message = messages.begin();
        for (std::size_t i = 0; i < topology_.in.size(); ++i, ++message) {
            message->resize(expected.bytes(i));
            OK(MPI_Irecv(message->data(), static_cast<int>(message->size()), MPI_BYTE,
                         topology_.in[i].peer, topology_.in[i].tag, by_hand,
                         &requests.emplace_back()));
        }
        for (std::size_t i = 0; i < topology_.out.size(); ++i, ++message) {
            for_data(out_, i, [&](std::size_t at) { message->push_back(out_.data[at]); });
            OK(MPI_Isend(message->data(), static_cast<int>(message->size()), MPI_BYTE,
                         topology_.out[i].peer, topology_.out[i].tag, by_hand,
                         &requests.emplace_back()));
        }
        OK(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
        for (std::size_t i = 0; i < topology_.in.size(); ++i) {
            if (topology_.in[i].peer == MPI_PROC_NULL) continue;
            auto byte = messages[i].begin();
            for_data(expected, i, [&](std::size_t at) { expected.data[at] = *byte++; });
        }
        CHECK(in_.data == expected.data);
    }

private:
    /// Adds a block that travels from one process to another.
    void add(Side& side, int from, int to, int tag) const {
        const bool same_for_all =
            operation_ == Operation::allgather || operation_ == Operation::alltoall;
        const bool typed = operation_ == Operation::alltoallw;
        unsigned number = of_edge(salt_, 0, 0, 0);
        if (!same_for_all)
            number = operation_ == Operation::allgatherv ? of_edge(salt_, from, 0, 0)
                                                         : of_edge(salt_, from, to, tag);
        side.types.push_back((typed ? number / 64 : salt_) % Types::count);
        const unsigned most = salt_ % 5 == 0 ? 3000 : 5;
        side.counts.push_back(static_cast<MPI_Count>(number % most));
    }
    /// Visits the places of the bytes of a block that are data.
    template <class Visit>
    static void for_data(const Side& side, std::size_t block, Visit&& visit) {
        const std::size_t type = side.types[block];
        for (std::size_t i = 0; i < side.bytes(block); ++i)
            if (Types::is_data(type, i % Types::extents[type])) visit(side.places[block] + i);
    }
    /// Places blocks. Regular operations have one after the other; the others in any order, with
    /// gaps.
    void place(Side& side, bool only_one) const {
        const bool regular =
            operation_ == Operation::allgather || operation_ == Operation::alltoall;
        const std::size_t blocks = side.counts.size();
        std::vector<std::size_t> order(blocks);
        std::iota(order.begin(), order.end(), std::size_t{0});
        if (!regular) std::shuffle(order.begin(), order.end(), Random(salt_));
        side.places.resize(blocks);
        side.starts.resize(blocks);
        std::size_t end = 0;
        for (const std::size_t block : order) {
            const std::size_t unit =
                operation_ == Operation::alltoallw ? 1 : Types::extents[side.types[block]];
            if (only_one) end = 0;
            if (!regular && !only_one) end += 16 * (1 + salt_ % 3);
            end = (end + unit - 1) / unit * unit;
            side.places[block] = end;
            side.starts[block] = static_cast<MPI_Aint>(end / unit);
            end += side.bytes(block);
        }
        side.data.assign(end + 64, canary);
    }
    template <class Count, class Start>
    void call_with(Form form, MPI_Request* request) {
        // They stay alive: nonblocking calls may read them until they are complete.
        auto& [counts_in, counts_out, starts_in, starts_out] = arrays(Count{}, Start{});
        counts_in.assign(in_.counts.begin(), in_.counts.end());
        counts_out.assign(out_.counts.begin(), out_.counts.end());
        starts_in.assign(in_.starts.begin(), in_.starts.end());
        starts_out.assign(out_.starts.begin(), out_.starts.end());
        handles_in_.clear(), handles_out_.clear();
        for (const std::size_t type : in_.types) handles_in_.push_back(types_.all[type]);
        for (const std::size_t type : out_.types) handles_out_.push_back(types_.all[type]);
        const MPI_Datatype type = types_.all[salt_ % Types::count];
        const std::byte* from = out_.data.data();
        std::byte* to = in_.data.data();
        const MPI_Comm comm = topology_.comm;
        const auto one = static_cast<Count>(of_edge(salt_, 0, 0, 0) % (salt_ % 5 == 0 ? 3000 : 5));

#define FORMS(X, IX, X_init, ...)                                             \
    OK(form == Form::blocking          ? MPI_##X(__VA_ARGS__, comm)           \
           : form == Form::nonblocking ? MPI_##IX(__VA_ARGS__, comm, request) \
                                       : MPI_##X_init(__VA_ARGS__, comm, MPI_INFO_NULL, request))
#define BOTH(X, IX, X_init, ...)                        \
    if constexpr (sizeof(Count) == sizeof(MPI_Count)) { \
        FORMS(X##_c, IX##_c, X_init##_c, __VA_ARGS__);  \
    } else {                                            \
        FORMS(X, IX, X_init, __VA_ARGS__);              \
    }
        switch (operation_) {
            case Operation::allgather:
                BOTH(Neighbor_allgather, Ineighbor_allgather, Neighbor_allgather_init, from, one,
                     type, to, one, type)
                break;
            case Operation::allgatherv:
                BOTH(Neighbor_allgatherv, Ineighbor_allgatherv, Neighbor_allgatherv_init, from,
                     counts_out[0], type, to, counts_in.data(), starts_in.data(), type)
                break;
            case Operation::alltoall:
                BOTH(Neighbor_alltoall, Ineighbor_alltoall, Neighbor_alltoall_init, from, one, type,
                     to, one, type)
                break;
            case Operation::alltoallv:
                BOTH(Neighbor_alltoallv, Ineighbor_alltoallv, Neighbor_alltoallv_init, from,
                     counts_out.data(), starts_out.data(), type, to, counts_in.data(),
                     starts_in.data(), type)
                break;
            case Operation::alltoallw:
                BOTH(Neighbor_alltoallw, Ineighbor_alltoallw, Neighbor_alltoallw_init, from,
                     counts_out.data(), out_.starts.data(), handles_out_.data(), to,
                     counts_in.data(), in_.starts.data(), handles_in_.data())
                break;
        }
#undef BOTH
#undef FORMS
    }

    template <class Count, class Start>
    struct Arrays {
        std::vector<Count> counts_in, counts_out;
        std::vector<Start> starts_in, starts_out;
    };
    Arrays<int, int>& arrays(int, int) { return narrow_; }
    Arrays<MPI_Count, MPI_Aint>& arrays(MPI_Count, MPI_Aint) { return wide_; }

    const Topology& topology_;
    const Operation operation_;
    const unsigned salt_;
    const Types& types_;
    int me_ = -1;
    Side in_, out_;
    Arrays<int, int> narrow_;
    Arrays<MPI_Count, MPI_Aint> wide_;
    std::vector<MPI_Datatype> handles_in_, handles_out_;
};

constexpr std::array operations{Operation::allgather, Operation::allgatherv, Operation::alltoall,
                                Operation::alltoallv, Operation::alltoallw};

void all_forms(const Topology& topology, MPI_Comm by_hand, unsigned seed, const Types& types) {
    for (const Operation operation : operations)
        for (const bool large : {false, true}) {
            MPI_Request request = MPI_REQUEST_NULL;
            Exchange exchange(topology, operation, seed, types);
            exchange.fill(0);
            exchange.call(Form::blocking, large, nullptr);
            exchange.compare(by_hand);
            exchange.fill(1);
            exchange.call(Form::nonblocking, large, &request);
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            exchange.compare(by_hand);
            exchange.call(Form::persistent, large, &request);
            for (unsigned round = 2; round < 4; ++round) {
                exchange.fill(round);
                OK(MPI_Start(&request));
                OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
                exchange.compare(by_hand);
            }
            OK(MPI_Request_free(&request));
        }
}

/// Runs several at once, which end in another order, with a blocking one in between.
void at_once(const Topology& topology, MPI_Comm by_hand, unsigned seed, const Types& types) {
    std::vector<Exchange> exchanges;
    std::array<MPI_Request, operations.size()> requests;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        exchanges.emplace_back(topology, operations[i], seed + static_cast<unsigned>(i), types);
        exchanges.back().fill(0);
    }
    for (std::size_t i = 0; i < operations.size(); ++i)
        exchanges[i].call(Form::nonblocking, i % 2 == 0, &requests[i]);
    Exchange between(topology, Operation::alltoallv, seed + 17, types);
    between.fill(0);
    between.call(Form::blocking, false, nullptr);
    between.compare(by_hand);
    for (std::size_t i = operations.size(); i-- > 0;) {
        OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        exchanges[i].compare(by_hand);
    }
}

void random_topologies(unsigned seed, const Types& types) {
    Random random(seed);
    using Make = Topology (*)(Random&);
    for (const Make make : std::array<Make, 3>{random_cart, random_graph, random_dist_graph}) {
        Topology topology = make(random);
        if (topology.comm == MPI_COMM_NULL) continue;
        MPI_Comm by_hand;
        OK(MPI_Comm_dup(topology.comm, &by_hand));
        all_forms(topology, by_hand, seed, types);
        at_once(topology, by_hand, seed, types);
        OK(MPI_Comm_free(&by_hand));
        OK(MPI_Comm_free(&topology.comm));
    }
}

/// Tests more edges between any two processes than any buffer holds without growing.
void many_edges(const Types& types) {
    std::vector<int> sources, destinations;
    for (int i = 0; i < 40 * size; ++i) sources.push_back(i % size);
    destinations = sources;
    Random own(static_cast<unsigned>(rank));
    std::shuffle(sources.begin(), sources.end(), own);
    std::shuffle(destinations.begin(), destinations.end(), own);
    Topology topology{MPI_COMM_NULL, numbered(sources), numbered(destinations)};
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 40 * size, sources.data(), MPI_UNWEIGHTED,
                                      40 * size, destinations.data(), MPI_UNWEIGHTED, MPI_INFO_NULL,
                                      0, &topology.comm));
    MPI_Comm by_hand;
    OK(MPI_Comm_dup(topology.comm, &by_hand));
    all_forms(topology, by_hand, 1, types);
    OK(MPI_Comm_free(&by_hand));
    OK(MPI_Comm_free(&topology.comm));
}

/// Tests every grid whose dimensions are 1 or 2: both neighbours in a dimension are the same
/// process.
void small_grids() {
    for (int ndims = 1; ndims <= 3; ++ndims)
        for (int shape = 0; shape < 1 << ndims; ++shape) {
            int dims[3], periods[3] = {1, 1, 1}, members = 1;
            for (int d = 0; d < ndims; ++d) {
                dims[d] = 1 + (shape >> d & 1);
                members *= dims[d];
            }
            if (members > size) continue;
            Topology topology;
            OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &topology.comm));
            if (topology.comm == MPI_COMM_NULL) continue;
            std::vector<int> got(static_cast<std::size_t>(2 * ndims), -1), given;
            for (int block = 0; block < 2 * ndims; ++block) given.push_back(100 * rank + block);
            OK(MPI_Neighbor_alltoall(given.data(), 1, MPI_INT, got.data(), 1, MPI_INT,
                                     topology.comm));
            for (int d = 0; d < ndims; ++d) {
                int below, above;
                OK(MPI_Cart_shift(topology.comm, d, 1, &below, &above));
                CHECK(got[static_cast<std::size_t>(2 * d)] == 100 * below + 2 * d + 1);
                CHECK(got[static_cast<std::size_t>(2 * d + 1)] == 100 * above + 2 * d);
            }
            OK(MPI_Comm_free(&topology.comm));
        }
}

void wrong() {
    int number[4] = {0, 0, 0, 0}, counts[2] = {1, 1}, starts[2] = {0, 1}, negative[2] = {1, -1},
        none[2] = {0, 0};
    const MPI_Aint places[2] = {0, 4};
    const int dims[1] = {1}, periods[1] = {1};
    const MPI_Datatype types[2] = {MPI_INT, MPI_INT}, no_types[2] = {MPI_INT, MPI_DATATYPE_NULL};
    MPI_Comm ring;
    MPI_Request request;
    int to[4];
    OK(MPI_Cart_create(MPI_COMM_SELF, 1, dims, periods, 0, &ring));
    FAILS(MPI_Neighbor_allgather(number, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_WORLD),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Ineighbor_alltoall(number, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_WORLD, &request),
          MPI_ERR_TOPOLOGY);
    FAILS(MPI_Neighbor_alltoall(number, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_NULL), MPI_ERR_COMM);
    FAILS(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, to, 1, MPI_INT, ring), MPI_ERR_BUFFER);
    FAILS(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, to, 1, MPI_INT, ring), MPI_ERR_BUFFER);
    FAILS(MPI_Neighbor_alltoall(number, 1, MPI_INT, nullptr, 1, MPI_INT, ring), MPI_ERR_BUFFER);
    FAILS(MPI_Neighbor_alltoall(nullptr, 1, MPI_INT, to, 1, MPI_INT, ring), MPI_ERR_BUFFER);
    FAILS(MPI_Neighbor_alltoall(number, -1, MPI_INT, to, 1, MPI_INT, ring), MPI_ERR_COUNT);
    FAILS(MPI_Neighbor_alltoall(number, 1, MPI_DATATYPE_NULL, to, 1, MPI_INT, ring), MPI_ERR_TYPE);
    FAILS(MPI_Neighbor_allgatherv(number, 1, MPI_INT, to, negative, starts, MPI_INT, ring),
          MPI_ERR_COUNT);
    FAILS(MPI_Neighbor_allgatherv(number, 1, MPI_INT, to, nullptr, starts, MPI_INT, ring),
          MPI_ERR_ARG);
    FAILS(MPI_Neighbor_allgatherv(number, 1, MPI_INT, to, counts, nullptr, MPI_INT, ring),
          MPI_ERR_ARG);
    FAILS(MPI_Neighbor_alltoallv(number, negative, starts, MPI_INT, to, counts, starts, MPI_INT,
                                 ring),
          MPI_ERR_COUNT);
    FAILS(
        MPI_Neighbor_alltoallv(number, counts, nullptr, MPI_INT, to, counts, starts, MPI_INT, ring),
        MPI_ERR_ARG);
    FAILS(MPI_Neighbor_alltoallw(number, counts, places, no_types, to, counts, places, types, ring),
          MPI_ERR_TYPE);
    OK(MPI_Neighbor_alltoallw(number, none, places, no_types, to, none, places, no_types, ring));
    FAILS(MPI_Neighbor_alltoallw(number, counts, places, types, to, counts, places, nullptr, ring),
          MPI_ERR_ARG);
    FAILS(MPI_Ineighbor_alltoall(number, 1, MPI_INT, to, 1, MPI_INT, ring, nullptr), MPI_ERR_ARG);
    FAILS(MPI_Neighbor_alltoall_c(number, MPI_Count{1} << 62, MPI_INT, to, 1, MPI_INT, ring),
          MPI_ERR_COUNT);
    OK(MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN));
    FAILS(MPI_Neighbor_alltoall(number, 2, MPI_INT, to, 1, MPI_INT, ring), MPI_ERR_TRUNCATE);
    /* And all calls still work. */
    OK(MPI_Neighbor_alltoall(number, 1, MPI_INT, to, 1, MPI_INT, ring));
    OK(MPI_Comm_free(&ring));
}

}  // namespace

int main() {
    start(&rank, &size, MPI_THREAD_SINGLE);
    {
        const Types types;
        for (unsigned seed = 0; seed < 24; ++seed) random_topologies(seed, types);
        many_edges(types);
        small_grids();
        wrong();
    }
    MPI_Finalize();
    return 0;
}
