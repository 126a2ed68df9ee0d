// SPDX-License-Identifier: BSD-3-Clause
/// `heddle scale`: predicts the time of collectives of many ranks for each algorithm, and shows the
/// library's choice.

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "json.hpp"
#include "scale/job.hpp"
#include "scale/table.hpp"
#include "subcommands.hpp"

namespace heddle::cmd {
namespace {

using scale::Outcome;

constexpr double far_from_best = 1.1;  // factor

void read_file(const std::string& name, scale::Link& link, scale::Parameters& all) {
    if (name.empty()) return;
    std::ifstream file(name);
    if (!file) throw std::runtime_error(name + " cannot be read");
    scale::read_parameters(file, name, link, all);
    all.source += ", with " + name;
}

scale::Parameters parameters_of(const ScaleOptions& options) {
    scale::Parameters all = scale::default_parameters();
    read_file(options.between, all.between, all);
    read_file(options.within, all.within, all);
    return all;
}

launch::RegularMap map_of(const ScaleOptions& options) {
    return {options.in_turn ? 1 : options.ranks_per_node, options.nodes,
            options.nodes * options.ranks_per_node};
}

std::vector<coll::Collective> operations_of(const ScaleOptions& options) {
    if (options.operations.empty()) return scale::CollectiveCall::operations();
    std::vector<coll::Collective> chosen;
    for (const std::string& name : options.operations) {
        const auto what = scale::CollectiveCall::named(name);
        if (!what) throw std::runtime_error("there is no operation " + name);
        chosen.push_back(*what);
    }
    return chosen;
}

bool is_lossy(const scale::Table& table) { return table.loss() > far_from_best; }

std::string note_of(const scale::Table& table, const scale::Row& row) {
    std::string note = row.chosen ? "chosen" : "";
    if (row.best) note += note.empty() ? "best" : ", best";
    if (!row.simulated) note += note.empty() ? "not simulated" : ", not simulated";
    if (row.chosen && is_lossy(table))
        note += fmt::format(" <- {}{:.1f} times the best", row.simulated ? "" : "at least ",
                            table.loss());
    return note;
}

void print_row(const scale::Table& table, const scale::Row& row) {
    const Outcome& outcome = row.outcome;
    if (!row.simulated)
        return fmt::print("  {:<15}{:>12}  {:>12} {:>14} {:>11} {:>7} {:>7}  {}\n",
                          row.algorithm->name, fmt::format("> {:.2f}", row.us), "", "", "", "", "",
                          note_of(table, row));
    fmt::print("  {:<15}{:>12.2f}  {:>12} {:>14} {:>11} {:>7} {:>7}  {}\n", row.algorithm->name,
               row.us, outcome.between.messages, outcome.between.bytes, outcome.within.messages,
               outcome.most_messages, outcome.most_rounds, note_of(table, row));
}

void print_table(const scale::Table& table) {
    fmt::print("{}, {} bytes\n", coll::name_of(table.what), table.bytes);
    for (const scale::Row& row : table.rows) print_row(table, row);
}

void print_head(const ScaleOptions& options, const scale::Parameters& parameters) {
    fmt::print("{} ranks on {} nodes, {} on each{}. Parameters: {}.\n\n",
               options.nodes * options.ranks_per_node, options.nodes, options.ranks_per_node,
               options.in_turn ? ", in turn" : "", parameters.source);
    fmt::print("  {:<15}{:>12}  {:>12} {:>14} {:>11} {:>7} {:>7}\n", "algorithm", "predicted us",
               "msgs between", "bytes between", "msgs within", "of rank", "rounds");
}

std::string row_in_json(const scale::Table& table, const scale::Row& row) {
    std::string text = fmt::format(
        R"({{"operation":{},"bytes":{},"algorithm":{},"chosen":{},"simulated":{},)"
        R"("predicted_us":{:.4f})",
        json_string(std::string(coll::name_of(table.what))), table.bytes,
        json_string(std::string(row.algorithm->name)), row.chosen, row.simulated, row.us);
    const Outcome& outcome = row.outcome;
    if (row.simulated)
        text +=
            fmt::format(R"(,"best":{},"messages_between":{},"bytes_between":{},)"
                        R"("messages_within":{},"bytes_within":{},"signals":{},"most_messages":{},)"
                        R"("most_rounds":{},"most_scratch_bytes":{})",
                        row.best, outcome.between.messages, outcome.between.bytes,
                        outcome.within.messages, outcome.within.bytes, outcome.signals,
                        outcome.most_messages, outcome.most_rounds, outcome.most_scratch_bytes);
    return text + "}";
}

void print_json(const ScaleOptions& options, const scale::Parameters& parameters,
                const std::vector<scale::Table>& tables) {
    std::vector<std::string> rows;
    for (const scale::Table& table : tables)
        for (const scale::Row& row : table.rows) rows.push_back(row_in_json(table, row));
    fmt::print(R"({{"nodes":{},"ranks_per_node":{},"in_turn":{},"parameters":{},"rows":[{}]}})"
               "\n",
               options.nodes, options.ranks_per_node, options.in_turn,
               json_string(parameters.source), fmt::join(rows, ","));
}

std::vector<scale::Table> tables_of(const ScaleOptions& options,
                                    const scale::Parameters& parameters) {
    scale::Ranks ranks(map_of(options));
    scale::TableSettings settings{.most_steps = options.most_steps};
    settings.simulation.cores = options.cores;
    settings.simulation.calls = options.calls;
    std::vector<scale::Table> tables;
    for (const coll::Collective what : operations_of(options))
        for (const std::uint64_t bytes : options.bytes) {
            const bool without = what == coll::Collective::barrier;
            tables.push_back(compare(ranks, parameters,
                                     {.what = what,
                                      .bytes = without ? 0 : bytes,
                                      .doubles = !options.integers,
                                      .blocking = !options.nonblocking},
                                     settings));
            if (!options.json) print_table(tables.back());
            if (without) break;
        }
    return tables;
}

void print_summary(const std::vector<scale::Table>& tables) {
    const auto far = std::count_if(tables.begin(), tables.end(), is_lossy);
    fmt::print(
        "\nIn {} of {} calls another algorithm than the chosen one is predicted to be more "
        "than {:.0f} % faster.\n",
        far, tables.size(), 100 * (far_from_best - 1));
}

void print_job(const ScaleOptions& options, const scale::Parameters& parameters) {
    const scale::SimulatedJob job = scale::simulate_job(map_of(options), parameters);
    if (options.json) {
        std::vector<std::string> rows;
        for (const scale::JobPart& part : job.parts)
            rows.push_back(fmt::format(
                R"({{"part":{},"predicted_us":{:.4f},"messages_between":{},"bytes_between":{},)"
                R"("messages_within":{},"bytes_within":{},"most_messages":{},"most_rounds":{},)"
                R"("most_scratch_bytes":{},"fine":{}}})",
                json_string(part.name), part.outcome.time_us, part.outcome.between.messages,
                part.outcome.between.bytes, part.outcome.within.messages, part.outcome.within.bytes,
                part.outcome.most_messages, part.outcome.most_rounds,
                part.outcome.most_scratch_bytes, part.fine()));
        return fmt::print(
            R"({{"nodes":{},"ranks_per_node":{},"communicator_bytes":{},"parts":[{}]}})"
            "\n",
            options.nodes, options.ranks_per_node, job.communicator_bytes, fmt::join(rows, ","));
    }
    print_head(options, parameters);
    for (const scale::JobPart& part : job.parts)
        fmt::print("  {:<15}{:>12.2f}  {:>12} {:>14} {:>11} {:>7} {:>7}  {} bytes of scratch{}\n",
                   part.name, part.outcome.time_us, part.outcome.between.messages,
                   part.outcome.between.bytes, part.outcome.within.messages,
                   part.outcome.most_messages, part.outcome.most_rounds,
                   part.outcome.most_scratch_bytes, part.fine() ? "" : "  WRONG");
    fmt::print(
        "\nA communicator of all ranks takes {} bytes of a rank, and 4 for each rank in its "
        "group.\n",
        job.communicator_bytes);
}

void print_predictions(const ScaleOptions& options, const scale::Parameters& parameters) {
    if (!options.json) print_head(options, parameters);
    const std::vector<scale::Table> tables = tables_of(options, parameters);
    if (options.json)
        print_json(options, parameters, tables);
    else
        print_summary(tables);
}

}  // namespace

void predict(const ScaleOptions& options) try {
    const scale::Parameters parameters = parameters_of(options);
    if (options.job)
        print_job(options, parameters);
    else
        print_predictions(options, parameters);
} catch (const std::exception& problem) {
    fail("heddle scale", problem.what());
}

}  // namespace heddle::cmd
