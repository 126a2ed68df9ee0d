#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Intel's MPI Benchmarks as PyPI has them, built for Intel MPI, unchanged, on the face libmpi.so.12.

    imb.py fetch PLACE                                          gets the programs and unpacks them in PLACE
    imb.py run INSTALLATION PLACE [NAME ...] [--ranks N] [--brief]

`run` starts each program (MPI1, MT, NBC, P2P, RMA) on 2 and 4 ranks, or on N. It runs all benchmarks that the program lists.
Each program must end without a word of complaint. It must print a table of numbers for each benchmark that takes so few
ranks. MT compares received data with sent data (`-check`). It runs once more with a library that spoils received data
(spoil.c), and must find that. The others, as they are built, compare nothing. Exit code 77 if PyPI cannot be reached.
"""

import argparse
import math
import os
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKIPPED = 77
WHEELS = ("impi-rt", "intel-openmp")  # the programs; libiomp5.so, which MT needs
WANTED = re.compile(r"/(IMB-(?:MPI1|MT|NBC|P2P|RMA)|libiomp5\.so)$")
LIMIT = 900  # seconds for one program


@dataclass(frozen=True)
class Program:
    options: tuple[str, ...]
    lengths: tuple[str, ...]
    few_lengths: tuple[str, ...]
    checks: bool = False  # whether it checks data and reports errors


LOGARITHMS = (("-msglog", "0:18"), ("-msglog", "3:4"))
PATIENT = ("-iter", "10", "-time", "1000")  # on a busy machine, lengths that take longer are left out
PROGRAMS = {
    "MPI1": Program(PATIENT, *LOGARITHMS),
    "NBC": Program(PATIENT, *LOGARITHMS),
    "RMA": Program(PATIENT, *LOGARITHMS),
    "P2P": Program(("-iter", "10", "-msgrd", "on", "-msgwr", "on"), *LOGARITHMS),
    "MT": Program(("-thread_level", "multiple", "-check", "true", "-repeat", "10"),
                  ("-count", "1,100,10000"), ("-count", "1,100"), checks=True),
}
FAILURE = "CHECK FAILURES"


class Wrong(Exception):
    pass


# ---- The programs ----


def fetch(place):
    wheels = place / "wheels"
    place.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "-d", wheels]
    if subprocess.run([*command, *WHEELS]).returncode != 0:
        print("imb.py: PyPI cannot be reached")
        sys.exit(SKIPPED)
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for name in filter(WANTED.search, archive.namelist()):
                target = place / Path(name).name
                target.write_bytes(archive.read(name))
                target.chmod(0o755)
    shutil.rmtree(wheels)
    missing = [name for name in PROGRAMS if not (place / f"IMB-{name}").exists()]
    if missing:
        sys.exit(f"imb.py: the wheels {', '.join(WHEELS)} have no {', '.join(f'IMB-{name}' for name in missing)}")


def benchmarks(place, environment, launch, name):
    """Returns the names that the program lists, also of those that it does not run by default."""
    said = start([*launch(1), place / f"IMB-{name}", "-list"], environment)
    found = re.findall(r"^(?:#|   ) (\w+)(?: \(non-default\))?$", said, re.MULTILINE)
    if len(found) < 8:
        raise Wrong(f"-list says\n{said}")
    return found


# ---- How they are run ----


def start(command, environment):
    job = subprocess.run(list(map(str, command)), env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         errors="replace", timeout=LIMIT)
    if job.returncode != 0:
        raise Wrong(f"exit code {job.returncode}\n{job.stdout[-2000:]}{job.stderr[-3000:]}")
    if job.stderr.strip():
        raise Wrong(job.stderr[-3000:])
    return job.stdout


def rows(table):
    """Returns the lines of a table that begin with a number, each as a list of words."""
    lines = [line.split() for line in table.splitlines()]
    return [line for line in lines if line and re.fullmatch(r"[-+.\deE]+|nan|inf", line[0])]


def is_number(word):
    try:
        return math.isfinite(float(word)) and float(word) >= 0
    except ValueError:
        return False


def look_at(said, names):
    """Checks that each benchmark has a table of finite numbers, none below 0; returns how many lines there are."""
    parts = re.split(r"^# Benchmarking:? +(\w+).*$", said, flags=re.MULTILINE)
    tables = {}
    for title, text in zip(parts[1::2], parts[2::2]):
        tables.setdefault(title.lower(), []).extend(rows(text))
    too_few = re.findall(r"Benchmark (\w+) is invalid for \d+ processes", said)
    missing = [name for name in names if not tables.get(name.lower()) and name not in too_few]
    if missing:
        raise Wrong(f"no numbers of {', '.join(missing)}\n{said[-3000:]}")
    for title, lines in tables.items():
        for line in lines:
            if not all(map(is_number, line)):
                raise Wrong(f"{title}: {' '.join(line)}")
    return sum(map(len, tables.values()))


def look_whether_it_looks(command, environment):
    """Checks that a program that compares data finds what spoil.c does to them."""
    said = start(command, environment)
    if FAILURE not in said:
        raise Wrong(f"data that arrive spoiled are not found\n{said[-2000:]}")


def spoiling(place):
    """Builds spoil.c; returns words to put before a program, so that MPI_Recv changes one byte of the data."""
    library = place / "libspoil.so"
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", library, HERE / "spoil.c"], check=True)
    return ["env", f"LD_PRELOAD={library}"]


def run(installation, place, names, ranks, brief):
    if not (place / "IMB-MPI1").exists():
        print("imb.py: nothing has been fetched")
        sys.exit(SKIPPED)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("I_MPI_", "OMP_", "KMP_"))}
    environment |= {"LD_LIBRARY_PATH": str(place), "OMP_NUM_THREADS": "2"}

    def launch(number):
        return [installation / "bin/mpiexec", "-n", str(number)]

    wrong = []
    for name in names:
        program = PROGRAMS[name]
        listed = benchmarks(place, environment, launch, name)
        command = [place / f"IMB-{name}", *program.options, *(program.few_lengths if brief else program.lengths)]
        for number in ranks:
            try:
                said = start([*launch(number), *command, *listed], environment)
                if FAILURE in said:
                    raise Wrong(said[-3000:])
                print(f"IMB-{name} on {number} ranks: {len(listed)} benchmarks, {look_at(said, listed)} lines", flush=True)
                if program.checks:
                    look_whether_it_looks([*launch(number), *spoiling(place), *command, "PingPongMT"], environment)
            except (Wrong, subprocess.TimeoutExpired) as problem:
                print(f"IMB-{name} on {number} ranks: {problem}", flush=True)
                wrong.append(f"{name} on {number} ranks")
    if wrong:
        sys.exit(f"imb.py: not right: {', '.join(wrong)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["fetch", "run"])
    parser.add_argument("places", nargs="+", metavar="PLACE", help="PLACE, or INSTALLATION PLACE; then names of programs")
    parser.add_argument("--ranks", type=int, action="append")
    parser.add_argument("--brief", action="store_true", help="few lengths")
    options = parser.parse_intermixed_args()
    count = 1 if options.what == "fetch" else 2
    folders = [Path(place).resolve() for place in options.places[:count]]
    names = options.places[count:] or list(PROGRAMS)
    unknown = [name for name in names if name not in PROGRAMS]
    if len(folders) < count or unknown:
        parser.error(f"no program {', '.join(unknown)}" if unknown else "a folder is missing")
    if options.what == "fetch":
        fetch(folders[0])
    else:
        run(*folders, names, options.ranks or [2, 4], options.brief)


if __name__ == "__main__":
    main()
