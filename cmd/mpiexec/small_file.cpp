// SPDX-License-Identifier: BSD-3-Clause
#include "small_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "say.hpp"
#include "unique_fd.hpp"

namespace heddle::mpiexec {

std::string read_small_file(std::string_view option, const std::string& path) {
    constexpr std::size_t most_mib = 16;
    const auto cannot = [&](int error) {
        return Failure(exit_usage,
                       fmt::format("{}: cannot read {}: {}", option, path, error_text(error)));
    };
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) throw cannot(errno);
    std::string text;
    for (std::array<char, 4096> buffer{};;) {
        const ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) throw cannot(errno);
        if (size == 0) return text;
        text.append(buffer.data(), static_cast<std::size_t>(size));
        if (text.size() > most_mib << 20)
            throw Failure(exit_usage,
                          fmt::format("{}: {} is longer than {} MiB", option, path, most_mib));
    }
}

}  // namespace heddle::mpiexec
