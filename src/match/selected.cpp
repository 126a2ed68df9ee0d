// SPDX-License-Identifier: BSD-3-Clause
#include "match/selected.hpp"

namespace heddle::match {
namespace {

template <std::size_t i, class Others>
void emplace_named(std::string_view name, Others& others) {
    if constexpr (i < std::variant_size_v<Others>) {
        if (std::variant_alternative_t<i, Others>::name == name)
            others.template emplace<i>();
        else
            emplace_named<i + 1>(name, others);
    }
}

}  // namespace

void Selected::select(std::string_view name) {
    if (name == DefaultMatcher::name) return;
    other_ = std::make_unique<Others>();
    emplace_named<1>(name, *other_);
}

}  // namespace heddle::match
