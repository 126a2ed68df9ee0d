// SPDX-License-Identifier: BSD-3-Clause
#include "io/representation.hpp"

#include <unordered_map>
#include <utility>

#include "objects/array_types.hpp"
#include "objects/basic_types.hpp"
#include "objects/callback.hpp"

namespace heddle::io {
namespace {

using objects::Definition;
using objects::DefinitionPointer;
using objects::Recipe;

/// Returns a type of `count` bytes.
DefinitionPointer bytes(std::int64_t count) {
    Recipe recipe;
    recipe.combiner = MPI_COMBINER_CONTIGUOUS;
    recipe.numbers = {count};
    recipe.types = {DefinitionPointer(objects::predefined_definition(MPI_BYTE))};
    return objects::define(std::move(recipe));
}

/// Finds the extent of a basic type.
int extent_in(const Representation& representation, const Definition& type, std::int64_t& extent) {
    if (representation.kind == Representation::Kind::external32) {
        extent = type.external_size;
        return MPI_SUCCESS;
    }
    MPI_Aint answer = 0;
    const MPI_Datatype handle = type.basic != nullptr ? type.basic->handle : type.named;
    const int error =
        objects::call_program(representation.extent, handle, &answer, representation.extra_state);
    extent = answer;
    if (error != MPI_SUCCESS) return error;
    return answer < 0 ? MPI_ERR_CONVERSION : MPI_SUCCESS;
}

/// Types made anew one by one, from the inner ones to the outer ones, of any depth.
class Translation {
public:
    explicit Translation(const Representation& representation) noexcept
        : representation_(representation) {}

    DefinitionPointer of(const Definition& type, int& error) {
        std::vector<const Definition*> open{&type};
        while (!open.empty()) {
            const Definition& next = *open.back();
            const std::size_t before = open.size();
            for (const DefinitionPointer& inner : next.recipe.types)
                if (next.parts() != 0 && !made_.contains(inner.get())) open.push_back(inner.get());
            if (open.size() != before) continue;
            open.pop_back();
            if (made_.contains(&next)) continue;
            error = make(next);
            if (error != MPI_SUCCESS) return {};
        }
        return made_.at(&type);
    }

private:
    int make(const Definition& type) {
        DefinitionPointer& made = made_[&type];
        if (type.parts() == 0 && type.recipe.types.empty()) {
            std::int64_t extent = 0;
            if (const int error = extent_in(representation_, type, extent)) return error;
            made = bytes(extent);
        } else {
            made = remade(type);
        }
        return made ? MPI_SUCCESS : MPI_ERR_TYPE;
    }
    /// Returns the same recipe with other ingredients.
    DefinitionPointer remade(const Definition& type) const {
        Recipe recipe;
        recipe.combiner = type.recipe.combiner;
        recipe.large = type.recipe.large;
        recipe.integers = type.recipe.integers;
        recipe.numbers = type.recipe.numbers;
        for (const DefinitionPointer& inner : type.recipe.types)
            recipe.types.push_back(inner.get() == nullptr ? inner : made_.at(inner.get()));
        switch (recipe.combiner) {
            case MPI_COMBINER_SUBARRAY: return objects::define_subarray(std::move(recipe));
            case MPI_COMBINER_DARRAY: return objects::define_distributed_array(std::move(recipe));
            case MPI_COMBINER_VALUE_INDEX:  // a value and an index, side by side
                recipe.numbers[1] = recipe.types[0]->extent;
                return objects::define(std::move(recipe));
            default: return objects::define(std::move(recipe));
        }
    }

    const Representation& representation_;
    std::unordered_map<const Definition*, DefinitionPointer> made_;
};

}  // namespace

Representations::Representations() {
    for (const char* name : {"native", "internal", "external32"}) {
        auto one = std::make_shared<Representation>();
        one->name = name;
        if (one->name == "external32") one->kind = Representation::Kind::external32;
        all_.push_back(std::move(one));
    }
}

RepresentationPointer Representations::find(const std::string& name) const {
    const std::lock_guard guard(lock_);
    for (const RepresentationPointer& one : all_)
        if (one->name == name) return one;
    return nullptr;
}

bool Representations::add(Representation representation) {
    if (find(representation.name) != nullptr) return false;
    const std::lock_guard guard(lock_);
    all_.push_back(std::make_shared<const Representation>(std::move(representation)));
    return true;
}

DefinitionPointer layout_in(const Representation& representation, const Definition& type,
                            int& error) {
    error = MPI_SUCCESS;
    if (representation.is_native()) {
        objects::hold(&type);
        return DefinitionPointer(&type);
    }
    return Translation(representation).of(type, error);
}

}  // namespace heddle::io
