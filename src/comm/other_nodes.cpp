// SPDX-License-Identifier: BSD-3-Clause
#include "comm/other_nodes.hpp"

#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "launch/launcher.hpp"
#include "tool/recipe.hpp"
#include "transport/business_card.hpp"
#include "transport/network.hpp"

namespace heddle::comm {
namespace {

constexpr const char* card_key = "card";

/// The cards of other processes, for any thread. One thread at a time asks the launcher.
class Cards {
public:
    Cards(std::shared_ptr<launch::Launcher> launcher, transport::BusinessCard own)
        : launcher_(std::move(launcher)), own_(std::move(own)) {}
    std::string address_of(std::int32_t rank) {
        const std::lock_guard guard(lock_);
        return transport::read_card(launcher_->get(rank, card_key), own_).address;
    }

private:
    std::mutex lock_;
    const std::shared_ptr<launch::Launcher> launcher_;
    const transport::BusinessCard own_;
};

}  // namespace

std::unique_ptr<p2p::Network> meet_other_nodes(launch::Job& job, const launch::Numbering& numbers,
                                               const tool::Settings& settings) {
    if (!tool::features_of(settings).other_nodes)
        throw std::runtime_error(
            "recipes other than the default one are for ranks of one host, and these are on "
            "several");
    const transport::JobToken token = job.token.words;
    if (job.between_nodes.valid()) job.between_nodes.wait();
    auto [lane, fabric] = transport::open_lane(
        settings,
        {static_cast<transport::Peer>(job.rank), static_cast<transport::Peer>(job.size), token,
         settings.network_checksum == tool::Switch::on});
    const transport::BusinessCard own{fabric, lane->address(), token, tool::agreement(settings)};
    job.launcher->put(card_key, transport::to_bytes(own));
    job.launcher->fence();
    const auto cards = std::make_shared<Cards>(job.launcher, own);
    return std::make_unique<p2p::Network>(
        numbers, std::move(lane), [cards](std::int32_t rank) { return cards->address_of(rank); },
        job.keeper_page != nullptr ? &node::traffic_of(*job.keeper_page) : nullptr);
}

}  // namespace heddle::comm
