// SPDX-License-Identifier: BSD-3-Clause
#include "types.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <unordered_set>

#include "checks.hpp"

namespace heddle::check {

namespace {

constexpr std::size_t most_parts = 4096;  ///< the limit on kept runs and blocks of a type
constexpr std::uint64_t base = 0x9e3779b97f4a7c15;
enum class Sort : std::uint32_t { integer = 3, floating, complex, logical };

std::uint32_t code_of(Sort sort, int size) {
    return static_cast<std::uint32_t>(sort) << 8 | static_cast<std::uint32_t>(size);
}

int size_of(MPI_Datatype type) {
    MPI_Count size = 0;
    return library().Type_size_c(type, &size) == MPI_SUCCESS ? static_cast<int>(size) : 0;
}

bool is_one_of(MPI_Datatype type, std::initializer_list<MPI_Datatype> all) {
    return std::find(all.begin(), all.end(), type) != all.end();
}

Signature basic(MPI_Datatype type, int combiner = MPI_COMBINER_NAMED) {
    Signature one;
    const int size = size_of(type);
    if (is_one_of(type, {MPI_BYTE, MPI_PACKED}))
        one.code = Signature::any;
    else if (combiner == MPI_COMBINER_F90_REAL)
        one.code = code_of(Sort::floating, size);
    else if (combiner == MPI_COMBINER_F90_COMPLEX)
        one.code = code_of(Sort::complex, size);
    else if (is_one_of(type,
                       {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION,
                        MPI_REAL2, MPI_REAL4, MPI_REAL8, MPI_REAL16}))
        one.code = code_of(Sort::floating, size);
    else if (is_one_of(type,
                       {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX,
                        MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX,
                        MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX4, MPI_COMPLEX8, MPI_COMPLEX16,
                        MPI_COMPLEX32}))
        one.code = code_of(Sort::complex, size);
    else if (is_one_of(type,
                       {MPI_LOGICAL, MPI_LOGICAL1, MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8,
                        MPI_LOGICAL16, MPI_C_BOOL, MPI_CXX_BOOL}))
        one.code = code_of(Sort::logical, size);
    else
        one.code = code_of(Sort::integer, size);
    one.elements = 1;
    one.bytes = size;
    one.name = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(type));
    return one;
}

/// Finds the two types of a pair. Returns false if it is none.
bool pair_types_of(MPI_Datatype type, MPI_Datatype& first, MPI_Datatype& second) {
    static const std::array<std::array<MPI_Datatype, 3>, 9> pairs{{
        {MPI_FLOAT_INT, MPI_FLOAT, MPI_INT},
        {MPI_DOUBLE_INT, MPI_DOUBLE, MPI_INT},
        {MPI_LONG_INT, MPI_LONG, MPI_INT},
        {MPI_2INT, MPI_INT, MPI_INT},
        {MPI_SHORT_INT, MPI_SHORT, MPI_INT},
        {MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, MPI_INT},
        {MPI_2REAL, MPI_REAL, MPI_REAL},
        {MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION},
        {MPI_2INTEGER, MPI_INTEGER, MPI_INTEGER},
    }};
    for (const auto& one : pairs)
        if (one[0] == type) {
            first = one[1];
            second = one[2];
            return true;
        }
    return false;
}

/// Builds a Type from the types inside it.
class Builder {
public:
    void add_run(const Signature& run) {
        if (run.elements == 0) return;
        type.signature.append(run);
        if (!has_runs_) return;
        if (!type.runs.empty() && type.runs.back().code == run.code && run.code != Signature::mixed)
            type.runs.back().append(run);
        else if (type.runs.size() < most_parts)
            type.runs.push_back(run);
        else
            has_runs_ = false;
    }
    void add_block(std::int64_t offset, std::int64_t length) {
        if (!has_blocks_ || length == 0) return;
        if (!type.blocks.empty() && type.blocks.back().offset + type.blocks.back().length == offset)
            type.blocks.back().length += length;
        else if (type.blocks.size() < most_parts)
            type.blocks.push_back({offset, length});
        else
            has_blocks_ = false;
    }
    void lose_blocks() { has_blocks_ = false; }

    /// Adds `count` elements of `inner` in a row, from `offset` on.
    void add(const Type& inner, std::int64_t count, std::int64_t offset) {
        add_signature(inner, count);
        add_place(inner, count, offset);
    }
    void add_signature(const Type& inner, std::int64_t count) {
        if (count <= 0) return;
        if (inner.runs.size() == 1)
            return add_run(inner.runs.front().times(static_cast<std::uint64_t>(count)));
        if (inner.runs.empty() ||
            inner.runs.size() * static_cast<std::size_t>(count) > most_parts) {
            if (inner.signature.elements > 0) has_runs_ = false;
            return type.signature.append(inner.signature.times(static_cast<std::uint64_t>(count)));
        }
        for (std::int64_t i = 0; i < count; ++i)
            for (const Signature& run : inner.runs) add_run(run);
    }
    void add_place(const Type& inner, std::int64_t count, std::int64_t offset) {
        if (count <= 0 || inner.signature.bytes == 0) return;
        if (inner.dense) return add_block(offset + inner.low, count * inner.signature.bytes);
        if (inner.blocks.empty()) return lose_blocks();
        for (std::int64_t i = 0; i < count && has_blocks_; ++i)
            for (const Block& block : inner.blocks)
                add_block(offset + i * inner.extent + block.offset, block.length);
    }
    std::shared_ptr<const Type> finish(MPI_Datatype handle) {
        if (!has_runs_) type.runs.clear();
        if (!has_blocks_) type.blocks.clear();
        MPI_Count low = 0, extent = 0;
        library().Type_get_extent_c(handle, &low, &extent);
        type.extent = extent;
        library().Type_get_true_extent_c(handle, &low, &extent);
        type.low = low;
        type.high = low + extent;
        type.dense = type.blocks.size() == 1 && type.blocks.front().length == type.extent;
        type.stride = regular_stride();
        return std::make_shared<const Type>(std::move(type));
    }
    Type type;

private:
    std::int64_t regular_stride() const {
        if (type.blocks.size() < 2) return 0;
        const std::int64_t stride = type.blocks[1].offset - type.blocks[0].offset;
        for (std::size_t i = 1; i < type.blocks.size(); ++i)
            if (type.blocks[i].length != type.blocks[0].length ||
                type.blocks[i].offset - type.blocks[i - 1].offset != stride)
                return 0;
        return stride > type.blocks[0].length ? stride : 0;
    }

    bool has_runs_ = true, has_blocks_ = true;
};

/// The arguments from which a datatype was made.
struct Contents {
    std::vector<int> integers;
    std::vector<MPI_Aint> addresses;
    std::vector<MPI_Count> counts;
    std::vector<MPI_Datatype> types;
    int combiner = MPI_COMBINER_NAMED;

    explicit Contents(MPI_Datatype of) {
        MPI_Count i = 0, a = 0, c = 0, t = 0;
        if (library().Type_get_envelope_c(of, &i, &a, &c, &t, &combiner) != MPI_SUCCESS ||
            is_basic())
            return;
        integers.resize(static_cast<std::size_t>(i));
        addresses.resize(static_cast<std::size_t>(a));
        counts.resize(static_cast<std::size_t>(c));
        types.resize(static_cast<std::size_t>(t), MPI_DATATYPE_NULL);
        library().Type_get_contents_c(of, i, a, c, t, integers.data(), addresses.data(),
                                      counts.data(), types.data());
    }
    ~Contents() {
        for (MPI_Datatype& type : types)
            if (type != MPI_DATATYPE_NULL && !is_named(type)) {
                forget_type(type);
                library().Type_free(&type);
            }
    }
    Contents(const Contents&) = delete;
    Contents& operator=(const Contents&) = delete;

    bool is_basic() const {
        return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
            combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
    }
    static bool is_named(MPI_Datatype type) {
        MPI_Count i, a, c, t;
        int combiner = MPI_COMBINER_NAMED;
        library().Type_get_envelope_c(type, &i, &a, &c, &t, &combiner);
        return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
            combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
    }
    /// Returns the i-th of the arguments that are counts in both forms.
    std::int64_t number(std::size_t i) const { return counts.empty() ? integers[i] : counts[i]; }
    /// Returns the i-th of the arguments that are addresses. In the large form they are counts,
    /// after `before` others.
    std::int64_t address(std::size_t i, std::size_t before) const {
        return addresses.empty() ? counts[before + i] : addresses[i];
    }
};

void build_subarray(Builder& built, const Contents& made, const Type& inner) {
    const auto dims = static_cast<std::size_t>(made.integers.front());
    const bool large = !made.counts.empty();
    const auto value = [&](std::size_t which, std::size_t i) -> std::int64_t {
        return large ? made.counts[which * dims + i] : made.integers[1 + which * dims + i];
    };
    const bool rows_first = made.integers.back() == MPI_ORDER_C;
    std::vector<std::int64_t> stride(dims), index(dims, 0);
    std::int64_t step = inner.extent, total = 1;
    for (std::size_t k = 0; k < dims; ++k) {
        const std::size_t d = rows_first ? dims - 1 - k : k;
        stride[d] = step;
        step *= value(0, d);
        total *= value(1, d);
    }
    built.add_signature(inner, total);
    if (dims == 0 || total == 0) return;
    const std::size_t fast = rows_first ? dims - 1 : 0;
    const std::int64_t rows = total / value(1, fast);
    if (rows > static_cast<std::int64_t>(most_parts)) return built.lose_blocks();
    for (std::int64_t row = 0; row < rows; ++row) {
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < dims; ++d) offset += (value(2, d) + index[d]) * stride[d];
        built.add_place(inner, value(1, fast), offset);
        for (std::size_t k = 1; k < dims; ++k) {
            const std::size_t d = rows_first ? dims - 1 - k : k;
            if (++index[d] < value(1, d)) break;
            index[d] = 0;
        }
    }
}

/// Returns the type of an existing datatype.
const std::shared_ptr<const Type>& inner_type_of(MPI_Datatype datatype);

std::shared_ptr<const Type> build(MPI_Datatype datatype) {
    Builder built;
    MPI_Datatype first = MPI_DATATYPE_NULL, second = MPI_DATATYPE_NULL;
    if (pair_types_of(datatype, first, second)) {
        built.add_run(basic(first));
        built.add_run(basic(second));
        const int size = size_of(first), other = size_of(second);
        built.add_block(0, size);
        built.add_block((size + other - 1) / other * other, other);
        return built.finish(datatype);
    }
    const Contents made(datatype);
    if (made.is_basic()) {
        built.add_run(basic(datatype, made.combiner));
        built.add_block(0, built.type.signature.bytes);
        return built.finish(datatype);
    }
    const auto inner = made.types.empty() ? nullptr : inner_type_of(made.types.front());
    if (inner == nullptr) return nullptr;
    const auto blocks = [&](std::int64_t count, auto length, auto offset) {
        for (std::int64_t i = 0; i < count; ++i) built.add(*inner, length(i), offset(i));
    };
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    const std::int64_t count = made.combiner == MPI_COMBINER_SUBARRAY ||
            made.combiner == MPI_COMBINER_DARRAY || made.combiner == MPI_COMBINER_DUP ||
            made.combiner == MPI_COMBINER_RESIZED || made.combiner == MPI_COMBINER_VALUE_INDEX
        ? 1
        : made.number(0);
    switch (made.combiner) {
        case MPI_COMBINER_DUP:
        case MPI_COMBINER_RESIZED: built.add(*inner, 1, 0); break;
        case MPI_COMBINER_CONTIGUOUS: built.add(*inner, count, 0); break;
        case MPI_COMBINER_VECTOR:
            blocks(
                count, [&](auto) { return made.number(1); },
                [&](auto i) { return i * made.number(2) * inner->extent; });
            break;
        case MPI_COMBINER_HVECTOR:
            blocks(
                count, [&](auto) { return made.number(1); },
                [&](auto i) { return i * made.address(0, 2); });
            break;
        case MPI_COMBINER_INDEXED:
            blocks(
                count, [&](auto i) { return made.number(at(1 + i)); },
                [&](auto i) { return made.number(at(1 + count + i)) * inner->extent; });
            break;
        case MPI_COMBINER_HINDEXED:
            blocks(
                count, [&](auto i) { return made.number(at(1 + i)); },
                [&](auto i) { return made.address(at(i), at(1 + count)); });
            break;
        case MPI_COMBINER_INDEXED_BLOCK:
            blocks(
                count, [&](auto) { return made.number(1); },
                [&](auto i) { return made.number(at(2 + i)) * inner->extent; });
            break;
        case MPI_COMBINER_HINDEXED_BLOCK:
            blocks(
                count, [&](auto) { return made.number(1); },
                [&](auto i) { return made.address(at(i), 2); });
            break;
        case MPI_COMBINER_STRUCT:
            for (std::int64_t i = 0; i < count; ++i) {
                const auto part = inner_type_of(made.types[at(i)]);
                if (part == nullptr) return nullptr;
                built.add(*part, made.number(at(1 + i)), made.address(at(i), at(1 + count)));
            }
            break;
        case MPI_COMBINER_SUBARRAY: build_subarray(built, made, *inner); break;
        case MPI_COMBINER_VALUE_INDEX: {
            const auto index = inner_type_of(made.types.back());
            if (index == nullptr) return nullptr;
            built.add_signature(*inner, 1);
            built.add_signature(*index, 1);
            built.lose_blocks();
            break;
        }
        case MPI_COMBINER_DARRAY:
            if (inner->signature.bytes == 0) return nullptr;
            built.add_signature(*inner, size_of(datatype) / inner->signature.bytes);
            built.lose_blocks();
            break;
        default: return nullptr;
    }
    return built.finish(datatype);
}

/// All types. They are never destroyed: threads of the program may call MPI to the end.
struct Types {
    std::shared_mutex guard;
    std::unordered_map<MPI_Datatype, std::shared_ptr<const Type>> known;
    std::unordered_set<MPI_Datatype>
        made;  ///< types of the program; the library is not asked about others
    std::atomic<std::uint64_t> changes{1};
};
Types& types() {
    static Types& all = *new Types;
    return all;
}

constexpr std::uintptr_t predefined_handles = 4096;  ///< larger handles are addresses

const std::shared_ptr<const Type> no_type;

bool is_predefined(MPI_Datatype datatype) noexcept {
    return reinterpret_cast<std::uintptr_t>(datatype) < predefined_handles;
}

const std::shared_ptr<const Type>& look_up_type(MPI_Datatype datatype) {
    if (is_predefined(datatype)) {
        const auto handle = reinterpret_cast<std::uintptr_t>(datatype);
        const bool named = *name_of_datatype(static_cast<std::uint32_t>(handle)) != 0;
        return named && datatype != MPI_DATATYPE_NULL ? inner_type_of(datatype) : no_type;
    }
    {
        std::shared_lock held(types().guard);
        if (types().made.count(datatype) == 0) return no_type;
    }
    return inner_type_of(datatype);
}

}  // namespace

namespace {

/// The map x -> factor x + sum.
struct AffineMap {
    std::uint64_t factor = 1, sum = 0;

    void join(const AffineMap& next) noexcept {
        sum = sum * next.factor + next.sum;
        factor *= next.factor;
    }
    AffineMap times(std::uint64_t count) const noexcept {
        AffineMap all, power = *this;
        for (; count != 0; count >>= 1) {
            if ((count & 1) != 0) all.join(power);
            power.join(AffineMap(power));
        }
        return all;
    }
};

AffineMap map_of(const Signature& signature) noexcept {
    if (signature.code == Signature::mixed) return {signature.factor, signature.sum};
    return AffineMap{base, signature.code + 1}.times(
        static_cast<std::uint64_t>(signature.elements));
}

}  // namespace

void Signature::append(const Signature& next) noexcept {
    if (next.elements == 0) return;
    if (elements == 0) {
        *this = next;
        return;
    }
    if (code != next.code && (is_any() || next.is_any())) code = any;
    if (!is_any() && (code != next.code || code == mixed)) {
        AffineMap all = map_of(*this);
        all.join(map_of(next));
        factor = all.factor;
        sum = all.sum;
        code = mixed;
    }
    elements += next.elements;
    bytes += next.bytes;
}

Signature Signature::times(std::uint64_t count) const noexcept {
    if (count == 0 || elements == 0) return {};
    Signature all = *this;
    if (code == mixed) {
        const AffineMap map = map_of(*this).times(count);
        all.factor = map.factor;
        all.sum = map.sum;
    }
    all.elements *= static_cast<std::int64_t>(count);
    all.bytes *= static_cast<std::int64_t>(count);
    return all;
}

bool agree(const Signature& one, const Signature& other) noexcept {
    if (one.bytes == 0 || other.bytes == 0 || one.is_any() || other.is_any()) return true;
    if (one.code != other.code) return false;
    return one.code != Signature::mixed || (one.elements == other.elements && one.sum == other.sum);
}

bool match(const Signature& one, const Signature& other) noexcept {
    return (one.bytes == other.bytes || one.bytes < 0 || other.bytes < 0) && agree(one, other);
}

std::string words(const Signature& signature) {
    if (signature.elements == 0) return "nothing";
    const std::string name = name_of_datatype(signature.name);
    if (signature.code == Signature::mixed || name.empty())
        return std::to_string(signature.bytes) + " bytes of mixed types";
    return std::to_string(signature.elements) + " " + name;
}

bool Type::prefix(std::int64_t wanted, Signature& found) const noexcept {
    found = {};
    if (wanted == 0 || signature.elements == 0) return wanted == 0;
    if (runs.empty()) return false;
    found = signature.times(static_cast<std::uint64_t>(wanted / signature.elements));
    std::int64_t left = wanted % signature.elements;
    for (const Signature& run : runs) {
        if (left == 0) break;
        const std::int64_t part = std::min(left, run.elements);
        if (part == run.elements) {
            found.append(run);
        } else {
            Signature one;
            one.code = run.code;
            one.name = run.name;
            one.elements = 1;
            one.bytes = run.bytes / run.elements;
            found.append(one.times(static_cast<std::uint64_t>(part)));
        }
        left -= part;
    }
    return true;
}

const std::shared_ptr<const Type>& type_of(MPI_Datatype datatype) {
    struct Entry {
        MPI_Datatype datatype;
        std::uint64_t changes;
        const std::shared_ptr<const Type>* type;
    };
    thread_local std::array<Entry, 16> last{};
    // Predefined types do not change.
    const std::uint64_t changes =
        is_predefined(datatype) ? 1 : types().changes.load(std::memory_order_acquire);
    const auto handle = reinterpret_cast<std::uintptr_t>(datatype);
    Entry& entry = last[(handle ^ handle >> 6) % last.size()];
    if (entry.datatype != datatype || entry.changes != changes)
        entry = {datatype, changes, &look_up_type(datatype)};
    return *entry.type;
}

namespace {

/// Keeps a predefined type for ever, so that its users are not counted.
std::shared_ptr<const Type> for_ever(std::shared_ptr<const Type> type) {
    const auto& kept = *new std::shared_ptr<const Type>(std::move(type));
    return {std::shared_ptr<const Type>(), kept.get()};
}

/// Returns the type of an existing datatype. Entries stay in place until their type is freed.
const std::shared_ptr<const Type>& inner_type_of(MPI_Datatype datatype) {
    {
        std::shared_lock held(types().guard);
        if (const auto found = types().known.find(datatype); found != types().known.end())
            return found->second;
    }
    auto built = build(datatype);
    if (is_predefined(datatype)) built = for_ever(std::move(built));
    std::unique_lock held(types().guard);
    return types().known.try_emplace(datatype, std::move(built)).first->second;
}

}  // namespace

void know_type(MPI_Datatype datatype) {
    std::unique_lock held(types().guard);
    types().made.insert(datatype);
    ++types().changes;
}

void forget_type(MPI_Datatype datatype) {
    if (is_predefined(datatype)) return;
    std::unique_lock held(types().guard);
    types().known.erase(datatype);
    types().made.erase(datatype);
    ++types().changes;
}

Signature signature_of(MPI_Datatype datatype, MPI_Count count) {
    if (count <= 0) return {};
    const auto& type = type_of(datatype);
    if (type != nullptr) return type->signature.times(static_cast<std::uint64_t>(count));
    Signature unknown;
    unknown.code = Signature::any;
    unknown.elements = 1;
    unknown.bytes = -1;
    return unknown;
}

}  // namespace heddle::check
