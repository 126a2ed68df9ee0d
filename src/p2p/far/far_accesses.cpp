// SPDX-License-Identifier: BSD-3-Clause
/// Accesses to windows of processes of other nodes (p2p/far/far_access.hpp). Messages are handed to
/// the window's listener in the order in which they were sent; answers go back.

#include <array>
#include <cstring>
#include <string>

#include "core/causality.hpp"
#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "p2p/far/far.hpp"
#include "p2p/far/network.hpp"

namespace heddle::p2p {

std::uint64_t Far::most_payload() const noexcept {
    return network()->most_payload() - sizeof(AccessFields);
}

void Far::ask(ProgressCall& call, const Outbound& message, const AccessFields& fields,
              core::Request* completes) {
    core::causality::before_other_processes();
    instance::Pending pending = pending_of(message, fields, completes, 0);
    pending.offset = message.offset;
    hand_over(call, message.process, pending);
}

void Far::answer(ProgressCall& call, std::int32_t process, const DataFields& fields, Shape shape,
                 const std::byte* data, core::Request* completes) {
    instance::Pending pending =
        pending_of({{}, process, data, shape.bytes, shape.layout}, fields, completes, 0);
    pending.offset = fields.offset;
    answer_by_data(call, process, pending);
}

void Far::answer_briefly(ProgressCall& call, std::int32_t process, std::uint64_t receiver,
                         const void* data, std::uint64_t bytes) {
    std::array<std::byte, node::inline_payload> all;
    const DataFields fields{receiver, 0};
    std::memcpy(all.data(), &fields, sizeof fields);
    std::memcpy(all.data() + sizeof fields, data, bytes);
    const auto length = static_cast<std::uint32_t>(sizeof fields + bytes);
    answer_by_data(call, process,
                   pending_of({{}, process, nullptr, 0},
                              {DataFields::message_kind, all.data(), length}, nullptr, 0));
}

void Far::acknowledge(ProgressCall& call, std::int32_t process, std::uint64_t receiver) {
    post(call, {{}, process, nullptr, 0}, AckFields{receiver}, nullptr);
}

void Far::refuse(ProgressCall& call, std::int32_t process, const RefusedFields& fields) {
    post(call, {{}, process, nullptr, 0}, fields, nullptr);
}

void Far::deliver_access(ProgressCall& call, std::int32_t process,
                         const transport::Header& header) {
    if (const auto listener = listeners_.of(header.context))
        return listener->asked(call, process, header);
    objects::Process& mine = *call.thread.process;
    objects::end_job(mine, 1,
                     "rank " + std::to_string(mine.numbers.rank_of(process)) +
                         " accesses a window that is not there");
}

}  // namespace heddle::p2p
