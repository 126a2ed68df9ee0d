// SPDX-License-Identifier: BSD-3-Clause
#include "objects/operation.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "objects/callback.hpp"
#include "objects/process.hpp"

namespace heddle::objects {

void drop(Process& process, Operation& operation) noexcept {
    if (operation.release_reference()) Process::destroy(process.operations, operation);
}

void Reduction::call_user(const std::byte* from_left, const std::byte* right, std::byte* inout,
                          std::size_t count) const {
    MPI_Datatype handle = type->handle;
    auto* left = const_cast<std::byte*>(from_left);  // the standard's signature has no const
    if (inout != right && count != 0) std::memcpy(inout, right, count * element_bytes);
    if (operation->large_function != nullptr) {
        auto length = static_cast<MPI_Count>(count);
        if (count != 0) call_program(operation->large_function, left, inout, &length, &handle);
        return;
    }
    constexpr std::size_t most = std::numeric_limits<int>::max();
    for (std::size_t done = 0; done < count;) {
        auto length = static_cast<int>(std::min(count - done, most));
        const auto offset = static_cast<std::ptrdiff_t>(done) * type->extent;
        call_program(operation->function, left + offset, inout + offset, &length, &handle);
        done += static_cast<std::size_t>(length);
    }
}

}  // namespace heddle::objects
