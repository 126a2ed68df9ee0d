// SPDX-License-Identifier: BSD-3-Clause

// Averages without a centre. Every rank has a measurement and talks only to its neighbours in a
// graph. The graph is a ring with a few random chords. Each rank moves towards the values of its
// neighbours, and all ranks end at the average of all. Each edge is given to MPI by the rank at one
// of its ends (MPI_Dist_graph_create). A round is one call (MPI_Neighbor_allgather).

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace {

/// Makes edges in both directions from this rank to the next one and to some others.
MPI_Comm make_graph(int rank, int ranks, int chords) {
    std::mt19937 random(static_cast<unsigned>(rank));
    std::vector<int> sources, destinations;
    const auto connect = [&](int other) {
        sources.insert(sources.end(), {rank, other});
        destinations.insert(destinations.end(), {other, rank});
    };
    connect((rank + 1) % ranks);
    for (int i = 0; i < chords; ++i)
        connect(static_cast<int>(random() % static_cast<unsigned>(ranks)));
    const std::vector<int> degrees(sources.size(), 1);
    MPI_Comm graph;
    MPI_Dist_graph_create(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(),
                          degrees.data(), destinations.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 1,
                          &graph);
    return graph;
}

/// The value of one rank and the values that it hears.
class Gossip {
public:
    Gossip(MPI_Comm graph, double value) : graph_(graph), value_(value) {
        int out, weighted;
        MPI_Dist_graph_neighbors_count(graph, &degree_, &out, &weighted);
        heard_.resize(static_cast<std::size_t>(degree_));
        // An edge has the same weight at both its ends, so that the sum stays the same.
        std::vector<int> degrees(heard_.size());
        MPI_Neighbor_allgather(&degree_, 1, MPI_INT, degrees.data(), 1, MPI_INT, graph);
        for (const int degree : degrees) weights_.push_back(1.0 / (1 + std::max(degree, degree_)));
    }

    /// Returns the distance by which the value has moved.
    double round() {
        MPI_Neighbor_allgather(&value_, 1, MPI_DOUBLE, heard_.data(), 1, MPI_DOUBLE, graph_);
        double change = 0;
        for (std::size_t i = 0; i < heard_.size(); ++i)
            change += weights_[i] * (heard_[i] - value_);
        value_ += change;
        return std::abs(change);
    }
    double value() const { return value_; }

private:
    MPI_Comm graph_;
    double value_;
    int degree_ = 0;
    std::vector<double> weights_, heard_;
};

double reduced(double mine, MPI_Op operation) {
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD);
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm graph = make_graph(rank, ranks, argc > 1 ? std::atoi(argv[1]) : 2);

    const double measured = std::sin(rank) + rank % 3;
    const double average = reduced(measured, MPI_SUM) / ranks;
    Gossip gossip(graph, measured);
    int rounds = 0;
    for (double moved = 1; moved > 1e-14 && rounds < 100000; ++rounds)
        moved = reduced(gossip.round(), MPI_MAX);
    const double error = reduced(std::abs(gossip.value() - average), MPI_MAX);
    const bool correct = error < 1e-9;
    if (rank == 0)
        std::printf("gossip: %d ranks agree on %.12f after %d rounds, %s (largest error %g)\n",
                    ranks, gossip.value(), rounds, correct ? "correct" : "WRONG", error);
    MPI_Comm_free(&graph);
    MPI_Finalize();
    return correct ? EXIT_SUCCESS : EXIT_FAILURE;
}
