// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Operations that are over, of which the lane has not heard: a list in the memory that an
/// operation has for its wire. And how many connections have failed of which the lane has not
/// heard.

#include <new>

#include "transport/wire.hpp"

namespace heddle::transport::sockets {

class Completions {
public:
    bool empty() const noexcept { return first_ == nullptr; }
    /// `error` of errno; 0: none.
    void push(Operation& operation, int error) noexcept {
        new (operation.context) Node{nullptr, error};
        (first_ == nullptr ? first_ : node(*last_).next) = &operation;
        last_ = &operation;
    }
    /// Returns false if there is none.
    bool pop(WireEvent& event) noexcept {
        if (empty()) return false;
        const Node over = node(*first_);
        event = {first_, {}, over.error};
        first_ = over.next;
        return true;
    }

    unsigned failures = 0;  ///< Outgoing::tell_failure() reports them

private:
    struct Node {
        Operation* next;
        int error;
    };
    static_assert(sizeof(Node) <= sizeof Operation::context);

    static Node& node(Operation& operation) noexcept {
        return *std::launder(reinterpret_cast<Node*>(operation.context));
    }

    Operation* first_ = nullptr;
    Operation* last_ = nullptr;
};

}  // namespace heddle::transport::sockets
