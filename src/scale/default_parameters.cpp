// SPDX-License-Identifier: BSD-3-Clause
#include "scale/parameters.hpp"

namespace heddle::scale {

/// Returns parameters of two machines, over TCP. One-way times within a node are those of
/// bench/results/overlap.md. One-way times and the time of a byte between nodes are those of
/// bench/results/hosts.md. The others are assumed: the costs of steps and of changes of ranks, and
/// overheads. An overhead is half of a one-way time within a node and a third between nodes.
Parameters default_parameters() {
    const Curve halved({{10, 0.07}, {1024, 0.17}, {65536, 1.6}, {1048576, 20.3}, {8388608, 419}});
    const Curve third({{0, 2.26}, {1048576, 84.7}});
    return {
        .within = {Curve(
                       {{10, 0.14}, {1024, 0.35}, {65536, 3.21}, {1048576, 40.7}, {8388608, 838}}),
                   halved, halved, 0, 8192, 1.5},
        .between = {Curve({{0, 6.77}, {1048576, 254}}), third, third, 0.000252, 8192, 1.5},
        .signal_us = 0.03,
        .copied_byte_us = 0.000039,
        .combined_byte_us = 0.000078,
        .step_us = 0.02,
        .source = "those of bench/results/overlap.md and hosts.md, overheads assumed",
    };
}

}  // namespace heddle::scale
