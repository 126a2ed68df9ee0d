// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/choice.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <fstream>
#include <netinet/in.h>
#include <string_view>

namespace heddle::transport::ofi {
namespace {

/// The best first. Providers that are not here carry no messages between hosts, or emulate what one
/// of these does. `net` became `tcp` after version 1.17, whose other provider for TCP takes 50 ms
/// for each lane.
constexpr std::array<std::string_view, 7> preference{"cxi", "efa", "verbs;ofi_rxm", "psm3",
                                                     "tcp", "net", "tcp;ofi_rxm"};
/// Providers that are taken if asked for by name.
constexpr std::array<std::string_view, 5> others{"opx", "psm2", "ucx", "sockets", "shm"};

/// Returns the place of the name in the list; the size of the list if it is not there.
template <std::size_t count>
std::size_t rank_in(const std::array<std::string_view, count>& list, std::string_view name) {
    return static_cast<std::size_t>(std::find(list.begin(), list.end(), name) - list.begin());
}

std::string provider_of(const fi_info& info) { return info.fabric_attr->prov_name; }
std::string interface_of(const fi_info& info) { return info.domain_attr->name; }

/// Returns what a lane asks of any provider.
Info hints(std::uint64_t capabilities) {
    Info asked(library().dupinfo(nullptr));
    if (asked == nullptr) throw std::bad_alloc();
    asked->caps = capabilities;
    asked->mode = FI_CONTEXT | FI_CONTEXT2;
    asked->ep_attr->type = FI_EP_RDM;
    asked->domain_attr->threading = FI_THREAD_DOMAIN;
    asked->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    asked->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    asked->domain_attr->resource_mgmt = FI_RM_ENABLED;
    asked->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    asked->tx_attr->msg_order = FI_ORDER_SAS;
    asked->rx_attr->msg_order = FI_ORDER_SAS;
    return asked;
}

/// Returns all providers that can do this, or nullptr if there is none.
Info ask(fi_info& asked) {
    fi_info* found = nullptr;
    if (library().getinfo(interface_version, nullptr, nullptr, 0, &asked, &found) != 0)
        return nullptr;
    return Info(found);
}

/// Returns the interface of packets without another route; empty if there is none.
std::string default_interface() {
    std::ifstream routes("/proc/net/route");
    std::string line;
    while (std::getline(routes, line)) {
        const std::size_t end = line.find('\t');
        if (end != std::string::npos && line.compare(end, 10, "\t00000000\t") == 0)
            return line.substr(0, end);
    }
    return {};
}

/// Returns how far back an interface stands.
int distance_of(const fi_info& info) {
    static const std::string by_default = default_interface();
    const std::string name = interface_of(info);
    const bool local = name == "lo";
    const bool inner =
        name.starts_with("docker") || name.starts_with("virbr") || name.starts_with("br-");
    int distance = local ? 6 : inner ? 4 : name == by_default ? 0 : 2;
    // Addresses of version 4 are what people expect, and those of a link are useless without its
    // name.
    if (info.addr_format == FI_SOCKADDR_IN6) ++distance;
    return distance;
}

bool is_link_local(const fi_info& info) {
    if (info.addr_format != FI_SOCKADDR_IN6 || info.src_addr == nullptr) return false;
    const auto& address = *static_cast<const sockaddr_in6*>(info.src_addr);
    return IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr);
}

Offer offer_of(const fi_info& info) {
    return {provider_of(info), interface_of(info),
            in_figures(info.src_addr, info.src_addrlen, false)};
}

/// Returns descriptors of the providers to choose from, the best first. They live as long as `all`.
std::vector<const fi_info*> candidates(const Info& all, bool with_others) {
    std::vector<const fi_info*> found;
    for (const fi_info* info = all.get(); info != nullptr; info = info->next) {
        const std::string name = provider_of(*info);
        const bool listed = rank_in(preference, name) < preference.size() ||
            (with_others && rank_in(others, name) < others.size());
        if (listed && !is_link_local(*info)) found.push_back(info);
    }
    std::stable_sort(found.begin(), found.end(), [](const fi_info* a, const fi_info* b) {
        const std::size_t left = rank_in(preference, provider_of(*a)),
                          right = rank_in(preference, provider_of(*b));
        return left != right ? left < right : distance_of(*a) < distance_of(*b);
    });
    return found;
}

/// Operations under way at a time. Providers take memory for as many, some of them 16 KiB each.
constexpr std::size_t most_operations = 128;

bool is_asked(const std::string& wanted) { return !wanted.empty() && wanted != "auto"; }

std::string listed(const std::vector<const fi_info*>& infos, std::string (*name)(const fi_info&)) {
    std::vector<std::string> seen;
    std::string text;
    for (const fi_info* info : infos) {
        const std::string one = name(*info);
        if (std::find(seen.begin(), seen.end(), one) != seen.end()) continue;
        text += (seen.empty() ? "" : ", ") + one;
        seen.push_back(one);
    }
    return text.empty() ? "none" : text;
}

std::vector<const fi_info*> those_wanted(std::vector<const fi_info*> from,
                                         const std::string& wanted,
                                         std::string (*name)(const fi_info&), const char* variable,
                                         const char* what) {
    if (!is_asked(wanted)) return from;
    const std::string there = listed(from, name);
    std::erase_if(from, [&](const fi_info* info) { return name(*info) != wanted; });
    if (from.empty())
        throw std::runtime_error(std::string(variable) + "=" + wanted + ": there is no such " +
                                 what + "; there are: " + there);
    return from;
}

std::string reason_for(const Wanted& wanted, const std::string& provider) {
    if (is_asked(wanted.fabric)) return "HEDDLE_FABRIC asks for it";
    std::string without;
    for (const std::string_view better : preference) {
        if (better == provider) break;
        without += (without.empty() ? "" : ", no ") + std::string(better);
    }
    return without.empty() ? "the best there is" : "the best that is here; there is no " + without;
}

/// Returns the same provider and interface, with as much as it can do of what makes a lane faster.
Info with_all_it_can(const fi_info& chosen) {
    constexpr std::uint64_t basic = FI_MSG | FI_SEND | FI_RECV;
    constexpr std::uint64_t reading = FI_RMA | FI_READ | FI_REMOTE_READ;
    for (const std::uint64_t more : {reading, std::uint64_t{0}}) {
        const Info asked = hints(basic | more);
        asked->fabric_attr->prov_name = strdup(chosen.fabric_attr->prov_name);
        asked->domain_attr->name = strdup(chosen.domain_attr->name);
        const Info found = ask(*asked);
        for (const fi_info* info = found.get(); info != nullptr; info = info->next)
            if (offer_of(*info) == offer_of(chosen)) {
                Info complete(library().dupinfo(info));
                complete->tx_attr->size = std::min(complete->tx_attr->size, most_operations);
                complete->rx_attr->size = std::min(complete->rx_attr->size, most_operations);
                return complete;
            }
    }
    return nullptr;
}

Info everything() {
    if (!library().missing.empty()) throw std::runtime_error(library().missing);
    return ask(*hints(FI_MSG | FI_SEND | FI_RECV));
}

}  // namespace

std::string in_figures(const void* address, std::size_t bytes, bool with_port) {
    if (address == nullptr || bytes < sizeof(sockaddr_in)) return {};
    sockaddr_storage copy{};
    std::memcpy(&copy, address, std::min(bytes, sizeof copy));
    char text[INET6_ADDRSTRLEN] = "";
    std::uint16_t port = 0;
    if (copy.ss_family == AF_INET) {
        const auto& four = reinterpret_cast<const sockaddr_in&>(copy);
        inet_ntop(AF_INET, &four.sin_addr, text, sizeof text);
        port = ntohs(four.sin_port);
    } else if (copy.ss_family == AF_INET6) {
        const auto& six = reinterpret_cast<const sockaddr_in6&>(copy);
        inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof text);
        port = ntohs(six.sin6_port);
    } else {
        return {};
    }
    return with_port ? std::string(text) + " port " + std::to_string(port) : text;
}

std::vector<Offer> offers() {
    std::vector<Offer> all;
    const Info found = everything();
    for (const fi_info* info : candidates(found, false))
        if (std::find(all.begin(), all.end(), offer_of(*info)) == all.end())
            all.push_back(offer_of(*info));
    return all;
}

Choice choose(const Wanted& wanted) {
    const Info found = everything();
    std::vector<const fi_info*> left = candidates(found, is_asked(wanted.fabric));
    left = those_wanted(std::move(left), wanted.fabric, provider_of, "HEDDLE_FABRIC", "fabric");
    left = those_wanted(std::move(left), wanted.interface, interface_of, "HEDDLE_INTERFACE",
                        "interface");
    for (const fi_info* info : left)
        if (Info complete = with_all_it_can(*info))
            return {offer_of(*info), reason_for(wanted, provider_of(*info)), std::move(complete)};
    throw std::runtime_error("libfabric finds no network that can carry messages");
}

}  // namespace heddle::transport::ofi
