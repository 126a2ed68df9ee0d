// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Records for the checker, by which the ranks of a node exchange data. They are in memory that all
/// of the ranks map.
///
/// A record is found by its key in a bucket, whose lock is held by Bucket. A rank takes records out
/// of its own pieces of the memory. Records that another rank has finished with come back to their
/// owner. When all are in use, add() returns nullptr, and the checker checks less.

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
    std::uint32_t next;   ///< the next in its bucket or list
    std::uint32_t owner;  ///< the place on the node of the rank that made it
    Key key;
    Place place;
    Signature signature;
    std::int64_t number;  ///< accesses: the begin; collectives: a hash of the shares
    std::int64_t end;     ///< accesses: the end
    std::uint64_t operation;
    std::int32_t function;  ///< the call's function
    std::int32_t root;
    std::int32_t rank;     ///< its maker, in MPI_COMM_WORLD
    std::int32_t arrived;  ///< collectives: number of the node's ranks that came
    std::uint8_t kind;     ///< the kind of access
    bool has_signature;
};

class Node {
public:
    /// Joins the ranks of this node. They share memory that mpiexec has made for them. Without it,
    /// the library is called on MPI_COMM_WORLD, which waits for all ranks.
    static void join();
    /// Returns nullptr if there is no such memory (sessions only, or the ranks cannot map it).
    static Node* get() noexcept;

    /// Returns whether the rank has begun to be checked if its whole job is on this machine.
    /// Otherwise returns true.
    static bool has_joined(int world_rank) noexcept;

    bool is_here(int world_rank) const noexcept { return place_of(world_rank) >= 0; }
    /// Returns the rank's place on the node, from 0 on, or -1 if it is on another node.
    int place_of(int world_rank) const noexcept;
    int rank_at(int place) const noexcept;
    SentMessages& messages() noexcept;

    /// Returns true for the first rank with this finding.
    bool is_new(std::uint64_t finding) noexcept;
    std::uint32_t module(const char* path) noexcept;
    std::string module(std::uint32_t number) const;

    /// Notes that received and unreceived messages to `world_rank` can no longer be told apart.
    void lose_sight_of(int world_rank) noexcept;
    bool is_lost(int world_rank) const noexcept;
    /// Notes that some messages to `world_rank` have no records, for lack of room. Nothing is
    /// reported about its messages any more.
    void lose_records_of(int world_rank) noexcept;
    bool has_all_records(int world_rank) const noexcept;
    /// Returns true for the last rank of the node.
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

    /// Returns the key's oldest record after `after` (nullptr: of all), or nullptr.
    Record* find(const Record* after = nullptr) const noexcept;
    /// Returns a new record, the youngest of its key, or nullptr if there is no room.
    Record* add() noexcept;
    void remove(Record& record) noexcept;

private:
    Node& node_;
    Key key_;
    std::uint32_t number_;
};

}  // namespace heddle::check
