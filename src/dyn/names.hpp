// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// Published names, by which jobs of one user find each other's ports (MPI_Publish_name, MPI 5.0, 11.4.4).
///
/// Place          a folder, the setting `names`; else heddle/names below XDG_RUNTIME_DIR; else a folder of the user's own below that for
///                temporary files. It is made with mode 0700. One that belongs to another user, or others can write to, is refused.
/// Entry          a file for each name, called by a digest of it. It holds name and port, and its publisher holds a
///                lock on it (flock) for as long as it lives. So an entry whose lock is free is that of a process that
///                has died: nobody finds it, and whoever comes across it removes it.
/// Forks          a child that the program forks shares the lock: an entry is then there until both have ended.
/// Names          any bytes, also of no length.
/// Errors         std::runtime_error if the folder or an entry cannot be used: a sentence with the path.
/// Thread safety  any function from any thread.

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace heddle::dyn {

/// Those that this process has published, and all that others have.
class Names {
public:
    /// `setting`: tool::Settings::names. The folder is looked at when it is first needed.
    explicit Names(std::string setting) : setting_(std::move(setting)) {}
    /// Removes what this process has published.
    ~Names();
    Names(const Names&) = delete;
    Names& operator=(const Names&) = delete;

    /// False if the name is published already, by whomever.
    [[nodiscard]] bool publish(const std::string& name, const std::string& port);
    /// False if this process has not published it.
    [[nodiscard]] bool unpublish(const std::string& name);
    /// The port; nothing if no living process has published the name.
    [[nodiscard]] std::optional<std::string> look_up(const std::string& name);

    /// Removes what this process has published.
    void clear() noexcept;

private:
    struct Entry {
        std::string path;
        int descriptor;  ///< with the lock
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
