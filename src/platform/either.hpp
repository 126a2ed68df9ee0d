// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// A descriptor that is readable while one of two others is.

namespace heddle::platform {

class Either {
public:
    Either() = default;
    ~Either();
    Either(const Either&) = delete;
    Either& operator=(const Either&) = delete;

    /// Call it once. Throws std::system_error.
    void watch(int first, int second);
    /// Returns -1 before watch().
    int descriptor() const noexcept { return descriptor_; }

private:
    int descriptor_ = -1;
};

}  // namespace heddle::platform
