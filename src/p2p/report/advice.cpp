// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/report/advice.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "objects/process.hpp"
#include "p2p/engine.hpp"
#include "p2p/report/counters.hpp"
#include "p2p/report/describe.hpp"
#include "sync/asymmetric_fence.hpp"

namespace heddle::p2p {
namespace {

using Index = tool::CounterIndex;

// Thresholds above which a finding stands out.
constexpr std::uint64_t few = 1000;  ///< messages that prove nothing yet
/// Times that a thread waited for another that prove nothing yet.
constexpr std::uint64_t few_waits = 10;
constexpr std::uint64_t rare_full_rings = 20;  ///< messages for each that found its ring full
constexpr std::uint64_t long_search = 8;       ///< entries

std::string percent(std::uint64_t part, std::uint64_t whole) {
    return std::to_string((200 * part + whole) / (2 * whole)) + " %";
}

/// The advice on one process, rule after rule.
class Adviser {
public:
    explicit Adviser(const Findings& findings)
        : settings_(findings.settings),
          counted_(findings.counted),
          contended_(findings.contended),
          fences_(findings.fences),
          small_writes_(findings.small_writes),
          instances_(findings.instances),
          threads_(findings.threads) {}

    std::vector<std::string> all() {
        about_locks();
        about_tags();
        about_any_tag();
        about_memory();
        about_rings();
        about_searches();
        about_early_messages();
        about_fences();
        about_small_writes();
        return std::move(said_);
    }

private:
    std::uint64_t of(Index which) const noexcept { return counted_[which]; }
    std::uint64_t received() const noexcept {
        return of(Index::received_messages) + of(Index::self_messages);
    }
    std::uint64_t messages() const noexcept { return of(Index::sent_messages) + received(); }

    void about_locks() {
        if (settings_.critical_section == tool::Granularity::lock_free ||
            of(Index::lock_contended) == 0)
            return;
        said_.push_back(
            "threads waited " + std::to_string(of(Index::lock_wait) / 1'000'000) +
            " ms, added up, for locks of " + "HEDDLE_CRITICAL_SECTION=" +
            tool::Choice<tool::Granularity>::print(settings_.critical_section) + ", " +
            percent(of(Index::lock_contended),
                    of(Index::lock_acquisitions_main) + of(Index::lock_acquisitions_progress)) +
            " of which were not free; the default recipe has none");
    }

    /// Advises on threads that share one instance: they share a tag, or their tags meet there.
    void about_tags() {
        std::uint64_t waits = 0;
        for (const Contention& one : contended_) waits += one.what.times;
        if (waits < few_waits) return;
        std::sort(
            contended_.begin(), contended_.end(),
            [](const Contention& a, const Contention& b) { return a.what.times > b.what.times; });
        const Contention& most = contended_.front();
        const auto meets = [&](const Contention& other) {
            return other.instance == most.instance && other.what.tag != most.what.tag &&
                2 * other.what.times > most.what.times;
        };
        const auto other = std::find_if(contended_.begin() + 1, contended_.end(), meets);
        const bool shared = other == contended_.end();
        const std::uint64_t times = most.what.times + (shared ? 0 : other->what.times);
        const std::string communicator = " on " + describe_context(most.what.context);
        const std::string share = percent(times, waits) + " of the " + std::to_string(waits) +
            " times that one waited for another, in " + std::to_string(messages()) + " messages";
        said_.push_back(shared ? "threads share tag " + std::to_string(most.what.tag) +
                                communicator + ": " + share +
                                "; a tag of its own for each thread would remove that"
                               : "threads with tags " + std::to_string(most.what.tag) + " and " +
                                std::to_string(other->what.tag) + communicator +
                                " go through one instance: " + share +
                                "; consecutive tags go through different ones (there are " +
                                std::to_string(instances_) + ")");
    }

    void about_any_tag() {
        if (threads_ < 2 || of(Index::any_tag_everywhere) < few) return;
        said_.push_back(
            "receives with MPI_ANY_TAG were posted on communicators whose messages have many tags: "
            "while "
            "one is, all threads match in one order, under one lock; "
            "a communicator of their own, with one tag, for messages that any thread may take "
            "would "
            "confine that");
    }

    void about_memory() {
        if (of(Index::withheld) == 0) return;
        said_.push_back(std::to_string(of(Index::withheld)) +
                        " sends had to wait for their receives because a receiver was above "
                        "HEDDLE_UNEXPECTED_LIMIT");
    }

    void about_rings() {
        const std::uint64_t sent = of(Index::sent_messages);
        if (sent < few || of(Index::ring_full) < sent / rare_full_rings) return;
        said_.push_back(percent(of(Index::ring_full), sent) +
                        " of the messages sent found their ring full: they come faster than their "
                        "receivers call MPI");
    }

    void about_searches() {
        const std::uint64_t searches = of(Index::searches);
        if (searches < few || of(Index::search_steps) / searches < long_search) return;
        said_.push_back("searches looked at " + std::to_string(of(Index::search_steps) / searches) +
                        " entries on average; HEDDLE_MATCHER=hash looks at one");
    }

    void about_early_messages() {
        const std::uint64_t early = of(Index::unexpected_messages);
        if (early < few || 2 * early < received()) return;
        said_.push_back(percent(early, received()) +
                        " of the messages received came before their receives were posted, and "
                        "were copied once more "
                        "for that; receives that are posted earlier would save it");
    }

    /// Advises on alternating pieces of many ranks that are written alone.
    void about_small_writes() {
        const objects::SmallWrites& most = small_writes_;
        if (most.writes < few || most.ranks < 2) return;
        said_.push_back(
            std::to_string(most.writes) + " pieces of " + std::to_string(most.bytes / most.writes) +
            " bytes on average, with gaps between them, went to the file \"" + most.file +
            "\" one by one; its " + std::to_string(most.ranks) +
            " ranks would write pieces that alternate in long runs, up to 1 MiB each, by "
            "MPI_File_write_all");
    }

    void about_fences() {
        if (fences_.empty()) return;
        const RefusedFences& first = fences_.front();
        const std::size_t others = fences_.size() - 1;
        said_.push_back(
            "the kernel refuses membarrier to rank " + std::to_string(first.rank) + " (" +
            std::strerror(first.error) + ")" +
            (others == 0 ? "" : " and to " + std::to_string(others) + " more") +
            ": threads that wait wake up now and then to see what they may have missed, and there "
            "are no "
            "biased locks; a container's or sandbox's filter that lets it pass would remove that");
    }

    const tool::Settings& settings_;
    const tool::Values& counted_;
    std::vector<Contention> contended_;
    const std::vector<RefusedFences>& fences_;
    const objects::SmallWrites& small_writes_;
    const std::size_t instances_, threads_;
    std::vector<std::string> said_;
};

/// Returns the ranks whose kernels refuse fences: what the others published at start, and what this
/// one has learned since.
std::vector<RefusedFences> refused_fences(const objects::Process& process) {
    std::vector<RefusedFences> refused;
    for (std::int32_t number = 0; number < process.numbers.here(); ++number) {
        const int error = number == process.number()
            ? sync::HeavyFences::refusal()
            : process.node.page(static_cast<std::size_t>(number)).fences_refused.load(relaxed);
        if (error != 0) refused.push_back({process.numbers.rank_of(number), error});
    }
    return refused;
}

}  // namespace

Findings findings_of(objects::Process& process) {
    Engine& engine = *process.engine;
    objects::SmallWrites small_writes;
    {
        const std::lock_guard guard(process.files->counting);
        small_writes = process.files->small_writes;
    }
    return {process.settings,       read_counters(process), engine.contended(),
            engine.instances(),     count_threads(process), refused_fences(process),
            std::move(small_writes)};
}

std::vector<std::string> advise(const Findings& findings) { return Adviser(findings).all(); }

}  // namespace heddle::p2p
