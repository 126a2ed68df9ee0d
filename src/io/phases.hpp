// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The common part of both methods of a collective access with aggregators: the owners of windows,
/// their contents, and the aggregator's reads and writes.
///
/// Memory         a process has the memory for the whole access before any process begins
///                (Workplace). A process without memory for a window sends and receives its
///                messages all the same, but not their contents. The others go on, and all learn of
///                its failure at the end.

#include <array>
#include <chrono>
#include <cstdint>
#include <new>
#include <vector>

#include "core/thread.hpp"
#include "io/in_file_system.hpp"
#include "io/parcels.hpp"
#include "io/plan.hpp"
#include "io/stream.hpp"

namespace heddle::io {

/// An access of this process within a collective one.
struct Joint {
    core::Thread& thread;
    OpenFile& file;
    const Part& part;
    Stream& stream;
    const bool writes;
    const std::int32_t tag;  ///< of this call and the few that follow it
    const std::vector<Share>& shares;
};

/// Parcels for an access of several processes.
class Workplace {
public:
    using Parcels = std::vector<Parcel>;

    /// Makes the parcels. Returns false if there is no memory for them.
    bool make(std::int32_t processes) noexcept try {
        for (Parcels* parcels : {&in, &out[0], &out[1]})
            parcels->resize(static_cast<std::size_t>(processes));
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }

    Parcels in;                  ///< of the others, by rank
    std::array<Parcels, 2> out;  ///< of this process, by domain, of two windows in a row
};

class Phases {
protected:
    Phases(const Joint& joint, std::int64_t window_bytes, Workplace& place) noexcept
        : joint_(joint),
          domains_(joint.shares),
          window_bytes_(window_bytes),
          me_(joint.file.communicator->rank),
          in_(place.in),
          out_(place.out) {
        for (std::int32_t domain = 0; domain < domains_.count; ++domain)
            if (domains_.rank(domain) == me_) own_ = domain;
    }

    std::int64_t windows() const noexcept {
        return (domains_.each + window_bytes_ - 1) / window_bytes_;
    }
    /// The place of the i-th window of a domain. Begin and end are the same if there is none.
    struct Span {
        std::int64_t begin, end;
        bool empty() const noexcept { return begin >= end; }
    };
    Span window(std::int32_t domain, std::int64_t i) const noexcept {
        const std::int64_t end = domains_.end_of(domain);
        const std::int64_t begin = std::min(end, domains_.begin_of(domain) + i * window_bytes_);
        return {begin, std::min(end, begin + window_bytes_)};
    }

    /// The data of this process in a window, as bytes of the stream.
    struct Bytes {
        std::uint64_t from, bytes;
    };
    Bytes data_in(const Span& span) const noexcept;
    bool has_data_in(const Span& span) const noexcept {
        return meets(joint_.shares[static_cast<std::size_t>(me_)], span);
    }
    /// Fills a parcel with this process's data there. Data to be sent stay in their place, unless
    /// they must be packed.
    void fill(const Bytes& bytes, Parcel& parcel) noexcept;

    /// Calls visit(parcel, rank) for the parcels of others in the window.
    template <class Visit>
    void each_other(const Span& span, Visit visit) {
        for (std::size_t rank = 0; rank < in_.size(); ++rank)
            if (static_cast<std::int32_t>(rank) != me_ && meets(joint_.shares[rank], span))
                visit(in_[rank], static_cast<std::int32_t>(rank));
    }
    void send_list(Messages& messages, Parcel& parcel, std::int32_t aggregator) noexcept;
    /// Collects the bytes that the others have in the window: heads, and lists if they are long.
    void collect_lists(const Span& span);
    /// Covers the sections of all, with `mine` of this process. The window is open.
    void cover(Parcel& mine) noexcept;
    void note_no_memory() noexcept { note(Failure::of_class(MPI_ERR_NO_MEM, "out of memory")); }

    void write(Window& window);
    void read(Window& window);

    Workplace::Parcels& parcels(std::int64_t i) noexcept {
        return out_[static_cast<std::size_t>(i % 2)];
    }
    Messages messages() const noexcept { return {joint_.thread, *joint_.file.communicator}; }
    void finish(Messages& messages) noexcept;
    void note(const Failure& failure) noexcept {
        if (!failure_) failure_ = failure;
    }
    /// Calls work(), counts, and returns the first failure.
    template <class Work>
    Failure counted(Work work) {
        const auto begin = sync::Native::now();
        work();
        const auto others = sync::Native::now() - begin - in_system_;
        counted_.message_ns = static_cast<std::uint64_t>(others.count());
        count(*joint_.thread.process, counted_);
        return failure_;
    }

    const Joint& joint_;
    const Domains domains_;
    const std::int64_t window_bytes_;
    const std::int32_t me_;
    std::int32_t own_ = -1;   ///< domain of this process; -1: none
    Workplace::Parcels& in_;  ///< memory of one window after the other
    std::array<Workplace::Parcels, 2>& out_;
    Window covered_;  ///< the window that this process works on as an aggregator
    Exchanged counted_;

private:
    void cover_all(Parcel& mine);
    static bool meets(const Share& share, const Span& span) noexcept {
        return !span.empty() && !share.empty() && share.meets(span.begin, span.end);
    }

    std::vector<Section> sections_;
    Failure failure_;
    std::chrono::nanoseconds in_system_{};
};

}  // namespace heddle::io
