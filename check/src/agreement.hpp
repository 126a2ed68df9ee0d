// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The templates of Agreement (checks.hpp): arrays of counts come as int and as MPI_Count.

#include "checks.hpp"
#include "communicators.hpp"

namespace heddle::check {

/// The limit on ranks for comparing pairs. In larger groups, data with a length for each pair are
/// not compared.
inline constexpr int most_pairs = 64;

inline bool Agreement::compares_pairs() const noexcept {
    return !comm_->inter && comm_->size <= most_pairs;
}

inline MPI_Datatype nth(MPI_Datatype type, int) { return type; }
inline MPI_Datatype nth(const MPI_Datatype* types, int i) {
    return is_memory(types) ? types[i] : MPI_DATATYPE_NULL;
}

template <class Counts>
void Agreement::vector(const Counts* counts, MPI_Datatype datatype) {
    if (comm_ == nullptr || comm_->inter || !is_memory(counts) || type_of(datatype) == nullptr)
        return;
    for (int i = 0; i < comm_->size; ++i) {
        const Signature part = signature_of(datatype, counts[i]);
        signature_.append(part);
        // The same data in other shares must differ.
        shares_ = (shares_ ^ static_cast<std::uint64_t>(part.bytes + 1)) * 0x9e3779b97f4a7c15;
    }
    has_signature_ = true;
}

template <class Counts>
void Agreement::own(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                    const Counts* counts, MPI_Datatype of_counts) {
    if (comm_ == nullptr || comm_->inter || buffer == MPI_IN_PLACE || !is_memory(counts)) return;
    local(signature_of(datatype, count), signature_of(of_counts, counts[comm_->rank]));
}

template <class Counts>
void Agreement::from_all(const Counts* counts, MPI_Datatype datatype) {
    if (comm_ == nullptr || !compares_pairs() || !is_root() || !is_memory(counts)) return;
    for (int i = 0; i < comm_->size; ++i)
        if (i != root_) pair(i, root_, signature_of(datatype, counts[i]), false);
}

template <class Counts>
void Agreement::to_all(const Counts* counts, MPI_Datatype datatype) {
    if (comm_ == nullptr || !compares_pairs() || !is_root() || !is_memory(counts)) return;
    for (int i = 0; i < comm_->size; ++i)
        if (i != root_) pair(root_, i, signature_of(datatype, counts[i]), true);
}

template <class Counts, class Types>
void Agreement::pairs(const void* buffer, const Counts* send_counts, Types send_types,
                      const Counts* receive_counts, Types receive_types) {
    if (comm_ == nullptr || !compares_pairs() || !is_memory(receive_counts)) return;
    if (buffer != MPI_IN_PLACE && !is_memory(send_counts)) return;
    for (int i = 0; i < comm_->size; ++i) {
        const Signature taken = signature_of(nth(receive_types, i), receive_counts[i]);
        // In place, the receive buffer is what is sent.
        const Signature given =
            buffer == MPI_IN_PLACE ? taken : signature_of(nth(send_types, i), send_counts[i]);
        pair(comm_->rank, i, given, true);
        pair(i, comm_->rank, taken, false);
    }
}

}  // namespace heddle::check
