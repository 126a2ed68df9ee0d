// SPDX-License-Identifier: BSD-3-Clause
/// Datatypes for parts of arrays of several dimensions (MPI 5.0, 5.1.3 and 5.1.4).

#include "api/datatype_arguments.hpp"
#include "objects/array_types.hpp"

namespace heddle::api {
namespace {

using objects::Recipe;

struct Dimensions : Number {
    static constexpr const char* name = "ndims";
    using Number::Number;
    int error(const Communicator*) const noexcept { return value < 1 ? MPI_ERR_ARG : MPI_SUCCESS; }
    std::string wrong(const Communicator*) const {
        return std::to_string(value) + " is not positive";
    }
};
struct Order : Raw<int> {
    static constexpr const char* name = "order";
    using Raw::Raw;
    int error(const Communicator*) const noexcept {
        return value == MPI_ORDER_C || value == MPI_ORDER_FORTRAN ? MPI_SUCCESS : MPI_ERR_ARG;
    }
    std::string wrong(const Communicator*) const {
        return std::to_string(value) + " is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN";
    }
};

std::string element(std::int64_t value, std::int64_t i) {
    return std::to_string(value) + " at index " + std::to_string(i);
}

template <bool large>
int subarray(Thread& thread, Dimensions dimensions, Numbers sizes, Numbers subsizes, Numbers starts,
             Order order, OldType old, Out<MPI_Datatype> result) {
    if (sizes.missing()) return wrong(thread, "array_of_sizes", "a null pointer");
    if (subsizes.missing()) return wrong(thread, "array_of_subsizes", "a null pointer");
    if (starts.missing()) return wrong(thread, "array_of_starts", "a null pointer");
    for (std::int64_t i = 0; i < dimensions.value; ++i) {
        if (sizes[i] < 1)
            return wrong(thread, "array_of_sizes", element(sizes[i], i) + " is not positive");
        if (subsizes[i] < 1 || subsizes[i] > sizes[i])
            return wrong(thread, "array_of_subsizes",
                         element(subsizes[i], i) + " is not in 1 to " + std::to_string(sizes[i]));
        if (starts[i] < 0 || starts[i] > sizes[i] - subsizes[i])
            return wrong(thread, "array_of_starts",
                         element(starts[i], i) + " is not in 0 to " +
                             std::to_string(sizes[i] - subsizes[i]));
    }
    Recipe recipe;
    recipe.combiner = MPI_COMBINER_SUBARRAY;
    recipe.large = large;
    recipe.integers = {static_cast<int>(dimensions.value), order.value};
    recipe.types.push_back(old->definition);
    for (const Numbers* array : {&sizes, &subsizes, &starts})
        for (std::int64_t i = 0; i < dimensions.value; ++i) recipe.numbers.push_back((*array)[i]);
    return hand_out(thread, objects::define_subarray(std::move(recipe)), result);
}

/// Returns what is wrong with one dimension of a distributed array, or an empty text.
std::string wrong_distribution(std::int64_t size, int distribution, int argument, int processes) {
    const bool usual = argument == MPI_DISTRIBUTE_DFLT_DARG;
    switch (distribution) {
        case MPI_DISTRIBUTE_NONE:
            return processes == 1
                ? ""
                : "MPI_DISTRIBUTE_NONE with " + std::to_string(processes) + " processes";
        case MPI_DISTRIBUTE_BLOCK:
        case MPI_DISTRIBUTE_CYCLIC: break;
        default: return std::to_string(distribution) + " is no distribution";
    }
    if (!usual && argument < 1) return "blocks of " + std::to_string(argument);
    if (distribution == MPI_DISTRIBUTE_BLOCK && !usual && std::int64_t{argument} * processes < size)
        return std::to_string(processes) + " blocks of " + std::to_string(argument) +
            " are less than the array, which has " + std::to_string(size);
    return "";
}

template <bool large>
int distributed_array(Thread& thread, Raw<int> size, Raw<int> rank, Dimensions dimensions,
                      Numbers sizes, Array<const int> distributions, Array<const int> arguments,
                      Array<const int> processes, Order order, OldType old,
                      Out<MPI_Datatype> result) {
    if (size.value < 1)
        return wrong(thread, "size", std::to_string(size.value) + " is not positive");
    if (rank.value < 0 || rank.value >= size.value)
        return wrong(
            thread, "rank",
            std::to_string(rank.value) + " is not in 0 to " + std::to_string(size.value - 1));
    if (sizes.missing()) return wrong(thread, "array_of_gsizes", "a null pointer");
    if (distributions.value == nullptr) return wrong(thread, "array_of_distribs", "a null pointer");
    if (arguments.value == nullptr) return wrong(thread, "array_of_dargs", "a null pointer");
    if (processes.value == nullptr) return wrong(thread, "array_of_psizes", "a null pointer");
    std::int64_t grid = 1;
    for (std::int64_t i = 0; i < dimensions.value; ++i) {
        if (sizes[i] < 1)
            return wrong(thread, "array_of_gsizes", element(sizes[i], i) + " is not positive");
        if (processes.value[i] < 1 || processes.value[i] > size.value)
            return wrong(
                thread, "array_of_psizes",
                element(processes.value[i], i) + " is not in 1 to " + std::to_string(size.value));
        if (const std::string what = wrong_distribution(sizes[i], distributions.value[i],
                                                        arguments.value[i], processes.value[i]);
            !what.empty())
            return wrong(thread, "array_of_distribs", "index " + std::to_string(i) + ": " + what);
        grid *= processes.value[i];
        if (grid > size.value) break;
    }
    if (grid != size.value)
        return wrong(thread, "array_of_psizes",
                     "their product is not size, " + std::to_string(size.value));
    Recipe recipe;
    recipe.combiner = MPI_COMBINER_DARRAY;
    recipe.large = large;
    recipe.integers = {size.value, rank.value, static_cast<int>(dimensions.value)};
    for (const int* array : {distributions.value, arguments.value, processes.value})
        recipe.integers.insert(recipe.integers.end(), array, array + dimensions.value);
    recipe.integers.push_back(order.value);
    for (std::int64_t i = 0; i < dimensions.value; ++i) recipe.numbers.push_back(sizes[i]);
    recipe.types.push_back(old->definition);
    return hand_out(thread, objects::define_distributed_array(std::move(recipe)), result);
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

MPI_ENTRY(7, Type_create_subarray, subarray<false>)
MPI_ENTRY(7, Type_create_subarray_c, subarray<true>)
MPI_ENTRY(10, Type_create_darray, distributed_array<false>)
MPI_ENTRY(10, Type_create_darray_c, distributed_array<true>)
