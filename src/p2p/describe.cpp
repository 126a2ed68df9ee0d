// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/describe.hpp"

#include <cstdio>
#include <string>

#include "core/request_type.hpp"
#include "objects/communicator.hpp"

namespace heddle::p2p {
namespace {

std::string rank_or_any(std::int32_t rank) {
    return rank == match::any_source ? "MPI_ANY_SOURCE" : std::to_string(rank);
}

std::string tag_or_any(std::int32_t tag) {
    return tag == match::any_tag ? "MPI_ANY_TAG" : std::to_string(tag);
}

}  // namespace

std::string describe_context(std::uint32_t context) {
    switch (context) {
        case objects::library_context: return "the library";
        case objects::world_context: return "MPI_COMM_WORLD";
        case objects::self_context: return "MPI_COMM_SELF";
        default: break;
    }
    if (context == objects::recycling_context) return "the library";
    if ((context & objects::tagged_context) != 0) return "a communicator that is made from a group";
    if ((context & objects::partitioned_context) != 0)
        return "partitioned, " + describe_context(context & ~objects::partitioned_context & ~1U);
    context &= ~objects::local_group_context;
    const bool collective = context % 2 != 0;
    return (collective ? "collective, communicator " : "communicator ") +
        std::to_string(context / 2);
}

void describe_pattern(const match::Pattern& pattern, char* text, std::size_t bytes) {
    std::snprintf(text, bytes, "(source %s, tag %s, %s)", rank_or_any(pattern.source).c_str(),
                  tag_or_any(pattern.tag).c_str(), describe_context(pattern.context).c_str());
}

void describe_request(Engine& engine, const core::Request& request, char* text, std::size_t bytes) {
    const core::RequestType& type = core::type_of(request);
    if (type.describe != nullptr)
        type.describe(engine, request, text, bytes);
    else
        std::snprintf(text, bytes, "()");
}

}  // namespace heddle::p2p
