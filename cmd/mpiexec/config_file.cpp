// SPDX-License-Identifier: BSD-3-Clause
#include "config_file.hpp"

#include <algorithm>
#include <sstream>

#include "options.hpp"
#include "say.hpp"
#include "small_file.hpp"

namespace heddle::mpiexec {

namespace {

constexpr std::string_view option_name = "configfile";

/// The words of one line.
class Line {
public:
    Line(const std::string& line, const std::string& where) : line_(line), where_(where) {}

    std::vector<std::string> split() {
        for (at_ = 0; at_ < line_.size(); ++at_) {
            const char c = line_[at_];
            if (c == '#' && !in_word_) break;
            if (c == ' ' || c == '\t' || c == '\r')
                end_word();
            else
                take(c);
        }
        end_word();
        return std::move(words_);
    }

private:
    void take(char c) {
        in_word_ = true;
        if (c == '\\')
            word_ += next("a backslash stands before nothing");
        else if (c == '\'' || c == '"')
            take_quoted(c);
        else
            word_ += c;
    }

    void take_quoted(char quote) {
        for (char c = 0; (c = next("a quote has no end")) != quote;)
            word_ += c == '\\' && quote == '"' ? next("a quote has no end") : c;
    }

    char next(std::string_view problem) {
        if (++at_ == line_.size())
            throw Failure(exit_usage, fmt::format("{}: {}", where_, problem));
        return line_[at_];
    }

    void end_word() {
        if (in_word_) words_.push_back(std::move(word_));
        word_.clear();
        in_word_ = false;
    }

    const std::string& line_;
    const std::string& where_;
    std::size_t at_ = 0;
    std::vector<std::string> words_;
    std::string word_;
    bool in_word_ = false;
};

std::vector<std::string> read(const std::string& path) {
    std::istringstream file(read_small_file("-configfile", path));
    std::vector<std::string> all;
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        const std::string where = fmt::format("-configfile {}, line {}", path, number);
        std::vector<std::string> words = Line(line, where).split();
        if (words.empty()) continue;
        if (!all.empty() && all.back() != ":") all.emplace_back(":");
        std::move(words.begin(), words.end(), std::back_inserter(all));
    }
    if (!all.empty() && all.back() == ":") all.pop_back();
    if (all.empty())
        throw Failure(exit_usage, fmt::format("-configfile {}: it names no program", path));
    return all;
}

/// Returns the index of the option among the words before the first program. All words after that
/// belong to the program.
std::size_t place_of_option(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size() && words[i].size() > 1 && words[i][0] == '-';) {
        const std::string_view name =
            std::string_view(words[i]).substr(words[i].starts_with("--") ? 2 : 1);
        if (name == option_name ||
            (name.starts_with(option_name) && name[option_name.size()] == '='))
            return i;
        const Option* option = mpiexec::find_option(name);
        const std::string_view first = i + 1 < words.size() ? words[i + 1] : std::string_view();
        i += 1 + (option == nullptr ? 0 : number_of_values(*option, first));
    }
    return words.size();
}

}  // namespace

std::vector<std::string> with_config_file(const std::vector<std::string>& words) {
    const std::size_t at = place_of_option(words);
    if (at == words.size()) return words;
    const std::size_t equals = words[at].find('=');
    const std::size_t after = at + (equals == std::string::npos ? 2 : 1);
    if (after > words.size()) throw Failure(exit_usage, "-configfile needs FILE");
    if (after < words.size())
        throw Failure(
            exit_usage,
            fmt::format("'{}' follows -configfile: the file says all that follows", words[after]));
    std::vector<std::string> result(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at));
    for (std::string& word :
         read(equals == std::string::npos ? words[at + 1] : words[at].substr(equals + 1)))
        result.push_back(std::move(word));
    return result;
}

}  // namespace heddle::mpiexec
