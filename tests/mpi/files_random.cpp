// SPDX-License-Identifier: BSD-3-Clause
/// Random views of a file and random accesses by every kind of function. A model writes single
/// bytes.
///
/// A file is made of tiles of cells. In each round all ranks draw the same numbers. These say which
/// rank owns each cell of the tile, by which functions all write, and what each one writes. So each
/// rank knows the whole file. The data is read back by plain system calls, and through views by
/// random functions.
///
///     files_random [ROUNDS [SEED [PREFIX]]]     PREFIX of names, as "faulty:short:"
///     files_random ROUNDS SEED full             files that become full at random places

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" {
#include "check.h"
}

namespace {

int rank, size;
using Bytes = std::vector<unsigned char>;
using Random = std::mt19937_64;

std::int64_t draw(Random& random, std::int64_t least, std::int64_t most) {
    return least +
        static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
}

/// The cells of a tile: the place of each in it, and its owner, or -1 if it has none.
struct Tile {
    std::int64_t unit;  ///< bytes that all lengths are multiples of
    std::vector<std::int64_t> begin, length;
    std::vector<int> owner;
    std::int64_t extent = 0;

    /// Returns the place of byte `k` of a rank's data in tiles from 0 on. Returns -1 if it has
    /// none.
    std::int64_t place(int who, std::int64_t k) const {
        const std::int64_t each = bytes(who);
        if (each == 0) return -1;
        std::int64_t inside = k % each;
        for (std::size_t i = 0; i < owner.size(); ++i) {
            if (owner[i] != who) continue;
            if (inside < length[i]) return k / each * extent + begin[i] + inside;
            inside -= length[i];
        }
        return -1;
    }
    std::int64_t bytes(int who) const {
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < owner.size(); ++i)
            if (owner[i] == who) sum += length[i];
        return sum;
    }
};

Tile draw_tile(Random& random) {
    Tile tile;
    tile.unit = std::int64_t{1} << draw(random, 0, 3);
    const bool regular = draw(random, 0, 2) == 0;  // a round of equal cells
    const std::int64_t cells = regular ? size * draw(random, 1, 40) : draw(random, 1, 60);
    const std::int64_t equal = tile.unit * draw(random, 1, 8);
    for (std::int64_t i = 0; i < cells; ++i) {
        tile.begin.push_back(tile.extent);
        tile.length.push_back(regular ? equal : tile.unit * draw(random, 1, 20));
        tile.owner.push_back(static_cast<int>(regular ? i % size : draw(random, -1, size - 1)));
        tile.extent += tile.length.back();
    }
    if (draw(random, 0, 1) == 0) tile.extent += tile.unit * draw(random, 0, 9);
    return tile;
}

/// Returns the part of it that a rank sees.
MPI_Datatype filetype_of(const Tile& tile, int who, MPI_Datatype etype) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    for (std::size_t i = 0; i < tile.owner.size(); ++i) {
        if (tile.owner[i] != who) continue;
        lengths.push_back(static_cast<int>(tile.length[i] / tile.unit));
        places.push_back(tile.begin[i]);
    }
    MPI_Datatype cells, tiled;
    OK(MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), places.data(),
                                etype, &cells));
    OK(MPI_Type_create_resized(cells, 0, tile.extent, &tiled));
    OK(MPI_Type_commit(&tiled));
    OK(MPI_Type_free(&cells));
    return tiled;
}

MPI_Datatype etype_of(std::int64_t unit) {
    switch (unit) {
        case 1: return MPI_BYTE;
        case 2: return MPI_INT16_T;
        case 4: return MPI_INT32_T;
        default: return MPI_INT64_T;
    }
}

/// Data in memory: side by side, or with gaps.
struct Memory {
    MPI_Datatype type;
    std::int64_t count = 0;
    std::int64_t gap = 1;  ///< a byte of the data comes once in so many bytes
    Bytes bytes;

    Memory(std::int64_t data, std::int64_t unit, bool gaps) {
        if (gaps) {
            gap = 2;
            OK(MPI_Type_vector(static_cast<int>(data), 1, 2, MPI_BYTE, &type));
            OK(MPI_Type_commit(&type));
            count = data == 0 ? 0 : 1;
        } else {
            type = etype_of(unit);
            count = data / unit;
        }
        bytes.assign(static_cast<std::size_t>(data * gap + 16), 0xee);
    }
    ~Memory() {
        if (gap == 2) MPI_Type_free(&type);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    unsigned char& at(std::int64_t k) { return bytes[static_cast<std::size_t>(k * gap)]; }
};

constexpr int functions = 10;

/// Makes one access by one of the functions, which all ranks call. Returns its error. `offset` is
/// in etypes.
int access(MPI_File file, bool writes, int function, std::int64_t offset, Memory& memory,
           MPI_Status* status) {
    void* const data = memory.bytes.data();
    const int count = static_cast<int>(memory.count);
    const MPI_Datatype type = memory.type;
    MPI_Request request = MPI_REQUEST_NULL;
    int error = MPI_SUCCESS;
    if (function % 2 == 1) OK(MPI_File_seek(file, offset, MPI_SEEK_SET));
    switch (function) {
        case 0:
            error = writes ? MPI_File_write_at(file, offset, data, count, type, status)
                           : MPI_File_read_at(file, offset, data, count, type, status);
            break;
        case 1:
            error = writes ? MPI_File_write(file, data, count, type, status)
                           : MPI_File_read(file, data, count, type, status);
            break;
        case 2:
            error = writes ? MPI_File_write_at_all(file, offset, data, count, type, status)
                           : MPI_File_read_at_all(file, offset, data, count, type, status);
            break;
        case 3:
            error = writes ? MPI_File_write_all(file, data, count, type, status)
                           : MPI_File_read_all(file, data, count, type, status);
            break;
        case 4:
            error = writes ? MPI_File_iwrite_at(file, offset, data, count, type, &request)
                           : MPI_File_iread_at(file, offset, data, count, type, &request);
            break;
        case 5:
            error = writes ? MPI_File_iwrite(file, data, count, type, &request)
                           : MPI_File_iread(file, data, count, type, &request);
            break;
        case 6:
            error = writes ? MPI_File_iwrite_at_all(file, offset, data, count, type, &request)
                           : MPI_File_iread_at_all(file, offset, data, count, type, &request);
            break;
        case 7:
            error = writes ? MPI_File_iwrite_all(file, data, count, type, &request)
                           : MPI_File_iread_all(file, data, count, type, &request);
            break;
        case 8:
            OK(writes ? MPI_File_write_at_all_begin(file, offset, data, count, type)
                      : MPI_File_read_at_all_begin(file, offset, data, count, type));
            error = writes ? MPI_File_write_at_all_end(file, data, status)
                           : MPI_File_read_at_all_end(file, data, status);
            break;
        default:
            OK(writes ? MPI_File_write_all_begin(file, data, count, type)
                      : MPI_File_read_all_begin(file, data, count, type));
            error = writes ? MPI_File_write_all_end(file, data, status)
                           : MPI_File_read_all_end(file, data, status);
    }
    if (request == MPI_REQUEST_NULL) return error;
    OK(error);
    if (offset % 2 == 0) return MPI_Wait(&request, status);
    for (int done = 0; !done && error == MPI_SUCCESS;) error = MPI_Test(&request, &done, status);
    CHECK(request == MPI_REQUEST_NULL);
    return error;
}

unsigned char value(Random& random) { return static_cast<unsigned char>(random() % 251); }

void put(Bytes& model, std::int64_t place, unsigned char byte) {
    if (place >= static_cast<std::int64_t>(model.size()))
        model.resize(static_cast<std::size_t>(place + 1), 0);
    model[static_cast<std::size_t>(place)] = byte;
}

/// Returns the content of the file, read by other means.
Bytes content_of(const std::string& path) {
    const int descriptor = open(path.c_str(), O_RDONLY);
    CHECK(descriptor >= 0);
    struct stat status;
    CHECK(fstat(descriptor, &status) == 0);
    Bytes bytes(static_cast<std::size_t>(status.st_size));
    CHECK(pread(descriptor, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    close(descriptor);
    return bytes;
}

std::int64_t elements(const MPI_Status& status) {
    MPI_Count bytes = -1;
    OK(MPI_Get_elements_c(&status, MPI_BYTE, &bytes));
    return bytes;
}

/// Writes a round, in which each rank has a part of its own.
void write_round(MPI_File file, const Tile& tile, std::int64_t displacement, Random& random,
                 Bytes& model) {
    const int function = static_cast<int>(draw(random, 0, functions - 1));
    for (int who = 0; who < size; ++who) {
        const std::int64_t each = tile.bytes(who) / tile.unit;
        const std::int64_t offset = each == 0 ? 0 : draw(random, 0, 3 * each);
        std::int64_t data = each == 0 ? 0 : draw(random, 0, 4 * each) * tile.unit;
        const bool gaps = draw(random, 0, 2) == 0;
        Random values(random());
        Memory memory(who == rank ? data : 0, tile.unit, gaps);
        for (std::int64_t k = 0; k < data; ++k) {
            const unsigned char byte = value(values);
            put(model, displacement + tile.place(who, offset * tile.unit + k), byte);
            if (who == rank) memory.at(k) = byte;
        }
        if (who != rank) continue;
        MPI_Status status;
        OK(access(file, true, function, offset, memory, &status));
        CHECK(elements(status) == data);
    }
}

void read_round(MPI_File file, const Tile& tile, std::int64_t displacement, Random& random,
                const Bytes& model) {
    const int function = static_cast<int>(draw(random, 0, functions - 1));
    Random own(random() + static_cast<std::uint64_t>(rank));
    const std::int64_t each = tile.bytes(rank) / tile.unit;
    const std::int64_t offset = each == 0 ? 0 : draw(own, 0, 4 * each);
    const std::int64_t data = each == 0 ? 0 : draw(own, 0, 4 * each) * tile.unit;
    Memory memory(data, tile.unit, draw(own, 0, 2) == 0);
    MPI_Status status;
    OK(access(file, false, function, offset, memory, &status));
    std::int64_t there = 0;
    for (; there < data; ++there) {
        const std::int64_t place = displacement + tile.place(rank, offset * tile.unit + there);
        if (place >= static_cast<std::int64_t>(model.size())) break;
        CHECK(memory.at(there) == model[static_cast<std::size_t>(place)]);
    }
    CHECK(elements(status) == there);
    for (std::int64_t k = there; k < data; ++k) CHECK(memory.at(k) == 0xee);
}

/// Writes by all ranks, with too little room. After a failure the status says how many bytes from
/// the first one on have been written. If others have written for a rank, it says none, and any of
/// them may be there.
void write_without_room(MPI_File file, const std::string& path, const Tile& tile,
                        std::int64_t displacement, Random& random, Bytes& model) {
    const int function = static_cast<int>(draw(random, 0, functions - 1));
    const bool together = function != 0 && function != 1 && function != 4 && function != 5;
    std::vector<std::vector<std::pair<std::int64_t, unsigned char>>> wanted(
        static_cast<std::size_t>(size));
    std::int64_t mine = 0;
    for (int who = 0; who < size; ++who) {
        const std::int64_t each = tile.bytes(who) / tile.unit;
        const std::int64_t offset = each == 0 ? 0 : draw(random, 0, 3 * each);
        const std::int64_t data = each == 0 ? 0 : draw(random, 0, 4 * each) * tile.unit;
        const bool gaps = draw(random, 0, 2) == 0;
        Random values(random());
        Memory memory(who == rank ? data : 0, tile.unit, gaps);
        for (std::int64_t i = 0; i < data; ++i) {
            const unsigned char byte = value(values);
            wanted[static_cast<std::size_t>(who)].emplace_back(
                displacement + tile.place(who, offset * tile.unit + i), byte);
            if (who == rank) memory.at(i) = byte;
        }
        if (who != rank) continue;
        MPI_Status status;
        const int error = access(file, true, function, offset, memory, &status);
        if (error != MPI_SUCCESS) FAILS(error, MPI_ERR_NO_SPACE);
        mine = elements(status);
        CHECK(error == MPI_SUCCESS ? mine == data : mine < data || data == 0);
        if (error != MPI_SUCCESS && together && mine == 0) mine = -1;
    }
    std::vector<std::int64_t> written(wanted.size());
    OK(MPI_Allgather(&mine, 1, MPI_INT64_T, written.data(), 1, MPI_INT64_T, MPI_COMM_WORLD));
    const Bytes content = content_of(path);
    for (std::size_t who = 0; who < wanted.size(); ++who)
        for (std::size_t i = 0; i < wanted[who].size(); ++i) {
            const auto [place, byte] = wanted[who][i];
            const auto at = static_cast<std::size_t>(place);
            if (written[who] < 0 ? at < content.size() && content[at] == byte
                                 : static_cast<std::int64_t>(i) < written[who])
                put(model, place, byte);
        }
    model.resize(std::max(model.size(), content.size()), 0);
    CHECK(content == model);
    MPI_Barrier(MPI_COMM_WORLD);
}

MPI_File open_file(const std::string& name, Random& random) {
    MPI_Info info;
    OK(MPI_Info_create(&info));
    if (draw(random, 0, 1) == 0) OK(MPI_Info_set(info, "cb_buffer_size", "4096"));
    if (draw(random, 0, 3) == 0) OK(MPI_Info_set(info, "cb_nodes", "2"));
    if (draw(random, 0, 1) == 0) OK(MPI_Info_set(info, "romio_cb_write", "enable"));
    if (draw(random, 0, 1) == 0) OK(MPI_Info_set(info, "romio_cb_read", "enable"));
    if (draw(random, 0, 3) == 0) OK(MPI_Info_set(info, "romio_ds_read", "disable"));
    if (draw(random, 0, 1) == 0) OK(MPI_Info_set(info, "ind_wr_buffer_size", "4096"));
    if (draw(random, 0, 1) == 0) OK(MPI_Info_set(info, "ind_rd_buffer_size", "4096"));
    if (draw(random, 0, 1) == 0) OK(MPI_Info_set(info, "striping_unit", "512"));
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    OK(MPI_Info_free(&info));
    return file;
}

void one_file(const std::string& name, const std::string& path, std::uint64_t seed) {
    Random random(seed);
    Bytes model;
    if (rank == 0) unlink(path.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file = open_file(name, random);
    OK(MPI_File_set_atomicity(file, draw(random, 0, 4) == 0));
    for (int round = 0; round < 4; ++round) {
        const Tile tile = draw_tile(random);
        const std::int64_t displacement = draw(random, 0, 100);
        const MPI_Datatype etype = etype_of(tile.unit);
        MPI_Datatype filetype = filetype_of(tile, rank, etype);
        const char* const representation = draw(random, 0, 1) == 0 ? "native" : "internal";
        OK(MPI_File_set_view(file, displacement, etype, filetype, representation, MPI_INFO_NULL));
        OK(MPI_Type_free(&filetype));
        for (int i = 0; i < 3; ++i) write_round(file, tile, displacement, random, model);
        OK(MPI_File_sync(file));
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK(content_of(path) == model);
        for (int i = 0; i < 3; ++i) read_round(file, tile, displacement, random, model);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&file));
}

/// Tests a file that has room for some thousand bytes.
void one_full_file(const std::string& path, std::uint64_t seed) {
    Random random(seed);
    Bytes model;
    if (rank == 0) unlink(path.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
    const std::string words = draw(random, 0, 1) == 0 ? "short,full=" : "full=";
    MPI_File file =
        open_file("faulty:" + words + std::to_string(draw(random, 0, 5000)) + ":" + path, random);
    for (int round = 0; round < 4; ++round) {
        const Tile tile = draw_tile(random);
        const std::int64_t displacement = draw(random, 0, 100);
        const MPI_Datatype etype = etype_of(tile.unit);
        MPI_Datatype filetype = filetype_of(tile, rank, etype);
        OK(MPI_File_set_view(file, displacement, etype, filetype, "native", MPI_INFO_NULL));
        OK(MPI_Type_free(&filetype));
        for (int i = 0; i < 3; ++i)
            write_without_room(file, path, tile, displacement, random, model);
    }
    OK(MPI_File_close(&file));
}

/// Writes records of all ranks by the shared pointer. Each is there once. They are in the order of
/// ranks if that is promised.
void shared_records(const std::string& name, const std::string& path, std::uint64_t seed) {
    constexpr int words = 4, rounds = 20;
    Random random(seed);
    if (rank == 0) unlink(path.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file = open_file(name, random);
    OK(MPI_File_set_view(file, 64, MPI_INT32_T, MPI_INT32_T, "native", MPI_INFO_NULL));
    for (int round = 0; round < rounds; ++round) {
        const std::int32_t record[words] = {rank, round, rank + round, 77};
        const bool ordered = round >= rounds / 2;
        MPI_Request request;
        if (ordered && round % 2 == 0) {
            OK(MPI_File_write_ordered(file, record, words, MPI_INT32_T, MPI_STATUS_IGNORE));
        } else if (ordered) {
            OK(MPI_File_write_ordered_begin(file, record, words, MPI_INT32_T));
            OK(MPI_File_write_ordered_end(file, record, MPI_STATUS_IGNORE));
        } else if (round % 2 == 0) {
            OK(MPI_File_write_shared(file, record, words, MPI_INT32_T, MPI_STATUS_IGNORE));
        } else {
            OK(MPI_File_iwrite_shared(file, record, words, MPI_INT32_T, &request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        if (round == rounds / 2 - 1) MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Offset position = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_position_shared(file, &position));
    CHECK(position == words * rounds * size);
    std::vector<std::int32_t> all(static_cast<std::size_t>(words * rounds * size));
    OK(MPI_File_read_at_all(file, 0, all.data(), static_cast<int>(all.size()), MPI_INT32_T,
                            MPI_STATUS_IGNORE));
    std::vector<int> seen(static_cast<std::size_t>(rounds * size), 0);
    for (std::size_t i = 0; i < all.size(); i += words) {
        const std::int32_t who = all[i], round = all[i + 1];
        CHECK(who >= 0 && who < size && round >= 0 && round < rounds);
        CHECK(all[i + 2] == who + round && all[i + 3] == 77);
        ++seen[static_cast<std::size_t>(round * size + who)];
        const auto number = static_cast<std::int32_t>(i / words);
        if (round >= rounds / 2) CHECK(number == round * size + who);
    }
    CHECK(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    std::int32_t record[words];
    OK(MPI_File_read_ordered(file, record, words, MPI_INT32_T, MPI_STATUS_IGNORE));
    CHECK(std::equal(record, record + words, all.begin() + rank * words));
    OK(MPI_File_close(&file));
}

}  // namespace

int main(int argc, char** argv) {
    start(&rank, &size, MPI_THREAD_MULTIPLE);
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
    const auto first = static_cast<std::uint64_t>(argc > 2 ? std::atoll(argv[2]) : 1);
    const bool full = argc > 3 && std::string(argv[3]) == "full";
    const std::string prefix = argc > 3 && !full ? argv[3] : "";
    char path[512];
    name_file(path, sizeof path, "files");
    for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(rounds); ++seed) {
        if (full) {
            one_full_file(path, seed);
            continue;
        }
        one_file(prefix + path, path, seed);
        if (seed % 5 == 1) shared_records(prefix + path, path, seed);
    }
    if (rank == 0) OK(MPI_File_delete((prefix + path).c_str(), MPI_INFO_NULL));
    MPI_Finalize();
    if (rank == 0) printf("OK\n");
}
