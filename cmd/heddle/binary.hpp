// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// The libraries and symbols of an ELF file, read without loading it.

#include <elf.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace heddle::cmd {

class Binary {
public:
    explicit Binary(const std::filesystem::path& path);

    bool valid() const { return valid_; }
    const std::vector<std::string>& needed() const { return needed_; }
    const std::string& search_path() const { return search_path_; }
    /// Returns the symbols of MPI for C that another library must define.
    const std::vector<std::string>& undefined() const { return undefined_; }
    /// Returns the same for Fortran: procedures, COMMON blocks, and the symbols that compilers make
    /// of modules.
    const std::vector<std::string>& undefined_of_fortran() const { return undefined_of_fortran_; }
    /// Returns the same for MPI's old C++ bindings: members of namespace MPI, as compilers write
    /// them.
    const std::vector<std::string>& undefined_of_cxx() const { return undefined_of_cxx_; }

private:
    template <class T>
    const T* at(std::size_t offset) const;
    std::string text(const Elf64_Shdr& strings, std::size_t offset) const;
    void read();
    void read_dynamic(const Elf64_Shdr& section, const Elf64_Shdr& strings);
    void read_symbols(const Elf64_Shdr& section, const Elf64_Shdr& strings);

    std::vector<char> bytes_;
    std::vector<Elf64_Shdr> sections_;
    std::vector<std::string> needed_, undefined_, undefined_of_fortran_, undefined_of_cxx_;
    std::string search_path_;
    bool valid_ = false;
};

}  // namespace heddle::cmd
