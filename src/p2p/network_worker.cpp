// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/network_worker.hpp"

#include <chrono>
#include <csignal>

#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "p2p/network.hpp"

namespace heddle::p2p {
namespace {

/// Well below the time after which a silent process is given up (transport::Patience).
constexpr std::chrono::milliseconds longest_sleep{1'000};
/// Between two looks whether threads of the program still poll.
constexpr std::chrono::milliseconds nap{1};

/// Signals of the program are for the program's threads.
class WithoutSignals {
public:
    WithoutSignals() noexcept {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    WithoutSignals(const WithoutSignals&) = delete;
    WithoutSignals& operator=(const WithoutSignals&) = delete;

private:
    sigset_t before_;
};

}  // namespace

NetworkWorker::NetworkWorker(objects::Process& process, Network& network)
    : process_(process), network_(network) {
    const WithoutSignals inherited;
    thread_ = std::thread([this] { work(); });
}

NetworkWorker::~NetworkWorker() {
    ends_.store(true, relaxed);
    network_.ring();
    thread_.join();
}

void NetworkWorker::work() {
    core::Thread& thread = objects::attach(process_);
    while (!ends_.load(relaxed)) {
        if (!network_.needs_worker())
            network_.nap(nap);
        else if (!process_.engine->poll_network_surely(thread))
            network_.sleep(longest_sleep);
    }
}

}  // namespace heddle::p2p
