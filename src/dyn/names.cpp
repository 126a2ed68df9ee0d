// SPDX-License-Identifier: BSD-3-Clause
#include "dyn/names.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace heddle::dyn {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
    throw std::runtime_error("names are published in " + path + ": " + why);
}
[[noreturn]] void fail(const std::string& path) { fail(path, std::strerror(errno)); }

/// A file that closes itself, and so frees its lock.
class File {
public:
    explicit File(int descriptor) noexcept : descriptor_(descriptor) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    explicit operator bool() const noexcept { return descriptor_ >= 0; }
    int get() const noexcept { return descriptor_; }
    int take() noexcept { return std::exchange(descriptor_, -1); }

private:
    int descriptor_;
};

/// Returns the same digest in all processes. If two names have one digest, the content of the file
/// tells them apart.
std::uint64_t digest(std::string_view name, std::uint64_t start) {
    std::uint64_t value = start;  // FNV-1a
    for (const char c : name) value = (value ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3;
    return value;
}

std::string hexadecimal(std::uint64_t value) {
    std::string text(16, '0');
    for (std::size_t i = 16; i-- > 0; value >>= 4) text[i] = "0123456789abcdef"[value & 15];
    return text;
}

std::string file_name(std::string_view name) {
    return "name-" + hexadecimal(digest(name, 0xcbf2'9ce4'8422'2325)) +
        hexadecimal(digest(name, 0x9e37'79b9'7f4a'7c15));
}

enum class Links { refused, followed };

/// Makes the folder in an existing one. Refuses a folder that other users control.
std::string own_folder(const std::string& path, Links links = Links::refused) {
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) fail(path);
    struct stat found{};
    if ((links == Links::followed ? stat : lstat)(path.c_str(), &found) != 0) fail(path);
    if (S_ISLNK(found.st_mode)) fail(path, "it is a symbolic link");
    if (!S_ISDIR(found.st_mode)) fail(path, "it is not a folder");
    if (found.st_uid != geteuid()) fail(path, "it belongs to another user");
    if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0) fail(path, "others can write to it");
    return path;
}

std::string standard_folder() {
    if (const char* run = std::getenv("XDG_RUNTIME_DIR"); run != nullptr && *run == '/') {
        struct stat found{};
        // The variable may be left over from before a change of the user.
        if (stat(run, &found) == 0 && found.st_uid == geteuid()) {
            return own_folder(own_folder(std::string(run) + "/heddle") + "/names");
        }
    }
    const char* temporary = std::getenv("TMPDIR");
    const std::string above = temporary != nullptr && *temporary == '/' ? temporary : "/tmp";
    return own_folder(above + "/heddle-names-" + std::to_string(geteuid()));
}

std::string content(int descriptor) {
    std::string text;
    char bytes[512];
    for (off_t at = 0;;) {
        const ssize_t size = pread(descriptor, bytes, sizeof bytes, at);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return text;
        text.append(bytes, static_cast<std::size_t>(size));
        at += size;
    }
}

/// Returns the content of an entry: the length of the name, then name and port.
std::string entry_text(const std::string& name, const std::string& port) {
    return std::to_string(name.size()) + "\n" + name + port;
}

/// Returns the port in an entry of this name, or nothing if the entry has another name.
std::optional<std::string> port_in(const std::string& text, const std::string& name) {
    const std::string start = entry_text(name, "");
    if (!text.starts_with(start)) return std::nullopt;
    return text.substr(start.size());
}

bool write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t size = write(descriptor, text.data(), text.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(size));
    }
    return true;
}

bool lock(int descriptor, int how) {
    int result = 0;
    do {
        result = flock(descriptor, how);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

/// Makes a file without a name in the folder. If the file system has no such files, it makes a
/// draft, and puts its name into `draft`.
int new_file(const std::string& folder, std::string& draft) {
    const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0) return file;
    draft = folder + "/draft-XXXXXX";
    return mkostemp(draft.data(), O_CLOEXEC);
}

/// Gives the file a name that is not taken. Returns false, with errno, if it is taken.
bool give_name(int file, const std::string& draft, const std::string& path) {
    if (!draft.empty()) return link(draft.c_str(), path.c_str()) == 0;
    const std::string open_file = "/proc/self/fd/" + std::to_string(file);
    return linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

/// Removes a file when it is destroyed, if the file has a name.
struct Removed {
    const std::string& path;
    ~Removed() {
        if (!path.empty()) unlink(path.c_str());
    }
};

int open_entry(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0 && errno != ENOENT) fail(path);
    return file;
}

}  // namespace

Names::~Names() { clear(); }

const std::string& Names::folder() {
    if (folder_.empty())
        folder_ = setting_.empty() ? standard_folder() : own_folder(setting_, Links::followed);
    return folder_;
}

/// Publishes an entry as a whole: it is written and locked before it has its name.
bool Names::publish(const std::string& name, const std::string& port) {
    std::lock_guard guard(lock_);
    const std::string path = folder() + "/" + file_name(name);
    std::string draft;
    File file(new_file(folder(), draft));
    if (!file) fail(folder());
    const Removed draft_at_end{draft};
    if (!write_all(file.get(), entry_text(name, port)) || !lock(file.get(), LOCK_EX | LOCK_NB))
        fail(folder());
    while (!give_name(file.get(), draft, path)) {
        if (errno != EEXIST) fail(folder());
        if (is_live(path)) return false;
        remove_stale(path, 0);
    }
    own_[name] = Entry{path, file.take()};
    return true;
}

bool Names::unpublish(const std::string& name) {
    std::lock_guard guard(lock_);
    const auto entry = own_.find(name);
    if (entry == own_.end()) return false;
    unlink(entry->second.path.c_str());  // while the lock is still held
    close(entry->second.descriptor);
    own_.erase(entry);
    return true;
}

std::optional<std::string> Names::look_up(const std::string& name) {
    std::lock_guard guard(lock_);
    const std::string path = folder() + "/" + file_name(name);
    const File file(open_entry(path));
    if (!file) return std::nullopt;
    if (!lock(file.get(), LOCK_SH | LOCK_NB)) return port_in(content(file.get()), name);
    remove_stale(path, LOCK_NB);
    return std::nullopt;
}

/// Returns whether the publisher lives. It takes a shared lock, so that no process takes this look
/// for a publisher.
bool Names::is_live(const std::string& path) {
    const File file(open_entry(path));
    return file && !lock(file.get(), LOCK_SH | LOCK_NB);
}

/// Removes a stale entry. One process at a time does, so that none removes a new entry in the place
/// of a stale one. If `wait` is LOCK_NB, it leaves the entry to a process that removes some now.
void Names::remove_stale(const std::string& path, int wait) {
    const std::string folder = path.substr(0, path.rfind('/'));
    const File removers(open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!removers) fail(folder);
    if (!lock(removers.get(), LOCK_EX | wait)) return;
    const File file(open_entry(path));
    if (file && lock(file.get(), LOCK_SH | LOCK_NB)) unlink(path.c_str());
}

void Names::clear() noexcept {
    std::lock_guard guard(lock_);
    for (const auto& [name, entry] : own_) {
        unlink(entry.path.c_str());
        close(entry.descriptor);
    }
    own_.clear();
}

}  // namespace heddle::dyn
