// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/wire.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>

#include "platform/random.hpp"

namespace heddle::transport::ofi {
namespace {

constexpr std::size_t short_batch = std::size_t{16} << 10;
constexpr std::size_t long_batch = (std::size_t{64} << 10) + 256;  ///< a message of 64 KiB
constexpr std::size_t receive_buffers = 32;

/// Returns whether the provider asks a receiver before it sends more than a short batch to it.
bool asks_before_long_ones(const fi_info& info) {
    return std::string_view(info.fabric_attr->prov_name).find("ofi_rxm") != std::string_view::npos;
}

/// Returns, of a set of descriptors (epoll), the one that is a set itself: that of the sockets.
/// Returns `set` if there is none.
int of_sockets(int set) {
    std::ifstream members("/proc/self/fdinfo/" + std::to_string(set));
    for (std::string word; members >> word;) {
        int member = -1;
        if (word != "tfd:" || !(members >> member)) continue;
        std::array<char, 64> kind{};
        const std::string name = "/proc/self/fd/" + std::to_string(member);
        if (readlink(name.c_str(), kind.data(), kind.size() - 1) > 0 &&
            std::string_view(kind.data()) == "anon_inode:[eventpoll]")
            return member;
    }
    return set;
}

}  // namespace

Wire::Wire(const Choice& choice, Sleeps sleeps) : info_(library().dupinfo(choice.info.get())) {
    if (info_ == nullptr) throw std::bad_alloc();
    batch_bytes_ = asks_before_long_ones(*info_) ? short_batch : long_batch;
    fid_fabric* fabric = nullptr;
    check(library().fabric(info_->fabric_attr, &fabric, nullptr), "fi_fabric");
    fabric_.reset(fabric);
    fid_domain* domain = nullptr;
    check(fi_domain(fabric, info_.get(), &domain, nullptr), "fi_domain");
    domain_.reset(domain);
    fid_av* addresses = nullptr;
    fi_av_attr of_addresses{};
    of_addresses.type = FI_AV_TABLE;
    check(fi_av_open(domain, &of_addresses, &addresses, nullptr), "fi_av_open");
    addresses_.reset(addresses);
    open_endpoint(sleeps);
    post_receives();
}

/// Destroys the endpoint first: operations under way refer to everything else.
Wire::~Wire() { endpoint_.reset(); }

void Wire::open_endpoint(Sleeps sleeps) {
    fid_cq* completions = nullptr;
    fi_cq_attr of_completions{};
    of_completions.format = FI_CQ_FORMAT_DATA;
    of_completions.wait_obj = sleeps == Sleeps::yes ? FI_WAIT_FD : FI_WAIT_NONE;
    check(fi_cq_open(domain_.get(), &of_completions, &completions, nullptr), "fi_cq_open");
    completions_.reset(completions);
    fid_ep* endpoint = nullptr;
    check(fi_endpoint(domain_.get(), info_.get(), &endpoint, nullptr), "fi_endpoint");
    endpoint_.reset(endpoint);
    check(fi_ep_bind(endpoint, &addresses_->fid, 0), "fi_ep_bind");
    check(fi_ep_bind(endpoint, &completions->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    check(fi_enable(endpoint), "fi_enable");
    if (sleeps == Sleeps::no) return;
    check(fi_control(&completions->fid, FI_GETWAIT, &descriptor_), "fi_control");
    // This is for version 1.17. Its fi_trywait() leaves a signal in the descriptor, which is
    // readable for ever then.
    if (std::string_view(info_->fabric_attr->prov_name) == "net")
        descriptor_ = of_sockets(descriptor_);
}

void Wire::post_receives() {
    for (std::size_t i = 0; i < receive_buffers; ++i) {
        auto& buffer = *receives_.emplace_back(std::make_unique<ReceiveBuffer>());
        buffer.what = Operation::What::receive;
        buffer.bytes = std::make_unique_for_overwrite<std::byte[]>(batch_bytes_);
        post_receive(buffer);
    }
}

/// Posts the buffer, or does so later if the provider does not take it now.
void Wire::post_receive(ReceiveBuffer& buffer) noexcept {
    void* const descriptor = descriptor_of(buffer.bytes.get(), batch_bytes_, FI_RECV);
    if (fi_recv(endpoint_.get(), buffer.bytes.get(), batch_bytes_, descriptor, FI_ADDR_UNSPEC,
                &buffer) != 0)
        unposted_.push_back(&buffer);
}

std::string Wire::address() const {
    std::string bytes(most_address, '\0');
    std::size_t length = bytes.size();
    check(fi_getname(&endpoint_->fid, bytes.data(), &length), "fi_getname");
    bytes.resize(length);
    return bytes;
}

fi_addr_t Wire::find(const std::string& address) {
    if (address.size() != info_->src_addrlen && address.size() != this->address().size())
        throw std::runtime_error("that is no address of the fabric " +
                                 std::string(info_->fabric_attr->prov_name));
    fi_addr_t found = FI_ADDR_UNSPEC;
    if (fi_av_insert(addresses_.get(), address.data(), 1, &found, 0, nullptr) != 1)
        throw std::runtime_error("the fabric does not take the address " + place(address));
    return found;
}

Sent Wire::judge(ssize_t code) noexcept {
    if (code == 0) return Sent::accepted;
    if (code == -FI_EAGAIN) return Sent::again;
    failure_ = static_cast<int>(-code);
    return Sent::failed;
}

Sent Wire::send(fi_addr_t to, SendBuffer& buffer, std::size_t bytes) noexcept {
    void* const descriptor = descriptor_of(buffer.bytes.get(), batch_bytes(), FI_SEND);
    return judge(fi_send(endpoint_.get(), buffer.bytes.get(), bytes, descriptor, to, &buffer));
}

Sent Wire::inject(fi_addr_t to, Bytes bytes) noexcept {
    return judge(fi_inject(endpoint_.get(), bytes.data(), bytes.size(), to));
}

std::size_t Wire::events(std::span<WireEvent> events) noexcept {
    for (std::size_t left = unposted_.size(); left > 0; --left) {
        ReceiveBuffer& buffer = *unposted_.front();
        unposted_.erase(unposted_.begin());
        post_receive(buffer);
    }
    std::array<fi_cq_data_entry, 16> entries;
    const ssize_t count =
        fi_cq_read(completions_.get(), entries.data(), std::min(entries.size(), events.size()));
    if (count == -FI_EAVAIL) return understand_failure(events.front()) ? 1 : 0;
    std::size_t understood = 0;
    for (ssize_t i = 0; i < count; ++i)
        if (understand(entries[static_cast<std::size_t>(i)], events[understood])) ++understood;
    return understood;
}

/// Returns false if the lane need not know of it.
bool Wire::understand(const fi_cq_data_entry& entry, WireEvent& event) noexcept {
    auto* const operation = static_cast<Operation*>(entry.op_context);
    if (operation == nullptr) return false;
    event = {operation, {}, 0};
    if (operation->what == Operation::What::read) registered_.erase(operation);
    if (operation->what != Operation::What::receive) return true;
    auto& buffer = static_cast<ReceiveBuffer&>(*operation);
    if (entry.len == 0) {
        post_receive(buffer);
        return false;
    }
    event.received = {buffer.bytes.get(), entry.len};
    return true;
}

bool Wire::understand_failure(WireEvent& event) noexcept {
    fi_cq_err_entry entry{};
    if (fi_cq_readerr(completions_.get(), &entry, 0) != 1) return false;
    remember(entry);
    auto* const operation = static_cast<Operation*>(entry.op_context);
    if (operation == nullptr) return false;
    if (operation->what == Operation::What::receive) {
        post_receive(static_cast<ReceiveBuffer&>(*operation));
        return false;
    }
    if (operation->what == Operation::What::read) registered_.erase(operation);
    event = {operation, {}, entry.err != 0 ? entry.err : EIO};
    return true;
}

void Wire::remember(const fi_cq_err_entry& entry) noexcept try {
    const char* const detail =
        fi_cq_strerror(completions_.get(), entry.prov_errno, entry.err_data, nullptr, 0);
    last_error_ = library().strerror(entry.err);
    if (detail != nullptr && last_error_ != detail) last_error_ += std::string(" (") + detail + ")";
} catch (const std::bad_alloc&) {
    // Only the report of it is lost.
}

void Wire::release(Operation& operation) noexcept {
    post_receive(static_cast<ReceiveBuffer&>(operation));
}

bool Wire::diagnose(const std::string& address, std::string& why) {
    why = probes_.try_emplace(address, address).first->second.finding();
    return !why.empty();
}

bool Wire::is_acknowledged(const std::string& address, std::chrono::milliseconds within) noexcept {
    const auto probe = probes_.find(address);
    return probe != probes_.end() && probe->second.is_acknowledged(within);
}

bool Wire::may_sleep() noexcept {
    fid* queue = &completions_->fid;
    return fi_trywait(fabric_.get(), &queue, 1) == 0;
}

Owned<fid_mr> Wire::register_memory(const void* begin, std::size_t bytes, std::uint64_t access) {
    fid_mr* made = nullptr;
    std::uint64_t key = 0;  // a process that guesses it could read the memory
    platform::random_bytes(&key, std::min(sizeof key, info_->domain_attr->mr_key_size));
    check(fi_mr_reg(domain_.get(), begin, bytes, access, 0, key, 0, &made, nullptr), "fi_mr_reg");
    Owned<fid_mr> registration(made);
    if (has_mode(FI_MR_ENDPOINT)) {
        check(fi_mr_bind(made, &endpoint_->fid, 0), "fi_mr_bind");
        check(fi_mr_enable(made), "fi_mr_enable");
    }
    return registration;
}

/// Returns what names memory of ours in a call. Registers the memory if the provider wants that.
void* Wire::descriptor_of(const void* begin, std::size_t bytes, std::uint64_t access) {
    if (!has_mode(FI_MR_LOCAL)) return nullptr;
    Owned<fid_mr>& registration = registered_[begin];
    if (registration == nullptr) registration = register_memory(begin, bytes, access);
    return fi_mr_desc(registration.get());
}

Wire::Exposed Wire::expose(Bytes memory) {
    Owned<fid_mr> registration = register_memory(memory.data(), memory.size(), FI_REMOTE_READ);
    const std::uint64_t key = fi_mr_key(registration.get());
    const auto address =
        has_mode(FI_MR_VIRT_ADDR) ? reinterpret_cast<std::uint64_t>(memory.data()) : 0;
    return {std::move(registration), {address, key}};
}

Sent Wire::read(fi_addr_t from, RemoteMemory remote, std::span<std::byte> local,
                Operation& operation) noexcept try {
    void* descriptor = nullptr;
    if (has_mode(FI_MR_LOCAL)) {
        Owned<fid_mr>& registration = registered_[&operation];
        registration = register_memory(local.data(), local.size(), FI_READ);
        descriptor = fi_mr_desc(registration.get());
    }
    const Sent sent = judge(fi_read(endpoint_.get(), local.data(), local.size(), descriptor, from,
                                    remote.address, remote.key, &operation));
    if (sent != Sent::accepted) registered_.erase(&operation);
    return sent;
} catch (const std::exception&) {
    failure_ = ENOMEM;
    return Sent::failed;
}

}  // namespace heddle::transport::ofi
