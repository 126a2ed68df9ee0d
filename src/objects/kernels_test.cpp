// SPDX-License-Identifier: BSD-3-Clause
/// Tests every predefined operation on every predefined type. It is defined exactly if the
/// standard's table says so. Its results equal a plain loop's, at odd addresses and lengths, too.

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "objects/operation.hpp"
#include "platform/float_types.hpp"

namespace heddle::objects {
namespace {

struct TypeUnderTest {
    MPI_Datatype handle;
    std::string name;
    std::string category;
    std::size_t extent;
    /// (operation, a, b) -> result, elementwise at these addresses
    std::function<void(Builtin, const std::byte*, const std::byte*, std::byte*)> rule;
    std::function<void(std::mt19937&, std::byte*)> random;
    /// Compares values, since long double and pairs have bytes that mean nothing.
    std::function<bool(const std::byte*, const std::byte*)> equal;
};

template <class T>
T get(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}
template <class T>
void put(std::byte* at, const T& value) {
    std::memcpy(at, &value, sizeof value);
}

template <class T>
bool equal_values(const std::byte* a, const std::byte* b) {
    return get<T>(a) == get<T>(b);
}

template <class T>
T rule_of_number(Builtin op, T a, T b) {
    switch (op) {
        case Builtin::sum: return static_cast<T>(a + b);
        case Builtin::product: return static_cast<T>(a * b);
        case Builtin::min: return a < b ? a : b;
        case Builtin::max: return a > b ? a : b;
        default: break;
    }
    if constexpr (std::is_integral_v<T>) {
        switch (op) {
            case Builtin::bit_and: return static_cast<T>(a & b);
            case Builtin::bit_or: return static_cast<T>(a | b);
            case Builtin::bit_xor: return static_cast<T>(a ^ b);
            case Builtin::logical_and: return a && b;
            case Builtin::logical_or: return a || b;
            case Builtin::logical_xor: return !a != !b;
            default: break;
        }
    }
    ADD_FAILURE() << "no rule";
    return a;
}

template <class T>
TypeUnderTest number(MPI_Datatype handle, std::string name, std::string category) {
    return {handle,
            std::move(name),
            std::move(category),
            sizeof(T),
            [](Builtin op, const std::byte* a, const std::byte* b, std::byte* result) {
                put(result, rule_of_number<T>(op, get<T>(a), get<T>(b)));
            },
            [](std::mt19937& random, std::byte* at) {
                // Small values: products and sums stay exact, and equal values occur.
                put(at,
                    static_cast<T>(static_cast<int>(random() % 9) - (std::is_signed_v<T> ? 4 : 0)));
            },
            equal_values<T>};
}

template <class T>
TypeUnderTest complex_number(MPI_Datatype handle, std::string name) {
    using C = std::complex<T>;
    return {handle,
            std::move(name),
            "complex",
            sizeof(C),
            [](Builtin op, const std::byte* a, const std::byte* b, std::byte* result) {
                put(result, op == Builtin::sum ? get<C>(a) + get<C>(b) : get<C>(a) * get<C>(b));
            },
            [](std::mt19937& random, std::byte* at) {
                put(at, C(static_cast<T>(random() % 7) - 3, static_cast<T>(random() % 7) - 3));
            },
            equal_values<C>};
}

template <class T, class I>
TypeUnderTest pair(MPI_Datatype handle, std::string name) {
    struct P {
        T value;
        I index;
    };
    return {handle,
            std::move(name),
            "pair",
            sizeof(P),
            [](Builtin op, const std::byte* at_a, const std::byte* at_b, std::byte* result) {
                const P a = get<P>(at_a), b = get<P>(at_b);
                P best = b;
                if (a.value == b.value)
                    best.index = std::min(a.index, b.index);
                else if ((op == Builtin::min_location) == (a.value < b.value))
                    best = a;
                put(result, best);
            },
            [](std::mt19937& random, std::byte* at) {
                put(at, P{static_cast<T>(random() % 3), static_cast<I>(random() % 5)});
            },
            [](const std::byte* a, const std::byte* b) {
                return get<P>(a).value == get<P>(b).value && get<P>(a).index == get<P>(b).index;
            }};
}

/// A type that is only moved, by MPI_REPLACE.
TypeUnderTest other(MPI_Datatype handle, std::string name, std::string category,
                    std::size_t extent) {
    return {handle, std::move(name), std::move(category), extent, nullptr, nullptr, nullptr};
}

#define NUMBER(X, type, category) number<type>(MPI_##X, #X, category)
std::vector<TypeUnderTest> types() {
    return {
        NUMBER(SHORT, short, "C integer"),
        NUMBER(INT, int, "C integer"),
        NUMBER(LONG, long, "C integer"),
        NUMBER(LONG_LONG, long long, "C integer"),
        NUMBER(UNSIGNED_SHORT, unsigned short, "C integer"),
        NUMBER(UNSIGNED, unsigned, "C integer"),
        NUMBER(UNSIGNED_LONG, unsigned long, "C integer"),
        NUMBER(UNSIGNED_LONG_LONG, unsigned long long, "C integer"),
        NUMBER(CHAR, char, "C integer"),  // beyond the standard
        NUMBER(SIGNED_CHAR, signed char, "C integer"),
        NUMBER(UNSIGNED_CHAR, unsigned char, "C integer"),
        NUMBER(INT8_T, std::int8_t, "C integer"),
        NUMBER(INT16_T, std::int16_t, "C integer"),
        NUMBER(INT32_T, std::int32_t, "C integer"),
        NUMBER(INT64_T, std::int64_t, "C integer"),
        NUMBER(UINT8_T, std::uint8_t, "C integer"),
        NUMBER(UINT16_T, std::uint16_t, "C integer"),
        NUMBER(UINT32_T, std::uint32_t, "C integer"),
        NUMBER(UINT64_T, std::uint64_t, "C integer"),
        NUMBER(AINT, MPI_Aint, "multi-language"),
        NUMBER(COUNT, MPI_Count, "multi-language"),
        NUMBER(OFFSET, MPI_Offset, "multi-language"),
        NUMBER(INTEGER, std::int32_t, "Fortran integer"),
        NUMBER(INTEGER1, std::int8_t, "Fortran integer"),
        NUMBER(INTEGER2, std::int16_t, "Fortran integer"),
        NUMBER(INTEGER4, std::int32_t, "Fortran integer"),
        NUMBER(INTEGER8, std::int64_t, "Fortran integer"),
        NUMBER(FLOAT, float, "floating"),
        NUMBER(DOUBLE, double, "floating"),
        NUMBER(LONG_DOUBLE, long double, "floating"),
        NUMBER(REAL, float, "floating"),
        NUMBER(DOUBLE_PRECISION, double, "floating"),
        NUMBER(REAL4, float, "floating"),
        NUMBER(REAL8, double, "floating"),
        NUMBER(C_BOOL, std::uint8_t, "logical"),
        NUMBER(CXX_BOOL, std::uint8_t, "logical"),
        NUMBER(LOGICAL, std::int32_t, "logical"),
        NUMBER(LOGICAL1, std::int8_t, "logical"),
        NUMBER(LOGICAL2, std::int16_t, "logical"),
        NUMBER(LOGICAL4, std::int32_t, "logical"),
        NUMBER(LOGICAL8, std::int64_t, "logical"),
        NUMBER(BYTE, std::uint8_t, "byte"),
        complex_number<float>(MPI_C_FLOAT_COMPLEX, "C_FLOAT_COMPLEX"),
        complex_number<double>(MPI_C_DOUBLE_COMPLEX, "C_DOUBLE_COMPLEX"),
        complex_number<long double>(MPI_C_LONG_DOUBLE_COMPLEX, "C_LONG_DOUBLE_COMPLEX"),
        complex_number<float>(MPI_CXX_FLOAT_COMPLEX, "CXX_FLOAT_COMPLEX"),
        complex_number<double>(MPI_CXX_DOUBLE_COMPLEX, "CXX_DOUBLE_COMPLEX"),
        complex_number<long double>(MPI_CXX_LONG_DOUBLE_COMPLEX, "CXX_LONG_DOUBLE_COMPLEX"),
        complex_number<float>(MPI_COMPLEX, "COMPLEX"),
        complex_number<double>(MPI_DOUBLE_COMPLEX, "DOUBLE_COMPLEX"),
        complex_number<float>(MPI_COMPLEX8, "COMPLEX8"),
        complex_number<double>(MPI_COMPLEX16, "COMPLEX16"),
        pair<float, int>(MPI_FLOAT_INT, "FLOAT_INT"),
        pair<double, int>(MPI_DOUBLE_INT, "DOUBLE_INT"),
        pair<long, int>(MPI_LONG_INT, "LONG_INT"),
        pair<int, int>(MPI_2INT, "2INT"),
        pair<short, int>(MPI_SHORT_INT, "SHORT_INT"),
        pair<long double, int>(MPI_LONG_DOUBLE_INT, "LONG_DOUBLE_INT"),
        pair<float, float>(MPI_2REAL, "2REAL"),
        pair<double, double>(MPI_2DOUBLE_PRECISION, "2DOUBLE_PRECISION"),
        pair<int, int>(MPI_2INTEGER, "2INTEGER"),
        other(MPI_INTEGER16, "INTEGER16", "Fortran integer", 16),
        other(MPI_REAL2, "REAL2", "floating", 2),
        other(MPI_REAL16, "REAL16", "floating", 16),
        other(MPI_COMPLEX4, "COMPLEX4", "complex", 4),
        other(MPI_COMPLEX32, "COMPLEX32", "complex", 32),
        other(MPI_LOGICAL16, "LOGICAL16", "logical", 16),
        other(MPI_WCHAR, "WCHAR", "character", 4),
        other(MPI_CHARACTER, "CHARACTER", "character", 1),
        other(MPI_PACKED, "PACKED", "character", 1),
    };
}

/// Returns whether the standard defines the operation on the category (MPI 5.0, 6.9.2).
bool defined(Builtin op, const std::string& category) {
    const auto any_of = [&](std::initializer_list<const char*> some) {
        return std::any_of(some.begin(), some.end(), [&](const char* c) { return category == c; });
    };
    switch (op) {
        case Builtin::min:
        case Builtin::max:
            return any_of({"C integer", "Fortran integer", "floating", "multi-language"});
        case Builtin::sum:
        case Builtin::product:
            return any_of(
                {"C integer", "Fortran integer", "floating", "multi-language", "complex"});
        case Builtin::logical_and:
        case Builtin::logical_or:
        case Builtin::logical_xor: return any_of({"C integer", "multi-language", "logical"});
        case Builtin::bit_and:
        case Builtin::bit_or:
        case Builtin::bit_xor:
            return any_of({"C integer", "Fortran integer", "byte", "multi-language"});
        case Builtin::min_location:
        case Builtin::max_location: return category == "pair";
        default: return true;
    }
}

struct Described : Datatype {
    explicit Described(const TypeUnderTest& type) {
        handle = type.handle;
        extent = static_cast<std::int64_t>(type.extent);
    }
};

TEST(Kernels, are_defined_where_the_standard_says) {
    for (const TypeUnderTest& type : types()) {
        const Described datatype(type);
        for (std::size_t op = 0; op < builtins; ++op) {
            const auto builtin = static_cast<Builtin>(op);
            EXPECT_EQ(kernel_of(builtin, datatype) != nullptr, defined(builtin, type.category))
                << type.name << ", operation " << op;
        }
    }
}

TEST(Kernels, agree_with_a_plain_loop) {
    std::mt19937 random(1);
    for (const TypeUnderTest& type : types()) {
        if (type.rule == nullptr) continue;
        const Described datatype(type);
        for (std::size_t op = 0; op < builtins; ++op) {
            const auto builtin = static_cast<Builtin>(op);
            const Kernel kernel = kernel_of(builtin, datatype);
            if (kernel == nullptr || builtin == Builtin::replace || builtin == Builtin::no_op)
                continue;
            for (std::size_t count : {0, 1, 2, 7, 33, 256}) {
                const std::size_t shift = random() % 3;  // no alignment
                std::vector<std::byte> in(count * type.extent + 8), inout(in.size()), before;
                for (std::size_t i = 0; i < count; ++i) {
                    type.random(random, in.data() + shift + i * type.extent);
                    type.random(random, inout.data() + shift + i * type.extent);
                }
                std::vector<std::byte> expected = inout;
                for (std::size_t i = 0; i < count; ++i) {
                    const std::size_t at = shift + i * type.extent;
                    type.rule(builtin, in.data() + at, inout.data() + at, expected.data() + at);
                }
                before = in;
                const auto check = [&](const std::vector<std::byte>& result, const char* where) {
                    EXPECT_EQ(in, before);
                    for (std::size_t i = 0; i < count; ++i) {
                        const std::size_t at = shift + i * type.extent;
                        EXPECT_TRUE(type.equal(result.data() + at, expected.data() + at))
                            << type.name << ", operation " << op << ", element " << i << " of "
                            << count << ", " << where;
                    }
                    for (std::size_t i = shift + count * type.extent; i < result.size(); ++i)
                        EXPECT_EQ(result[i], std::byte{}) << type.name << " wrote behind its array";
                };
                std::vector<std::byte> apart(in.size());
                const std::vector<std::byte> right = inout;
                kernel(in.data() + shift, inout.data() + shift, apart.data() + shift, count);
                EXPECT_EQ(inout, right);
                check(apart, "apart");
                kernel(in.data() + shift, inout.data() + shift, inout.data() + shift, count);
                check(inout, "in place");
            }
        }
    }
}

__extension__ typedef __int128 Int128;
using platform::Float128;
using platform::Float16;

template <class T>
void combine_three(MPI_Datatype handle, Builtin op, T a, T b, T expected) {
    Datatype datatype;
    datatype.handle = handle;
    T result{};
    kernel_of(op, datatype)(reinterpret_cast<std::byte*>(&a), reinterpret_cast<std::byte*>(&b),
                            reinterpret_cast<std::byte*>(&result), 1);
    EXPECT_TRUE(result == expected);
}

TEST(Kernels, know_the_uncommon_numbers) {
    const auto large = static_cast<Int128>(1) << 100;
    combine_three<Int128>(MPI_INTEGER16, Builtin::sum, large, 5, large + 5);
    combine_three<Int128>(MPI_INTEGER16, Builtin::min, -large, 5, -large);
    combine_three<Float128>(MPI_REAL16, Builtin::product, 3, static_cast<Float128>(1) / 4,
                            static_cast<Float128>(3) / 4);
    combine_three<Float16>(MPI_REAL2, Builtin::sum, static_cast<Float16>(1.5),
                           static_cast<Float16>(2), static_cast<Float16>(3.5));
    combine_three<Float16>(MPI_REAL2, Builtin::max, static_cast<Float16>(-1.5),
                           static_cast<Float16>(-2), static_cast<Float16>(-1.5));
}

TEST(Kernels, replace_takes_the_left_operand_and_no_op_the_right) {
    Datatype datatype;
    datatype.handle = MPI_INT;
    int in[] = {1, 2, 3}, inout[] = {4, 5, 6};
    auto* left = reinterpret_cast<std::byte*>(in);
    auto* right = reinterpret_cast<std::byte*>(inout);
    kernel_of(Builtin::no_op, datatype)(left, right, right, 3);
    EXPECT_EQ(inout[2], 6);
    int apart[] = {0, 0, 0};
    kernel_of(Builtin::no_op, datatype)(left, right, reinterpret_cast<std::byte*>(apart), 2);
    EXPECT_EQ(apart[1], 5);
    EXPECT_EQ(apart[2], 0);
    kernel_of(Builtin::replace, datatype)(left, right, right, 2);
    EXPECT_EQ(inout[0], 1);
    EXPECT_EQ(inout[1], 2);
    EXPECT_EQ(inout[2], 6);
}

int calls = 0;
std::int64_t elements = 0;
void count_elements(void*, void*, int* length, MPI_Datatype*) {
    ++calls;
    elements += *length;
}

TEST(Reduction, calls_the_users_function_in_pieces_that_an_int_can_count) {
    Operation operation;
    operation.function = count_elements;
    Datatype type;
    type.handle = MPI_BYTE;
    type.extent = 0;  // the addresses are not read
    std::byte nothing{};
    Reduction(operation, type).combine(&nothing, &nothing, &nothing, 0);
    EXPECT_EQ(calls, 0);
    Reduction(operation, type).combine(&nothing, &nothing, &nothing, std::size_t{1} << 32);
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(elements, std::int64_t{1} << 32);
}

void add_to_each(void* in, void* inout, int* length, MPI_Datatype*) {
    for (int i = 0; i < *length; ++i) static_cast<int*>(inout)[i] += 10 * static_cast<int*>(in)[i];
}

TEST(Reduction, leaves_the_right_operand_as_it_is_where_the_result_is_apart) {
    Operation operation;
    operation.function = add_to_each;
    Datatype type;
    type.handle = MPI_INT;
    type.extent = sizeof(int);
    int left[] = {1, 2}, right[] = {3, 4}, result[] = {0, 0};
    Reduction(operation, type)
        .combine(reinterpret_cast<std::byte*>(left), reinterpret_cast<std::byte*>(right),
                 reinterpret_cast<std::byte*>(result), 2);
    EXPECT_EQ(right[1], 4);
    EXPECT_EQ(result[0], 13);
    EXPECT_EQ(result[1], 24);
}

}  // namespace
}  // namespace heddle::objects
