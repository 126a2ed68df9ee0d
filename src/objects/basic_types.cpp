// SPDX-License-Identifier: BSD-3-Clause
#include "objects/basic_types.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <vector>

#include "objects/definition.hpp"
#include "objects/layout_builder.hpp"
#include "platform/float_types.hpp"

namespace heddle::objects {
namespace {

using platform::Float128;

#define BASIC(name, size, align, external_size, values, kind) \
    {MPI_##name, "MPI_" #name, size, align, external_size, values, External::kind}
#define C_TYPE(name, type) BASIC(name, sizeof(type), alignof(type), sizeof(type), 1, same)
#define COMPLEX(name, type) BASIC(name, 2 * sizeof(type), alignof(type), 2 * sizeof(type), 2, same)
#define BYTES(name, bytes) BASIC(name, bytes, bytes, bytes, 1, same)
#define TWO(name, bytes) BASIC(name, 2 * bytes, bytes, 2 * bytes, 2, same)
// If a type has two names, this is the one in the standard's tables: MPI_Type_get_name gives it.
const BasicType basic_types[] = {
    C_TYPE(AINT, MPI_Aint),
    C_TYPE(COUNT, MPI_Count),
    C_TYPE(OFFSET, MPI_Offset),
    BYTES(PACKED, 1),
    C_TYPE(SHORT, short),
    C_TYPE(INT, int),
    BASIC(LONG, sizeof(long), alignof(long), 4, 1, integer),
    C_TYPE(LONG_LONG_INT, long long),
    C_TYPE(UNSIGNED_SHORT, unsigned short),
    C_TYPE(UNSIGNED, unsigned),
    BASIC(UNSIGNED_LONG, sizeof(long), alignof(long), 4, 1, character),
    C_TYPE(UNSIGNED_LONG_LONG, unsigned long long),
    C_TYPE(FLOAT, float),
    C_TYPE(DOUBLE, double),
    BASIC(LONG_DOUBLE, sizeof(long double), alignof(long double), 16, 1, long_double),
    COMPLEX(C_COMPLEX, float),
    COMPLEX(CXX_FLOAT_COMPLEX, float),
    COMPLEX(C_DOUBLE_COMPLEX, double),
    COMPLEX(CXX_DOUBLE_COMPLEX, double),
    BASIC(C_LONG_DOUBLE_COMPLEX, 2 * sizeof(long double), alignof(long double), 32, 2, long_double),
    BASIC(CXX_LONG_DOUBLE_COMPLEX, 2 * sizeof(long double), alignof(long double), 32, 2,
          long_double),
    // Fortran's types, in the default sizes of its compilers.
    BYTES(LOGICAL, 4),
    BYTES(INTEGER, 4),
    BYTES(REAL, 4),
    TWO(COMPLEX, 4),
    BYTES(DOUBLE_PRECISION, 8),
    TWO(DOUBLE_COMPLEX, 8),
    BYTES(CHARACTER, 1),
    C_TYPE(C_BOOL, bool),
    C_TYPE(CXX_BOOL, bool),
    BASIC(WCHAR, sizeof(wchar_t), alignof(wchar_t), 2, 1, character),
    C_TYPE(CHAR, char),
    C_TYPE(SIGNED_CHAR, signed char),
    C_TYPE(UNSIGNED_CHAR, unsigned char),
    BYTES(BYTE, 1),
    BYTES(INT8_T, 1),
    BYTES(UINT8_T, 1),
    BYTES(INT16_T, 2),
    BYTES(UINT16_T, 2),
    BYTES(INT32_T, 4),
    BYTES(UINT32_T, 4),
    BYTES(INT64_T, 8),
    BYTES(UINT64_T, 8),
    BYTES(LOGICAL1, 1),
    BYTES(LOGICAL2, 2),
    BYTES(LOGICAL4, 4),
    BYTES(LOGICAL8, 8),
    BYTES(LOGICAL16, 16),
    BYTES(INTEGER1, 1),
    BYTES(INTEGER2, 2),
    BYTES(INTEGER4, 4),
    BYTES(INTEGER8, 8),
    BYTES(INTEGER16, 16),
    BYTES(REAL2, 2),
    BYTES(REAL4, 4),
    BYTES(REAL8, 8),
    C_TYPE(REAL16, Float128),
    TWO(COMPLEX4, 2),
    TWO(COMPLEX8, 4),
    TWO(COMPLEX16, 8),
    COMPLEX(COMPLEX32, Float128),
};
#undef BASIC
#undef C_TYPE
#undef COMPLEX
#undef BYTES
#undef TWO

struct PairType {
    MPI_Datatype handle;
    const char* name;
    MPI_Datatype value, index;
    std::int64_t index_at;
};

template <class Value, class Index>
struct Pair {
    Value value;
    Index index;
};
template <class Value, class Index>
constexpr std::int64_t index_at() {
    using Both = Pair<Value, Index>;
    return offsetof(Both, index);
}
#define PAIR(name, value, value_type, index, index_type) \
    {MPI_##name, "MPI_" #name, MPI_##value, MPI_##index, index_at<value_type, index_type>()}
const PairType pair_types[] = {
    PAIR(FLOAT_INT, FLOAT, float, INT, int),
    PAIR(DOUBLE_INT, DOUBLE, double, INT, int),
    PAIR(LONG_INT, LONG, long, INT, int),
    PAIR(2INT, INT, int, INT, int),
    PAIR(SHORT_INT, SHORT, short, INT, int),
    PAIR(LONG_DOUBLE_INT, LONG_DOUBLE, long double, INT, int),
    PAIR(2REAL, REAL, float, REAL, float),
    PAIR(2DOUBLE_PRECISION, DOUBLE_PRECISION, double, DOUBLE_PRECISION, double),
    PAIR(2INTEGER, INTEGER, int, INTEGER, int),
};
#undef PAIR

constexpr std::size_t handles = 1024;  ///< a bound: handles of predefined types are below it

/// The predefined types: made once, never destroyed, since types may be freed after main().
class Predefined {
public:
    Predefined() {
        for (const BasicType& type : basic_types) add(type.handle, type.name, basic(type));
        for (const PairType& type : pair_types) add(type.handle, type.name, pair(type));
    }
    const Definition* find(MPI_Datatype handle) const noexcept {
        const auto number = reinterpret_cast<std::uintptr_t>(handle);
        return number < handles ? by_handle_[number] : nullptr;
    }
    std::span<const PredefinedType> all() const noexcept { return types_; }

private:
    void add(MPI_Datatype handle, const char* name, const Definition& definition) {
        types_.push_back({handle, name, &definition});
        by_handle_[reinterpret_cast<std::uintptr_t>(handle)] = &definition;
    }
    const Definition& basic(const BasicType& type) {
        Definition& made = definitions_.emplace_back();
        made.named = type.handle;
        made.basic = &type;
        made.predefined = true;
        define_in_place(made);
        return made;
    }
    /// Makes a pair as a structure of the two. Its recipe says that it is a pair to code that walks
    /// it, its name to the user.
    const Definition& pair(const PairType& type) {
        Recipe recipe;
        recipe.combiner = MPI_COMBINER_VALUE_INDEX;
        recipe.numbers = {0, type.index_at};
        recipe.types.emplace_back(find(type.value));
        recipe.types.emplace_back(find(type.index));
        Definition& made = definitions_.emplace_back();
        made.recipe = std::move(recipe);
        made.named = type.handle;
        made.predefined = true;
        define_in_place(made);
        return made;
    }

    std::deque<Definition> definitions_;
    std::vector<PredefinedType> types_;
    std::array<const Definition*, handles> by_handle_{};
};

const Predefined& predefined() {
    static const Predefined& all = *new Predefined;
    return all;
}

}  // namespace

std::span<const PredefinedType> predefined_types() { return predefined().all(); }

const Definition* predefined_definition(MPI_Datatype handle) { return predefined().find(handle); }

MPI_Datatype pair_of(MPI_Datatype value, MPI_Datatype index) noexcept {
    for (const PairType& pair : pair_types)
        if (pair.value == value && pair.index == index) return pair.handle;
    return MPI_DATATYPE_NULL;
}

}  // namespace heddle::objects
