// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Networks for which libfabric need not look, since they are not on this machine. Otherwise it
/// takes 0.3 s of each process to be loaded.

#include <array>

#include "transport/ofi/library.hpp"

namespace heddle::transport::ofi {

/// Returns whether there are devices of InfiniBand or its like (RoCE, EFA), Omni-Path or True
/// Scale.
bool has_rdma_devices() noexcept;

/// Libraries of networks that measure the processor's clock for 0.1 s each when they are loaded.
/// They do so whether they have a device or not. While this exists the loader takes small ones of
/// the same name in their place. All functions of these say that there is no device. A library that
/// is linked to them then keeps them.
class AbsentNetworks {
public:
    AbsentNetworks() noexcept;
    ~AbsentNetworks();
    AbsentNetworks(const AbsentNetworks&) = delete;
    AbsentNetworks& operator=(const AbsentNetworks&) = delete;

private:
    std::array<void*, 2> libraries_{};
};

/// Has providers initialised, in the calling thread, which should end then. They look through the
/// names of the kernel's functions for one that devices of RDMA call, all 200,000 of them. Here
/// they do not get to see them.
void initialize_without_rdma(const Library& library) noexcept;

}  // namespace heddle::transport::ofi
