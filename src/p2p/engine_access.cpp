// SPDX-License-Identifier: BSD-3-Clause
/// Accesses to windows of processes of other nodes (p2p/far_access.hpp): messages that are handed to whoever serves
/// the window, in the order in which they were sent, and their answers.

#include <array>
#include <cstring>
#include <string>

#include "core/causality.hpp"
#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "p2p/network.hpp"

namespace heddle::p2p {

std::uint64_t Engine::most_far_payload() const noexcept {
    return network_->most_payload() - sizeof(AccessFields);
}

void Engine::ask_far(Turn& turn, const Outbound& message, const AccessFields& fields,
                     core::Request* completes) {
    core::causality::before_other_processes();
    instance::Pending pending =
        pending_of(message, Kind::access, &fields, sizeof fields, completes, 0);
    pending.offset = message.offset;
    hand_to_network(turn, message.process, pending);
}

void Engine::answer_far(Turn& turn, std::int32_t process, const DataFields& fields, Shape shape,
                        const std::byte* data, core::Request* completes) {
    instance::Pending pending = pending_of({{}, process, data, shape.bytes, shape.layout},
                                           Kind::data, &fields, sizeof fields, completes, 0);
    pending.offset = fields.offset;
    answer_by_data(turn, process, pending);
}

void Engine::answer_briefly(Turn& turn, std::int32_t process, std::uint64_t receiver,
                            const void* data, std::uint64_t bytes) {
    std::array<std::byte, transport::shm::inline_payload> all;
    const DataFields fields{receiver, 0};
    std::memcpy(all.data(), &fields, sizeof fields);
    std::memcpy(all.data() + sizeof fields, data, bytes);
    const auto length = static_cast<std::uint32_t>(sizeof fields + bytes);
    answer_by_data(
        turn, process,
        pending_of({{}, process, nullptr, 0}, Kind::data, all.data(), length, nullptr, 0));
}

void Engine::acknowledge_far(Turn& turn, std::int32_t process, std::uint64_t receiver) {
    const SenderField field{receiver};
    post_far(turn, {{}, process, nullptr, 0}, Kind::ack, &field, sizeof field, nullptr);
}

void Engine::refuse_far(Turn& turn, std::int32_t process, const RefusedFields& fields) {
    post_far(turn, {{}, process, nullptr, 0}, Kind::refused, &fields, sizeof fields, nullptr);
}

void Engine::deliver_access(Turn& turn, std::int32_t process, const transport::Header& header) {
    if (const auto listener = far_listeners_.of(header.context))
        return listener->asked(turn, process, header);
    objects::Process& mine = *turn.thread.process;
    objects::end_job(mine, 1,
                     "rank " + std::to_string(mine.numbers.rank_of(process)) +
                         " accesses a window that is not there");
}

void Engine::deliver_refusal(Turn& turn, const transport::Header& header) noexcept {
    const auto fields = fields_of<RefusedFields>(header);
    auto& request = *reinterpret_cast<core::Request*>(fields.receiver);
    request.error = MPI_ERR_RMA_RANGE;
    request.remaining -= fields.bytes;
    if (request.remaining == 0) turn.complete(request);
}

}  // namespace heddle::p2p
