// SPDX-License-Identifier: BSD-3-Clause
/// The predefined operations on predefined types (MPI 5.0, 6.9.2), in two tables. `kinds` has two
/// entries for each type: its category in the standard (which operations it takes), and the
/// representation of its values (which kernel does it). `kernels` has a kernel for each operation
/// and representation that go together.

#include <array>
#include <cstring>
#include <type_traits>

#include "objects/basic_types.hpp"
#include "objects/operation.hpp"
#include "platform/float_types.hpp"

namespace heddle::objects {
namespace {

// The types of the standard's table.
enum Category : std::uint16_t {
    unknown = 0,
    c_integer = 1,
    fortran_integer = 2,
    multi_language = 4,
    floating = 8,
    complex = 16,
    logical = 32,
    bytes = 64,
    pair = 128,
    other = 256,  ///< only moved
};
constexpr unsigned ordered = c_integer | fortran_integer | multi_language | floating;
constexpr unsigned every = 0x1ff;

constexpr std::array<unsigned, builtins> takes = {
    ordered | complex,                                     // sum
    ordered,                                               // min
    ordered,                                               // max
    ordered | complex,                                     // product
    c_integer | fortran_integer | multi_language | bytes,  // bit_and
    c_integer | fortran_integer | multi_language | bytes,  // bit_or
    c_integer | fortran_integer | multi_language | bytes,  // bit_xor
    c_integer | multi_language | logical,                  // logical_and
    c_integer | multi_language | logical,                  // logical_or
    c_integer | multi_language | logical,                  // logical_xor
    pair,                                                  // min_location
    pair,                                                  // max_location
    every,                                                 // replace
    every,                                                 // no_op
};

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Unsigned128;
using platform::Float128;
using platform::Float16;

/// A complex number. std::complex is not used: to the compiler it is not a plain struct, and its
/// product looks for infinities, one element at a time.
template <class T>
struct Complex {
    T re, im;
};
template <class T, class Index>
struct Pair {
    T value;
    Index index;
};

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<Complex<T>> = true;
template <class T>
inline constexpr bool is_pair = false;
template <class T, class Index>
inline constexpr bool is_pair<Pair<T, Index>> = true;
template <class T>
inline constexpr bool is_integer =
    std::is_integral_v<T> || std::is_same_v<T, Int128> || std::is_same_v<T, Unsigned128>;

/// The type that integers are added and multiplied in. It is unsigned, since overflow wraps around.
/// It is at least as wide as int, to which narrower ones would be promoted.
template <class T>
struct Wrapping
    : std::conditional<
          (sizeof(T) < sizeof(unsigned)), unsigned,
          std::conditional_t<sizeof(T) == 4, std::uint32_t,
                             std::conditional_t<sizeof(T) == 8, std::uint64_t, Unsigned128>>> {};

template <Builtin op, class T>
T apply(T a, T b) noexcept {
    if constexpr (op == Builtin::min)
        return b < a ? b : a;
    else if constexpr (op == Builtin::max)
        return a < b ? b : a;
    else if constexpr (op == Builtin::min_location || op == Builtin::max_location) {
        const bool first = op == Builtin::min_location ? a.value < b.value : b.value < a.value;
        if (first) return a;
        if (a.value == b.value && a.index < b.index) return a;
        return b;
    } else if constexpr (op == Builtin::sum) {
        if constexpr (is_complex<T>) {
            using Part = decltype(a.re);
            return {static_cast<Part>(a.re + b.re), static_cast<Part>(a.im + b.im)};
        } else if constexpr (is_integer<T>) {
            using W = typename Wrapping<T>::type;
            return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
        } else {
            return static_cast<T>(a + b);
        }
    } else if constexpr (op == Builtin::product) {
        if constexpr (is_complex<T>) {
            using Part = decltype(a.re);
            return {static_cast<Part>(a.re * b.re - a.im * b.im),
                    static_cast<Part>(a.re * b.im + a.im * b.re)};
        } else if constexpr (is_integer<T>) {
            using W = typename Wrapping<T>::type;
            return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
        } else {
            return static_cast<T>(a * b);
        }
    } else if constexpr (op == Builtin::bit_and)
        return static_cast<T>(a & b);
    else if constexpr (op == Builtin::bit_or)
        return static_cast<T>(a | b);
    else if constexpr (op == Builtin::bit_xor)
        return static_cast<T>(a ^ b);
    else if constexpr (op == Builtin::logical_and)
        return static_cast<T>(a != 0 && b != 0);
    else if constexpr (op == Builtin::logical_or)
        return static_cast<T>(a != 0 || b != 0);
    else
        return static_cast<T>((a != 0) != (b != 0));
}

/// A value at any address.
template <class T>
struct [[gnu::packed, gnu::may_alias]] Loose {
    T value;
};

/// Stands before a loop whose elements are independent, although an array may be in place of
/// another.
#if defined(__clang__)
#define HEDDLE_EACH_ALONE _Pragma("clang loop vectorize(assume_safety)")
#else
#define HEDDLE_EACH_ALONE _Pragma("GCC ivdep")
#endif

template <Builtin op, class T>
void kernel(const std::byte* in, const std::byte* other, std::byte* out,
            std::size_t count) noexcept {
    if constexpr (is_pair<T>) {
        for (std::size_t i = 0; i < count; ++i) {
            T a, b;
            std::memcpy(&a, in + i * sizeof(T), sizeof(T));
            std::memcpy(&b, other + i * sizeof(T), sizeof(T));
            const T result = apply<op>(a, b);
            std::memcpy(out + i * sizeof(T), &result, sizeof(T));
        }
    } else {
        const auto* __restrict left = reinterpret_cast<const Loose<T>*>(in);
        const auto* right = reinterpret_cast<const Loose<T>*>(other);
        auto* result = reinterpret_cast<Loose<T>*>(out);
        HEDDLE_EACH_ALONE
        for (std::size_t i = 0; i < count; ++i)
            result[i].value = apply<op, T>(left[i].value, right[i].value);
    }
}
#undef HEDDLE_EACH_ALONE

template <std::size_t size>
void replace(const std::byte* left, const std::byte*, std::byte* result,
             std::size_t count) noexcept {
    if (count != 0) std::memcpy(result, left, count * size);
}
template <std::size_t size>
void keep(const std::byte*, const std::byte* right, std::byte* result, std::size_t count) noexcept {
    if (result != right && count != 0) std::memcpy(result, right, count * size);
}

template <class... T>
struct Types {};
using Representations =
    Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
          std::int64_t, std::uint64_t, Int128, Float16, float, double, long double, Float128,
          Complex<Float16>, Complex<float>, Complex<double>, Complex<long double>,
          Complex<Float128>, Unsigned128, Pair<float, int>, Pair<double, int>, Pair<long, int>,
          Pair<int, int>, Pair<short, int>, Pair<long double, int>, Pair<float, float>,
          Pair<double, double>>;

template <class T, class... Ts>
constexpr std::uint8_t index_in(Types<Ts...>) {
    std::uint8_t index = 0;
    (void)((std::is_same_v<T, Ts> || (++index, false)) || ...);
    return index;
}

template <Builtin op, class T>
constexpr Kernel kernel_for() {
    if constexpr (op == Builtin::replace)
        return replace<sizeof(T)>;
    else if constexpr (op == Builtin::no_op)
        return keep<sizeof(T)>;
    else if constexpr (op == Builtin::min_location || op == Builtin::max_location) {
        if constexpr (is_pair<T>)
            return kernel<op, T>;
        else
            return nullptr;
    } else if constexpr (is_pair<T>)
        return nullptr;
    else if constexpr (op == Builtin::sum || op == Builtin::product)
        return kernel<op, T>;
    else if constexpr (is_complex<T>)
        return nullptr;
    else if constexpr (op == Builtin::min || op == Builtin::max)
        return kernel<op, T>;
    else if constexpr (is_integer<T>)
        return kernel<op, T>;
    else
        return nullptr;
}

template <Builtin op, class... T>
constexpr auto row(Types<T...>) {
    return std::array<Kernel, sizeof...(T)>{kernel_for<op, T>()...};
}
template <std::size_t... op>
constexpr auto rows(std::index_sequence<op...>) {
    return std::array{row<static_cast<Builtin>(op)>(Representations{})...};
}
constexpr auto kernels = rows(std::make_index_sequence<builtins>{});

struct Entry {
    std::uint16_t category = unknown;
    std::uint8_t representation = 0;
};

constexpr std::uintptr_t first_type = 0x200;
constexpr std::size_t type_handles = 0x100;

#define AS(handle, category, ...)                                          \
    table[reinterpret_cast<std::uintptr_t>(MPI_##handle) - first_type] = { \
        category, index_in<__VA_ARGS__>(Representations{})}

template <std::size_t size, bool is_signed = true>
using Int = std::conditional_t<
    size == 1, std::conditional_t<is_signed, std::int8_t, std::uint8_t>,
    std::conditional_t<
        size == 2, std::conditional_t<is_signed, std::int16_t, std::uint16_t>,
        std::conditional_t<
            size == 4, std::conditional_t<is_signed, std::int32_t, std::uint32_t>,
            std::conditional_t<size == 8,
                               std::conditional_t<is_signed, std::int64_t, std::uint64_t>,
                               std::conditional_t<is_signed, Int128, Unsigned128>>>>>;
#define AS_C_INTEGER(handle, c_type) \
    AS(handle, c_integer, Int<sizeof(c_type), std::is_signed_v<c_type>>)

std::array<Entry, type_handles> make_kinds() {
    std::array<Entry, type_handles> table{};
    AS_C_INTEGER(SHORT, short);
    AS_C_INTEGER(INT, int);
    AS_C_INTEGER(LONG, long);
    AS_C_INTEGER(LONG_LONG, long long);
    AS_C_INTEGER(UNSIGNED_SHORT, unsigned short);
    AS_C_INTEGER(UNSIGNED, unsigned);
    AS_C_INTEGER(UNSIGNED_LONG, unsigned long);
    AS_C_INTEGER(UNSIGNED_LONG_LONG, unsigned long long);
    AS_C_INTEGER(SIGNED_CHAR, signed char);
    AS_C_INTEGER(UNSIGNED_CHAR, unsigned char);
    AS_C_INTEGER(INT8_T, std::int8_t);
    AS_C_INTEGER(INT16_T, std::int16_t);
    AS_C_INTEGER(INT32_T, std::int32_t);
    AS_C_INTEGER(INT64_T, std::int64_t);
    AS_C_INTEGER(UINT8_T, std::uint8_t);
    AS_C_INTEGER(UINT16_T, std::uint16_t);
    AS_C_INTEGER(UINT32_T, std::uint32_t);
    AS_C_INTEGER(UINT64_T, std::uint64_t);
    AS(AINT, multi_language, Int<sizeof(MPI_Aint)>);
    AS(COUNT, multi_language, Int<sizeof(MPI_Count)>);
    AS(OFFSET, multi_language, Int<sizeof(MPI_Offset)>);
    AS(INTEGER, fortran_integer, Int<4>);
    AS(INTEGER1, fortran_integer, Int<1>);
    AS(INTEGER2, fortran_integer, Int<2>);
    AS(INTEGER4, fortran_integer, Int<4>);
    AS(INTEGER8, fortran_integer, Int<8>);
    AS(INTEGER16, fortran_integer, Int<16>);
    AS(FLOAT, floating, float);
    AS(DOUBLE, floating, double);
    AS(LONG_DOUBLE, floating, long double);
    AS(REAL, floating, float);
    AS(DOUBLE_PRECISION, floating, double);
    AS(REAL2, floating, Float16);
    AS(REAL4, floating, float);
    AS(REAL8, floating, double);
    AS(REAL16, floating, Float128);
    AS(C_FLOAT_COMPLEX, complex, Complex<float>);
    AS(C_DOUBLE_COMPLEX, complex, Complex<double>);
    AS(C_LONG_DOUBLE_COMPLEX, complex, Complex<long double>);
    AS(CXX_FLOAT_COMPLEX, complex, Complex<float>);
    AS(CXX_DOUBLE_COMPLEX, complex, Complex<double>);
    AS(CXX_LONG_DOUBLE_COMPLEX, complex, Complex<long double>);
    AS(COMPLEX, complex, Complex<float>);
    AS(DOUBLE_COMPLEX, complex, Complex<double>);
    AS(COMPLEX4, complex, Complex<Float16>);
    AS(COMPLEX8, complex, Complex<float>);
    AS(COMPLEX16, complex, Complex<double>);
    AS(COMPLEX32, complex, Complex<Float128>);
    AS(C_BOOL, logical, Int<sizeof(bool), false>);
    AS(CXX_BOOL, logical, Int<sizeof(bool), false>);
    AS(LOGICAL, logical, Int<4>);
    AS(LOGICAL1, logical, Int<1>);
    AS(LOGICAL2, logical, Int<2>);
    AS(LOGICAL4, logical, Int<4>);
    AS(LOGICAL8, logical, Int<8>);
    AS(LOGICAL16, logical, Int<16>);
    AS(BYTE, bytes, std::uint8_t);
    AS_C_INTEGER(CHAR, char);  // beyond the standard, for programs that use it
    AS(CHARACTER, other, std::uint8_t);
    AS(PACKED, other, std::uint8_t);
    AS(WCHAR, other, Int<sizeof(wchar_t)>);
    AS(FLOAT_INT, pair, Pair<float, int>);
    AS(DOUBLE_INT, pair, Pair<double, int>);
    AS(LONG_INT, pair, Pair<long, int>);
    AS(2INT, pair, Pair<int, int>);
    AS(SHORT_INT, pair, Pair<short, int>);
    AS(LONG_DOUBLE_INT, pair, Pair<long double, int>);
    AS(2REAL, pair, Pair<float, float>);
    AS(2DOUBLE_PRECISION, pair, Pair<double, double>);
    AS(2INTEGER, pair, Pair<int, int>);
    return table;
}
#undef AS
#undef AS_C_INTEGER

const std::array<Entry, type_handles> kinds = make_kinds();

}  // namespace

namespace {

Entry entry_of(const Datatype& type) noexcept {
    // A type such as that of MPI_Type_create_f90_real has the values of a predefined one.
    const bool named = !type.definition || type.definition->basic == nullptr;
    const MPI_Datatype handle = named ? type.handle : type.definition->basic->handle;
    const std::uintptr_t number = reinterpret_cast<std::uintptr_t>(handle) - first_type;
    return number < type_handles ? kinds[number] : Entry{};
}

}  // namespace

Kernel kernel_of(Builtin operation, const Datatype& type) noexcept {
    if (operation == Builtin::none) return nullptr;
    const Entry entry = entry_of(type);
    const auto op = static_cast<std::size_t>(operation);
    if ((takes[op] & entry.category) == 0) return nullptr;
    return kernels[op][entry.representation];
}

bool is_exact(Builtin operation, const Datatype& type) noexcept {
    constexpr unsigned exact = c_integer | fortran_integer | multi_language | logical | bytes;
    return kernel_of(operation, type) != nullptr && (entry_of(type).category & exact) != 0;
}

}  // namespace heddle::objects
