#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""run.py BUILD [CTEST-OPTION...]: runs the tests of a build, then says what was not tested, and why.

Tests that cannot run here are skipped. Each is listed at the end with its reason: the last line it has printed, or of unit
tests what GTEST_SKIP says. HEDDLE_REQUIRE=all makes them an error, but for those that tests/may_skip.txt allows.
A run of no test is an error. The tests that took longest are listed, too: unit tests apart from the programs of many.
"""
import fnmatch
import os
import re
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
SLOW_UNIT = re.compile(r"^slow: (\S+): (\d+)$", re.MULTILINE)
SLOWEST = 10
SKIPPED_UNIT = re.compile(r"^skipped: (\S+): (.*)$", re.MULTILINE)


def last_line(text):
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"


def read_report(path):
    """Returns the number of tests that ran, pairs (name, reason) of those that were skipped, and pairs (seconds, name)."""
    ran, skipped, times = 0, [], []
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        output = case.findtext("system-out")
        if case.get("status") == "notrun":
            skipped.append((case.get("name"), last_line(output)))
            continue
        ran += 1
        skipped += SKIPPED_UNIT.findall(output or "")
        units = [(int(time) / 1000, name) for name, time in SLOW_UNIT.findall(output or "")]
        times += units or [(float(case.get("time")), case.get("name"))]
    return ran, skipped, times


def read_allowed(path):
    """Returns patterns of names; in the file, each has a reason behind it."""
    lines = [line.split(maxsplit=1) for line in path.read_text().splitlines()]
    return [line[0] for line in lines if line and not line[0].startswith("#")]


def say_skipped(skipped, allowed):
    """Prints the skipped tests; returns how many of them are not allowed."""
    refused = 0
    for name, reason in skipped:
        may = any(fnmatch.fnmatch(name, pattern) for pattern in allowed)
        refused += not may
        print(f"  {'skipped' if may else 'SKIPPED'}  {name}: {reason}")
    return refused


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = Path(sys.argv[1]).resolve()
    report = build / "tests.xml"
    report.unlink(missing_ok=True)
    requires_all = os.environ.pop("HEDDLE_REQUIRE", "") == "all"  # mpiexec would warn that it does not know it
    code = subprocess.call(["ctest", "--test-dir", str(build), "--output-on-failure", "--test-output-size-passed", "65536",
                            "--output-junit", str(report), *sys.argv[2:]])
    if not report.exists():
        sys.exit(f"run.py: no report of the tests in {report}")
    ran, skipped, times = read_report(report)
    slowest = ", ".join(f"{name} {seconds:.0f}" for seconds, name in sorted(times, reverse=True)[:SLOWEST])
    print(f"\nseconds of the slowest: {slowest}")
    print(f"\n{ran} tests ran, {len(skipped)} were skipped", flush=True)
    refused = say_skipped(skipped, read_allowed(HERE / "may_skip.txt"))
    if ran == 0:
        sys.exit("run.py: no test ran")
    if refused and requires_all:
        sys.exit(f"run.py: {refused} tests were skipped that must run (HEDDLE_REQUIRE=all)")
    sys.exit(code)


if __name__ == "__main__":
    main()
