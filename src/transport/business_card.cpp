// SPDX-License-Identifier: BSD-3-Clause
#include "transport/business_card.hpp"

#include <cstring>
#include <stdexcept>
#include <string_view>

#include "tool/recipe.hpp"

namespace heddle::transport {
namespace {

/// Changes with the protocol between lanes, and with the numbers of kinds of messages.
constexpr std::string_view format = "heddle-lane-3";

/// Takes a text off the front of the bytes. Returns false if there is none.
bool take_text(std::string_view& bytes, std::string_view& text) {
    const std::size_t end = bytes.find('\0');
    if (end == std::string_view::npos) return false;
    text = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
    return true;
}

template <class Number>
void put(std::string& bytes, Number number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// Takes a number off the front of bytes that have one.
template <class Number>
Number take_number(std::string_view& bytes) {
    Number number{};
    std::memcpy(&number, bytes.data(), sizeof number);
    bytes.remove_prefix(sizeof number);
    return number;
}

}  // namespace

std::string to_bytes(const BusinessCard& card) {
    std::string bytes(format);
    bytes += '\0';
    bytes += card.fabric;
    bytes += '\0';
    put(bytes, card.token);
    put(bytes, card.recipe);
    return bytes + card.address;
}

BusinessCard read_card(const std::string& bytes, const BusinessCard& own) {
    std::string_view rest = bytes, version, fabric;
    if (!take_text(rest, version) || version != format)
        throw std::runtime_error("it is not of this version of Heddle");
    if (!take_text(rest, fabric) || rest.size() <= sizeof own.token + sizeof own.recipe)
        throw std::runtime_error("it has published no address");
    if (fabric != own.fabric)
        throw std::runtime_error("it uses the fabric " + std::string(fabric) + ", this process " +
                                 own.fabric + "; HEDDLE_FABRIC chooses one for all");
    const auto token = take_number<JobToken>(rest);
    const auto recipe = take_number<std::uint64_t>(rest);
    if (token != own.token) throw std::runtime_error("it belongs to another job");
    if (recipe != own.recipe)
        throw std::runtime_error("it has " + tool::print_agreement(recipe) + ", this process " +
                                 tool::print_agreement(own.recipe) +
                                 ": all ranks must have the same");
    return {std::string(fabric), std::string(rest), token, recipe};
}

}  // namespace heddle::transport
