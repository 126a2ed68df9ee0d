// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Published names, by which jobs of one user find each other's ports (MPI_Publish_name, MPI 5.0,
/// 11.4.4).
///
/// Place          a folder, the setting `names`. Without it, heddle/names below XDG_RUNTIME_DIR.
///                Without that, a folder of the user's own below that for temporary files. It is
///                made with mode 0700. A folder is refused if it belongs to another user, or if
///                others can write to it.
/// Entry          a file for each name. A digest of the name is the file's name. It holds name and
///                port, and its publisher holds a lock on it (flock) as long as it lives. So an
///                entry whose lock is free belongs to a process that has died. Lookups do not
///                return it, and a process that meets it removes it.
/// Forks          a child that the program forks shares the lock. The entry then stays until both
///                have ended.
/// Names          any bytes, also of no length.
/// Errors         std::runtime_error if the folder or an entry cannot be used: a sentence with the
///                path.
/// Thread safety  any function from any thread.

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace heddle::dyn {

/// Publishes this process's names, and finds those of all.
class Names {
public:
    /// `setting` is tool::Settings::names. The folder is opened when it is first needed.
    explicit Names(std::string setting) : setting_(std::move(setting)) {}
    /// Removes what this process has published.
    ~Names();
    Names(const Names&) = delete;
    Names& operator=(const Names&) = delete;

    /// Returns false if any process has published the name already.
    [[nodiscard]] bool publish(const std::string& name, const std::string& port);
    /// Returns false if this process has not published it.
    [[nodiscard]] bool unpublish(const std::string& name);
    /// Returns the port, or nothing if no living process has published the name.
    [[nodiscard]] std::optional<std::string> look_up(const std::string& name);

    /// Removes what this process has published.
    void clear() noexcept;

private:
    struct Entry {
        std::string path;
        int descriptor;  ///< an open file that holds the lock
    };

    const std::string& folder();
    static bool is_live(const std::string& path);
    static void remove_stale(const std::string& path, int wait);

    std::mutex lock_;
    std::string setting_;
    std::string folder_;
    std::map<std::string, Entry> own_;
};

}  // namespace heddle::dyn
