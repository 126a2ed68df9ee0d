// SPDX-License-Identifier: BSD-3-Clause
#include "binary.hpp"

#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

namespace heddle::cmd {
namespace {

template <std::size_t count>
bool begins_with_one_of(std::string_view name,
                        const std::array<std::string_view, count>& beginnings) {
    for (const std::string_view beginning : beginnings)
        if (name.starts_with(beginning)) return true;
    return false;
}

bool is_of_c(std::string_view name) {
    static constexpr std::array<std::string_view, 7> beginnings{"MPI_",  "PMPI_", "MPIX_", "ompi_",
                                                                "orte_", "OMPI_", "MPIR_"};
    return begins_with_one_of(name, beginnings);
}

/// Returns true for symbols of Fortran. Compilers write procedures in lower case, and modules into
/// names of their own.
bool is_of_fortran(std::string_view name) {
    static constexpr std::array<std::string_view, 9> beginnings{
        "mpi_", "pmpi_", "mpir_", "pmpir_", "mpipriv", "mpifcmb", "__mpi_", "ompi_f08_", "_QMmpi_"};
    return begins_with_one_of(name, beginnings);
}

bool is_of_cxx(std::string_view name) {
    static constexpr std::array<std::string_view, 4> beginnings{"_ZN3MPI", "_ZNK3MPI", "_ZTVN3MPI",
                                                                "_ZTIN3MPI"};
    return begins_with_one_of(name, beginnings);
}

}  // namespace

Binary::Binary(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    const auto* head = at<Elf64_Ehdr>(0);
    if (head == nullptr || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64)
        return;
    valid_ = true;
    for (std::size_t i = 0; i < head->e_shnum; ++i)
        if (const auto* section = at<Elf64_Shdr>(head->e_shoff + i * sizeof(Elf64_Shdr)))
            sections_.push_back(*section);
    read();
}

template <class T>
const T* Binary::at(std::size_t offset) const {
    return offset + sizeof(T) <= bytes_.size() ? reinterpret_cast<const T*>(bytes_.data() + offset)
                                               : nullptr;
}

std::string Binary::text(const Elf64_Shdr& strings, std::size_t offset) const {
    const std::size_t place = strings.sh_offset + offset;
    if (place >= bytes_.size()) return {};
    return {bytes_.data() + place, ::strnlen(bytes_.data() + place, bytes_.size() - place)};
}

void Binary::read() {
    for (const Elf64_Shdr& section : sections_) {
        if (section.sh_link >= sections_.size()) continue;
        const Elf64_Shdr& strings = sections_[section.sh_link];
        if (section.sh_type == SHT_DYNAMIC) read_dynamic(section, strings);
        if (section.sh_type == SHT_DYNSYM) read_symbols(section, strings);
    }
}

void Binary::read_dynamic(const Elf64_Shdr& section, const Elf64_Shdr& strings) {
    for (std::size_t i = 0; i < section.sh_size; i += sizeof(Elf64_Dyn)) {
        const auto* entry = at<Elf64_Dyn>(section.sh_offset + i);
        if (entry == nullptr) return;
        if (entry->d_tag == DT_NEEDED) needed_.push_back(text(strings, entry->d_un.d_val));
        if (entry->d_tag == DT_RPATH) search_path_ = text(strings, entry->d_un.d_val);
    }
}

void Binary::read_symbols(const Elf64_Shdr& section, const Elf64_Shdr& strings) {
    for (std::size_t i = 0; i < section.sh_size; i += sizeof(Elf64_Sym)) {
        const auto* symbol = at<Elf64_Sym>(section.sh_offset + i);
        if (symbol == nullptr) return;
        if (symbol->st_shndx != SHN_UNDEF || ELF64_ST_BIND(symbol->st_info) == STB_WEAK) continue;
        const std::string name = text(strings, symbol->st_name);
        if (is_of_fortran(name))
            undefined_of_fortran_.push_back(name);
        else if (is_of_cxx(name))
            undefined_of_cxx_.push_back(name);
        else if (is_of_c(name))
            undefined_.push_back(name);
    }
}

}  // namespace heddle::cmd
