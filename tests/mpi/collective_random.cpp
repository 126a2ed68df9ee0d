// SPDX-License-Identifier: BSD-3-Clause
/// Compares every collective with its plain result. Forms (blocking, nonblocking, persistent),
/// communicators, counts, roots, datatypes and operations are random, in place or not. Several
/// calls are under way at once, completed in any order. All ranks draw the same random cases, but
/// each has layouts of its own. With threads, each does so on communicators of its own.
///
///   collective_random ROUNDS SEED THREADS

#include <thread>

#include "collective_calls.hpp"

using namespace collective;

namespace {

using CallPointer = std::shared_ptr<Call>;

std::vector<Operation> operations;

/// A thread that draws and makes calls.
class Worker {
public:
    Worker(unsigned seed, bool first) : seed_(seed), common_(seed) { make_shapes(first); }
    void free_shapes();
    void run(unsigned rounds) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        layout_choice.seed(1000 * seed_ + static_cast<unsigned>(rank));
        reduce_locally(shapes_[0], operations);
        for (unsigned round = 0; round < rounds; ++round) {
            if (round % 3 == 2)
                persistent_round(round);
            else
                nonblocking_round(round);
        }
    }

private:
    unsigned draw(unsigned below) { return static_cast<unsigned>(common_() % below); }
    CallPointer draw_case(Form form);
    int begin(Call& c);
    void nonblocking_round(unsigned round);
    void persistent_round(unsigned round);
    void make_shapes(bool first);
    void add_intercommunicator(int border);

    unsigned seed_;
    std::mt19937 common_;  ///< the same in all ranks
    std::vector<Shape> shapes_;
};

CallPointer Worker::draw_case(Form form) {
    constexpr std::size_t units[] = {0, 1, 1, 2, 7, 40, 300, 1500};
    auto c = std::make_shared<Call>();
    c->shape = &shapes_[draw(static_cast<unsigned>(shapes_.size()))];
    c->form = form;
    c->large = draw(2) == 0;
    c->seed = common_();
    c->root_group = c->shape->inter ? static_cast<int>(draw(2)) : 0;
    const unsigned root = draw(64);
    c->root = static_cast<int>(
        root % static_cast<unsigned>(c->rooted_here() ? c->shape->size : c->shape->others));
    c->in_place = draw(2) == 0 && !c->shape->inter;
    c->units = units[draw(std::size(units))];
    c->op = &operations[draw(static_cast<unsigned>(operations.size()))];
    return c;
}
int Worker::begin(Call& c) {
    constexpr auto all = std::size(everywhere), more = std::size(within);
    const unsigned which = draw(all + more);
    if (which < all) return everywhere[which](c);
    return c.shape->inter ? everywhere[which - all](c) : within[which - all](c);
}

/// Completes all requests, by another method in each round.
void complete(std::vector<MPI_Request>& requests, unsigned way) {
    const int count = static_cast<int>(requests.size());
    int done = 0, index = 0;
    switch (way % 5) {
        case 0: MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE); break;
        case 1:
            for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
            break;
        case 2:
            for (int i = count; i-- > 0;)
                for (done = 0; !done;) MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
            break;
        case 3:
            for (index = 0; index != MPI_UNDEFINED;)
                MPI_Waitany(count, requests.data(), &index, MPI_STATUS_IGNORE);
            break;
        default:
            while (!done) MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE);
    }
}

void Worker::nonblocking_round(unsigned round) {
    std::vector<CallPointer> calls;
    for (unsigned k = 1 + draw(12); k > 0; --k) {
        const Form form = draw(4) == 0 ? Form::blocking : Form::nonblocking;
        calls.push_back(draw_case(form));
        CHECK(begin(*calls.back()) == MPI_SUCCESS, "%s", calls.back()->name);
        if (form == Form::blocking) calls.back()->check();
    }
    std::vector<MPI_Request> requests;
    for (CallPointer& c : calls) requests.push_back(c->request);
    complete(requests, round);
    for (CallPointer& c : calls)
        if (c->form != Form::blocking) c->check();
}

void Worker::persistent_round(unsigned round) {
    std::vector<CallPointer> calls;
    for (unsigned k = 1 + draw(6); k > 0; --k) {
        calls.push_back(draw_case(Form::persistent));
        CHECK(begin(*calls.back()) == MPI_SUCCESS, "%s", calls.back()->name);
    }
    std::vector<MPI_Request> requests;
    for (CallPointer& c : calls) requests.push_back(c->request);
    const int count = static_cast<int>(requests.size());
    for (unsigned start = 0; start < 3; ++start) {
        for (CallPointer& c : calls) {
            // The seed determines the sizes of uneven blocks.
            c->seed += 977 * (start + 1);
            c->fill();
        }
        if (start % 2 == 0)
            MPI_Startall(count, requests.data());
        else
            for (MPI_Request& request : requests) MPI_Start(&request);
        complete(requests, round + start);
        for (CallPointer& c : calls) c->check();
    }
    for (MPI_Request& request : requests) MPI_Request_free(&request);
}

void add_layout(MPI_Datatype type, std::vector<long> offsets, long lower, long extent) {
    MPI_Datatype resized;
    MPI_Type_create_resized(type, 8 * lower, 8 * extent, &resized);
    MPI_Type_commit(&resized);
    MPI_Type_free(&type);
    layouts().push_back({resized, std::move(offsets), extent});
}

void make_layouts() {
    layouts().push_back({MPI_UINT64_T, {0}, 1});
    MPI_Datatype type;
    MPI_Type_contiguous(3, MPI_UINT64_T, &type);
    add_layout(type, {0, 1, 2}, 0, 3);
    MPI_Type_vector(2, 1, 2, MPI_UINT64_T, &type);
    add_layout(type, {0, 2}, 0, 4);
    // Some data lies before the element's address, and not in the order of addresses.
    const int places[] = {2, -1, 0};
    MPI_Type_create_indexed_block(3, 1, places, MPI_UINT64_T, &type);
    add_layout(type, {2, -1, 0}, -1, 5);
    // One element reaches into the next.
    const int apart[] = {0, 3};
    MPI_Type_create_indexed_block(2, 1, apart, MPI_UINT64_T, &type);
    add_layout(type, {0, 3}, 0, 2);
}

/// Adds the intercommunicator with the ranks below `border` on one side, and the others on the
/// other.
void Worker::add_intercommunicator(int border) {
    int rank = 0;
    MPI_Comm group, both;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const bool low = rank < border;
    MPI_Comm_split(MPI_COMM_WORLD, low, rank, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, low ? border : 0, 9, &both);
    shapes_.emplace_back(both, low ? 0 : 1);
    MPI_Comm_free(&group);
}

void Worker::make_shapes(bool first) {
    int rank = 0, size = 0;
    MPI_Comm comm;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (first) shapes_.emplace_back(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    shapes_.emplace_back(comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    shapes_.emplace_back(comm);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    shapes_.emplace_back(comm);
    if (size < 2) return;
    add_intercommunicator(1);
    add_intercommunicator((size + 1) / 2);
}

void Worker::free_shapes() {
    for (Shape& shape : shapes_)
        if (shape.comm != MPI_COMM_WORLD) MPI_Comm_free(&shape.comm);
}

void make_operations() {
    MPI_Op product, product_c, joined, sum;
    MPI_Op_create(on_layout<multiply>, 0, &product);
    MPI_Op_create_c(on_layout_c<multiply>, 0, &product_c);
    MPI_Op_create(on_layout<join>, 0, &joined);
    MPI_Op_create(on_layout<add>, 1, &sum);
    operations = {{product, multiply, "matrix product"},
                  {product_c, multiply, "matrix product, large count"},
                  {joined, join, "joined intervals"},
                  {sum, add, "sum of the user"},
                  {MPI_SUM, add, "MPI_SUM"}};
}

/// Frees all but the predefined ones.
void free_operations_and_layouts() {
    for (Operation& operation : operations)
        if (operation.handle != MPI_SUM) MPI_Op_free(&operation.handle);
    for (Layout& layout : layouts())
        if (layout.type != MPI_UINT64_T) MPI_Type_free(&layout.type);
}

}  // namespace

int main(int argc, char** argv) {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    const auto argument = [&](int i, int otherwise) {
        return static_cast<unsigned>(argc > i ? std::atoi(argv[i]) : otherwise);
    };
    make_layouts();
    make_operations();
    std::vector<Worker> workers;
    for (unsigned i = 0; i < argument(3, 1); ++i) workers.emplace_back(argument(2, 5) + i, i == 0);
    std::vector<std::thread> threads;
    for (Worker& worker : workers) threads.emplace_back([&] { worker.run(argument(1, 150)); });
    for (std::thread& thread : threads) thread.join();
    for (Worker& worker : workers) worker.free_shapes();
    free_operations_and_layouts();
    MPI_Finalize();
    return 0;
}
