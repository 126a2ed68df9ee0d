// SPDX-License-Identifier: BSD-3-Clause
#include "testing/simulation.hpp"

#include <algorithm>
#include <cstdlib>
#include <ucontext.h>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace heddle::testing {
namespace {

constexpr std::size_t stack_bytes = 128 * 1024;
constexpr std::size_t trace_length = 80;

thread_local Simulation* simulation = nullptr;

/// Keeps stacks for reuse: a run takes less time than mapping them.
class Stacks {
public:
    ~Stacks() {
        for (std::byte* stack : free_) std::free(stack);
    }
    std::byte* take() {
        if (free_.empty()) return static_cast<std::byte*>(std::aligned_alloc(64, stack_bytes));
        std::byte* stack = free_.back();
        free_.pop_back();
        return stack;
    }
    void give(std::byte* stack) {
#if defined(__SANITIZE_ADDRESS__)
        ASAN_UNPOISON_MEMORY_REGION(stack, stack_bytes);  // of frames that were left for good
#endif
        free_.push_back(stack);
    }

private:
    std::vector<std::byte*> free_;
};
thread_local Stacks stacks;

}  // namespace

class Fiber {
public:
    enum class State { ready, asleep, over };
    struct Store {
        void* word;
        std::size_t bytes;
        std::uint64_t value;
    };

    /// The fiber of the caller.
    Fiber() {
#if defined(__SANITIZE_THREAD__)
        sanitizer_ = __tsan_get_current_fiber();
#endif
    }
    Fiber(Simulation& owner, int number, std::function<void()> body)
        : number(number), owner_(&owner), body_(std::move(body)), stack_(stacks.take()) {
        getcontext(&context_);
        context_.uc_stack.ss_sp = stack_;
        context_.uc_stack.ss_size = stack_bytes;
        context_.uc_link = nullptr;
        const auto self = reinterpret_cast<std::uintptr_t>(this);
        makecontext(&context_, reinterpret_cast<void (*)()>(&Fiber::begin), 2,
                    static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
#if defined(__SANITIZE_THREAD__)
        sanitizer_ = __tsan_create_fiber(0);
#endif
    }
    ~Fiber() {
        if (stack_ == nullptr) return;
#if defined(__SANITIZE_THREAD__)
        __tsan_destroy_fiber(sanitizer_);
#endif
        stacks.give(stack_);
    }
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    void switch_to(Fiber& other, [[maybe_unused]] bool for_good) {
#if defined(__SANITIZE_ADDRESS__)
        void* fake = nullptr;
        __sanitizer_start_switch_fiber(for_good ? nullptr : &fake, other.bottom(),
                                       other.stack_ == nullptr ? other.bytes_ : stack_bytes);
#endif
#if defined(__SANITIZE_THREAD__)
        __tsan_switch_to_fiber(other.sanitizer_, 0);
#endif
        swapcontext(&context_, &other.context_);
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
    }

    /// Moves the oldest store to memory.
    void drain_one() {
        const Store store = buffer.front();
        buffer.pop_front();
        switch (store.bytes) {
            case 1: put<std::uint8_t>(store); break;
            case 2: put<std::uint16_t>(store); break;
            case 4: put<std::uint32_t>(store); break;
            default: put<std::uint64_t>(store); break;
        }
    }
    void drain() {
        while (!buffer.empty()) drain_one();
    }

    const int number = -1;
    State state = State::ready;
    const void* sleeps_on = nullptr;
    bool limited = false;
    std::deque<Store> buffer;

private:
    template <class T>
    static void put(const Store& store) {
        static_cast<std::atomic<T>*>(store.word)->store(static_cast<T>(store.value), relaxed);
    }
    static void begin(unsigned high, unsigned low) {
        auto* self = reinterpret_cast<Fiber*>(std::uintptr_t{high} << 32 | low);
#if defined(__SANITIZE_ADDRESS__)
        Fiber& home = *self->owner_->home_;
        const void* bottom = nullptr;
        std::size_t bytes = 0;
        __sanitizer_finish_switch_fiber(nullptr, &bottom, &bytes);
        if (home.bottom_ == nullptr) {  // the first fiber is started from home
            home.bottom_ = bottom;
            home.bytes_ = bytes;
        }
#endif
        self->body_();
        self->state = State::over;
        self->owner_->leave_for_good();
    }
#if defined(__SANITIZE_ADDRESS__)
    const void* bottom() const { return stack_ == nullptr ? bottom_ : stack_; }
    const void* bottom_ = nullptr;
    std::size_t bytes_ = 0;
#endif
#if defined(__SANITIZE_THREAD__)
    void* sanitizer_ = nullptr;
#endif

    ucontext_t context_{};
    Simulation* owner_ = nullptr;
    std::function<void()> body_;
    std::byte* stack_ = nullptr;
};

Simulation* Simulation::current() noexcept { return simulation; }

Simulation::Simulation(std::uint64_t seed, Options options)
    : seed_(seed), options_(options), random_(seed * 0x9e3779b97f4a7c15U) {
    constexpr unsigned switches[] = {2, 3, 5, 10, 40, 150};
    constexpr unsigned drains[] = {2, 4, 12, 60, 300};
    switch_one_in_ = switches[random(std::size(switches))];
    drain_one_in_ = drains[random(std::size(drains))];
}

Simulation::~Simulation() = default;

void Simulation::thread(std::function<void()> body) {
    fibers_.push_back(
        std::make_unique<Fiber>(*this, static_cast<int>(fibers_.size()), std::move(body)));
}

std::string Simulation::run() {
    home_ = std::make_unique<Fiber>();
    simulation = this;
    running_ = home_.get();
    if (Fiber* first = choose(true)) switch_to(first);
    simulation = nullptr;
    for (auto& fiber : fibers_) fiber->drain();
    return finding_;
}

void Simulation::fail(const char* what) {
    Simulation& s = *simulation;
    if (s.finding_.empty()) s.finding_ = s.report(what);
    s.running_->state = Fiber::State::asleep;
    s.switch_to(s.home_.get());
}

int Simulation::running() const noexcept { return running_->number; }

int Simulation::number_of(const void* word) {
    auto at = std::find(words_.begin(), words_.end(), word);
    if (at == words_.end()) at = words_.insert(at, word);
    return static_cast<int>(at - words_.begin());
}

std::string Simulation::report(const std::string& what) {
    std::string text = "seed " + std::to_string(seed_) + ": " + what + "\n";
    for (const Event& event : trace_) {
        text += "  thread " + std::to_string(event.fiber) + " " + event.what;
        if (event.word != nullptr)
            text +=
                " w" + std::to_string(number_of(event.word)) + " " + std::to_string(event.value);
        text += "\n";
    }
    for (const auto& fiber : fibers_)
        text += "  thread " + std::to_string(fiber->number) +
            (fiber->state == Fiber::State::over ? " is over"
                 : fiber->state == Fiber::State::asleep
                 ? " sleeps on w" + std::to_string(number_of(fiber->sleeps_on))
                 : " runs") +
            "\n";
    return text;
}

void Simulation::note(const char* what, const void* word, std::uint64_t value) {
    if (trace_.size() == trace_length) trace_.pop_front();
    trace_.push_back({running_->number, what, word, value});
}

/// Returns any fiber that can go on, or nullptr if there is none.
Fiber* Simulation::choose(bool not_me) {
    Fiber* chosen = nullptr;
    unsigned count = 0;
    for (auto& fiber : fibers_) {
        const bool wakes_by_itself = fiber->state == Fiber::State::asleep &&
            fiber->sleeps_on != nullptr && (fiber->limited || options_.spurious_wakeups) &&
            random(8) == 0;
        if (wakes_by_itself) {
            fiber->state = Fiber::State::ready;
            fiber->sleeps_on = nullptr;
        }
        if (fiber->state != Fiber::State::ready || (not_me && fiber.get() == running_)) continue;
        if (random(++count) == 0) chosen = fiber.get();
    }
    for (auto& fiber : fibers_)  // the urgent thread runs even if it offers its core
        if (fiber->number == options_.urgent_thread && fiber->state == Fiber::State::ready)
            return fiber.get();
    return chosen;
}

void Simulation::drain_one() {
    Fiber* chosen = nullptr;
    unsigned count = 0;
    for (auto& fiber : fibers_)
        if (!fiber->buffer.empty() && random(++count) == 0) chosen = fiber.get();
    if (chosen != nullptr) chosen->drain_one();
}

void Simulation::switch_to(Fiber* fiber) {
    Fiber* me = running_;
    if (fiber == me) return;
    running_ = fiber;
    me->switch_to(*fiber, me->state == Fiber::State::over);
}

void Simulation::leave_for_good() { schedule(true); }

/// `must_leave` is true if the running fiber sleeps or is over.
void Simulation::schedule(bool must_leave) {
    if (++steps_ > options_.most_steps && finding_.empty()) {
        finding_ = report("threads run for ever");
        return switch_to(home_.get());
    }
    while (random(drain_one_in_) == 0) drain_one();
    if (!must_leave && random(switch_one_in_) != 0) return;
    if (Fiber* next = choose(false)) return switch_to(next);
    // No fiber can run. Stores reach memory in the end, but wake no fiber; sleeps with a limit end.
    for (auto& fiber : fibers_) fiber->drain();
    bool sleepers = false;
    for (auto& fiber : fibers_) {
        if (fiber->state != Fiber::State::asleep) continue;
        sleepers = true;
        if (!fiber->limited && !options_.spurious_wakeups) continue;
        fiber->state = Fiber::State::ready;
        fiber->sleeps_on = nullptr;
        return switch_to(fiber.get());
    }
    if (sleepers && finding_.empty()) finding_ = report("everybody sleeps");
    switch_to(home_.get());
}

std::uint64_t Simulation::load(const void* word, std::size_t bytes, const char* what) {
    schedule();
    std::uint64_t value = 0;
    const auto& buffer = running_->buffer;
    const auto own =
        std::find_if(buffer.rbegin(), buffer.rend(), [&](auto& s) { return s.word == word; });
    if (own != buffer.rend())
        value = own->value;
    else
        std::memcpy(&value, word, bytes);
    note(what, word, value);
    return value;
}

void Simulation::store(void* word, std::size_t bytes, std::uint64_t value, bool at_once,
                       const char* what) {
    schedule();
    running_->buffer.push_back({word, bytes, value});
    if (at_once) running_->drain();
    note(what, word, value);
}

void Simulation::before_update(const void*, const char*) {
    schedule();
    running_->drain();
}
void Simulation::after_update(const void* word, std::uint64_t value) {
    note("update", word, value);
}

void Simulation::light() { schedule(); }

void Simulation::heavy() {
    schedule();
    note("heavy");
    if (!options_.heavy_fences) return;
    for (auto& fiber : fibers_) fiber->drain();
}

void Simulation::wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                      bool limited) {
    schedule();
    running_->drain();
    if (word.load(relaxed) != expected) return note("wait, not", &word, word.load(relaxed));
    note("wait", &word, expected);
    running_->state = Fiber::State::asleep;
    running_->sleeps_on = &word;
    running_->limited = limited;
    schedule(true);
}

void Simulation::wake_one(const std::atomic<std::uint32_t>& word) {
    schedule();
    running_->drain();
    Fiber* chosen = nullptr;
    unsigned count = 0;
    for (auto& fiber : fibers_)
        if (fiber->state == Fiber::State::asleep && fiber->sleeps_on == &word &&
            random(++count) == 0)
            chosen = fiber.get();
    note("wake", &word, chosen == nullptr ? 0 : static_cast<std::uint64_t>(chosen->number));
    if (chosen == nullptr) return;
    chosen->state = Fiber::State::ready;
    chosen->sleeps_on = nullptr;
}

void Simulation::wake_all(const std::atomic<std::uint32_t>& word) {
    schedule();
    running_->drain();
    note("wake all", &word);
    for (auto& fiber : fibers_) {
        if (fiber->state != Fiber::State::asleep || fiber->sleeps_on != &word) continue;
        fiber->state = Fiber::State::ready;
        fiber->sleeps_on = nullptr;
    }
}

void Simulation::yield() {
    schedule();
    if (Fiber* next = choose(true)) switch_to(next);
    drain_one();
}

}  // namespace heddle::testing
