# SPDX-License-Identifier: BSD-3-Clause
"""Measures the papers' figures with plain-MPI programs, and draws them.

The figures, as data:             figure (the parts of one), catalogue (all that there are)
Measuring:                        contestants, jobs, machine, readings, campaign, progress
The measurements:                 points (stored), regime (which of them compare), summary
Showing it:                       tables, plots, page
The command:                      command_line, arguments
`heddle logp`:                    logp (the model), logp_rows (its predictions), logp_command

compare.py stands on contestants, jobs, machine, readings and regime, too.
"""
