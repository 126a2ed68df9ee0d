// SPDX-License-Identifier: BSD-3-Clause
/// The client side of PMIx (launch/launcher.hpp), by the libpmix.so.2 that there is.
///
/// The library comes from the launcher itself, if that is an ancestor of this process and may be
/// looked at. Clients of one version and servers of another understand each other, but not in
/// everything. Few keys are used for the same reason.
///
/// If a server goes away, no process is left to end this rank when the others have ended: the rank
/// ends when its library reports it.
///
/// A server that is asked for a value of a rank of another host asks that host. It does not answer
/// if the rank has gone meanwhile. So no thread waits for it longer than some seconds. The same
/// holds for a server that is told of an abort.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "launch/all.hpp"
#include "launch/pieces.hpp"
#include "launch/pmix_abi.hpp"
#include "launch/thread_names.hpp"
#include "platform/ancestors.hpp"
#include "platform/signals.hpp"

namespace heddle::launch {
namespace {

constexpr const char* library = "libpmix.so.2";
/// Servers of version 5 lose values of more than about four thousand bytes in silence.
constexpr std::size_t longest_value = 1000;

void* open_library() {
    const std::string launchers_own = platform::file_of_ancestor("/libpmix.so");
    if (!launchers_own.empty())
        if (void* handle = dlopen(launchers_own.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    if (void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL)) return handle;
    throw std::runtime_error(
        std::string("started by a PMIx launcher (prterun, mpirun, srun --mpi=pmix), as PMIX_RANK "
                    "says, but ") +
        library + " cannot be loaded: " + dlerror() +
        " (install it, for example Debian's libpmix2, or name its folder in LD_LIBRARY_PATH)");
}

template <class Function>
void find_function(void* handle, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (function == nullptr)
        throw std::runtime_error(std::string(library) + " has no function " + name);
}

pmix::Functions load() {
    void* const handle = open_library();  // never closed: it has threads
    pmix::Functions functions{};
    find_function(handle, "PMIx_Init", functions.Init);
    find_function(handle, "PMIx_Finalize", functions.Finalize);
    find_function(handle, "PMIx_Abort", functions.Abort);
    find_function(handle, "PMIx_Put", functions.Put);
    find_function(handle, "PMIx_Commit", functions.Commit);
    find_function(handle, "PMIx_Fence", functions.Fence);
    find_function(handle, "PMIx_Get_nb", functions.Get_nb);
    find_function(handle, "PMIx_Register_event_handler", functions.Register_event_handler);
    find_function(handle, "PMIx_Error_string", functions.Error_string);
    return functions;
}

/// Whether the server may hang up: this rank has said good-bye. Otherwise the rank ends.
std::atomic<bool> expected{false};

void hear_of_loss(std::size_t, int status, const pmix::Process* source, pmix::Info*, std::size_t,
                  pmix::Info*, std::size_t, pmix::Reported next, void* data) {
    if (status == pmix::lost_connection && !expected.load(std::memory_order_relaxed)) {
        std::fprintf(stderr,
                     "heddle: the launcher has closed the connection (PMIx); rank %s ends\n",
                     std::getenv("PMIX_RANK"));
        _exit(1);
    }
    (void)source;
    if (next != nullptr) next(pmix::success, nullptr, 0, nullptr, nullptr, data);
}

/// The answer of a server, for a thread that does not wait longer than some time.
class Answered {
public:
    void tell() {
        const std::lock_guard guard(lock_);
        over_ = true;
        changed_.notify_one();
    }
    /// Returns false if the answer does not come in time. Otherwise everything that tell()'s caller
    /// has written before is there.
    bool within(std::chrono::seconds patience) {
        std::unique_lock guard(lock_);
        return changed_.wait_for(guard, patience, [this] { return over_; });
    }

private:
    std::mutex lock_;
    std::condition_variable changed_;
    bool over_ = false;
};

/// A question to a server. The thread that asks may have given up when the answer comes.
class Question {
public:
    /// Asks, and returns the answer. Returns nullptr if nothing is known, or not in time.
    template <class Ask>
    static std::shared_ptr<const Question> ask(Ask&& start) {
        constexpr std::chrono::seconds patience{10};
        auto question = std::make_shared<Question>();
        auto kept = std::make_unique<std::shared_ptr<Question>>(question);
        if (start(answer, kept.get()) != pmix::success) return nullptr;
        (void)kept.release();  // the answer owns it
        return question->answered_.within(patience) && question->known_ ? question : nullptr;
    }
    std::uint16_t type = 0;
    std::uint32_t number = 0;
    std::string text;

private:
    static void answer(int status, pmix::Value* value, void* data) {
        const std::unique_ptr<std::shared_ptr<Question>> kept(
            static_cast<std::shared_ptr<Question>*>(data));
        Question& question = **kept;
        question.known_ = status == pmix::success && value != nullptr;
        if (question.known_) question.read(*value);
        question.answered_.tell();
    }
    void read(const pmix::Value& value) {
        type = value.type;
        if (type == pmix::string)
            text = value.data.text;
        else
            number = value.data.number;
    }

    Answered answered_;
    bool known_ = false;
};

/// Calls PMIx_Abort with patience: its server does not answer if it is stopped or cut off. The
/// caller exits all the same. A thread of its own makes the call, since PMIx has none that returns
/// at once.
void abort_within_patience(const pmix::Functions& call, int code) noexcept {
    constexpr std::chrono::seconds patience{3};
    try {
        const platform::WithoutSignals inherited;
        const auto answered = std::make_shared<Answered>();  // the thread may outlive this function
        std::thread([answered, code, abort = call.Abort] {
            (void)abort(code, "", nullptr, 0);
            answered->tell();
        }).detach();
        (void)answered->within(patience);
    } catch (const std::exception&) {
        // Without a thread there is no call: the exit that follows tells it as well.
    }
}

class Pmix final : public Launcher {
public:
    Pmix() : call_(load()) {
        const NamedChildren names(launcher_thread);
        check(call_.Init(&me_, nullptr, 0), "PMIx_Init");
        size_ = static_cast<int>(number(pmix::of_all_ranks, "pmix.job.size"));
        int loss = pmix::lost_connection;
        (void)call_.Register_event_handler(&loss, 1, nullptr, 0, hear_of_loss, nullptr, nullptr);
    }

    int rank() const noexcept override { return static_cast<int>(me_.rank); }
    int size() const noexcept override { return size_; }
    int appnum() override {
        const Answer answer = look_up(me_.rank, "pmix.appnum");
        return answer && answer->type == pmix::uint32 ? static_cast<int>(answer->number) : -1;
    }

    int universe_size() override {
        const Answer answer = look_up(pmix::of_all_ranks, "pmix.univ.size");
        return answer && answer->type == pmix::uint32 ? static_cast<int>(answer->number) : -1;
    }

    NodeMap node_map() override {
        NodeMap map = nodes_by_number();
        return map.empty() ? nodes_by_name() : map;
    }

    void put(const std::string& key, const std::string& value) override {
        const std::vector<std::string> pieces = cut(value, longest_value);
        for (std::size_t i = 0; i < pieces.size(); ++i) put_piece(key_of(key, i), pieces[i]);
    }

    void fence() override {
        check(call_.Commit(), "PMIx_Commit");
        pmix::Info collect{"pmix.collect", 0, {pmix::boolean, {true}}};
        check(call_.Fence(nullptr, 0, &collect, 1), "PMIx_Fence");
    }

    std::string get(int rank, const std::string& key) override {
        return put_together([&](std::size_t piece) { return get_piece(rank, key_of(key, piece)); });
    }

    void leave() noexcept override {
        expected.store(true, std::memory_order_relaxed);
        (void)call_.Finalize(nullptr, 0);
    }
    void abort(int code) noexcept override {
        expected.store(true, std::memory_order_relaxed);
        abort_within_patience(call_, code);
    }

private:
    using Answer = std::shared_ptr<const Question>;

    static std::string key_of(const std::string& key, std::size_t piece) {
        return "heddle-" + key + "-" + std::to_string(piece);
    }
    void put_piece(const std::string& key, std::string piece) const {
        pmix::Value what{pmix::string, {}};
        what.data.text = piece.data();
        check(call_.Put(pmix::to_all, key.c_str(), &what), "PMIx_Put");
    }
    std::string get_piece(int rank, const std::string& key) const {
        const Answer answer = look_up(static_cast<std::uint32_t>(rank), key.c_str());
        if (answer && answer->type == pmix::string) return answer->text;
        throw std::runtime_error("the launcher has no value " + key + " of rank " +
                                 std::to_string(rank) + " (PMIx)");
    }
    void check(int status, const char* function) const {
        if (status != pmix::success)
            throw std::runtime_error(std::string(function) + ": " + call_.Error_string(status) +
                                     " (PMIx)");
    }
    /// Returns the map; empty if the server does not tell a number.
    NodeMap nodes_by_number() const {
        NodeMap map;
        for (std::uint32_t rank = 0; rank < static_cast<std::uint32_t>(size_); ++rank) {
            const Answer node = look_up(rank, "pmix.nodeid");
            if (!node || node->type != pmix::uint32) return {};
            map.push_back(static_cast<std::int32_t>(node->number));
        }
        return map;
    }
    /// Returns the map by names. Slurm's servers tell numbers of none or some, but a name for each
    /// node.
    NodeMap nodes_by_name() const {
        NodeMap map;
        std::map<std::string, std::int32_t> numbers;
        for (std::uint32_t rank = 0; rank < static_cast<std::uint32_t>(size_); ++rank) {
            const Answer name = look_up(rank, "pmix.hname");
            if (!name || name->type != pmix::string)
                throw std::runtime_error("the launcher does not tell on which node rank " +
                                         std::to_string(rank) + " is (PMIx)");
            const auto next = static_cast<std::int32_t>(numbers.size());
            map.push_back(numbers.emplace(name->text, next).first->second);
        }
        return map;
    }
    Answer look_up(std::uint32_t rank, const char* key) const {
        pmix::Process whose = me_;
        whose.rank = rank;
        return Question::ask([&](pmix::Answered answered, void* data) {
            return call_.Get_nb(&whose, key, nullptr, 0, answered, data);
        });
    }
    std::uint32_t number(std::uint32_t rank, const char* key) const {
        const Answer answer = look_up(rank, key);
        if (answer && answer->type == pmix::uint32) return answer->number;
        throw std::runtime_error(std::string("the launcher does not tell ") + key + " (PMIx)");
    }

    const pmix::Functions call_;
    pmix::Process me_{};
    int size_ = 0;
};

}  // namespace

std::unique_ptr<Launcher> find_pmix() {
    if (std::getenv("PMIX_RANK") == nullptr || std::getenv("PMIX_NAMESPACE") == nullptr)
        return nullptr;
    return std::make_unique<Pmix>();
}

}  // namespace heddle::launch
