// SPDX-License-Identifier: BSD-3-Clause
#include "scale/parameters.hpp"

namespace heddle::scale {

Parameters default_parameters() {
    return {
        .within = {Curve({{0, 0.4}, {1024, 0.7}, {16384, 3.5}, {1048576, 110}}),
                   Curve({{0, 0.12}, {1024, 0.25}, {16384, 1.6}, {1048576, 100}}), 0, 16384},
        .between = {Curve({{0, 7.0}, {1024, 8.0}, {16384, 14.0}, {1048576, 254}}),
                    Curve({{0, 3.0}, {1024, 3.4}, {16384, 7.0}, {1048576, 200}}), 0.00022, 16384},
        .signal_us = 0.1,
        .copied_byte_us = 0.0001,
        .combined_byte_us = 0.0002,
        .step_us = 0.02,
        .switch_us = 1.5,
        .source = "placeholder",
    };
}

}  // namespace heddle::scale
