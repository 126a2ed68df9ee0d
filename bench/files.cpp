// SPDX-License-Identifier: BSD-3-Clause

/// Measures files, each operation in turn with a program's own calls for it:
///
/// blocks   contiguous blocks, each rank its own, beside pwrite and pread.
/// cube     a three-dimensional array of bytes in blocks of ranks, with runs of --run bytes. It is
///          written and read collectively. Beside it stand MPI_Alltoallv to slabs and one pwrite
///          each, and the reverse.
/// view     a view of a million pieces at irregular places is set, and a few of them are read.
/// open     a file is opened and closed by all ranks.
/// overlap  computing beside a nonblocking write: the hidden part of the shorter of the two.
///
/// Rates are MB/s of all ranks together, and figures are medians of repetitions. A ratio is the
/// median of the ratios of the repetitions. Each repetition measures both operations one after the
/// other.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>

#include "work.hpp"

namespace {

constexpr const char* usage =
    "files --what blocks,cube,view,open,overlap --file PATH --repetitions N --hints KEY=VALUE,...\n"
    "      --block B (bytes of a block) --blocks N (of each rank)\n"
    "      --bytes B (of the array) --run R (bytes of the array that lie together in a rank's "
    "block)\n"
    "      --pieces N (of the view) --milliseconds T (of computing) --write B (bytes beside it)\n";

struct Plan {
    std::string what, file, hints;
    long block, blocks, bytes, run, pieces, write, repetitions;
    double compute;

    bool has(const std::string& word) const {
        return ("," + what + ",").find("," + word + ",") != std::string::npos;
    }
};

Plan read_plan(int argc, char** argv) {
    bench::Options options(argc, argv, usage);
    Plan plan{options.text("what", "blocks,cube,view,open,overlap"),
              options.text("file", "/tmp/heddle-bench-file"),
              options.text("hints", ""),
              options.integer("block", 1 << 20, 1),
              options.integer("blocks", 16, 1),
              options.integer("bytes", 16 << 20, 1 << 12),
              options.integer("run", 128, 1),
              options.integer("pieces", 1'000'000, 100),
              options.integer("write", 8 << 20, 1),
              options.integer("repetitions", 5, 1),
              1e-3 * options.real("milliseconds", 5)};
    options.done();
    return plan;
}

void need(bool condition, const char* what) {
    if (!condition) bench::fail(std::string("files: ") + what + " failed");
}

/// Returns the seconds from the first rank's beginning to the last one's end, by the clock that
/// they share.
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

/// Seconds of each repetition.
using Times = std::vector<double>;

/// Reports a figure. `own` has the times of the program's own calls in the same repetitions, or is
/// empty.
void report(const char* what, const char* how, const Times& times, double bytes,
            const Times& own = {}) {
    if (bench::rank() != 0) return;
    const double rate = bytes / bench::median(times) / 1e6;
    Times ratios;
    for (std::size_t i = 0; i < own.size(); ++i) ratios.push_back(own[i] / times[i]);
    std::printf("%-8s %-24s %10.1f MB/s", what, how, rate);
    if (!own.empty()) std::printf("  %5.2f of the program's own", bench::median(ratios));
    std::printf("\nresult bench=files what=%s how=%s MBps=%.1f", what, how, rate);
    if (!own.empty()) std::printf(" over_own=%.4f", bench::median(ratios));
    std::printf("\n");
}

void report_seconds(const char* what, const char* how, const Times& times) {
    if (bench::rank() != 0) return;
    const double us = bench::median(times) * 1e6;
    std::printf("%-8s %-24s %10.1f us\n", what, how, us);
    std::printf("result bench=files what=%s how=%s us=%.2f\n", what, how, us);
}

/// Makes an info of "key=value,key=value".
MPI_Info info_of(const std::string& hints) {
    MPI_Info info;
    MPI_Info_create(&info);
    for (std::size_t at = 0; at < hints.size();) {
        const std::size_t end = std::min(hints.find(',', at), hints.size());
        const std::string hint = hints.substr(at, end - at);
        const std::size_t equals = hint.find('=');
        need(equals != std::string::npos, ("the hint " + hint).c_str());
        MPI_Info_set(info, hint.substr(0, equals).c_str(), hint.substr(equals + 1).c_str());
        at = end + 1;
    }
    return info;
}

/// The same file, opened by MPI and by the kernel's calls.
class Both {
public:
    explicit Both(const Plan& plan) {
        MPI_Info info = info_of(plan.hints);
        need(MPI_File_open(MPI_COMM_WORLD, plan.file.c_str(),
                           MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info,
                           &file) == MPI_SUCCESS,
             "MPI_File_open");
        MPI_Info_free(&info);
        descriptor = open(plan.file.c_str(), O_RDWR);
        need(descriptor >= 0, "open");
    }
    ~Both() {
        close(descriptor);
        MPI_File_close(&file);
    }
    Both(const Both&) = delete;
    Both& operator=(const Both&) = delete;

    MPI_File file = MPI_FILE_NULL;
    int descriptor = -1;
};

class Blocks {
public:
    Blocks(const Plan& plan, const Both& both)
        : plan_(plan), both_(both), data_(static_cast<std::size_t>(plan.block), 'c') {}

    void run() {
        Times plain, alone, together, plain_read, read, read_together;
        round(plain, alone, together, plain_read, read, read_together);
        for (Times* times : {&plain, &alone, &together, &plain_read, &read, &read_together})
            times->clear();  // these rounds warmed up
        for (long i = 0; i < plan_.repetitions; ++i)
            round(plain, alone, together, plain_read, read, read_together);
        const double bytes = static_cast<double>(plan_.block * plan_.blocks) * bench::ranks();
        report("blocks", "pwrite", plain, bytes);
        report("blocks", "write_at", alone, bytes, plain);
        report("blocks", "write_at_all", together, bytes, plain);
        report("blocks", "pread", plain_read, bytes);
        report("blocks", "read_at", read, bytes, plain_read);
        report("blocks", "read_at_all", read_together, bytes, plain_read);
    }

private:
    void round(Times& plain, Times& alone, Times& together, Times& plain_read, Times& read,
               Times& read_together) {
        char* const data = data_.data();
        const int count = static_cast<int>(plan_.block);
        each(plain, "pwrite", [&](MPI_Offset at) {
            return pwrite(both_.descriptor, data, data_.size(), at) == plan_.block;
        });
        each(alone, "MPI_File_write_at", [&](MPI_Offset at) {
            return MPI_File_write_at(both_.file, at, data, count, MPI_BYTE, MPI_STATUS_IGNORE) ==
                MPI_SUCCESS;
        });
        each(together, "MPI_File_write_at_all", [&](MPI_Offset at) {
            return MPI_File_write_at_all(both_.file, at, data, count, MPI_BYTE,
                                         MPI_STATUS_IGNORE) == MPI_SUCCESS;
        });
        each(plain_read, "pread", [&](MPI_Offset at) {
            return pread(both_.descriptor, data, data_.size(), at) == plan_.block;
        });
        each(read, "MPI_File_read_at", [&](MPI_Offset at) {
            return MPI_File_read_at(both_.file, at, data, count, MPI_BYTE, MPI_STATUS_IGNORE) ==
                MPI_SUCCESS;
        });
        each(read_together, "MPI_File_read_at_all", [&](MPI_Offset at) {
            return MPI_File_read_at_all(both_.file, at, data, count, MPI_BYTE, MPI_STATUS_IGNORE) ==
                MPI_SUCCESS;
        });
    }
    template <class Work>
    void each(Times& times, const char* name, Work work) {
        times.push_back(timed([&] {
            for (long i = 0; i < plan_.blocks; ++i)
                need(work((i * bench::ranks() + bench::rank()) *
                          static_cast<MPI_Offset>(plan_.block)),
                     name);
        }));
    }

    const Plan& plan_;
    const Both& both_;
    std::vector<char> data_;
};

/// An array of bytes in blocks of ranks. Without MPI's files each rank writes a slab of planes.
class Cube {
public:
    Cube(const Plan& plan, const Both& both) : plan_(plan), both_(both) {
        MPI_Dims_create(bench::ranks(), 3, grid_.data());
        edge_[2] = static_cast<int>(plan.run) * grid_[2];
        const double plane = static_cast<double>(plan.bytes) / edge_[2];
        edge_[0] = edge_[1] = std::max(grid_[0] * grid_[1], static_cast<int>(std::sqrt(plane)));
        block_ = block_of(bench::rank());
        data_.assign(cells(block_), static_cast<char>('a' + bench::rank()));
    }

    void run() {
        Times own, write, own_read, read;
        MPI_Datatype filetype;
        MPI_Type_create_subarray(3, edge_.data(), block_.length.data(), block_.begin.data(),
                                 MPI_ORDER_C, MPI_BYTE, &filetype);
        MPI_Type_commit(&filetype);
        need(MPI_File_set_view(both_.file, 0, MPI_BYTE, filetype, "native", MPI_INFO_NULL) ==
                 MPI_SUCCESS,
             "MPI_File_set_view");
        round(own, write, own_read, read);
        for (Times* times : {&own, &write, &own_read, &read}) times->clear();
        for (long i = 0; i < plan_.repetitions; ++i) round(own, write, own_read, read);
        MPI_Type_free(&filetype);
        MPI_File_set_view(both_.file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
        const double bytes =
            static_cast<double>(edge_[0]) * static_cast<double>(edge_[1]) * edge_[2];
        report("cube", "alltoallv_pwrite", own, bytes);
        report("cube", "write_at_all", write, bytes, own);
        report("cube", "pread_alltoallv", own_read, bytes);
        report("cube", "read_at_all", read, bytes, own_read);
    }

private:
    void round(Times& own, Times& write, Times& own_read, Times& read) {
        const int count = static_cast<int>(data_.size());
        own.push_back(timed([&] { write_by_slabs(); }));
        write.push_back(timed([&] {
            need(MPI_File_write_at_all(both_.file, 0, data_.data(), count, MPI_BYTE,
                                       MPI_STATUS_IGNORE) == MPI_SUCCESS,
                 "MPI_File_write_at_all");
        }));
        forget();
        own_read.push_back(timed([&] { read_by_slabs(); }));
        compare();
        forget();
        read.push_back(timed([&] {
            need(MPI_File_read_at_all(both_.file, 0, data_.data(), count, MPI_BYTE,
                                      MPI_STATUS_IGNORE) == MPI_SUCCESS,
                 "MPI_File_read_at_all");
        }));
        compare();
    }
    void forget() { std::fill(data_.begin(), data_.end(), '\0'); }
    /// Checks that the data read is the data written.
    void compare() {
        const char mine = static_cast<char>('a' + bench::rank());
        need(static_cast<std::size_t>(std::count(data_.begin(), data_.end(), mine)) == data_.size(),
             "the comparison of what was read");
    }

    struct Block {
        std::array<int, 3> begin, length;
    };
    Block block_of(int rank) const {
        const std::array<int, 3> place{rank / (grid_[1] * grid_[2]), rank / grid_[2] % grid_[1],
                                       rank % grid_[2]};
        Block block{};
        for (std::size_t i = 0; i < 3; ++i) {
            block.begin[i] = edge_[i] * place[i] / grid_[i];
            block.length[i] = edge_[i] * (place[i] + 1) / grid_[i] - block.begin[i];
        }
        return block;
    }
    static std::size_t cells(const Block& block) {
        return static_cast<std::size_t>(block.length[0]) *
            static_cast<std::size_t>(block.length[1]) * static_cast<std::size_t>(block.length[2]);
    }
    int first_plane(int rank) const { return edge_[0] * rank / bench::ranks(); }
    std::size_t plane_bytes() const {
        return static_cast<std::size_t>(edge_[1]) * static_cast<std::size_t>(edge_[2]);
    }
    /// Returns the number of planes of a block that are in the slab of a rank.
    int common(const Block& block, int rank, int& first) const {
        first = std::max(block.begin[0], first_plane(rank));
        return std::max(0,
                        std::min(block.begin[0] + block.length[0], first_plane(rank + 1)) - first);
    }

    /// The counts and places by which blocks become slabs, for each rank.
    struct Exchange {
        std::vector<int> out, out_at, in, in_at;
        std::size_t got = 0;
    };
    Exchange exchange() const {
        const int size = bench::ranks(), rank = bench::rank();
        const auto all = static_cast<std::size_t>(size);
        Exchange plan{std::vector<int>(all), std::vector<int>(all), std::vector<int>(all),
                      std::vector<int>(all)};
        int sent = 0, got = 0, first = 0;
        for (int peer = 0; peer < size; ++peer) {
            const auto i = static_cast<std::size_t>(peer);
            plan.out[i] = common(block_, peer, first) * block_.length[1] * block_.length[2];
            plan.out_at[i] = sent;
            sent += plan.out[i];
            const Block theirs = block_of(peer);
            plan.in[i] = common(theirs, rank, first) * theirs.length[1] * theirs.length[2];
            plan.in_at[i] = got;
            got += plan.in[i];
        }
        plan.got = static_cast<std::size_t>(got);
        return plan;
    }
    /// Calls visit(row in the slab, row among the pieces of the others, bytes).
    template <class Visit>
    void each_row(const Exchange& plan, Visit visit) {
        for (int peer = 0; peer < bench::ranks(); ++peer) {
            const Block theirs = block_of(peer);
            int first = 0;
            const int planes = common(theirs, bench::rank(), first);
            const auto length = static_cast<std::size_t>(theirs.length[2]);
            char* piece = pieces_.data() + plan.in_at[static_cast<std::size_t>(peer)];
            for (int i = 0; i < planes; ++i)
                for (int k = 0; k < theirs.length[1]; ++k, piece += length)
                    visit(slab_.data() +
                              static_cast<std::size_t>(first - first_plane(bench::rank()) + i) *
                                  plane_bytes() +
                              static_cast<std::size_t>(theirs.begin[1] + k) *
                                  static_cast<std::size_t>(edge_[2]) +
                              theirs.begin[2],
                          piece, length);
        }
    }
    void make_room(const Exchange& plan) {
        pieces_.resize(plan.got);  // kept from call to call, as a program would
        slab_.resize(plan.got);
    }
    MPI_Offset slab_at() const {
        return static_cast<MPI_Offset>(first_plane(bench::rank())) *
            static_cast<MPI_Offset>(plane_bytes());
    }

    void write_by_slabs() {
        const Exchange plan = exchange();
        make_room(plan);
        MPI_Alltoallv(data_.data(), plan.out.data(), plan.out_at.data(), MPI_BYTE, pieces_.data(),
                      plan.in.data(), plan.in_at.data(), MPI_BYTE, MPI_COMM_WORLD);
        each_row(plan, [](char* row, const char* piece, std::size_t bytes) {
            std::memcpy(row, piece, bytes);
        });
        need(pwrite(both_.descriptor, slab_.data(), slab_.size(), slab_at()) ==
                 static_cast<ssize_t>(slab_.size()),
             "pwrite");
    }
    void read_by_slabs() {
        const Exchange plan = exchange();
        make_room(plan);
        need(pread(both_.descriptor, slab_.data(), slab_.size(), slab_at()) ==
                 static_cast<ssize_t>(slab_.size()),
             "pread");
        each_row(plan, [](const char* row, char* piece, std::size_t bytes) {
            std::memcpy(piece, row, bytes);
        });
        MPI_Alltoallv(pieces_.data(), plan.in.data(), plan.in_at.data(), MPI_BYTE, data_.data(),
                      plan.out.data(), plan.out_at.data(), MPI_BYTE, MPI_COMM_WORLD);
    }

    const Plan& plan_;
    const Both& both_;
    std::array<int, 3> grid_{};
    std::array<int, 3> edge_{};  ///< of the array, in bytes
    Block block_{};
    std::vector<char> data_, pieces_, slab_;
};

void measure_view(const Plan& plan, const Both& both) {
    std::vector<int> places(static_cast<std::size_t>(plan.pieces));
    int place = bench::rank();
    for (std::size_t i = 0; i < places.size(); ++i) {
        places[i] = place;
        place += bench::ranks() * (1 + static_cast<int>(i * 2654435761u >> 20 & 3));
    }
    MPI_Datatype filetype;
    MPI_Type_create_indexed_block(static_cast<int>(plan.pieces), 1, places.data(), MPI_INT,
                                  &filetype);
    MPI_Type_commit(&filetype);
    Times set, read;
    std::array<int, 16> data{};
    for (long i = 0; i < plan.repetitions; ++i) {
        set.push_back(timed([&] {
            need(MPI_File_set_view(both.file, 0, MPI_INT, filetype, "native", MPI_INFO_NULL) ==
                     MPI_SUCCESS,
                 "MPI_File_set_view");
        }));
        read.push_back(timed([&] {
            need(MPI_File_read_at(both.file, plan.pieces - 100, data.data(),
                                  static_cast<int>(data.size()), MPI_INT,
                                  MPI_STATUS_IGNORE) == MPI_SUCCESS,
                 "MPI_File_read_at");
        }));
        MPI_File_set_view(both.file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    }
    MPI_Type_free(&filetype);
    report_seconds("view", "set_view", set);
    report_seconds("view", "read_at_its_end", read);
}

void measure_opening(const Plan& plan) {
    Times times;
    for (long i = 0; i < 10 * plan.repetitions; ++i)
        times.push_back(timed([&] {
            MPI_File file;
            need(MPI_File_open(MPI_COMM_WORLD, plan.file.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL,
                               &file) == MPI_SUCCESS,
                 "MPI_File_open");
            MPI_File_close(&file);
        }));
    report_seconds("open", "open_and_close", times);
}

void measure_overlap(const Plan& plan, const Both& both) {
    bench::Work work(plan.compute);
    const std::vector<char> data(static_cast<std::size_t>(plan.write), 'o');
    const int count = static_cast<int>(plan.write);
    const MPI_Offset at = static_cast<MPI_Offset>(plan.write) * bench::rank();
    Times alone, computing, together, hidden;
    for (long i = 0; i < 5 * plan.repetitions; ++i) {
        alone.push_back(timed([&] {
            need(MPI_File_write_at(both.file, at, data.data(), count, MPI_BYTE,
                                   MPI_STATUS_IGNORE) == MPI_SUCCESS,
                 "MPI_File_write_at");
        }));
        computing.push_back(timed([&] { work.run(); }));
        together.push_back(timed([&] {
            MPI_Request request;
            need(MPI_File_iwrite_at(both.file, at, data.data(), count, MPI_BYTE, &request) ==
                     MPI_SUCCESS,
                 "MPI_File_iwrite_at");
            work.run();
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }));
        hidden.push_back((alone.back() + computing.back() - together.back()) /
                         std::min(alone.back(), computing.back()));
    }
    report_seconds("overlap", "write_alone", alone);
    report_seconds("overlap", "computing_alone", computing);
    report_seconds("overlap", "both", together);
    if (bench::rank() != 0) return;
    std::printf("%-8s %-24s %10.1f %%\n", "overlap", "hidden", 100 * bench::median(hidden));
    std::printf("result bench=files what=overlap how=hidden percent=%.1f\n",
                100 * bench::median(hidden));
}

}  // namespace

int main(int argc, char** argv) {
    const Plan plan = read_plan(argc, argv);
    bench::initialise(&argc, &argv, "multiple");
    {
        const Both both(plan);
        if (plan.has("blocks")) Blocks(plan, both).run();
        if (plan.has("cube")) Cube(plan, both).run();
        if (plan.has("view")) measure_view(plan, both);
        if (plan.has("open")) measure_opening(plan);
        if (plan.has("overlap")) measure_overlap(plan, both);
    }
    MPI_Finalize();
}
