// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/far/network_worker.hpp"

#include <chrono>

#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "p2p/far/network.hpp"
#include "platform/sanitizers.hpp"
#include "platform/signals.hpp"

namespace heddle::p2p {
namespace {

/// Well below the time after which a silent process is given up (transport::Patience).
constexpr std::chrono::milliseconds longest_sleep{1'000};
/// Time between two looks whether threads of the program still poll.
constexpr std::chrono::milliseconds nap{1};

}  // namespace

NetworkWorker::NetworkWorker(objects::Process& process, Network& network)
    : process_(process), network_(network) {
    const platform::WithoutSignals inherited;
    thread_ = std::thread([this] { work(); });
}

NetworkWorker::~NetworkWorker() {
    ends_.store(true, relaxed);
    network_.ring();
    thread_.join();
}

void NetworkWorker::work() {
    const platform::LibraryCode library;
    core::Thread& thread = objects::attach(process_, true);
    if (network_.counts_traffic() && thread.attached != nullptr)
        thread.attached->of_library.store(node::of_library_and_counted, relaxed);
    Engine& engine = *process_.engine;
    const ProgramThreads::Present present(engine.threads());
    UnexpectedNotice& notice = engine.polling().unexpected_notice();
    while (!ends_.load(relaxed)) {
        const std::uint32_t sleepers = engine.polling().sleepers();
        if (!network_.needs_worker(sleepers)) {
            network_.nap(nap);
        } else if (!engine.far().poll_surely(thread)) {
            // Messages that the worker has kept have woken no thread of the program.
            if (sleepers != 0 && notice.is_stale() && notice.is_cheap()) notice.write(thread);
            network_.sleep(longest_sleep);
        }
    }
}

}  // namespace heddle::p2p
