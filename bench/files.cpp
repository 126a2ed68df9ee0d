// SPDX-License-Identifier: BSD-3-Clause

/// Files: contiguous blocks, each rank its own, and a three-dimensional array in blocks of ranks, written and read. What
/// MPI does is measured in turn with what a program would do by itself: pwrite and pread, and for the array
/// MPI_Alltoallv to slabs and one pwrite each. The unit is MB/s of all ranks together, the median of repetitions.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "common.hpp"

namespace {

constexpr const char* usage =
    "files --file PATH --block B (bytes of a block) --blocks N (of each rank)\n"
    "      --edge N (cells of the array, which is a cube of bytes) --repetitions N\n";

struct Plan {
    std::string file;
    long block, blocks, edge, repetitions;
};

Plan read_plan(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    Plan plan{options.text("file", "/tmp/heddle-bench-file"), options.integer("block", 1 << 20, 1),
              options.integer("blocks", 16, 1), options.integer("edge", 256, 8, 2048),
              options.integer("repetitions", 5, 1)};
    options.done();
    return plan;
}

void need(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "files: %s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Seconds from the first rank's beginning to the last one's end, by the clock that they share.
template <class Work>
double timed(Work work) {
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = bench::now(), first = 0, last = 0;
    work();
    double end = bench::now();
    MPI_Allreduce(&begin, &first, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return last - first;
}

void report(const char* what, const std::vector<double>& seconds, double bytes) {
    if (bench::rank() == 0)
        std::printf("%-28s %10.1f MB/s\n", what, bytes / bench::median(seconds) / 1e6);
}

class Contiguous {
public:
    Contiguous(const Plan& plan, MPI_File file, int descriptor)
        : plan_(plan),
          file_(file),
          descriptor_(descriptor),
          data_(static_cast<std::size_t>(plan.block), 'c') {}

    void run() {
        std::vector<double> plain, alone, together, plain_read, read;
        for (long i = 0; i < plan_.repetitions; ++i) {
            plain.push_back(timed([&] {
                each([&](MPI_Offset at) {
                    need(pwrite(descriptor_, data_.data(), data_.size(), at) == plan_.block,
                         "pwrite");
                });
            }));
            alone.push_back(timed([&] {
                each([&](MPI_Offset at) {
                    need(MPI_File_write_at(file_, at, data_.data(), static_cast<int>(plan_.block),
                                           MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS,
                         "MPI_File_write_at");
                });
            }));
            together.push_back(timed([&] {
                each([&](MPI_Offset at) {
                    need(MPI_File_write_at_all(file_, at, data_.data(),
                                               static_cast<int>(plan_.block), MPI_BYTE,
                                               MPI_STATUS_IGNORE) == MPI_SUCCESS,
                         "MPI_File_write_at_all");
                });
            }));
            plain_read.push_back(timed([&] {
                each([&](MPI_Offset at) {
                    need(pread(descriptor_, data_.data(), data_.size(), at) == plan_.block,
                         "pread");
                });
            }));
            read.push_back(timed([&] {
                each([&](MPI_Offset at) {
                    need(MPI_File_read_at(file_, at, data_.data(), static_cast<int>(plan_.block),
                                          MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS,
                         "MPI_File_read_at");
                });
            }));
        }
        const double bytes = 1.0 * static_cast<double>(plan_.block * plan_.blocks) * bench::ranks();
        report("blocks: pwrite", plain, bytes);
        report("blocks: write_at", alone, bytes);
        report("blocks: write_at_all", together, bytes);
        report("blocks: pread", plain_read, bytes);
        report("blocks: read_at", read, bytes);
    }

private:
    template <class Work>
    void each(Work work) {
        for (long i = 0; i < plan_.blocks; ++i)
            work((i * bench::ranks() + bench::rank()) * static_cast<MPI_Offset>(plan_.block));
    }

    const Plan& plan_;
    MPI_File file_;
    int descriptor_;
    std::vector<char> data_;
};

/// A cube of bytes in blocks of ranks; slabs of planes are what each rank writes by itself.
class Cube {
public:
    Cube(const Plan& plan, MPI_File file, int descriptor)
        : plan_(plan), file_(file), descriptor_(descriptor), edge_(static_cast<int>(plan.edge)) {
        MPI_Dims_create(bench::ranks(), 3, grid_.data());
        block_ = block_of(bench::rank());
        data_.assign(cells(block_), static_cast<char>('a' + bench::rank()));
    }

    void run() {
        std::vector<double> own, write, read;
        const int whole[3] = {edge_, edge_, edge_};
        MPI_Datatype filetype;
        MPI_Type_create_subarray(3, whole, block_.length.data(), block_.begin.data(), MPI_ORDER_C,
                                 MPI_BYTE, &filetype);
        MPI_Type_commit(&filetype);
        need(
            MPI_File_set_view(file_, 0, MPI_BYTE, filetype, "native", MPI_INFO_NULL) == MPI_SUCCESS,
            "MPI_File_set_view");
        const int count = static_cast<int>(data_.size());
        for (long i = 0; i < plan_.repetitions; ++i) {
            own.push_back(timed([&] { write_by_slabs(); }));
            write.push_back(timed([&] {
                need(MPI_File_write_at_all(file_, 0, data_.data(), count, MPI_BYTE,
                                           MPI_STATUS_IGNORE) == MPI_SUCCESS,
                     "MPI_File_write_at_all");
            }));
            read.push_back(timed([&] {
                need(MPI_File_read_at_all(file_, 0, data_.data(), count, MPI_BYTE,
                                          MPI_STATUS_IGNORE) == MPI_SUCCESS,
                     "MPI_File_read_at_all");
            }));
            need(static_cast<std::size_t>(
                     std::count(data_.begin(), data_.end(), 'a' + bench::rank())) == data_.size(),
                 "the comparison of what was read");
        }
        MPI_Type_free(&filetype);
        const double bytes = 1.0 * edge_ * edge_ * edge_;
        report("cube: Alltoallv and pwrite", own, bytes);
        report("cube: write_at_all", write, bytes);
        report("cube: read_at_all", read, bytes);
    }

private:
    struct Block {
        std::array<int, 3> begin, length;
    };
    Block block_of(int rank) const {
        const std::array<int, 3> place{rank / (grid_[1] * grid_[2]), rank / grid_[2] % grid_[1],
                                       rank % grid_[2]};
        Block block{};
        for (std::size_t i = 0; i < 3; ++i) {
            block.begin[i] = edge_ * place[i] / grid_[i];
            block.length[i] = edge_ * (place[i] + 1) / grid_[i] - block.begin[i];
        }
        return block;
    }
    static std::size_t cells(const Block& block) {
        return static_cast<std::size_t>(block.length[0]) *
            static_cast<std::size_t>(block.length[1]) * static_cast<std::size_t>(block.length[2]);
    }
    int first_plane(int rank) const { return edge_ * rank / bench::ranks(); }
    /// Planes of a block that are in the slab of a rank.
    int common(const Block& block, int rank, int& first) const {
        first = std::max(block.begin[0], first_plane(rank));
        return std::max(0,
                        std::min(block.begin[0] + block.length[0], first_plane(rank + 1)) - first);
    }

    void write_by_slabs() {
        const int size = bench::ranks(), rank = bench::rank();
        std::vector<int> out(static_cast<std::size_t>(size)), out_at(out), in(out), in_at(out);
        int sent = 0, got = 0, first = 0;
        for (int peer = 0; peer < size; ++peer) {
            const auto i = static_cast<std::size_t>(peer);
            out[i] = common(block_, peer, first) * block_.length[1] * block_.length[2];
            out_at[i] = sent;
            sent += out[i];
            const Block theirs = block_of(peer);
            in[i] = common(theirs, rank, first) * theirs.length[1] * theirs.length[2];
            in_at[i] = got;
            got += in[i];
        }
        // Kept from call to call, as a program would.
        std::vector<char>&pieces = pieces_, &slab = slab_;
        pieces.resize(static_cast<std::size_t>(got));
        slab.resize(pieces.size());
        MPI_Alltoallv(data_.data(), out.data(), out_at.data(), MPI_BYTE, pieces.data(), in.data(),
                      in_at.data(), MPI_BYTE, MPI_COMM_WORLD);
        for (int peer = 0; peer < size; ++peer) {
            const Block theirs = block_of(peer);
            const int planes = common(theirs, rank, first);
            const char* from = pieces.data() + in_at[static_cast<std::size_t>(peer)];
            for (int i = 0; i < planes; ++i)
                for (int k = 0; k < theirs.length[1]; ++k, from += theirs.length[2])
                    std::memcpy(slab.data() +
                                    (static_cast<std::size_t>(first - first_plane(rank) + i) *
                                         static_cast<std::size_t>(edge_) +
                                     static_cast<std::size_t>(theirs.begin[1] + k)) *
                                        static_cast<std::size_t>(edge_) +
                                    theirs.begin[2],
                                from, static_cast<std::size_t>(theirs.length[2]));
        }
        const MPI_Offset at = static_cast<MPI_Offset>(first_plane(rank)) * edge_ * edge_;
        need(pwrite(descriptor_, slab.data(), slab.size(), at) == static_cast<ssize_t>(slab.size()),
             "pwrite");
    }

    const Plan& plan_;
    MPI_File file_;
    int descriptor_;
    const int edge_;
    std::array<int, 3> grid_{};
    Block block_{};
    std::vector<char> data_, pieces_, slab_;
};

}  // namespace

int main(int argc, char** argv) {
    const Plan plan = read_plan(argc, argv);
    MPI_Init(&argc, &argv);
    MPI_File file;
    need(MPI_File_open(MPI_COMM_WORLD, plan.file.c_str(),
                       MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                       &file) == MPI_SUCCESS,
         "MPI_File_open");
    const int descriptor = open(plan.file.c_str(), O_RDWR);
    need(descriptor >= 0, "open");
    Contiguous(plan, file, descriptor).run();
    Cube(plan, file, descriptor).run();
    close(descriptor);
    MPI_File_close(&file);
    MPI_Finalize();
}
