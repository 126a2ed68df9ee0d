// SPDX-License-Identifier: BSD-3-Clause
#include "objects/attributes.hpp"

#include <algorithm>
#include <optional>

#include "objects/error_codes.hpp"
#include "objects/process.hpp"

namespace heddle::objects {
namespace {

Attributes::iterator find(Attributes& attributes, int keyval) {
    return std::find_if(attributes.begin(), attributes.end(),
                        [&](const Attribute& attribute) { return attribute.key->number == keyval; });
}

int call_delete(const Communicator& communicator, const Attribute& attribute) {
    const Keyval& key = *attribute.key;
    if (key.remove == MPI_COMM_NULL_DELETE_FN) return MPI_SUCCESS;
    return key.remove(communicator.handle, key.number, attribute.value, key.extra_state);
}

/// Takes it out; nothing if it is not there.
std::optional<Attribute> take(Process& process, Communicator& communicator, int keyval) {
    std::lock_guard guard(process.set_up);
    const auto at = find(communicator.attributes, keyval);
    if (at == communicator.attributes.end()) return std::nullopt;
    Attribute taken = std::move(*at);
    communicator.attributes.erase(at);
    return taken;
}

void put(Process& process, Communicator& communicator, Attribute attribute) {
    std::lock_guard guard(process.set_up);
    communicator.attributes.push_back(std::move(attribute));
}

}  // namespace

int Keyvals::add(Keyval keyval) {
    std::lock_guard guard(lock_);
    keyval.number = ++latest_;
    keyvals_.emplace(keyval.number, std::make_shared<const Keyval>(keyval));
    return keyval.number;
}

std::shared_ptr<const Keyval> Keyvals::find(int number) {
    std::lock_guard guard(lock_);
    const auto at = keyvals_.find(number);
    return at == keyvals_.end() ? nullptr : at->second;
}

bool Keyvals::erase(int number) {
    std::lock_guard guard(lock_);
    return keyvals_.erase(number) != 0;
}

int* predefined_attribute(Process& process, int keyval) noexcept {
    PredefinedAttributes& values = process.predefined_attributes;
    switch (keyval) {
        case MPI_TAG_UB: return &values.tag_ub;
        case MPI_IO: return &values.io;
        case MPI_HOST: return &values.host;
        case MPI_WTIME_IS_GLOBAL: return &values.wtime_is_global;
        case MPI_UNIVERSE_SIZE: return &values.universe_size;
        case MPI_LASTUSEDCODE: return last_used_code();
        default: return nullptr;
    }
}

bool is_predefined_keyval(int keyval) noexcept {
    return keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE;
}

int set_attribute(Process& process, Communicator& communicator,
                  const std::shared_ptr<const Keyval>& keyval, void* value) {
    if (const auto old = take(process, communicator, keyval->number)) {
        if (const int error = call_delete(communicator, *old)) {
            put(process, communicator, *old);
            return error;
        }
    }
    put(process, communicator, {keyval, value});
    return MPI_SUCCESS;
}

bool get_attribute(Process& process, Communicator& communicator, int keyval, void*& value) {
    std::lock_guard guard(process.set_up);
    const auto at = find(communicator.attributes, keyval);
    if (at == communicator.attributes.end()) return false;
    value = at->value;
    return true;
}

int delete_attribute(Process& process, Communicator& communicator, int keyval) {
    const auto taken = take(process, communicator, keyval);
    if (!taken) return MPI_SUCCESS;
    const int error = call_delete(communicator, *taken);
    if (error != MPI_SUCCESS) put(process, communicator, *taken);
    return error;
}

int copy_attributes(Process& process, Communicator& from, Communicator& to) {
    Attributes attributes;
    {
        std::lock_guard guard(process.set_up);
        attributes = from.attributes;
    }
    for (const Attribute& attribute : attributes) {
        const Keyval& key = *attribute.key;
        void* value = attribute.value;
        int flag = 1;
        if (key.copy == MPI_COMM_NULL_COPY_FN) continue;
        if (key.copy != MPI_COMM_DUP_FN) {
            flag = 0;
            if (const int error = key.copy(from.handle, key.number, key.extra_state, attribute.value,
                                           &value, &flag))
                return error;
        }
        if (flag != 0) put(process, to, {attribute.key, value});
    }
    return MPI_SUCCESS;
}

int delete_attributes(Process& process, Communicator& communicator) {
    for (;;) {
        int latest = MPI_KEYVAL_INVALID;
        {
            std::lock_guard guard(process.set_up);
            if (communicator.attributes.empty()) return MPI_SUCCESS;
            latest = communicator.attributes.back().key->number;
        }
        if (const int error = delete_attribute(process, communicator, latest)) return error;
    }
}

}  // namespace heddle::objects
