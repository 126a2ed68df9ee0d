# SPDX-License-Identifier: BSD-3-Clause
"""Runs right programs under mpiexec --check: it finds nothing, and their exit codes are those that they have without it.

right_programs.py BUILD CHOICE [NAME]: CHOICE is `all`, or `few` for those that few.txt names. With NAME it runs only
programs whose test has NAME in its name. The programs are those that the tests of BUILD run by mpiexec, and those of bench/.
The former have 2 to 4 ranks if they can, the latter short arguments. explained.txt names programs that make mistakes on
purpose.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
WATCHDOG = 280
SKIPPED = 77
AT_ONCE = 2
# A run of fewer programs has not found those that we mean. Builds without Fortran or OpenMP have fewer than others.
FEWEST = {"few": 20, "all": 150}
# Endings of names. The sources are the same, built once more for other knobs: the checker sees the same calls.
RECIPES = re.compile(r"_(one_instance|by_communicator|dedicated|round_robin|(brief_)?global_section|section_per_object|"
                     r"section_round_robin|by_messages|pipelined|single_copy|asked|undelayed|counted|bound|crowded|full)$")
# Programs of bench/, without their folder, and their arguments.
BENCHES = [
    "blocking --sizes 10,100K --call send --seconds 0.02 --repetitions 1",
    "blocking --sizes 10,100K --call recv --seconds 0.02 --repetitions 1",
    "collectives --operations barrier,bcast,allreduce,allgather,alltoall,reduce --sizes 8,64K --seconds 0.01 --repetitions 1",
    "collectives --operations ibarrier,ibcast,ireduce,iallreduce,iallgather,ialltoall --sizes 8,64K --seconds 0.01 --repetitions 1",
    "fan_rate --senders 1 --mode threads --operation nonblocking --seconds 0.05 --repetitions 1",
    "fan_rate --senders 1 --mode processes --operation blocking --seconds 0.05 --repetitions 1",
    "halo 16 20",
    "halo 16 20 persistent",
    "late --times 10 --rounds 5",
    "latency_regime --clients 2 --size 8 --server any --calls nonblocking --seconds 0.05 --repetitions 1",
    "multirate --pairs 2 --mode threads --size 8 --seconds 0.05 --repetitions 1",
    "multirate --pairs 1 --mode processes --size 8 --tag any --seconds 0.05 --repetitions 1",
    "overlap --sizes 10,100K --computing both --milliseconds 1 --seconds 0.02 --repetitions 1",
    "partitioned --threads 2 --parts 2 --size 1000 --rounds 5 --repetitions 1",
    "pingpong --sizes 0,8,100K --seconds 0.02 --repetitions 1",
    "pingpong --sizes 8 --window 16 --level multiple --seconds 0.02 --repetitions 1",
    "rma --measure calls --repetitions 1 --rounds 5",
    "rma --measure rate --repetitions 1 --rounds 5 --threads 2 --operation put",
    "rma --measure sync --repetitions 1 --rounds 5",
    "stencil --points 5 --decomposition 4x4 --runs 2 --simulate no",
    "throughput_regime --threads 2 --size 8 --seconds 0.05 --repetitions 1",
]


def rows_of(name):
    for line in (HERE / name).read_text().splitlines():
        if line and not line.startswith("#"):
            yield line.split()


def is_explained(names, kind, call):
    return any(row[0] in names and row[1] in (kind, "*") and row[2] in (call, "*") for row in rows_of("explained.txt"))


def cannot_run(command):
    names = names_of(command)
    return any(row[0] in names and row[1:3] == ["cannot", "run"] and (row[3] == "-" or row[3] in command)
               for row in rows_of("explained.txt"))


class Program:
    """A command that begins with mpiexec, and the environment that it needs."""

    def __init__(self, name, command, environment, code=0):
        self.name, self.command, self.environment, self.code = name, command, environment, code

    def run(self, *options):
        command = [self.command[0], "--timeout", str(WATCHDOG - 20), *options, *self.command[1:]]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=WATCHDOG, env={**os.environ, **self.environment})

    def explains(self, finding):
        names = names_of(self.command)
        return finding["check"] == "note" or is_explained(names, finding["check"], finding["call"])

    def judge(self):
        """Returns a list of problems, or None if the program cannot run here."""
        job = self.run("--check", "--json")
        lines = [line for line in job.stdout.splitlines() if line.startswith('{"check":')]
        found = [line for line in lines if not self.explains(json.loads(line))]
        if found:
            return found
        if job.returncode == SKIPPED:
            return None
        return [] if job.returncode == self.code else [f"exit code {job.returncode}", *job.stdout.splitlines()[-5:]]


def ranks_of(command):
    return sum(int(command[i + 1]) for i, word in enumerate(command) if word == "-n")


def names_of(command):
    """Returns the names of the programs in a command: one program may start another one."""
    return [RECIPES.sub("", pathlib.Path(word).name) for word in command[1:] if word.startswith("/")]


def of_tests(build):
    listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, stdout=subprocess.PIPE, check=True, text=True)
    found = {}
    for test in json.loads(listed.stdout)["tests"]:
        properties = {one["name"]: one["value"] for one in test["properties"]}
        command = test.get("command", [])
        if command[1:2] and command[1].endswith("says_correct.sh"):
            command = command[2:]
        if not command or not command[0].endswith("/mpiexec") or "mpi" not in properties.get("LABELS", []):
            continue
        names, ranks = names_of(command), ranks_of(command)
        if not names or ranks > 4 or RECIPES.search(test["name"].split(".")[0]):
            continue
        environment = dict(one.split("=", 1) for one in properties.get("ENVIRONMENT", []))
        key = *names, *(word for word in command[1:] if not word.isdigit())
        # Take a run of one rank only if there is no other.
        if key not in found or ranks_of(found[key].command) < 2:
            found[key] = Program(test["name"], command, environment)
    return list(found.values())


def of_bench(build):
    for words in BENCHES:
        program, *arguments = words.split()
        yield Program("bench." + words.replace(" ", "_"),
                      [f"{build}/bin/mpiexec", "-n", "2", f"{build}/bench/{program}", *arguments], {})


def chosen(build, choice, part):
    few = {row[0] for row in rows_of("few.txt")}
    for program in [*of_tests(build), *of_bench(build)]:
        runs = not cannot_run(program.command)
        if runs and part in program.name and (choice == "all" or program.name in few):
            yield program


def main(build, choice, part=""):
    programs = list(chosen(build, choice, part))
    ran, failed = 0, []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for program, problems in zip(programs, pool.map(Program.judge, programs)):
            ran += problems is not None
            if problems:
                failed.append(program.name)
                print(f"{program.name}:", *problems, sep="\n    ", flush=True)
    print(f"{ran} programs ran, {len(failed)} with findings: {' '.join(failed)}")
    too_few = not part and ran < FEWEST[choice]
    if too_few:
        print(f"at least {FEWEST[choice]} are meant")
    return bool(failed) or too_few


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
