// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The matching engines that ship. A new one is a line here; its conformance test follows.

#include <tuple>

#include "match/hash.hpp"
#include "match/list.hpp"
#include "match/source.hpp"

namespace heddle::match {

using Matchers = std::tuple<HashMatcher, ListMatcher, SourceMatcher>;
using DefaultMatcher = HashMatcher;

}  // namespace heddle::match
