// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// libfabric, loaded when a network is first asked for.
///
/// Its headers are those of the build. Most of its functions are called through tables of the
/// objects that it makes, and need no symbol. The few others are looked up in the versions that the
/// headers describe.
///
/// Loading        takes some milliseconds. If there are devices of RDMA, it takes up to 0.3 s with
///                some builds of libfabric (absent_networks.hpp). Code that knows that it will be
///                needed calls library() ahead, in another thread.
/// Thread safety  any thread.

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace heddle::transport::ofi {

struct Library {
    decltype(&fi_getinfo) getinfo = nullptr;
    decltype(&fi_freeinfo) freeinfo = nullptr;
    decltype(&fi_dupinfo) dupinfo = nullptr;
    decltype(&fi_fabric) fabric = nullptr;
    decltype(&fi_strerror) strerror = nullptr;
    decltype(&fi_version) version = nullptr;

    std::string missing;  ///< why it cannot be used; empty if it can
};

/// Returns libfabric. It is never unloaded: it has threads.
const Library& library();

/// A descriptor of providers.
struct FreeInfo {
    void operator()(fi_info* info) const noexcept { library().freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

/// An object of libfabric.
template <class Fid>
struct Close {
    void operator()(Fid* object) const noexcept { fi_close(&object->fid); }
};
template <class Fid>
using Owned = std::unique_ptr<Fid, Close<Fid>>;

/// Throws std::runtime_error with what libfabric says, if it says something.
inline void check(int code, const char* what) {
    if (code < 0) throw std::runtime_error(std::string(what) + ": " + library().strerror(-code));
}

/// The version of libfabric whose interface the code expects.
inline constexpr std::uint32_t interface_version = FI_VERSION(1, 17);

}  // namespace heddle::transport::ofi
