# SPDX-License-Identifier: BSD-3-Clause
"""The papers' figures as data: a file for each paper, whose PAPER lists them (see ../README.md)."""
