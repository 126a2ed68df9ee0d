// SPDX-License-Identifier: BSD-3-Clause
#include "objects/file.hpp"

#include <mutex>
#include <new>

#include "objects/process.hpp"

namespace heddle::objects {

File& make_file(Process& process, std::string path, std::shared_ptr<io::OpenFile> open) {
    File* file = Process::make(process.files->arena, core::Kind::file);
    if (file == nullptr) throw std::bad_alloc();
    file->name = std::move(path);
    file->open = std::move(open);
    std::lock_guard guard(process.set_up);
    file->errhandler = process.files->null.errhandler;
    file->errhandler->retain();
    return *file;
}

void close_handle(Process& process, File& file) noexcept {
    file.kind.store(core::Kind::none, relaxed);
    drop(process, *file.errhandler);
    file.errhandler = nullptr;
    file.open = nullptr;
    file.name.clear();
    Process::destroy(process.files->arena, file);
}

std::string name_of(const File& file) { return '"' + file.name + '"'; }

}  // namespace heddle::objects
