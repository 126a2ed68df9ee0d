// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "config_file.hpp"
#include "foreign.hpp"
#include "nearest.hpp"
#include "say.hpp"
#include "text.hpp"

#ifndef HEDDLE_VERSION
#define HEDDLE_VERSION "unknown"
#endif

namespace heddle::mpiexec {

namespace {

/// A word of the command line that starts with a dash.
struct Written {
    std::string_view name;                  ///< without dashes
    std::optional<std::string_view> value;  ///< the value in --name=value
};

Written dissect(std::string_view word) {
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || find_option(word) != nullptr) return {word, {}};
    return {word.substr(0, equals), word.substr(equals + 1)};
}

[[noreturn]] void unknown_option(std::string_view word, std::string_view name) {
    const std::string nearest = nearest_option(name);
    const std::string hint = nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
    throw Failure(exit_usage,
                  fmt::format("unknown option {}{} (mpiexec --help lists all)", word, hint));
}

class CommandLine {
public:
    explicit CommandLine(const std::vector<std::string>& words) : words_(words) {}

    Job parse() {
        do {
            parse_program();
        } while (!stop_ && next_ < words_.size());
        if (!stop_ && !words_.empty() && words_.back() == ":") missing_program();
        if (stop_) job_.programs.clear();
        return std::move(job_);
    }

private:
    void parse_program() {
        Program program;
        while (next_ < words_.size() && is_option(words_[next_])) {
            if (words_[next_] == "--") {
                ++next_;
                break;
            }
            parse_option(program);
            if (stop_) return;
        }
        while (next_ < words_.size() && words_[next_] != ":")
            program.command.push_back(words_[next_++]);
        if (program.command.empty()) missing_program();
        ++next_;  // the colon
        job_.programs.push_back(std::move(program));
    }

    static bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

    void parse_option(Program& program) {
        const std::string& word = words_[next_++];
        const Written written = dissect(word);
        const Option* option = find_option(written.name);
        if (option == nullptr) unknown_option(word, written.name);
        if (show(written.name)) return;
        const std::vector<std::string> values = take_values(*option, word, written);
        option->apply(Parsing{job_, program, word.substr(0, word.find('=')), values, option->help});
    }

    std::vector<std::string> take_values(const Option& option, const std::string& word,
                                         const Written& written) {
        std::vector<std::string> values;
        const std::string_view first = written.value ? *written.value
            : next_ < words_.size()                  ? std::string_view(words_[next_])
                                                     : std::string_view();
        // Intel MPI's -trace has no value: the next word may be the program.
        const bool alone = option.names == "trace" && !word.starts_with("--") && !written.value;
        const std::size_t wanted = alone ? 0 : number_of_values(option, first);
        if (written.value) {
            if (wanted == 0) throw Failure(exit_usage, fmt::format("{} takes no value", word));
            values.emplace_back(*written.value);
        }
        while (values.size() < wanted && next_ < words_.size()) values.push_back(words_[next_++]);
        if (values.size() < wanted)
            throw Failure(exit_usage, fmt::format("{} needs {}", word, option.values));
        return values;
    }

    bool show(std::string_view name) {
        if (is_one_of(name, {"h", "help", "?"}))
            std::fputs(help_text().c_str(), stdout);
        else if (is_one_of(name, {"V", "version", "info"}))
            std::puts("mpiexec (Heddle) " HEDDLE_VERSION);
        else
            return false;
        std::fflush(stdout);
        return stop_ = true;
    }

    [[noreturn]] static void missing_program() {
        throw Failure(exit_usage,
                      "no program to run is named; try: mpiexec -n 2 ./a.out "
                      "(mpiexec --help tells more)");
    }

    const std::vector<std::string>& words_;
    std::size_t next_ = 0;
    bool stop_ = false;
    Job job_;
};

/// Returns the names as "-n, --np, -c N": one dash for letters, two for words.
std::string shown_names(const Option& option) {
    std::string shown;
    std::string_view names = option.names;
    while (!names.empty()) {
        const std::size_t end = std::min(names.find(' '), names.size());
        const std::string_view name = names.substr(0, end);
        shown +=
            fmt::format("{}{}{}", shown.empty() ? "" : ", ", name.size() > 1 ? "--" : "-", name);
        names.remove_prefix(std::min(end + 1, names.size()));
    }
    return option.values.empty() ? shown : fmt::format("{} {}", shown, option.values);
}

/// Returns `text` broken into lines of at most 56 characters after a margin.
std::string in_column(std::string_view text, std::size_t margin) {
    constexpr std::size_t width = 56;
    std::string result;
    while (text.size() > width) {
        const std::size_t cut = text.rfind(' ', width);
        result += fmt::format("{}\n{:{}}", text.substr(0, cut), "", margin);
        text.remove_prefix(cut + 1);
    }
    return result + std::string(text);
}

std::string help_section(std::string_view title, Section section) {
    constexpr std::size_t margin = 34;
    std::string text = fmt::format("\n{}:\n", title);
    for (const Option& option : option_table()) {
        if (option.section != section) continue;
        std::string left = "  " + shown_names(option);
        if (left.size() + 1 >= margin) left += fmt::format("\n{:{}}", "", margin);
        text += fmt::format("{:<{}}{}\n", left, margin, in_column(option.help, margin));
    }
    return text;
}

}  // namespace

const Option* find_option(std::string_view name) {
    for (const std::span<const Option> table : {option_table(), foreign_options()})
        for (const Option& option : table)
            for (const std::string& one : split(option.names, ' '))
                if (one == name) return &option;
    return nullptr;
}

std::string nearest_option(std::string_view name) {
    // All options are equally near to a name of two letters.
    if (name.size() < 3) return {};
    std::string best;
    std::size_t best_distance = most_distance(name) + 1;
    for (const std::span<const Option> table : {option_table(), foreign_options()}) {
        for (const Option& option : table) {
            for (const std::string& candidate : split(option.names, ' ')) {
                const std::size_t distance = edit_distance(lower(name), lower(candidate));
                if (distance >= best_distance) continue;
                best_distance = distance;
                best = candidate;
            }
        }
    }
    if (best.empty()) return best;
    return fmt::format("{}{}", best.size() > 1 ? "--" : "-", best);
}

std::size_t number_of_values(const Option& option, std::string_view first) {
    if (option.values.empty()) return 0;
    const bool one_word = option.values == "VAR VALUE" && first.find('=') != std::string_view::npos;
    if (one_word) return 1;
    return 1 +
        static_cast<std::size_t>(std::count(option.values.begin(), option.values.end(), ' '));
}

Job parse_command_line(const std::vector<std::string>& arguments) {
    const std::vector<std::string> words = with_config_file(arguments);
    return CommandLine(words).parse();
}

std::string help_text() {
    return "Usage: mpiexec [options] program [arguments] [: [options] program [arguments]]...\n"
           "Starts the ranks of an MPI job and ends with the exit code of the first rank that\n"
           "failed. Options may be written with one or two dashes.\n"
           "  mpiexec -n 4 ./a.out                 four ranks\n"
           "  mpiexec -n 1 ./master : -n 3 ./work  two programs, one job\n"
           "  mpiexec --host a,b -n 8 ./a.out      on two machines, by srun, prterun or Hydra\n"
           "  mpiexec --timeout 60 -n 2 ./a.out    a job that hangs: who waits for what\n" +
        help_section("Programs", Section::programs) +
        help_section("Environment", Section::environment) +
        help_section("Placement", Section::placement) +
        help_section("Input and output", Section::streams) + help_section("Other", Section::other) +
        "\nOptions and variables of MPICH, Intel MPI and Open MPI are understood, or mpiexec says\n"
        "that they have no effect (-q: it does not).\n"
        "\nCtrl-C ends the job and says where a job that hangs is; once more kills it at once. "
        "Ctrl-\\\n"
        "says it and lets the job go on. SIGUSR1 and SIGUSR2 are handed to all\n"
        "ranks. Exit codes: that of the failing rank, 128 + n when signal n ended it, the code of\n"
        "MPI_Abort, 124 after --timeout, 126 and 127 for a program that cannot be run, 2 for a\n"
        "wrong command line.\n";
}

}  // namespace heddle::mpiexec
