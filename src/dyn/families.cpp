// SPDX-License-Identifier: BSD-3-Clause
#include "dyn/families.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "dyn/meeting.hpp"
#include "objects/errors.hpp"
#include "objects/process.hpp"
#include "platform/signals.hpp"

namespace heddle::dyn {

using launch::ChildReport;

Family::Family(objects::Process& process, launch::Children children, comm::Key key)
    : process_(process), key_(key), children_(std::move(children)) {
    const platform::WithoutSignals inherited;
    thread_ = std::thread([this] { watch(); });
}

Family::~Family() {
    {
        const std::lock_guard guard(lock_);
        ends_ = true;
    }
    alarm_.ring();
    thread_.join();
}

ChildReport Family::failure() {
    const std::lock_guard guard(lock_);
    return failure_;
}

void Family::has_connected(objects::Members members) {
    const std::lock_guard guard(lock_);
    connected_ = true;
    members_ = std::move(members);
}

bool Family::is_connected() const {
    const std::lock_guard guard(lock_);
    return std::any_of(members_.begin(), members_.end(),
                       [this](std::int32_t member) { return process_.is_connected_with(member); });
}

void Family::release() {
    const std::lock_guard guard(lock_);
    children_.release();
}

void Family::watch() {
    for (;;) {
        alarm_.sleep(children_.descriptor(), std::chrono::hours{1});
        for (;;) {
            std::unique_lock guard(lock_);
            if (ends_) return;
            const auto report = children_.read();
            guard.unlock();
            if (!report) break;
            take(*report);
            if (report->kind == ChildReport::Kind::ended) return;
        }
    }
}

void Family::take(const ChildReport& report) {
    if (report.kind == ChildReport::Kind::started) return;
    std::unique_lock guard(lock_);
    const bool connected = connected_;
    if (!failed_) failure_ = report;
    failed_ = true;
    guard.unlock();
    if (!connected) return process_.letters->leave(key_, child_failed);
    if (report.kind == ChildReport::Kind::ended && report.exit_code != 0 && is_connected())
        objects::end_job(process_, report.exit_code,
                         "processes that this one has started ended with code " +
                             std::to_string(report.exit_code));
}

void Families::add(std::unique_ptr<Family> family) {
    const std::lock_guard guard(lock_);
    families_.push_back(std::move(family));
}

void Families::let_go() {
    std::list<std::unique_ptr<Family>> gone;
    {
        const std::lock_guard guard(lock_);
        for (auto at = families_.begin(); at != families_.end();) {
            const auto next = std::next(at);
            if (!(*at)->is_connected()) gone.splice(gone.end(), families_, at);
            at = next;
        }
    }
    for (const auto& family : gone) family->release();
}

void Families::let_all_go() {
    std::list<std::unique_ptr<Family>> gone;
    {
        const std::lock_guard guard(lock_);
        gone.swap(families_);
    }
    for (const auto& family : gone) family->release();
}

Families& families_of(objects::Process& process) {
    const std::lock_guard guard(process.set_up);
    if (process.families == nullptr) process.families = std::make_shared<Families>();
    return *process.families;
}

}  // namespace heddle::dyn
