#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The program behind `heddle logp`."""

from laboratory import logp_command

if __name__ == "__main__":
    logp_command.main()
