// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/absent_networks.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <link.h>
#include <span>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "platform/refused_file.hpp"

// The libraries themselves (absent/), so that a process with this library has them.
asm(R"(
    .pushsection .rodata
    heddle_absent_psm: .incbin ")" HEDDLE_ABSENT_PSM R"("
    heddle_absent_psm_end:
    heddle_absent_psm2: .incbin ")" HEDDLE_ABSENT_PSM2 R"("
    heddle_absent_psm2_end:
    .popsection
)");
extern "C" const std::byte heddle_absent_psm[], heddle_absent_psm_end[];
extern "C" const std::byte heddle_absent_psm2[], heddle_absent_psm2_end[];

namespace heddle::transport::ofi {
namespace {

/// The library in memory, while that is opened.
class Image {
public:
    Image(const char* name, std::span<const std::byte> bytes) noexcept
        : descriptor_(memfd_create(name, MFD_CLOEXEC)),
          whole_(write(descriptor_, bytes.data(), bytes.size()) ==
                 static_cast<ssize_t>(bytes.size())) {}
    ~Image() { close(descriptor_); }
    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;

    /// Returns nullptr if the kernel, or the loader, wants none that is in no file.
    void* open() const noexcept {
        // The loader takes a path that was opened before by the same words for the same library. No
        // other code writes this path so.
        const std::string path = "/proc/self/./fd/" + std::to_string(descriptor_);
        return whole_ ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    }

private:
    const int descriptor_;
    const bool whole_;
};

struct Text {
    const void* within;       ///< an object that is loaded
    std::string_view wanted;  ///< with its end
    const char* found = nullptr;
};

bool holds(const dl_phdr_info& object, const ElfW(Phdr) & part, const void* address) noexcept {
    const auto offset = reinterpret_cast<ElfW(Addr)>(address) - object.dlpi_addr;
    return part.p_type == PT_LOAD && offset >= part.p_vaddr && offset - part.p_vaddr < part.p_memsz;
}

/// For dl_iterate_phdr(): looks in the constants of one object.
int look_for(dl_phdr_info* object, std::size_t, void* data) noexcept {
    auto& text = *static_cast<Text*>(data);
    const std::span parts(object->dlpi_phdr, object->dlpi_phnum);
    bool is_it = false;
    for (const auto& part : parts) is_it |= holds(*object, part, text.within);
    if (!is_it) return 0;
    for (const auto& part : parts) {
        if (part.p_type != PT_LOAD || (part.p_flags & (PF_R | PF_W)) != PF_R) continue;
        const std::string_view constants(
            reinterpret_cast<const char*>(object->dlpi_addr + part.p_vaddr), part.p_filesz);
        const std::size_t at = constants.find(text.wanted);
        if (at == std::string_view::npos) continue;
        text.found = constants.data() + at;
        break;
    }
    return 1;
}

/// Returns whether there is an entry of which the name begins so.
bool has_entry(const char* folder, std::string_view beginning) noexcept {
    std::error_code problem;
    for (std::filesystem::directory_iterator at(folder, problem), end; !problem && at != end;
         at.increment(problem))
        if (at->path().filename().native().starts_with(beginning)) return true;
    return false;
}

}  // namespace

bool has_rdma_devices() noexcept {
    return has_entry("/sys/class/infiniband", "") || has_entry("/dev/infiniband", "") ||
        has_entry("/dev", "hfi1") || has_entry("/dev", "ipath");
}

AbsentNetworks::AbsentNetworks() noexcept {
    const Image psm("libpsm_infinipath.so.1", {heddle_absent_psm, heddle_absent_psm_end});
    const Image psm2("libpsm2.so.2", {heddle_absent_psm2, heddle_absent_psm2_end});
    libraries_ = {psm.open(), psm2.open()};
}

AbsentNetworks::~AbsentNetworks() {
    for (void* const library : libraries_)
        if (library != nullptr) dlclose(library);
}

void initialize_without_rdma(const Library& library) noexcept {
    using namespace std::string_view_literals;
    Text text{reinterpret_cast<const void*>(library.getinfo), "/proc/kallsyms\0"sv};
    dl_iterate_phdr(look_for, &text);
    if (text.found == nullptr || !platform::refuse_to_open(text.found)) return;
    fi_info* found = nullptr;
    if (library.getinfo(interface_version, nullptr, nullptr, FI_PROV_ATTR_ONLY, nullptr, &found) ==
        0)
        library.freeinfo(found);
}

}  // namespace heddle::transport::ofi
