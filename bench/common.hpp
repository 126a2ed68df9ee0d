// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The parts that the MPI benchmarks share: the clock, command line options, medians and
/// initialisation. Plain MPI and standard C++20, so that every MPI library builds and runs the same
/// source.

#include <mpi.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace bench {

/// Returns the seconds of CLOCK_MONOTONIC, which the processes of one machine share.
inline double now() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// Returns the seconds of processor time that this process has taken.
inline double cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Returns the median; of an even number of values the mean of the two in the middle.
inline double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Options `--name value` and `--name=value`. done() reports an option that no get asked for as an
/// error.
class Options {
public:
    Options(int argc, char** argv, const char* usage) : program_(argv[0]), usage_(usage) {
        for (int i = 1; i < argc; ++i) {
            const std::string word = argv[i];
            const std::size_t equals = word.find('=');
            if (word == "-h" || word == "--help") leave(0, "");
            if (word.rfind("--", 0) != 0) leave(2, "not an option: " + word);
            if (equals != std::string::npos) {
                given_[word.substr(2, equals - 2)] = word.substr(equals + 1);
            } else {
                if (i + 1 == argc) leave(2, word + " needs a value");
                given_[word.substr(2)] = argv[++i];
            }
        }
    }

    std::string text(const std::string& name, const std::string& otherwise) {
        const auto found = given_.find(name);
        if (found == given_.end()) return otherwise;
        const std::string value = found->second;
        given_.erase(found);
        return value;
    }

    std::string choice(const std::string& name, const std::string& otherwise,
                       std::initializer_list<const char*> allowed) {
        const std::string value = text(name, otherwise);
        std::string words;
        for (const char* one : allowed) {
            if (value == one) return value;
            words += (words.empty() ? "" : ", ") + std::string(one);
        }
        leave(2, "--" + name + " cannot be " + value + ": allowed are " + words);
    }

    bool given(const std::string& name) const { return given_.count(name) != 0; }

    long integer(const std::string& name, long otherwise, long least = 0,
                 long most = std::numeric_limits<int>::max()) {
        return parse(name, text(name, std::to_string(otherwise)), least, most);
    }

    double real(const std::string& name, double otherwise) {
        const std::string value = text(name, std::to_string(otherwise));
        char* end = nullptr;
        const double number = std::strtod(value.c_str(), &end);
        if (end == value.c_str() || *end != 0 || number <= 0)
            leave(2, "--" + name + " cannot be '" + value + "': allowed are numbers above 0");
        return number;
    }

    /// Returns the value of option `name`; K and M stand for 1024 and 1024 * 1024.
    long parse(const std::string& name, const std::string& value, long least,
               long most = std::numeric_limits<int>::max()) const {
        const char* const end = value.data() + value.size();
        long number = 0, unit = 1;
        const auto [rest, error] = std::from_chars(value.data(), end, number);
        if (end - rest == 1 && *rest == 'K') unit = 1L << 10;
        if (end - rest == 1 && *rest == 'M') unit = 1L << 20;
        const bool whole = error == std::errc() && end - rest == (unit == 1 ? 0 : 1);
        if (!whole || __builtin_mul_overflow(number, unit, &number) || number < least ||
            number > most)
            leave(2,
                  "--" + name + " cannot be '" + value + "': allowed are whole numbers from " +
                      std::to_string(least) + " to " + std::to_string(most) +
                      "; K and M stand for 1024 and 1024 * 1024");
        return number;
    }

    /// Returns the numbers of a list separated by commas.
    std::vector<long> list(const std::string& name, const std::string& otherwise) {
        const std::string all = text(name, otherwise);
        std::vector<long> numbers;
        for (std::size_t at = 0; at <= all.size();) {
            const std::size_t comma = std::min(all.find(',', at), all.size());
            numbers.push_back(
                parse(name, all.substr(at, comma - at), 0, std::numeric_limits<long>::max()));
            at = comma + 1;
        }
        return numbers;
    }

    void done() const {
        if (!given_.empty()) leave(2, "unknown option --" + given_.begin()->first);
    }

    /// Ends the program with a complaint alone: the usage would hide it, once for each rank.
    [[noreturn]] void leave(int code, const std::string& complaint) const {
        if (code == 0)
            std::printf("%s", usage_);
        else
            std::fprintf(stderr, "%s: %s (--help lists the options)\n", program_,
                         complaint.c_str());
        std::exit(code);
    }

private:
    const char* program_;
    const char* usage_;
    std::map<std::string, std::string> given_;
};

/// Says why this run cannot go on, and ends all of it.
[[noreturn]] inline void fail(const std::string& reason) {
    std::fprintf(stderr, "%s\n", reason.c_str());
    MPI_Abort(MPI_COMM_WORLD, 2);
    std::abort();
}

/// Calls MPI_Init_thread at `single` or `multiple`. Ends the program if MPI gives a lower level.
inline void initialise(int* argc, char*** argv, const std::string& level) {
    const int asked = level == "single" ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
    int given = 0;
    MPI_Init_thread(argc, argv, asked, &given);
    if (given < asked) fail("this MPI does not give MPI_THREAD_MULTIPLE");
}

inline int rank() {
    int me = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    return me;
}

inline int ranks() {
    int all = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    return all;
}

inline void require_ranks(int needed) {
    if (ranks() != needed)
        fail("needs " + std::to_string(needed) + " ranks, has " + std::to_string(ranks()));
}

}  // namespace bench
