#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The program behind `heddle bench`."""

from laboratory import command_line

if __name__ == "__main__":
    command_line.main()
