// SPDX-License-Identifier: BSD-3-Clause
/// Makes datatypes of datatypes (MPI 5.0, 5.1.2), except for arrays of several dimensions.
///
/// Each function has two entry points and remembers which one was called, for
/// MPI_Type_get_envelope.

#include "api/datatype_arguments.hpp"
#include "api/type_attributes.hpp"

namespace heddle::api {
namespace {

using objects::Recipe;

Recipe recipe_of(int combiner, bool large) {
    Recipe recipe;
    recipe.combiner = combiner;
    recipe.large = large;
    return recipe;
}
Recipe recipe_of(int combiner, bool large, const AnyType& old) {
    Recipe recipe = recipe_of(combiner, large);
    recipe.types.push_back(old->definition);
    return recipe;
}

/// Appends an array to the recipe's numbers.
int append(Thread& thread, Recipe& recipe, const char* argument, const Numbers& array,
           std::int64_t count, bool negative_allowed) {
    if (count > 0 && array.missing()) return wrong(thread, argument, "a null pointer");
    for (std::int64_t i = 0; i < count; ++i) {
        if (!negative_allowed && array[i] < 0)
            return wrong(
                thread, argument,
                std::to_string(array[i]) + " at index " + std::to_string(i) + " is negative");
        recipe.numbers.push_back(array[i]);
    }
    return MPI_SUCCESS;
}
int append_lengths(Thread& thread, Recipe& recipe, const Numbers& lengths, std::int64_t count) {
    recipe.numbers.reserve(static_cast<std::size_t>(count) * 2 + 1);
    return append(thread, recipe, "array_of_blocklengths", lengths, count, false);
}
int append_displacements(Thread& thread, Recipe& recipe, const Numbers& array, std::int64_t count) {
    return append(thread, recipe, "array_of_displacements", array, count, true);
}

template <bool large>
int contiguous(Thread& thread, Count count, OldType old, Out<MPI_Datatype> result) {
    Recipe recipe = recipe_of(MPI_COMBINER_CONTIGUOUS, large, old);
    recipe.numbers = {count.value};
    return hand_out(thread, objects::define(std::move(recipe)), result);
}

template <int combiner, bool large>
int vector(Thread& thread, Count count, BlockLength length, Number stride, OldType old,
           Out<MPI_Datatype> result) {
    Recipe recipe = recipe_of(combiner, large, old);
    recipe.numbers = {count.value, length.value, stride.value};
    return hand_out(thread, objects::define(std::move(recipe)), result);
}

template <int combiner, bool large>
int indexed(Thread& thread, Count count, Numbers lengths, Numbers displacements, OldType old,
            Out<MPI_Datatype> result) {
    Recipe recipe = recipe_of(combiner, large, old);
    recipe.numbers = {count.value};
    if (const int error = append_lengths(thread, recipe, lengths, count.value)) return error;
    if (const int error = append_displacements(thread, recipe, displacements, count.value))
        return error;
    return hand_out(thread, objects::define(std::move(recipe)), result);
}

template <int combiner, bool large>
int indexed_block(Thread& thread, Count count, BlockLength length, Numbers displacements,
                  OldType old, Out<MPI_Datatype> result) {
    Recipe recipe = recipe_of(combiner, large, old);
    recipe.numbers = {count.value, length.value};
    if (const int error = append_displacements(thread, recipe, displacements, count.value))
        return error;
    return hand_out(thread, objects::define(std::move(recipe)), result);
}

template <bool large>
int structure(Thread& thread, Count count, Numbers lengths, Numbers displacements,
              Array<const MPI_Datatype> types, Out<MPI_Datatype> result) {
    Recipe recipe = recipe_of(MPI_COMBINER_STRUCT, large);
    recipe.numbers = {count.value};
    if (const int error = append_lengths(thread, recipe, lengths, count.value)) return error;
    if (const int error = append_displacements(thread, recipe, displacements, count.value))
        return error;
    if (count.value > 0 && types.value == nullptr)
        return wrong(thread, "array_of_types", "a null pointer");
    recipe.types.reserve(static_cast<std::size_t>(count.value));
    for (std::int64_t i = 0; i < count.value; ++i) {
        const AnyType type(*thread.process, types.value[i]);
        if (const int error = type.error(nullptr))
            return objects::fail(
                thread, nullptr, error,
                "argument array_of_types: index " + std::to_string(i) + ": " + type.wrong(nullptr));
        recipe.types.push_back(type->definition);
    }
    return hand_out(thread, objects::define(std::move(recipe)), result);
}

template <bool large>
int resized(Thread& thread, OldType old, Number lower_bound, Number extent,
            Out<MPI_Datatype> result) {
    Recipe recipe = recipe_of(MPI_COMBINER_RESIZED, large, old);
    recipe.numbers = {lower_bound.value, extent.value};
    return hand_out(thread, objects::define(std::move(recipe)), result);
}

int duplicate_type(Thread& thread, OldType old, Out<MPI_Datatype> result) {
    const int error =
        hand_out(thread, objects::define(recipe_of(MPI_COMBINER_DUP, false, old)), result);
    if (error != MPI_SUCCESS) return error;
    thread.process->datatype(*result)->committed = old->committed;
    return copy_attributes(thread, *old.object, *result);
}

}  // namespace
}  // namespace heddle::api

using namespace heddle::api;

#define BOTH_FORMS(arity, X, function, ...)          \
    MPI_ENTRY(arity, X, function<__VA_ARGS__ false>) \
    MPI_ENTRY(arity, X##_c, function<__VA_ARGS__ true>)
#define COMMA ,

BOTH_FORMS(3, Type_contiguous, contiguous)
BOTH_FORMS(5, Type_vector, vector, MPI_COMBINER_VECTOR COMMA)
BOTH_FORMS(5, Type_create_hvector, vector, MPI_COMBINER_HVECTOR COMMA)
BOTH_FORMS(5, Type_indexed, indexed, MPI_COMBINER_INDEXED COMMA)
BOTH_FORMS(5, Type_create_hindexed, indexed, MPI_COMBINER_HINDEXED COMMA)
BOTH_FORMS(5, Type_create_indexed_block, indexed_block, MPI_COMBINER_INDEXED_BLOCK COMMA)
BOTH_FORMS(5, Type_create_hindexed_block, indexed_block, MPI_COMBINER_HINDEXED_BLOCK COMMA)
BOTH_FORMS(5, Type_create_struct, structure)
BOTH_FORMS(4, Type_create_resized, resized)
MPI_ENTRY(2, Type_dup, duplicate_type)
