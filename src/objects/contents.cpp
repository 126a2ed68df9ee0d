// SPDX-License-Identifier: BSD-3-Clause
#include "objects/contents.hpp"

namespace heddle::objects {
namespace {

/// Returns how many of a recipe's numbers the small form takes as int. The others are addresses.
std::size_t small_integers(const Recipe& recipe) noexcept {
    switch (recipe.combiner) {
        case MPI_COMBINER_RESIZED: return 0;
        case MPI_COMBINER_HVECTOR:
        case MPI_COMBINER_HINDEXED_BLOCK: return 2;
        case MPI_COMBINER_HINDEXED:
        case MPI_COMBINER_STRUCT: return 1 + static_cast<std::size_t>(recipe.numbers[0]);
        default: return recipe.numbers.size();
    }
}

/// Returns the index of the numbers among the integers that both forms have: behind the number of
/// dimensions.
std::size_t place_of_numbers(int combiner) noexcept {
    switch (combiner) {
        case MPI_COMBINER_SUBARRAY: return 1;
        case MPI_COMBINER_DARRAY: return 3;
        default: return 0;
    }
}

}  // namespace

Contents contents_of(const Definition& definition) {
    Contents contents;
    if (definition.named != MPI_DATATYPE_NULL) return contents;
    const Recipe& recipe = definition.recipe;
    contents.combiner = recipe.combiner;
    contents.integers = recipe.integers;
    for (const DefinitionPointer& type : recipe.types) contents.types.push_back(type.get());
    if (recipe.large) {
        contents.counts = recipe.numbers;
        return contents;
    }
    const auto middle =
        recipe.numbers.begin() + static_cast<std::ptrdiff_t>(small_integers(recipe));
    std::vector<int> narrow;
    narrow.reserve(small_integers(recipe));
    for (auto number = recipe.numbers.begin(); number != middle; ++number)
        narrow.push_back(static_cast<int>(*number));  // it was given as an int
    const auto place = static_cast<std::ptrdiff_t>(place_of_numbers(recipe.combiner));
    contents.integers.insert(contents.integers.begin() + place, narrow.begin(), narrow.end());
    contents.addresses.assign(middle, recipe.numbers.end());
    return contents;
}

}  // namespace heddle::objects
