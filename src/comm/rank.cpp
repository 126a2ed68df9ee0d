// SPDX-License-Identifier: BSD-3-Clause
#include "comm/rank.hpp"

#include <cstdio>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "comm/other_nodes.hpp"
#include "p2p/far/network.hpp"
#include "p2p/far/network_worker.hpp"
#include "p2p/node_worker.hpp"
#include "platform/fault_report.hpp"
#include "transport/network.hpp"

namespace heddle::comm {

namespace {

/// Makes the job's name from its token, in a way that does not disclose the token.
std::uint64_t name_of_job(const node::Token& token) noexcept {
    std::uint64_t name = token.words[0] * 0x9e3779b97f4a7c15U ^ token.words[1];
    for (int round = 0; round < 2; ++round) {
        name = (name ^ name >> 32) * 0xd6e8feb86659fd93U;
        name ^= name >> 32;
    }
    return name != 0 ? name : 1;
}

}  // namespace

Rank::Rank(launch::Job joined)
    : Rank(
          joined, map_node(joined),
          [&](const launch::Numbering& numbers) {
              return meet_other_nodes(job, numbers, settings);
          },
          transport::open_guest_lane) {}

Rank::Rank(launch::Job joined, node::Node mapped, const OpenNetwork& open_network,
           OpenGuestLane open_guest_lane)
    : Process(std::move(joined), std::move(mapped)),
      engine_(node, numbers, requests, settings),
      recycling_(contexts, freed_contexts, job.rank),
      open_guest_lane_(std::move(open_guest_lane)) {
    engine = &engine_;
    recycling = &recycling_;
    letters = &letters_;
    engine_.use_guest_listener(letters_);
    if (!numbers.is_one_node()) {
        network_ = open_network(numbers);
        engine_.use_network(*network_);
        recycling_.use_network(*network_);
        worker_ = std::make_unique<p2p::NetworkWorker>(*this, *network_);
    }
    if (job.token == node::Token{}) job.token = node.board().token();
    job_name = name_of_job(job.token);
    start_node_worker();
}

Rank::~Rank() = default;

/// Starts the worker, unless it is off. Without one, messages are carried when the program calls
/// MPI.
void Rank::start_node_worker() try {
    if (settings.worker == tool::Worker::off || !engine_.base().features.workers) return;
    node_worker_ = std::make_unique<p2p::NodeWorker>(*this);
    if (settings.worker == tool::Worker::on)
        node_worker_->start();
    else
        engine_.threads().start_with_large_messages(node_worker_.get());
} catch (const std::system_error& problem) {
    p2p::say_no_worker(*this, problem.what());
}

/// Makes the guests. Each step is done once, even if a later one fails and the call is repeated.
transport::Guests& Rank::need_guests() {
    const std::lock_guard guard(meeting_);
    if (transport::Guests* known = guests_.load(relaxed)) return *known;
    if (!engine_.base().features.other_nodes || !open_guest_lane_)
        throw std::runtime_error("recipes other than the default one are for ranks of one job");
    if (made_ == nullptr) {
        auto guests = std::make_unique<transport::Guests>(transport::GuestCard{
            {job_name, static_cast<std::uint32_t>(rank())}, node::Token::fresh().words, {}});
        auto lane = open_guest_lane_(*guests, settings);
        guests->set_address(lane->address());
        if (network_ == nullptr)
            network_ = std::make_unique<p2p::Network>(numbers, nullptr, p2p::Network::Addresses{});
        network_->add_guests(std::move(lane), *guests);
        made_ = std::move(guests);
    }
    engine_.use_network(*network_);
    if (worker_ == nullptr) worker_ = std::make_unique<p2p::NetworkWorker>(*this, *network_);
    guests_.store(made_.get(), release);  // R1: pairs with A1 in objects::Process
    return *made_;
}

void Rank::forget_guests() {
    transport::Guests* const known = guests_.load(acquire);
    if (known != nullptr)
        network_->forget_guests(*known,
                                [this](std::int32_t guest) { return letters_.forget(guest); });
}

bool Rank::memory_is_back() {
    if (!engine_.bind_rings_again()) return false;
    if (network_ != nullptr) {
        network_->resume();
        worker_ = std::make_unique<p2p::NetworkWorker>(*this, *network_);
    }
    start_node_worker();
    return true;
}

void Rank::memory_goes(core::Thread& thread) {
    engine_.threads().start_with_large_messages(nullptr);
    worker_.reset();  // first, since it might start the other one
    node_worker_.reset();
    if (network_ != nullptr) network_->rest();
    engine_.give_memory_back(thread);
}

/// A program that has had sessions may open others. Then it needs the launcher to find ranks that
/// it has not met.
bool Rank::needs_launcher_later() const noexcept {
    return !numbers.is_one_node() && sessions.at_place(0) != nullptr;
}

void Rank::stays_open() noexcept {
    if (network_ != nullptr) network_->stay_open();
}

bool Rank::welcome(core::Thread& thread) {
    thread.engine = &engine_;
    thread.sent_last = {};
    thread.exact_tags_from = engine_.exact_tags_from();
    engine_.requests().claims().enter(thread.claims);
    if (!thread.of_library) engine_.threads().count(+1);
    thread.visitor = engine_.recipes().visitor_for(thread);
    return !engine_.calls_are_sections();
}

void Rank::see_off(core::Thread& thread) {
    if (thread.of_library) engine_.threads().count(+1);  // for its last work
    engine_.empty_pools(thread);
    engine_.requests().claims().leave(thread.claims);
    engine_.threads().count(-1);
}

namespace {

/// Joins the job. The rank is never destroyed, since threads may outlive main(). If this rank
/// cannot take part, it ends the job. The others would wait for it in vain at the next fence: not
/// every launcher ends them when this one leaves.
Rank& join_the_job() {
    launch::Job job = launch::join(transport::prepare);
    launch::Job others{};
    others.launcher = job.launcher;
    const int rank = job.rank;
    try {
        return *new Rank(std::move(job));
    } catch (const std::exception& problem) {
        if (others.launcher == nullptr) throw;
        launch::abort(others, 1,
                      "rank " + std::to_string(rank) + " cannot take part: " + problem.what());
    }
}

/// Writes who the thread is, in a signal handler. Threads have the same numbers as in reports of
/// hanging jobs (docs/hangs.md).
void say_who(char* text, std::size_t room) noexcept {
    const objects::Process* const process = objects::process_of_program();
    const core::Thread* const thread = objects::attached_thread();
    const int rank = process == nullptr || process->is_copy() ? -1 : process->rank();
    if (rank < 0)
        std::snprintf(text, room, "process %d", static_cast<int>(getpid()));
    else if (thread == nullptr)
        std::snprintf(text, room, "rank %d, a thread that has not called MPI", rank);
    else if (thread->of_library)
        std::snprintf(text, room, "rank %d, a thread of the library", rank);
    else
        std::snprintf(text, room, "rank %d, thread %u", rank, thread->number);
}

}  // namespace

objects::Process& need_process_of_program() {
    // The program may open two sessions at once.
    static std::mutex& lock = *new std::mutex;
    if (objects::Process* process = objects::process_of_program();
        process != nullptr && process->is_copy())
        throw std::runtime_error(objects::forked_text);
    std::lock_guard guard(lock);
    if (objects::Process* process = objects::process_of_program()) return *process;
    Rank& process = join_the_job();
    objects::be_process_of_program(process);
    if (process.settings.backtrace == tool::Switch::on) platform::report_faults(say_who);
    return process;
}

}  // namespace heddle::comm
