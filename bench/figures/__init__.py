# SPDX-License-Identifier: BSD-3-Clause
"""The papers' figures as data. Each paper has a file, whose PAPER lists its figures (see ../README.md)."""
