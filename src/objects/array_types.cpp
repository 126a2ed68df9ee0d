// SPDX-License-Identifier: BSD-3-Clause
#include "objects/array_types.hpp"

#include <algorithm>

namespace heddle::objects {
namespace {

DefinitionPointer make(int combiner, std::vector<std::int64_t> numbers,
                       std::vector<DefinitionPointer> types) {
    for (const DefinitionPointer& type : types)
        if (!type) return {};  // did not fit, so this does not fit either
    Recipe recipe;
    recipe.combiner = combiner;
    recipe.large = true;
    recipe.numbers = std::move(numbers);
    recipe.types = std::move(types);
    return define(std::move(recipe));
}
DefinitionPointer resized(DefinitionPointer old, std::int64_t extent) {
    return make(MPI_COMBINER_RESIZED, {0, extent}, {std::move(old)});
}

/// Returns the dimensions of an array, from the one whose neighbours lie side by side to the
/// slowest.
std::vector<std::size_t> by_speed(std::size_t dimensions, int order) {
    std::vector<std::size_t> all(dimensions);
    for (std::size_t i = 0; i < dimensions; ++i)
        all[i] = order == MPI_ORDER_FORTRAN ? i : dimensions - 1 - i;
    return all;
}

/// Returns the bytes from one index of each dimension to the next, then those of the whole array.
/// Returns an empty vector if the array is too large.
std::vector<std::int64_t> steps_of(const Recipe& recipe,
                                   const std::vector<std::size_t>& dimensions) {
    std::vector<std::int64_t> steps(dimensions.size() + 1);
    std::int64_t step = recipe.types[0]->extent;
    for (const std::size_t dimension : dimensions) {
        steps[dimension] = step;
        if (__builtin_mul_overflow(step, recipe.numbers[dimension], &step)) return {};
    }
    steps.back() = step;
    return steps;
}

DefinitionPointer finish(Recipe recipe, DefinitionPointer simpler) {
    if (!simpler) return {};
    recipe.simpler = std::move(simpler);
    return define(std::move(recipe));
}

/// One dimension of a distributed array, and this process's place in it.
struct Distributed {
    std::int64_t size;   ///< global
    std::int64_t block;  ///< indices that a process has side by side
    std::int64_t processes;
    std::int64_t coordinate;  ///< of this process among them
};

/// Makes the part of a dimension that the process has. `row` is one index of the dimension, and the
/// next one is `step` bytes further.
DefinitionPointer distribute(const DefinitionPointer& row, const Distributed& along,
                             std::int64_t step) {
    const std::int64_t begin = along.coordinate * along.block,
                       round = along.processes * along.block;
    if (!row) return {};
    if (begin >= along.size) return make(MPI_COMBINER_CONTIGUOUS, {0}, {row});
    const std::int64_t blocks = (along.size - begin + round - 1) / round;
    const std::int64_t last = std::min(along.block, along.size - begin - (blocks - 1) * round);
    const std::int64_t whole = last == along.block ? blocks : blocks - 1;
    const DefinitionPointer index = resized(row, step);
    // Displacements lie within the array, whose size is known to fit.
    DefinitionPointer loop =
        make(MPI_COMBINER_HVECTOR, {whole, along.block, whole <= 1 ? 0 : round * step}, {index});
    if (whole == blocks)
        return make(MPI_COMBINER_HINDEXED, {1, 1, begin * step}, {std::move(loop)});
    DefinitionPointer rest = make(MPI_COMBINER_CONTIGUOUS, {last}, {index});
    return make(MPI_COMBINER_STRUCT, {2, 1, 1, begin * step, (begin + whole * round) * step},
                {std::move(loop), std::move(rest)});
}

}  // namespace

DefinitionPointer define_subarray(Recipe recipe) {
    const auto count = static_cast<std::size_t>(recipe.integers[0]);
    const auto dimensions = by_speed(count, recipe.integers[1]);
    const std::vector<std::int64_t> steps = steps_of(recipe, dimensions);
    if (steps.empty()) return {};
    const std::int64_t* subsizes = &recipe.numbers[count];
    const std::int64_t* starts = &recipe.numbers[2 * count];
    DefinitionPointer array = recipe.types[0];
    std::int64_t begin = 0;
    for (const std::size_t dimension : dimensions) {
        array = make(MPI_COMBINER_HVECTOR, {subsizes[dimension], 1, steps[dimension]},
                     {std::move(array)});
        begin += starts[dimension] * steps[dimension];
    }
    array = make(MPI_COMBINER_HINDEXED, {1, 1, begin}, {std::move(array)});
    return finish(std::move(recipe), resized(std::move(array), steps.back()));
}

DefinitionPointer define_distributed_array(Recipe recipe) {
    const auto count = static_cast<std::size_t>(recipe.integers[2]);
    const int* distributions = &recipe.integers[3];
    const int* arguments = distributions + count;
    const int* processes = arguments + count;
    const auto dimensions = by_speed(count, recipe.integers.back());
    const std::vector<std::int64_t> steps = steps_of(recipe, dimensions);
    if (steps.empty()) return {};
    // Ranks are in row-major order of the process grid, independently of the array's order.
    std::vector<int> coordinates(count);
    int rank = recipe.integers[1];
    for (std::size_t i = count; i-- > 0; rank /= processes[i]) coordinates[i] = rank % processes[i];

    DefinitionPointer array = recipe.types[0];
    for (const std::size_t i : dimensions) {
        const std::int64_t size = recipe.numbers[i];
        Distributed along{size, size, 1, 0};
        if (distributions[i] != MPI_DISTRIBUTE_NONE) {
            const bool block = distributions[i] == MPI_DISTRIBUTE_BLOCK;
            const std::int64_t usual = block ? (size + processes[i] - 1) / processes[i] : 1;
            along = {size, arguments[i] == MPI_DISTRIBUTE_DFLT_DARG ? usual : arguments[i],
                     processes[i], coordinates[i]};
        }
        array = distribute(array, along, steps[i]);
    }
    return finish(std::move(recipe), resized(std::move(array), steps.back()));
}

}  // namespace heddle::objects
