# SPDX-License-Identifier: BSD-3-Clause
"""tests_are_there.py BUILD UNIT_TESTS [--write]: no test is lost.

test_names.txt has the names of tests that were there once: those of ctest, and of UNIT_TESTS as `unit: Suite.test`. Each must
still be in the whole list. The quick list must be a part of it, and leave out no more than it says: the labels `long` and
`stress`. Take a test that is given up or renamed out of test_names.txt by hand, so that it is seen. --write adds new ones.
"""

import re
import subprocess
import sys
from pathlib import Path

NAMES = Path(__file__).with_name("test_names.txt")
TOO_FEW = 500  # tests: a shorter list was not read rightly


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def tests_of(build: str, *options: str) -> set[str]:
    listed = output_of("ctest", "--test-dir", build, "--show-only", *options)
    return set(re.findall(r"^ *Test +#\d+: (\S+)", listed, re.MULTILINE))


def unit_tests_of(program: str) -> set[str]:
    names, suite = set(), ""
    for line in output_of(program, "--gtest_list_tests").splitlines():
        text = line.split("#")[0].rstrip()
        if line.startswith("  "):
            names.add(f"unit: {suite}{text.strip()}")
        elif text.endswith("."):
            suite = text
    return names


build, program = sys.argv[1:3]
whole, units = tests_of(build), unit_tests_of(program)
quick = tests_of(build, "-LE", "long|stress")
left_out = tests_of(build, "-L", "long|stress")
there = whole | units
problems = []
if len(whole) < TOO_FEW or len(units) < TOO_FEW:
    problems.append(f"only {len(whole)} tests and {len(units)} unit tests are listed")
if not quick <= whole or quick | left_out != whole:
    problems.append(f"in neither list: {sorted(whole - quick - left_out)}")
if "--write" in sys.argv:
    known = set(NAMES.read_text().splitlines()) if NAMES.exists() else set()
    NAMES.write_text("\n".join(sorted(known | there)) + "\n")
lost = sorted(set(NAMES.read_text().splitlines()) - there)
problems += [f"lost: {name}" for name in lost]
print(f"{len(whole)} tests, of which {len(quick)} are in the quick list; {len(units)} unit tests")
print("\n".join(problems))
sys.exit(1 if problems else 0)
