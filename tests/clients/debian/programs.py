#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of Debian that were built for Open MPI or MPICH, unchanged, on Heddle: their answers are those of the packaged MPI.

    programs.py fetch PLACE [NAME ...]    gets the packages and unpacks them in PLACE; nothing is installed
    programs.py run INSTALLATION PLACE [NAME ...] [--ranks N] [--rounds N]

`run` starts each program on both, with as many ranks as cores and four times as many, or with N. It says how long each took.
Exit code 77 if packages cannot be reached, or the packaged MPI is not installed. The inputs are in inputs.py.
"""

import argparse
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import inputs

HERE = Path(__file__).resolve().parent
SKIPPED = 77
TRIPLET = "x86_64-linux-gnu"


class Wrong(Exception):
    pass


def numbers(text):
    return [float(word) for word in re.findall(r"[-+]?\d+\.?\d*(?:[eEdD][-+]?\d+)?", text)]


@dataclass(frozen=True)
class Program:
    packages: tuple[str, ...]
    prepare: Callable  # (place, folder, ranks): writes the input into the folder
    command: Callable  # place -> words
    answer: Callable  # (what was written, folder) -> numbers or words, none of which depends on time
    mpi: str = "openmpi"
    stdin: str = ""  # a file in the folder
    ranks: int = 0  # the only number that the program takes
    tolerance: float = 0.0  # of numbers: sums in another order change them
    runs_alone_before: tuple = ()  # commands without ranks, once


# ---- Answers ----


def lines(pattern):
    def answer(said, folder):
        found = re.findall(pattern, said, re.MULTILINE)
        return [" ".join(line.split()) if isinstance(line, str) else " ".join(line) for line in found]
    return answer


def thermo_of_lammps(said, folder):
    table = said[said.index("Step Temp"):said.index("Loop time")].splitlines()[1:]
    return [value for line in table for value in numbers(line)]


def verdicts_of_hpcc(said, folder):
    text = (folder / "hpccoutf.txt").read_text()
    summary = dict(re.findall(r"^(\w+)=(\S+)$", text[text.index("Begin of Summary section"):], re.MULTILINE))
    if summary["Success"] != "1" or "FAILED" in text:
        raise Wrong("hpcc says that a check failed")
    chosen = [name for name in summary if name.endswith("_Failures")]
    errors = [name for name in summary if name.endswith("ErrorsFraction") and float(summary[name]) > 0.01]
    return [f"{name}={summary[name]}" for name in ("CommWorldProcs", "HPL_N", "PTRANS_n", *sorted(chosen))] + errors + [
        f"{len(re.findall('PASSED', text))} passed"]


def energy_of_silicon(said, folder):
    if "convergence has been achieved" not in said:
        raise Wrong("no convergence")
    return [numbers(line)[0] for line in re.findall(r"^!\s+total energy\s+=(.*)Ry", said, re.MULTILINE)]


def residuals_of_openfoam(said, folder):
    if "\nEnd\n" not in said:
        raise Wrong("the solver did not reach its end")
    return [float(value) for value in re.findall(r"Initial residual = ([^,]+),", said)]


# ---- Programs ----


def files(**written):
    def prepare(place, folder, ranks):
        for name, text in written.items():
            (folder / name.replace("__", ".")).write_text(text)
    return prepare


def in_folder(relative):
    return lambda place: [str(place / "root" / relative)]


def mumps(letter):
    def prepare(place, folder, ranks):
        kind = "real" if letter in "sd" else "cmplx"
        shutil.copy(place / f"root/usr/lib/mumps/input_simpletest_{kind}", folder / "input")
    return Program(("mumps-test",), prepare, in_folder(f"usr/lib/mumps/{letter}simpletest"), lines(r"Solution is\s+(.*)$"),
                   stdin="input", tolerance=1e-5)


def hpcc_input(place, folder, ranks):
    (folder / "hpccinf.txt").write_text(inputs.hpcc(ranks))


def silicon(place, folder, ranks):
    (folder / "si.in").write_text(inputs.silicon(place / "root/usr/share/espresso/pseudo", folder))


def cavity(place, folder, ranks):
    for name, text in inputs.cavity(ranks).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def boost(place, folder, ranks):
    root = place / "root/usr"
    source = folder / "with_boost.cpp"
    source.write_text(inputs.WITH_BOOST)
    libraries = root / f"lib/{TRIPLET}"
    subprocess.run(["mpicxx.openmpi", "-w", "-O1", f"-I{root}/include", "-o", place / "with_boost", source, f"-L{libraries}",
                    f"-Wl,-rpath-link,{libraries}", "-lboost_mpi", "-lboost_serialization"], check=True)


def netpipe(name, mpi):
    # -i compares received data with sent data; each size is sent 20 times.
    return Program((f"netpipe-{'mpich2' if mpi == 'mpich' else mpi}",), files(),
                   lambda place: [str(place / f"root/usr/bin/{name}"), "-i", "-n", "20", "-l", "1", "-u", "100000"],
                   lines(r"^\s*\d+:\s+(\d+) bytes.*Integrity check (\w+)"), mpi=mpi, ranks=2)


PROGRAMS = {
    "lammps": Program(("lammps",), files(in__lj=inputs.LENNARD_JONES),
                      lambda place: [str(place / "root/usr/bin/lmp"), "-in", "in.lj", "-log", "none"], thermo_of_lammps,
                      tolerance=1e-5),
    "hpcc": Program(("hpcc",), hpcc_input, in_folder("usr/bin/hpcc"), verdicts_of_hpcc),
    "netpipe": netpipe("NPopenmpi", "openmpi"),
    "netpipe_mpich": netpipe("NPmpich2", "mpich"),
    "mpi4py": Program(("python3-mpi4py",), files(objects__py=inputs.WITH_MPI4PY),
                      lambda place: ["/usr/bin/python3", "objects.py"], lines(r"^(\d+ .*)$")),
    "boost": Program(("libboost-mpi1.74.0", "libboost1.74-dev", "libboost-mpi1.74-dev"), boost,
                     lambda place: [str(place / "with_boost")], lines(r"^(\d+ .*)$")),
    **{f"mumps_{letter}": mumps(letter) for letter in "sdcz"},
    "espresso": Program(("quantum-espresso", "quantum-espresso-data"), silicon,
                        lambda place: [str(place / "root/usr/bin/pw.x"), "-in", "si.in"], energy_of_silicon, tolerance=1e-6),
    "openfoam": Program(("openfoam",), cavity, lambda place: [str(place / "root/usr/bin/icoFoam"), "-parallel"],
                        residuals_of_openfoam, tolerance=1e-3,
                        runs_alone_before=("usr/bin/blockMesh", "usr/bin/decomposePar")),
}


# ---- How they are run ----


def environment(place):
    root = place / "root/usr"
    result = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "OMP_NUM_THREADS")}
    folders = [root / f"lib/{TRIPLET}", root / f"lib/{TRIPLET}/blas", root / f"lib/{TRIPLET}/lapack", root / "lib"]
    result["LD_LIBRARY_PATH"] = ":".join(map(str, folders))
    result["PYTHONPATH"] = str(root / "lib/python3/dist-packages")
    result["WM_PROJECT_DIR"] = str(root / "share/openfoam")
    result["OMP_NUM_THREADS"] = "1"
    return result


def launch_packaged(program, ranks):
    if program.mpi == "mpich":
        return ["mpiexec.mpich", "-n", str(ranks)]
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return ["mpirun.openmpi", *root, "--oversubscribe", "-n", str(ranks)]


def run_once(program, launch, place, folder):
    with open(folder / program.stdin if program.stdin else os.devnull) as given:
        start = time.monotonic()
        job = subprocess.run([*launch, *program.command(place)], cwd=folder, env=environment(place), stdin=given,
                             capture_output=True, text=True, errors="replace")
        took = time.monotonic() - start
    if job.returncode != 0:
        raise Wrong(f"{' '.join(launch)}: exit code {job.returncode}\n{job.stdout[-2000:]}{job.stderr[-2000:]}")
    if "the library of another MPI" in job.stderr:
        raise Wrong(f"{' '.join(launch)}: {job.stderr[-2000:]}")
    answer = program.answer(job.stdout + job.stderr, folder)
    if not answer:
        raise Wrong(f"{' '.join(launch)}: no answer\n{job.stdout[-2000:]}{job.stderr[-2000:]}")
    return answer, took


def same(left, right, tolerance):
    if len(left) != len(right):
        return False
    if tolerance == 0:
        return left == right
    flat = [[v for item in side for v in (numbers(item) if isinstance(item, str) else [item])] for side in (left, right)]
    return len(flat[0]) == len(flat[1]) and all(math.isclose(a, b, rel_tol=tolerance, abs_tol=1e-9)
                                                for a, b in zip(*flat))


def prepared(program, place, folder, ranks):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program.prepare(place, folder, ranks)
    for command in program.runs_alone_before:
        subprocess.run([place / "root" / command], cwd=folder, env=environment(place), check=True, capture_output=True)


def compare(name, installation, place, ranks, rounds):
    """Runs the program on Heddle and on the packaged MPI; returns true if the answers are the same."""
    program = PROGRAMS[name]
    launches = {"Heddle": [f"{installation}/bin/mpiexec", "-n", str(ranks)], "packaged": launch_packaged(program, ranks)}
    answers, times = {}, {who: [] for who in launches}
    for _ in range(rounds):
        for who, launch in launches.items():
            folder = place / "run" / f"{name}.{ranks}.{who}"
            prepared(program, place, folder, ranks)
            answers[who], took = run_once(program, launch, place, folder)
            times[who].append(took)
    right = same(answers["Heddle"], answers["packaged"], program.tolerance)
    figures = ", ".join(f"{statistics.median(times[who]):.2f} s {who}" for who in launches)
    print(f"{name} on {ranks} ranks: {'the same answer' if right else 'ANOTHER ANSWER'}; {figures}", flush=True)
    if not right:
        print(f"  Heddle:   {answers['Heddle']}\n  packaged: {answers['packaged']}")
    return right


def fetch(place, names):
    packages = sorted({package for name in names for package in PROGRAMS[name].packages})
    code = subprocess.run([HERE / "packages.sh", place, *packages]).returncode
    if code != 0:
        sys.exit(code)


def run(installation, place, names, rounds, ranks):
    missing = [launcher for launcher in ("mpirun.openmpi", "mpiexec.mpich", "mpicxx.openmpi") if not shutil.which(launcher)]
    if missing or not (place / "root").exists():
        print(f"programs.py: {', '.join(missing)} not installed" if missing else "programs.py: nothing has been fetched")
        sys.exit(SKIPPED)
    cores = len(os.sched_getaffinity(0))
    wrong = []
    for name in names:
        all_ranks = [PROGRAMS[name].ranks] if PROGRAMS[name].ranks else ranks or [cores, 4 * cores]
        for number in all_ranks:
            try:
                right = compare(name, installation, place, number, rounds)
            except (Wrong, subprocess.CalledProcessError) as problem:
                print(f"{name} on {number} ranks: {problem}", flush=True)
                right = False
            if not right:
                wrong.append(f"{name} on {number} ranks")
    if wrong:
        sys.exit(f"programs.py: not right: {', '.join(wrong)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["fetch", "run"])
    parser.add_argument("places", nargs="+", metavar="PLACE", help="PLACE, or INSTALLATION PLACE; then names of programs")
    parser.add_argument("--rounds", type=int, default=1, help="how often each is run; the median is said")
    parser.add_argument("--ranks", type=int, action="append")
    options = parser.parse_intermixed_args()
    count = 1 if options.what == "fetch" else 2
    folders = [Path(place).resolve() for place in options.places[:count]]
    names = options.places[count:] or list(PROGRAMS)
    unknown = [name for name in names if name not in PROGRAMS]
    if len(folders) < count or unknown:
        parser.error(f"no program {', '.join(unknown)}" if unknown else "a folder is missing")
    if options.what == "fetch":
        fetch(folders[0], names)
    else:
        run(*folders, names, options.rounds, options.ranks)


if __name__ == "__main__":
    main()
