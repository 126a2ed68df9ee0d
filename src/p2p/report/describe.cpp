// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/report/describe.hpp"

#include "objects/contexts.hpp"

namespace heddle::p2p {
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

}  // namespace heddle::p2p
