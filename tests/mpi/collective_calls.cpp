// SPDX-License-Identifier: BSD-3-Clause
#include "collective_calls.hpp"

namespace collective {

std::vector<Layout>& layouts() {
    static std::vector<Layout> all;
    return all;
}

thread_local std::mt19937 layout_choice;

namespace {

constexpr std::size_t unit = 6;  // words; a multiple of the words of every layout

const Layout& any_layout() { return layouts()[layout_choice() % layouts().size()]; }

/// Makes a buffer of `words` for each of `blocks` ranks, side by side.
std::shared_ptr<Buffer> regular(std::size_t words, int blocks, const Layout& layout) {
    const std::size_t elements = words / layout.words();
    std::vector<Piece> pieces;
    for (int r = 0; r < blocks; ++r)
        pieces.push_back({&layout, elements, static_cast<long>(elements) * r * layout.extent});
    return std::make_shared<Buffer>(pieces);
}
MPI_Datatype type_of(const Buffer& buffer) { return buffer.pieces[0].layout->type; }
int elements_of(const Buffer& buffer, std::size_t piece = 0) {
    return static_cast<int>(buffer.pieces[piece].elements);
}

/// Blocks of these sizes (in words), with gaps, in any order.
struct Uneven {
    std::shared_ptr<Buffer> buffer;
    Numbers counts, places;
    std::vector<MPI_Datatype> types;

    /// Makes the blocks. With `one_type` displacements count its extent; else bytes, and each block
    /// has a type.
    Uneven(const std::vector<std::size_t>& words, bool one_type) {
        const Layout& all = any_layout();
        std::vector<Piece> pieces(words.size());
        std::vector<std::size_t> order(words.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::shuffle(order.begin(), order.end(), layout_choice);
        long end = 0;
        for (const std::size_t r : order) {
            const Layout& layout = one_type ? all : any_layout();
            const std::size_t elements = words[r] / layout.words();
            const long gap =
                static_cast<long>(layout_choice() % 3) * (one_type ? layout.extent : 11);
            // There is room on both sides for data outside of an extent.
            pieces[r] = {&layout, elements, end + gap + (one_type ? 0 : 8)};
            end = pieces[r].at + static_cast<long>(elements) * layout.extent + (one_type ? 0 : 8);
        }
        for (const Piece& piece : pieces) {
            counts.add(static_cast<long>(piece.elements));
            places.add(one_type ? piece.at / all.extent : piece.at * 8);
            types.push_back(piece.layout->type);
        }
        buffer = std::make_shared<Buffer>(pieces);
    }
};

/// Sets the words of a piece to the data of `from` of `group` for `to`.
void put(const Call& c, Buffer& buffer, std::size_t piece, int group, int from, int to = 0,
         std::size_t first = 0) {
    for (std::size_t i = 0; i < buffer.pieces[piece].words(); ++i)
        buffer.word(piece, i) = contribution(c.seed, group, from, first + i, to);
}
void expect_words(const Call& c, Buffer& buffer, std::size_t piece, int group, int from,
                  int to = 0) {
    for (std::size_t i = 0; i < buffer.pieces[piece].words(); ++i)
        CHECK(buffer.word(piece, i) == contribution(c.seed, group, from, i, to),
              "%s, form %d: word %zu of %zu from %d for %d, root %d, %s", c.name,
              static_cast<int>(c.form), i, buffer.pieces[piece].words(), from, to, c.root,
              c.in_place ? "in place" : "not in place");
}
void expect_rest(const Call& c, const Buffer& buffer) {
    CHECK(buffer.rest_intact(), "%s, form %d, wrote where nothing was to be written", c.name,
          static_cast<int>(c.form));
}

#define START(X, IX, ...)                                                                        \
    (c.name = #X,                                                                                \
     c.form == Form::blocking ? (c.large ? MPI_##X##_c(__VA_ARGS__) : MPI_##X(__VA_ARGS__))      \
         : c.form == Form::nonblocking                                                           \
         ? (c.large ? MPI_##IX##_c(__VA_ARGS__, &c.request) : MPI_##IX(__VA_ARGS__, &c.request)) \
         : c.large ? MPI_##X##_init_c(__VA_ARGS__, MPI_INFO_NULL, &c.request)                    \
                   : MPI_##X##_init(__VA_ARGS__, MPI_INFO_NULL, &c.request))
#define COMM c.shape->comm

int barrier(Call& c) {
    c.fill = c.check = [] {};
    c.name = "Barrier";
    if (c.form == Form::blocking) return MPI_Barrier(COMM);
    if (c.form == Form::nonblocking) return MPI_Ibarrier(COMM, &c.request);
    return MPI_Barrier_init(COMM, MPI_INFO_NULL, &c.request);
}

int bcast(Call& c) {
    c.out = regular(c.units * unit, 1, any_layout());
    c.fill = [&c] {
        c.out->clear();
        if (c.is_root()) put(c, *c.out, 0, c.group(), c.root);
    };
    c.check = [&c] {
        if (!c.idle()) expect_words(c, *c.out, 0, c.root_group, c.root);
        expect_rest(c, *c.out);
    };
    c.fill();
    return START(Bcast, Ibcast, c.out->address(), elements_of(*c.out), type_of(*c.out),
                 c.root_argument(), COMM);
}

/// Prepares calls that gather, once their buffers are made. Ranks with `gets` receive a block of
/// every process. With `in_place` the own block is there already.
void prepare_gathering(Call& c, bool in_place, bool gets) {
    c.fill = [&c, in_place] {
        c.out->clear();
        put(c, *c.in, 0, c.group(), c.rank());
        if (in_place) put(c, *c.out, static_cast<std::size_t>(c.rank()), c.group(), c.rank());
    };
    c.check = [&c, gets] {
        for (int r = 0; gets && r < c.others(); ++r)
            expect_words(c, *c.out, static_cast<std::size_t>(r), c.shape->other, r);
        expect_rest(c, *c.out);
    };
    c.fill();
}

/// Prepares calls that scatter: a block of the root for every process. With `in_place` its own
/// block stays.
void prepare_scattering(Call& c, bool in_place) {
    c.fill = [&c] {
        c.out->clear();
        for (int r = 0; r < c.others(); ++r)
            put(c, *c.in, static_cast<std::size_t>(r), c.group(), c.rank(), r);
    };
    c.check = [&c, in_place] {
        const bool gets = c.shape->inter ? !c.rooted_here() : !in_place;
        if (gets) expect_words(c, *c.out, 0, c.root_group, c.root, c.rank());
        expect_rest(c, *c.out);
    };
    c.fill();
}

/// Prepares calls that exchange: a block of every process for every process.
void prepare_exchange(Call& c) {
    c.fill = [&c] {
        c.out->clear();
        for (int r = 0; r < c.others(); ++r)
            put(c, c.in_place ? *c.out : *c.in, static_cast<std::size_t>(r), c.group(), c.rank(),
                r);
    };
    c.check = [&c] {
        for (int r = 0; r < c.others(); ++r)
            expect_words(c, *c.out, static_cast<std::size_t>(r), c.shape->other, r, c.rank());
        expect_rest(c, *c.out);
    };
    c.fill();
}

int gather(Call& c) {
    c.in = regular(c.units * unit, 1, any_layout());
    c.out = regular(c.units * unit, c.others(), any_layout());
    const bool in_place = c.is_root() && c.in_place;
    prepare_gathering(c, in_place, c.is_root());
    return START(Gather, Igather, in_place ? MPI_IN_PLACE : c.in->address(), elements_of(*c.in),
                 type_of(*c.in), c.out->address(), elements_of(*c.out), type_of(*c.out),
                 c.root_argument(), COMM);
}

int scatter(Call& c) {
    c.in = regular(c.units * unit, c.others(), any_layout());
    c.out = regular(c.units * unit, 1, any_layout());
    const bool in_place = c.is_root() && c.in_place;
    prepare_scattering(c, in_place);
    return START(Scatter, Iscatter, c.in->address(), elements_of(*c.in), type_of(*c.in),
                 in_place ? MPI_IN_PLACE : c.out->address(), elements_of(*c.out), type_of(*c.out),
                 c.root_argument(), COMM);
}

int allgather(Call& c) {
    c.in = regular(c.units * unit, 1, any_layout());
    c.out = regular(c.units * unit, c.others(), any_layout());
    prepare_gathering(c, c.in_place, true);
    return START(Allgather, Iallgather, c.in_place ? MPI_IN_PLACE : c.in->address(),
                 elements_of(*c.in), type_of(*c.in), c.out->address(), elements_of(*c.out),
                 type_of(*c.out), COMM);
}

int alltoall(Call& c) {
    c.in = regular(c.units * unit, c.others(), any_layout());
    c.out = regular(c.units * unit, c.others(), any_layout());
    prepare_exchange(c);
    return START(Alltoall, Ialltoall, c.in_place ? MPI_IN_PLACE : c.in->address(),
                 elements_of(*c.in), type_of(*c.in), c.out->address(), elements_of(*c.out),
                 type_of(*c.out), COMM);
}

/// Returns the words from each rank of each group to each. All ranks know them.
std::size_t words_between(const Call& c, int group, int from, int to) {
    const auto mixed = word_of(c.seed % 977 + 1, group * 64 + from, static_cast<std::size_t>(to));
    return mixed % 4 == 0 ? 0 : mixed / 4 % (c.units + 1) * unit;
}
std::vector<std::size_t> sent(const Call& c, bool same) {
    std::vector<std::size_t> words;
    for (int r = 0; r < c.others(); ++r)
        words.push_back(words_between(c, c.group(), c.rank(), same ? 0 : r));
    return words;
}
std::vector<std::size_t> received(const Call& c, bool same) {
    std::vector<std::size_t> words;
    for (int r = 0; r < c.others(); ++r)
        words.push_back(words_between(c, c.shape->other, r, same ? 0 : c.rank()));
    return words;
}

int gatherv(Call& c) {
    const Uneven to(received(c, true), true);
    c.in = regular(words_between(c, c.group(), c.rank(), 0), 1, any_layout());
    c.out = to.buffer;
    const bool in_place = c.is_root() && c.in_place;
    prepare_gathering(c, in_place, c.is_root());
    return START(Gatherv, Igatherv, in_place ? MPI_IN_PLACE : c.in->address(), elements_of(*c.in),
                 type_of(*c.in), c.out->address(), to.counts, to.places, type_of(*c.out),
                 c.root_argument(), COMM);
}

int scatterv(Call& c) {
    std::vector<std::size_t> words;
    for (int r = 0; r < c.others(); ++r) words.push_back(words_between(c, c.root_group, c.root, r));
    const Uneven from(words, true);
    c.in = from.buffer;
    c.out = regular(words_between(c, c.root_group, c.root, c.rank()), 1, any_layout());
    const bool in_place = c.is_root() && c.in_place;
    prepare_scattering(c, in_place);
    return START(Scatterv, Iscatterv, c.in->address(), from.counts, from.places, type_of(*c.in),
                 in_place ? MPI_IN_PLACE : c.out->address(), elements_of(*c.out), type_of(*c.out),
                 c.root_argument(), COMM);
}

int allgatherv(Call& c) {
    const Uneven to(received(c, true), true);
    c.in = regular(words_between(c, c.group(), c.rank(), 0), 1, any_layout());
    c.out = to.buffer;
    prepare_gathering(c, c.in_place, true);
    return START(Allgatherv, Iallgatherv, c.in_place ? MPI_IN_PLACE : c.in->address(),
                 elements_of(*c.in), type_of(*c.in), c.out->address(), to.counts, to.places,
                 type_of(*c.out), COMM);
}

/// Returns the words of each exchange in place: both directions have one size, by the smaller rank.
std::vector<std::size_t> swapped(const Call& c) {
    std::vector<std::size_t> words;
    for (int r = 0; r < c.others(); ++r)
        words.push_back(words_between(c, 0, std::min(r, c.rank()), std::max(r, c.rank())));
    return words;
}
int exchange(Call& c, bool one_type) {
    const Uneven from(c.in_place ? swapped(c) : sent(c, false), one_type);
    const Uneven to(c.in_place ? swapped(c) : received(c, false), one_type);
    c.in = from.buffer;
    c.out = to.buffer;
    prepare_exchange(c);
    const void* address = c.in_place ? MPI_IN_PLACE : c.in->address();
    if (one_type)
        return START(Alltoallv, Ialltoallv, address, from.counts, from.places, type_of(*c.in),
                     c.out->address(), to.counts, to.places, type_of(*c.out), COMM);
    return START(Alltoallw, Ialltoallw, address, from.counts, from.places, from.types.data(),
                 c.out->address(), to.counts, to.places, to.types.data(), COMM);
}
int alltoallv(Call& c) { return exchange(c, true); }
int alltoallw(Call& c) { return exchange(c, false); }

// --- reductions: one layout everywhere ---

Word operand_of(const Call& c, int group, int rank, std::size_t i) {
    if (c.op->function == join) return interval(rank);
    return contribution(c.seed, group, rank, i);
}
Word folded_of(const Call& c, int group, int last, std::size_t i) {
    Word result = operand_of(c, group, 0, i);
    for (int r = 1; r <= last; ++r) result = c.op->function(result, operand_of(c, group, r, i));
    return result;
}
void put_operand(const Call& c, Buffer& buffer) {
    std::size_t i = 0;
    for (std::size_t piece = 0; piece < buffer.pieces.size(); ++piece)
        for (std::size_t k = 0; k < buffer.pieces[piece].words(); ++k)
            buffer.word(piece, k) = operand_of(c, c.group(), c.rank(), i++);
}
/// Checks for the combination of ranks up to `last`, from word `first` on.
void expect_fold(const Call& c, Buffer& buffer, int last, std::size_t words,
                 std::size_t first = 0) {
    for (std::size_t i = 0; i < words; ++i)
        CHECK(buffer.word(0, i) == folded_of(c, c.shape->other, last, first + i),
              "%s with %s, form %d: word %zu of %zu, root %d, %s", c.name, c.op->name,
              static_cast<int>(c.form), i, words, c.root, c.in_place ? "in place" : "not in place");
}
const Layout& layout_for(const Call& c) {
    if (c.op->handle == MPI_SUM) return layouts()[0];
    return layouts()[c.seed % layouts().size()];
}
/// Marks all words as possibly written: the rest of an in-place input may hold any value.
void touch(Buffer& buffer) {
    for (std::size_t piece = 0; piece < buffer.pieces.size(); ++piece)
        for (std::size_t i = 0; i < buffer.pieces[piece].words(); ++i) (void)buffer.word(piece, i);
}

/// Prepares a reduction. `last` is the last rank whose operand is combined, or -1 if there is no
/// result.
void prepare(Call& c, bool in_place, int last) {
    const std::size_t words = c.units * unit;
    c.in = regular(words, 1, layout_for(c));
    c.out = regular(words, 1, layout_for(c));
    c.fill = [&c, in_place] {
        c.out->clear();
        put_operand(c, in_place ? *c.out : *c.in);
    };
    c.check = [&c, last, in_place, words] {
        if (last >= 0)
            expect_fold(c, *c.out, last, words);
        else if (in_place)
            touch(*c.out);
        expect_rest(c, *c.out);
    };
    c.fill();
}

int reduce(Call& c) {
    const bool in_place = c.is_root() && c.in_place;
    prepare(c, in_place, c.is_root() ? c.others() - 1 : -1);
    return START(Reduce, Ireduce, in_place ? MPI_IN_PLACE : c.in->address(),
                 c.is_root() ? c.out->address() : nullptr, elements_of(*c.in), type_of(*c.in),
                 c.op->handle, c.root_argument(), COMM);
}
int allreduce(Call& c) {
    prepare(c, c.in_place, c.others() - 1);
    return START(Allreduce, Iallreduce, c.in_place ? MPI_IN_PLACE : c.in->address(),
                 c.out->address(), elements_of(*c.in), type_of(*c.in), c.op->handle, COMM);
}
int scan(Call& c) {
    prepare(c, c.in_place, c.rank());
    return START(Scan, Iscan, c.in_place ? MPI_IN_PLACE : c.in->address(), c.out->address(),
                 elements_of(*c.in), type_of(*c.in), c.op->handle, COMM);
}
int exscan(Call& c) {
    prepare(c, c.in_place, c.rank() - 1);
    return START(Exscan, Iexscan, c.in_place ? MPI_IN_PLACE : c.in->address(), c.out->address(),
                 elements_of(*c.in), type_of(*c.in), c.op->handle, COMM);
}

/// Prepares a scattered result. `words` has the size of each piece, by rank in the group that gets
/// them.
void prepare_scattered(Call& c, const std::vector<std::size_t>& words) {
    const Layout& layout = layout_for(c);
    std::size_t total = 0, first = 0;
    for (std::size_t r = 0; r < words.size(); ++r) {
        if (static_cast<int>(r) == c.rank()) first = total;
        total += words[r];
    }
    const std::size_t mine = words[static_cast<std::size_t>(c.rank())];
    c.in = regular(total, 1, layout);
    c.out = regular(c.in_place ? total : mine, 1, layout);
    c.fill = [&c] {
        c.out->clear();
        put_operand(c, c.in_place ? *c.out : *c.in);
    };
    c.check = [&c, mine, first] {
        expect_fold(c, *c.out, c.others() - 1, mine, first);
        if (c.in_place) touch(*c.out);
        expect_rest(c, *c.out);
    };
    c.fill();
}

int reduce_scatter_block(Call& c) {
    // Both groups of an intercommunicator have inputs of the same length.
    const std::size_t words =
        c.shape->inter ? c.units * unit * static_cast<std::size_t>(c.others()) : c.units * unit;
    prepare_scattered(c, std::vector<std::size_t>(static_cast<std::size_t>(c.shape->size), words));
    const auto each = static_cast<int>(words / layout_for(c).words());
    return START(Reduce_scatter_block, Ireduce_scatter_block,
                 c.in_place ? MPI_IN_PLACE : c.in->address(), c.out->address(), each,
                 type_of(*c.in), c.op->handle, COMM);
}
int reduce_scatter(Call& c) {
    std::vector<std::size_t> words;
    std::size_t left = c.units * unit * static_cast<std::size_t>(c.shape->size + c.others());
    for (int r = 0; r < c.shape->size; ++r) {
        const bool last = r == c.shape->size - 1;
        // The total of the words is the other group's.
        const std::size_t part =
            last && c.shape->inter ? left : std::min(left, words_between(c, c.group(), r, 0));
        words.push_back(part);
        left -= part;
    }
    prepare_scattered(c, words);
    Numbers counts;
    for (const std::size_t w : words) counts.add(static_cast<long>(w / layout_for(c).words()));
    return START(Reduce_scatter, Ireduce_scatter, c.in_place ? MPI_IN_PLACE : c.in->address(),
                 c.out->address(), counts, type_of(*c.in), c.op->handle, COMM);
}

}  // namespace

int (*const everywhere[15])(Call&) = {
    barrier,       bcast,      gather,    scatter,   allgather, alltoall,  gatherv,
    scatterv,      allgatherv, alltoallv, alltoallw, reduce,    allreduce, reduce_scatter_block,
    reduce_scatter};
int (*const within[2])(Call&) = {scan, exscan};

/// Checks MPI_Reduce_local, which has no communicator and no request.
void reduce_locally(const Shape& shape, const std::vector<Operation>& operations) {
    Call c;
    c.name = "Reduce_local";
    c.form = Form::blocking;
    c.shape = &shape;
    for (const Operation& op : operations)
        for (const Layout& layout : layouts()) {
            if (op.handle == MPI_SUM && &layout != &layouts()[0]) continue;
            c.op = &op;
            c.seed = layout_choice();
            const std::size_t words = 20 * unit;
            c.in = regular(words, 1, layout);
            c.out = regular(words, 1, layout);
            for (std::size_t i = 0; i < words; ++i) {
                c.in->word(0, i) = operand_of(c, 0, 0, i);
                c.out->word(0, i) = operand_of(c, 0, 1, i);
            }
            CHECK(MPI_Reduce_local(c.in->address(), c.out->address(), elements_of(*c.in),
                                   layout.type, op.handle) == MPI_SUCCESS,
                  "%s", op.name);
            for (std::size_t i = 0; i < words; ++i)
                CHECK(c.out->word(0, i) == folded_of(c, 0, 1, i), "Reduce_local with %s", op.name);
            expect_rest(c, *c.out);
        }
}

}  // namespace collective
