// SPDX-License-Identifier: BSD-3-Clause
/// Collective accesses in small pieces, over and over, for HEDDLE_STRESS_SECONDS (default 5). In
/// every round each rank writes pieces that alternate with those of the others, blocking,
/// nonblocking or split. Then it reads those of the next rank.
///
///     mpiexec -n 4 files [--seed 1] [--killed RANK MICROSECONDS]
///
/// --killed: that rank kills itself so many microseconds after all have begun, in whatever call it
/// is. The others end with it.

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" {
#include "check.h"
}

namespace {

using Clock = std::chrono::steady_clock;

int rank, size;

/// Opens a file without a name, so that nothing is left of it, whichever rank is killed at any
/// time.
MPI_File open_file() {
    int id = static_cast<int>(getpid());
    OK(MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD));
    const char* const folder = std::getenv("TMPDIR");
    const std::string path =
        std::string(folder != nullptr ? folder : "/tmp") + "/stress-of-files-" + std::to_string(id);
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "cb_buffer_size", "8192"));
    OK(MPI_Info_set(info, "romio_cb_write", "enable"));
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    OK(MPI_Info_free(&info));
    if (rank == 0) CHECK(unlink(path.c_str()) == 0);
    return file;
}

void view(MPI_File file, int whose, int piece, int pieces) {
    MPI_Datatype cells;
    OK(MPI_Type_vector(pieces, piece, piece * size, MPI_CHAR, &cells));
    OK(MPI_Type_commit(&cells));
    OK(MPI_File_set_view(file, MPI_Offset{piece} * whose, MPI_CHAR, cells, "native",
                         MPI_INFO_NULL));
    OK(MPI_Type_free(&cells));
}

void write(MPI_File file, const std::vector<char>& data, int how) {
    const int count = static_cast<int>(data.size());
    MPI_Request request;
    switch (how) {
        case 0:
            OK(MPI_File_write_at_all(file, 0, data.data(), count, MPI_CHAR, MPI_STATUS_IGNORE));
            break;
        case 1:
            OK(MPI_File_iwrite_at_all(file, 0, data.data(), count, MPI_CHAR, &request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            break;
        default:
            OK(MPI_File_write_at_all_begin(file, 0, data.data(), count, MPI_CHAR));
            OK(MPI_File_write_at_all_end(file, data.data(), MPI_STATUS_IGNORE));
    }
}

/// Returns whether to go on. The time is that of rank 0, so that all ranks end with the same round.
bool goes_on(Clock::time_point end) {
    int more = Clock::now() < end;
    OK(MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD));
    return more != 0;
}

void run(Clock::time_point end, unsigned seed) {
    std::mt19937 random(seed);
    MPI_File file = open_file();
    for (int round = 0; goes_on(end); ++round) {
        const int piece = 1 << random() % 8, pieces = 1 + static_cast<int>(random() % 3000);
        const std::vector<char> data(static_cast<std::size_t>(piece * pieces),
                                     static_cast<char>(rank + round % 100));
        std::vector<char> back(data.size());
        view(file, rank, piece, pieces);
        write(file, data, static_cast<int>(random() % 3));
        OK(MPI_File_sync(file));
        const int next = (rank + 1) % size;
        view(file, next, piece, pieces);
        OK(MPI_File_read_at_all(file, 0, back.data(), static_cast<int>(back.size()), MPI_CHAR,
                                MPI_STATUS_IGNORE));
        CHECK(back == std::vector<char>(data.size(), static_cast<char>(next + round % 100)));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&file));
}

}  // namespace

int main(int argc, char** argv) {
    int killed = -1;
    unsigned seed = 1;
    std::chrono::microseconds after{0};
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            seed = static_cast<unsigned>(std::atoi(argv[++i]));
        } else if (std::strcmp(argv[i], "--killed") == 0 && i + 2 < argc) {
            killed = std::atoi(argv[++i]);
            after = std::chrono::microseconds(std::atoll(argv[++i]));
        } else {
            CHECK(!"an argument that is known");
        }
    }
    const char* const given = std::getenv("HEDDLE_STRESS_SECONDS");
    const int seconds = given != nullptr && *given != '\0' ? std::atoi(given) : 5;
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == killed)
        std::thread([after] {
            std::this_thread::sleep_for(after);
            kill(getpid(), SIGKILL);
        }).detach();
    run(Clock::now() + std::chrono::seconds(seconds), seed);
    MPI_Finalize();
}
