// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A wire (transport/wire.hpp) over libfabric. It has a domain, an endpoint, a completion queue and
/// an address vector of its own. So wires of one process share no lock (FI_THREAD_DOMAIN).
///
/// Receives       one buffer for each batch. It is the provider's until the event that says what
///                came in it. When that was released, the buffer is posted again. The wire does not
///                ask for buffers for several messages (FI_MULTI_RECV). `net` of version 1.17 says
///                that it has done with one while messages of other connections still come into it.
/// Keys           of memory that others may read are 64 random bits, if the provider leaves the
///                choice.
/// Sleeping       a wire that may sleep has a completion queue with a descriptor, which is slower
///                to poll.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "transport/lane.hpp"
#include "transport/ofi/choice.hpp"
#include "transport/probe.hpp"

namespace heddle::transport::ofi {

enum class Sleeps : bool { no, yes };

class Wire {
public:
    static constexpr std::string_view name = "ofi";
    using Destination = fi_addr_t;

    /// Memory that others may read.
    class Exposed {
    public:
        Exposed(Owned<fid_mr> registration, RemoteMemory remote) noexcept
            : registration_(std::move(registration)), remote_(remote) {}
        RemoteMemory remote() const noexcept { return remote_; }

    private:
        Owned<fid_mr> registration_;
        RemoteMemory remote_;
    };

    /// Throws std::runtime_error with what libfabric says.
    explicit Wire(const Choice& choice, Sleeps sleeps);
    ~Wire();
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    std::string address() const;
    fi_addr_t find(const std::string& address);
    std::string place(const std::string& address) const {
        return in_figures(address.data(), address.size(), true);
    }

    std::size_t batch_bytes() const noexcept { return batch_bytes_; }
    Sent send(fi_addr_t to, SendBuffer& buffer, std::size_t bytes) noexcept;
    Sent inject(fi_addr_t to, Bytes bytes) noexcept;
    std::size_t inject_limit() const noexcept { return info_->tx_attr->inject_size; }
    std::size_t events(std::span<WireEvent> events) noexcept;
    void release(Operation& operation) noexcept;
    int failure() const noexcept { return failure_; }
    const std::string& last_error() const noexcept { return last_error_; }

    bool diagnose(const std::string& address, std::string& why);
    bool is_acknowledged(const std::string& address, std::chrono::milliseconds within) noexcept;
    void end_diagnosis(const std::string& address) noexcept { probes_.erase(address); }

    int descriptor() const noexcept { return descriptor_; }
    bool may_sleep() noexcept;

    bool can_read() const noexcept { return (info_->caps & FI_RMA) != 0; }
    bool can_read(fi_addr_t) const noexcept { return can_read(); }
    Exposed expose(Bytes memory);
    Sent read(fi_addr_t from, RemoteMemory remote, std::span<std::byte> local,
              Operation& operation) noexcept;

private:
    struct ReceiveBuffer : Operation {
        std::unique_ptr<std::byte[]> bytes;
    };

    void open_endpoint(Sleeps sleeps);
    void post_receives();
    void post_receive(ReceiveBuffer& buffer) noexcept;
    Sent judge(ssize_t code) noexcept;
    bool understand(const fi_cq_data_entry& entry, WireEvent& event) noexcept;
    bool understand_failure(WireEvent& event) noexcept;
    void remember(const fi_cq_err_entry& entry) noexcept;

    bool has_mode(int bit) const noexcept { return (info_->domain_attr->mr_mode & bit) != 0; }
    Owned<fid_mr> register_memory(const void* begin, std::size_t bytes, std::uint64_t access);
    void* descriptor_of(const void* begin, std::size_t bytes, std::uint64_t access);

    Info info_;
    std::size_t batch_bytes_;
    Owned<fid_fabric> fabric_;
    Owned<fid_domain> domain_;
    Owned<fid_av> addresses_;
    Owned<fid_cq> completions_;
    std::map<const void*, Owned<fid_mr>> registered_;  ///< our own memory, if that needs
                                                       ///< registration
    Owned<fid_ep> endpoint_;
    std::vector<std::unique_ptr<ReceiveBuffer>> receives_;
    std::vector<ReceiveBuffer*> unposted_;
    std::map<std::string, Probe> probes_;
    int descriptor_ = -1;
    int failure_ = 0;
    std::string last_error_;
};
static_assert(transport::Wire<Wire>);

using Lane = transport::Lane<Wire>;
static_assert(Transport<Lane>);

}  // namespace heddle::transport::ofi
