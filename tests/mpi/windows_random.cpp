// SPDX-License-Identifier: BSD-3-Clause
/// Random programs of one-sided operations against a model that runs them one after the other.
///
/// In each phase every rank, alone or by turns, puts, gets and accumulates at places of random
/// targets. Ranks draw the same numbers, so each knows the operations of all. The model of the
/// whole window is therefore the same on all ranks. Places that are written in a phase have one
/// writer, or accumulates that commute. Operations have requests or none. A program has two
/// windows, whose phases take turns. With threads, each thread of a rank runs programs of its own,
/// on a communicator of its own.
///
///     windows_random [PROGRAMS [THREADS]]

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

extern "C" {
#include "check.h"
}

namespace {

constexpr int cells = 96;  ///< of each rank
int rank, size;
bool one_host;
thread_local MPI_Comm comm = MPI_COMM_NULL;  ///< of the ranks' threads of this number

using Cells = std::vector<std::int32_t>;

/// A shape of elements: cells relative to the first, in the order of the datatype.
struct Shape {
    MPI_Datatype type;
    std::vector<int> cells;
    int span;
};

std::vector<Shape> make_shapes() {
    std::vector<Shape> shapes;
    shapes.push_back({MPI_INT32_T, {0}, 1});
    const auto add = [&](MPI_Datatype type, std::vector<int> places) {
        OK(MPI_Type_commit(&type));
        const int span = 1 + *std::max_element(places.begin(), places.end());
        shapes.push_back({type, std::move(places), span});
    };
    MPI_Datatype type;
    OK(MPI_Type_contiguous(3, MPI_INT32_T, &type));
    add(type, {0, 1, 2});
    OK(MPI_Type_vector(3, 1, 3, MPI_INT32_T, &type));
    add(type, {0, 3, 6});
    const int lengths[] = {1, 2}, places[] = {4, 0};
    OK(MPI_Type_indexed(2, lengths, places, MPI_INT32_T, &type));
    add(type, {4, 0, 1});
    MPI_Datatype vector;
    OK(MPI_Type_vector(2, 2, 3, MPI_INT32_T, &vector));
    OK(MPI_Type_create_hvector(2, 1, 7 * 4, vector, &type));
    MPI_Type_free(&vector);
    add(type, {0, 1, 3, 4, 7, 8, 10, 11});
    return shapes;
}

enum class Epochs { fence, lock, lock_all, groups, end };

struct Case {
    MPI_Win win = MPI_WIN_NULL;
    std::vector<MPI_Aint> bases;
    std::int32_t* memory = nullptr;
    std::vector<std::int32_t> own;
    std::int32_t* taken = nullptr;  ///< from MPI_Alloc_mem
    bool dynamic = false;

    MPI_Aint at(int target, int cell) const {
        return dynamic ? bases[static_cast<std::size_t>(target)] + 4 * cell : cell;
    }
};

void make(Case& made, int kind) {
    const MPI_Aint bytes = cells * 4;
    MPI_Aint base = 0;
    made.own.assign(cells, 0);
    made.memory = made.own.data();
    made.dynamic = kind == 3;
    if (kind == 0)
        OK(MPI_Win_create(made.memory, bytes, 4, MPI_INFO_NULL, comm, &made.win));
    else if (kind == 1)
        OK(MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, comm, &made.memory, &made.win));
    else if (kind == 2 && one_host)
        OK(MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, comm, &made.memory, &made.win));
    else if (kind == 2 || kind == 4) {  // a border between pages lies in the middle
        OK(MPI_Alloc_mem(8192, MPI_INFO_NULL, &made.taken));
        made.memory = made.taken + 1024 - cells / 2;
        OK(MPI_Win_create(made.memory, bytes, 4, MPI_INFO_NULL, comm, &made.win));
    } else {
        OK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &made.win));
        OK(MPI_Win_attach(made.win, made.memory, bytes));
        OK(MPI_Get_address(made.memory, &base));
    }
    made.bases.resize(static_cast<std::size_t>(size));
    OK(MPI_Allgather(&base, 1, MPI_AINT, made.bases.data(), 1, MPI_AINT, comm));
}

struct Epoch {
    const Case& of;
    Epochs kind;
    MPI_Group everybody;

    bool allows_requests() const { return kind == Epochs::lock || kind == Epochs::lock_all; }
    void begin() const {
        switch (kind) {
            case Epochs::fence: OK(MPI_Win_fence(0, of.win)); break;
            case Epochs::groups:
                OK(MPI_Win_post(everybody, 0, of.win));
                OK(MPI_Win_start(everybody, 0, of.win));
                break;
            case Epochs::lock_all: OK(MPI_Win_lock_all(0, of.win)); break;
            default: break;
        }
    }
    void end() const {
        switch (kind) {
            case Epochs::fence: OK(MPI_Win_fence(0, of.win)); return;
            case Epochs::groups:
                OK(MPI_Win_complete(of.win));
                OK(MPI_Win_wait(of.win));
                break;
            case Epochs::lock_all: OK(MPI_Win_unlock_all(of.win)); break;
            default: break;
        }
        MPI_Barrier(comm);
    }
    template <class Access>
    void access(int target, bool exclusive, Access access) const {
        if (kind == Epochs::lock)
            OK(MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, of.win));
        access();
        if (kind == Epochs::lock) OK(MPI_Win_unlock(target, of.win));
    }
};

/// One operation, with a request or without one.
struct Operation {
    MPI_Win win;
    const Shape &here, &there;
    int target;
    MPI_Aint at;
    bool by_request;

    void finish(MPI_Request& request) const {
        if (target % 2 == 0) OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int done = target % 2 == 0; done == 0;)
            OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        CHECK(request == MPI_REQUEST_NULL);
    }
    void put(const void* from) const {
        if (!by_request) {
            OK(MPI_Put(from, 1, here.type, target, at, 1, there.type, win));
            return;
        }
        MPI_Request request;
        OK(MPI_Rput(from, 1, here.type, target, at, 1, there.type, win, &request));
        finish(request);
    }
    void get(void* to) const {
        if (!by_request) {
            OK(MPI_Get(to, 1, here.type, target, at, 1, there.type, win));
            return;
        }
        MPI_Request request;
        OK(MPI_Rget(to, 1, here.type, target, at, 1, there.type, win, &request));
        finish(request);
    }
    void accumulate(const void* from, MPI_Op op) const {
        if (!by_request) {
            OK(MPI_Accumulate(from, 1, here.type, target, at, 1, there.type, op, win));
            return;
        }
        MPI_Request request;
        OK(MPI_Raccumulate(from, 1, here.type, target, at, 1, there.type, op, win, &request));
        finish(request);
    }
    void get_accumulate(const void* from, void* to, MPI_Op op) const {
        if (!by_request) {
            OK(MPI_Get_accumulate(from, 1, here.type, to, 1, here.type, target, at, 1, there.type,
                                  op, win));
            return;
        }
        MPI_Request request;
        OK(MPI_Rget_accumulate(from, 1, here.type, to, 1, here.type, target, at, 1, there.type, op,
                               win, &request));
        finish(request);
    }
};

/// Returns the values of a datatype in a buffer with gaps, and the buffer's other cells.
Cells laid_out(const Shape& shape, const Cells& values) {
    Cells buffer(static_cast<std::size_t>(shape.span), -99);
    for (std::size_t i = 0; i < values.size(); ++i)
        buffer[static_cast<std::size_t>(shape.cells[i])] = values[i];
    return buffer;
}

/// Returns another shape with as many elements.
const Shape& like(const std::vector<Shape>& shapes, const Shape& shape, std::mt19937& random) {
    for (;;) {
        const Shape& other = shapes[random() % shapes.size()];
        if (other.cells.size() == shape.cells.size()) return other;
    }
}

/// The data of an operation, and its expected result when the epoch is over.
struct Given {
    const Shape& here;
    Cells buffer, result;
    Cells expected;  ///< in the order of the datatype; empty if any value is right

    void check() const {
        for (std::size_t i = 0; i < result.size(); ++i) {
            const auto element =
                std::find(here.cells.begin(), here.cells.end(), static_cast<int>(i));
            if (element == here.cells.end())
                CHECK(result[i] == -77);
            else if (!expected.empty())
                CHECK(result[i] ==
                      expected[static_cast<std::size_t>(element - here.cells.begin())]);
        }
    }
};

void phase(const Case& made, const Epoch& epoch, const std::vector<Shape>& shapes,
           std::mt19937& random, std::vector<Cells>& model) {
    const bool sums =
        random() % 2 == 0;  // all accumulate; otherwise each cell has one writer at most
    std::vector<Cells> next = model;
    std::vector<std::vector<bool>> taken(static_cast<std::size_t>(size), std::vector<bool>(cells));
    std::deque<Given> all;
    epoch.begin();
    for (int turn = 0; turn < 4 * size; ++turn) {
        const int origin = turn % size;
        const auto target = static_cast<int>(random() % static_cast<unsigned>(size));
        const auto t = static_cast<std::size_t>(target);
        const Shape& there = shapes[random() % shapes.size()];
        const Shape& here = like(shapes, there, random);
        const auto first =
            static_cast<int>(random() % static_cast<unsigned>(cells - there.span + 1));
        const bool exclusive = random() % 2 == 0;
        const bool fetches = random() % 2 == 0;
        const bool least = random() % 2 == 0;
        const bool by_request = random() % 2 == 0 && epoch.allows_requests();
        Cells values;
        for (std::size_t i = 0; i < there.cells.size(); ++i)
            values.push_back(static_cast<std::int32_t>(random() % 1000));
        const auto place = [&](std::size_t i) {
            return static_cast<std::size_t>(first + there.cells[i]);
        };
        bool free = true;
        for (std::size_t i = 0; i < values.size(); ++i) free = free && !taken[t][place(i)];
        if (!sums && !free) continue;
        const MPI_Aint at = made.at(target, first);
        for (std::size_t i = 0; i < values.size(); ++i) {
            taken[t][place(i)] = true;
            std::int32_t& cell = next[t][place(i)];
            cell = sums ? cell + values[i] : least ? std::min(cell, values[i]) : values[i];
        }
        if (origin != rank) continue;
        Cells expected;
        if (!sums && least)
            for (std::size_t i = 0; i < values.size(); ++i) expected.push_back(model[t][place(i)]);
        const Cells buffer = laid_out(here, values);
        Given& given =
            all.emplace_back(Given{here, buffer, Cells(buffer.size(), -77), std::move(expected)});
        const Operation operation{made.win, here, there, target, at, by_request};
        epoch.access(target, exclusive, [&] {
            if (sums && fetches)
                operation.get_accumulate(given.buffer.data(), given.result.data(), MPI_SUM);
            else if (sums)
                operation.accumulate(given.buffer.data(), MPI_SUM);
            else if (least)
                operation.get_accumulate(given.buffer.data(), given.result.data(), MPI_MIN);
            else
                operation.put(given.buffer.data());
        });
    }
    epoch.end();
    for (const Given& given : all) given.check();
    model = next;
}

/// Reads the whole window on each rank, in pieces of random shapes.
void check_model(const Case& made, const Epoch& epoch, const std::vector<Shape>& shapes,
                 std::mt19937& random, const std::vector<Cells>& model) {
    struct Got {
        const Shape &here, &there;
        int target, at;
        Cells buffer;
    };
    std::deque<Got> all;
    epoch.begin();
    for (int target = 0; target < size; ++target)
        for (int first = 0; first < cells;) {
            const Shape& there = shapes[random() % shapes.size()];
            const Shape& here = like(shapes, there, random);
            const int at = std::min(first, cells - there.span);
            Cells& buffer = all.emplace_back(Got{here, there, target, at,
                                                 Cells(static_cast<std::size_t>(here.span), -99)})
                                .buffer;
            epoch.access(target, false, [&] {
                Operation{made.win,
                          here,
                          there,
                          target,
                          made.at(target, at),
                          random() % 2 == 0 && epoch.allows_requests()}
                    .get(buffer.data());
            });
            if (epoch.kind == Epochs::lock_all) OK(MPI_Win_flush(target, made.win));
            first += there.span;
        }
    epoch.end();
    for (const Got& got : all)
        for (std::size_t i = 0; i < got.there.cells.size(); ++i)
            CHECK(got.buffer[static_cast<std::size_t>(got.here.cells[i])] ==
                  model[static_cast<std::size_t>(got.target)]
                       [static_cast<std::size_t>(got.at + got.there.cells[i])]);
}

/// A window and its content.
struct Modelled {
    Case made;
    std::vector<Cells> model;

    explicit Modelled(int kind) : model(static_cast<std::size_t>(size), Cells(cells, 0)) {
        make(made, kind);
        for (int other = 0; other < size; ++other)
            for (int i = 0; i < cells; ++i)
                model[static_cast<std::size_t>(other)][static_cast<std::size_t>(i)] =
                    10000 * (other + 1) + i;
        std::copy_n(model[static_cast<std::size_t>(rank)].begin(), cells, made.memory);
        MPI_Barrier(comm);
    }
    void free() {
        if (made.dynamic) {
            MPI_Barrier(comm);
            OK(MPI_Win_detach(made.win, made.memory));
        }
        OK(MPI_Win_free(&made.win));
        if (made.taken != nullptr) OK(MPI_Free_mem(made.taken));
    }
};

void program(unsigned seed, const std::vector<Shape>& shapes, MPI_Group everybody) {
    std::mt19937 random(seed);
    Modelled windows[] = {Modelled(static_cast<int>(random() % 5)),
                          Modelled(static_cast<int>(random() % 5))};
    for (int i = 0; i < 6; ++i) {
        auto& [made, model] = windows[i % 2];
        Epoch epoch{made, static_cast<Epochs>(random() % static_cast<unsigned>(Epochs::end)),
                    everybody};
        phase(made, epoch, shapes, random, model);
        std::mt19937 own(seed * 31 + static_cast<unsigned>(rank));
        epoch.kind = epoch.kind == Epochs::fence ? Epochs::fence : Epochs::lock_all;
        check_model(made, epoch, shapes, own, model);
    }
    for (Modelled& window : windows) window.free();
}

void programs(unsigned first, unsigned count, const std::vector<Shape>& shapes, MPI_Comm of) {
    comm = of;
    MPI_Group everybody;
    OK(MPI_Comm_group(comm, &everybody));
    for (unsigned seed = first; seed < first + count; ++seed) program(seed, shapes, everybody);
    OK(MPI_Group_free(&everybody));
}

}  // namespace

int main(int argc, char** argv) {
    start(&rank, &size, argc > 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    one_host = on_one_host(size) != 0;
    const unsigned count = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 60;
    const unsigned threads = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
    std::vector<Shape> shapes = make_shapes();
    std::vector<MPI_Comm> communicators(threads);
    for (MPI_Comm& one : communicators) OK(MPI_Comm_dup(MPI_COMM_WORLD, &one));
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads; ++i)
        others.emplace_back([&, i] { programs(1 + i * count, count, shapes, communicators[i]); });
    programs(1, count, shapes, communicators[0]);
    for (std::thread& other : others) other.join();
    for (MPI_Comm& one : communicators) OK(MPI_Comm_free(&one));
    for (std::size_t i = 1; i < shapes.size(); ++i) MPI_Type_free(&shapes[i].type);
    MPI_Finalize();
}
