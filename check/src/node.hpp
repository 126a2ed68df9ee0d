// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What the ranks of a node tell each other for the checker: records in memory that all of them map.
///
/// A record is found by its key in a bucket, whose lock is held by Bucket. A rank takes records out of its own pieces of the
/// memory; those that another rank has finished with come back to their owner. When all are in use, add() answers
/// nullptr, and the checker looks at less.

#include <atomic>
#include <cstdint>
#include <string>

#include "places.hpp"
#include "sent.hpp"
#include "types.hpp"

namespace heddle::check {

enum class Sort : std::uint8_t { collective, pair, access, promise };

struct Key {
    Sort sort;
    std::uint64_t communicator, first, second;
    bool operator==(const Key& other) const noexcept {
        return sort == other.sort && communicator == other.communicator && first == other.first &&
            second == other.second;
    }
};

struct Record {
    std::uint32_t next;   ///< in its bucket or list
    std::uint32_t owner;  ///< the place on the node of the rank that made it
    Key key;
    Place place;
    Signature signature;
    std::int64_t number;  ///< accesses: the begin; collectives: a hash of the shares
    std::int64_t end;     ///< accesses: the end
    std::uint64_t operation;
    std::int32_t function;  ///< of the call
    std::int32_t root;
    std::int32_t rank;     ///< who made it, in MPI_COMM_WORLD
    std::int32_t arrived;  ///< collectives: ranks of the node
    std::uint8_t kind;     ///< accesses: which
    bool has_signature;
};

class Node {
public:
    /// Joins the ranks of this node: in memory that mpiexec has made for them, or else by calls of the library on
    /// MPI_COMM_WORLD, which wait for all ranks.
    static void join();
    /// nullptr: there is no such memory (sessions only, or the ranks cannot map it).
    static Node* get() noexcept;

    /// Whether the rank has begun to be checked, as far as all its job is on this machine; else it has in any case.
    static bool has_joined(int world_rank) noexcept;

    bool is_here(int world_rank) const noexcept { return place_of(world_rank) >= 0; }
    /// Ranks of the node have places from 0 on; -1: it is on another one.
    int place_of(int world_rank) const noexcept;
    int rank_at(int place) const noexcept;
    SentMessages& messages() noexcept;

    /// True for the first rank that says this.
    bool is_new(std::uint64_t finding) noexcept;
    std::uint32_t module(const char* path) noexcept;
    std::string module(std::uint32_t number) const;

    /// Messages to `world_rank` can no longer be told received from not.
    void lose_sight_of(int world_rank) noexcept;
    bool is_lost(int world_rank) const noexcept;
    /// Not all messages to `world_rank` have records, for there was no room: nothing is said of them any more.
    void lose_records_of(int world_rank) noexcept;
    bool has_all_records(int world_rank) const noexcept;
    /// True for the last rank of the node.
    bool leave() noexcept;

    std::uint32_t index_of(const Record& record) const noexcept;
    Record& at(std::uint32_t index) noexcept;

private:
    friend class Bucket;
    static void meet(int size);
    std::uint32_t take() noexcept;
    void give(std::uint32_t index) noexcept;
};

/// The bucket of a key, locked.
class Bucket {
public:
    Bucket(Node& node, const Key& key) noexcept;
    ~Bucket();
    Bucket(const Bucket&) = delete;
    Bucket& operator=(const Bucket&) = delete;

    /// The oldest record of the key after `after` (nullptr: from the beginning), or nullptr.
    Record* find(const Record* after = nullptr) const noexcept;
    /// A new one, the youngest of its key; nullptr: there is no room.
    Record* add() noexcept;
    void remove(Record& record) noexcept;

private:
    Node& node_;
    Key key_;
    std::uint32_t number_;
};

}  // namespace heddle::check
