#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `heddle logp` runs."""

from laboratory import logp_command

if __name__ == "__main__":
    logp_command.main()
