// SPDX-License-Identifier: BSD-3-Clause
#include "objects/attributes.hpp"

#include <algorithm>
#include <optional>

#include "objects/callback.hpp"
#include "objects/error_codes.hpp"
#include "objects/process.hpp"

namespace heddle::objects {
namespace {

Attributes::iterator find(Attributes& attributes, int keyval) {
    return std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& attribute) {
        return attribute.key->number == keyval;
    });
}

/// Calls a function of the type that the key's kind of object has.
template <class Comm, class Type, class Win, class... Arguments>
int call(const Keyval& key, Keyval::Function function, void* handle, Arguments... arguments) {
    switch (key.holds) {
        case Holds::communicator:
            return call_program(reinterpret_cast<Comm*>(function), static_cast<MPI_Comm>(handle),
                                arguments...);
        case Holds::datatype:
            return call_program(reinterpret_cast<Type*>(function),
                                static_cast<MPI_Datatype>(handle), arguments...);
        case Holds::window:
            return call_program(reinterpret_cast<Win*>(function), static_cast<MPI_Win>(handle),
                                arguments...);
    }
    return MPI_ERR_INTERN;
}

int call_delete(Holder object, const Attribute& attribute) {
    const Keyval& key = *attribute.key;
    if (key.remove == nullptr) return MPI_SUCCESS;  // MPI_COMM_NULL_DELETE_FN and the like
    return call<MPI_Comm_delete_attr_function, MPI_Type_delete_attr_function,
                MPI_Win_delete_attr_function>(key, key.remove, object.handle, key.number,
                                              attribute.value, key.extra_state);
}

int call_copy(Holder from, const Attribute& attribute, void*& value, int& flag) {
    const Keyval& key = *attribute.key;
    static const auto dup_function = reinterpret_cast<Keyval::Function>(MPI_COMM_DUP_FN);
    flag = key.copy != nullptr;  // MPI_COMM_NULL_COPY_FN and the like
    if (key.copy == nullptr || key.copy == dup_function) return MPI_SUCCESS;
    flag = 0;
    return call<MPI_Comm_copy_attr_function, MPI_Type_copy_attr_function,
                MPI_Win_copy_attr_function>(key, key.copy, from.handle, key.number, key.extra_state,
                                            attribute.value, static_cast<void*>(&value), &flag);
}

void put(Process& process, Holder object, Attribute attribute) {
    std::lock_guard guard(process.set_up);
    object.attributes.push_back(std::move(attribute));
}

/// An attribute that has been taken out of its object, if there was one. It is put back if its
/// delete function returns an error or throws.
class TakenOut {
public:
    TakenOut(Process& process, Holder object, int keyval) : process_(process), object_(object) {
        std::lock_guard guard(process.set_up);
        const auto at = find(object.attributes, keyval);
        if (at == object.attributes.end()) return;
        attribute_ = std::move(*at);
        object.attributes.erase(at);
    }
    ~TakenOut() {
        if (attribute_) put(process_, object_, std::move(*attribute_));
    }
    TakenOut(const TakenOut&) = delete;
    TakenOut& operator=(const TakenOut&) = delete;

    int remove() {
        if (!attribute_) return MPI_SUCCESS;
        const int error = call_delete(object_, *attribute_);
        if (error == MPI_SUCCESS) attribute_.reset();
        return error;
    }

private:
    Process& process_;
    Holder object_;
    std::optional<Attribute> attribute_;
};

}  // namespace

int Keyvals::add(Keyval keyval) {
    std::lock_guard guard(lock_);
    keyval.number = ++latest_;
    keyvals_.emplace(keyval.number, std::make_shared<const Keyval>(keyval));
    return keyval.number;
}

std::shared_ptr<const Keyval> Keyvals::find(int number, Holds holds) {
    std::lock_guard guard(lock_);
    auto keyval = look_up(number);
    return keyval == nullptr || keyval->holds != holds ? nullptr : keyval;
}

bool Keyvals::free(int number, Holds holds) {
    std::lock_guard guard(lock_);
    const auto keyval = look_up(number);
    if (keyval == nullptr) return number > above_predefined && number <= latest_;
    if (keyval->holds != holds) return false;
    std::erase_if(freed_, [](const auto& one) { return one.second.expired(); });
    if (keyvals_.erase(number) != 0) freed_.emplace(number, keyval);
    return true;
}

std::shared_ptr<const Keyval> Keyvals::look_up(int number) const {
    if (const auto at = keyvals_.find(number); at != keyvals_.end()) return at->second;
    const auto at = freed_.find(number);
    return at == freed_.end() ? nullptr : at->second.lock();
}

Holder holder(Communicator& communicator) noexcept {
    return {communicator.handle, communicator.attributes};
}

Holder holder(Window& window) noexcept { return {window.handle(), window.attributes}; }

Holder holder(Process& process, Datatype& type) {
    std::lock_guard guard(process.set_up);
    return {type.handle, process.type_attributes[&type]};  // its address never changes
}

void forget_attributes(Process& process, const Datatype& type) noexcept {
    std::lock_guard guard(process.set_up);
    process.type_attributes.erase(&type);
}

int* predefined_attribute(Process& process, int keyval) noexcept {
    PredefinedAttributes& values = process.predefined_attributes;
    switch (keyval) {
        case MPI_TAG_UB: return &values.tag_ub;
        case MPI_IO: return &values.io;
        case MPI_HOST: return &values.host;
        case MPI_WTIME_IS_GLOBAL: return &values.wtime_is_global;
        case MPI_UNIVERSE_SIZE:
            return values.universe_size == MPI_UNDEFINED ? nullptr : &values.universe_size;
        case MPI_APPNUM: return values.appnum == MPI_UNDEFINED ? nullptr : &values.appnum;
        case MPI_LASTUSEDCODE: return last_used_code();
        default: return nullptr;
    }
}

bool is_predefined_keyval(int keyval) noexcept {
    return keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE;
}

int set_attribute(Process& process, Holder object, const std::shared_ptr<const Keyval>& keyval,
                  void* value) {
    if (const int error = delete_attribute(process, object, keyval->number)) return error;
    put(process, object, {keyval, value});
    return MPI_SUCCESS;
}

bool get_attribute(Process& process, Holder object, int keyval, void*& value) {
    std::lock_guard guard(process.set_up);
    const auto at = find(object.attributes, keyval);
    if (at == object.attributes.end()) return false;
    value = at->value;
    return true;
}

int delete_attribute(Process& process, Holder object, int keyval) {
    return TakenOut(process, object, keyval).remove();
}

int copy_attributes(Process& process, Holder from, Holder to) {
    Attributes attributes;
    {
        std::lock_guard guard(process.set_up);
        attributes = from.attributes;
    }
    for (const Attribute& attribute : attributes) {
        void* value = attribute.value;
        int flag = 0;
        if (const int error = call_copy(from, attribute, value, flag)) return error;
        if (flag != 0) put(process, to, {attribute.key, value});
    }
    return MPI_SUCCESS;
}

int delete_attributes(Process& process, Holder object) {
    for (;;) {
        int latest = MPI_KEYVAL_INVALID;
        {
            std::lock_guard guard(process.set_up);
            if (object.attributes.empty()) return MPI_SUCCESS;
            latest = object.attributes.back().key->number;
        }
        if (const int error = delete_attribute(process, object, latest)) return error;
    }
}

}  // namespace heddle::objects
