# SPDX-License-Identifier: BSD-3-Clause
"""Measures the papers' figures with plain-MPI programs, and draws them.

What is to be measured, as data:  figure (what a figure is made of), catalogue (which there are)
Measuring:                        contestants, jobs, machine, readings, campaign, progress
What was measured:                points (stored), regime (which of them compare), summary
Showing it:                       tables, plots, page
The command:                      command_line, arguments
`heddle logp`:                    logp (the model), logp_rows (its predictions), logp_command

compare.py stands on contestants, jobs, machine, readings and regime, too.
"""
