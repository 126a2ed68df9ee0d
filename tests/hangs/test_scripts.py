# SPDX-License-Identifier: BSD-3-Clause
"""Random programs and their verdicts: right ones end, mpiexec says of the others that they hang, and no verdict is ever wrong.

test_scripts.py GROUP, which is one of:

    plain
    crowded  eight times as many ranks as cores
    beside   ranks hang beside one that computes
    hosts    two of them; under tools/hosts.py

scripts.py makes the programs, and decides about them. While they run, SIGQUIT asks for more verdicts, at any moment.

PROGRAMS=NUMBER: how many programs (the standard: as many as take a minute or two). SEED=NUMBER: which programs (the
standard: by the date). A program that fails is shown with the seed that makes it again.
"""

import concurrent.futures
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import scripts

MPIEXEC, SCRIPTS = os.environ["MPIEXEC"], os.environ["SCRIPTS"]
WATCHDOG = 120
SKIPPED = 77
BETWEEN_QUESTIONS = 0.07  # seconds
STUCK = re.compile(r"^mpiexec: (deadlock: |collective mismatch: |ranks? [-\d, ]+ waits? for rank \d+, which )(.*)", re.MULTILINE)
NONE = re.compile(r"^mpiexec: no (?:deadlock|verdict): .*", re.MULTILINE)
LIST = re.compile(r"ranks? (\d[-\d, ]*)")


def ranks_in(text):
    found = set()
    for part in re.findall(r"\d+(?:-\d+)?", " ".join(LIST.findall(text))):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def stuck_of(verdict):
    """Returns the ranks that are stuck by the words of a verdict."""
    kind, rest = verdict
    return ranks_in(kind.partition(" wait")[0]) if kind.startswith("rank") else ranks_in(rest)


def blocks(pid, number):
    """Returns whether the process blocks or catches the signal, which ends it otherwise."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    return any(int(mask, 16) >> (number - 1) & 1 for mask in re.findall(r"^Sig(?:Blk|Cgt):\s*(\w+)", status, re.MULTILINE))


class Job:
    """Programs of the same shape, one after the other in one job of mpiexec."""

    def __init__(self, programs, options=()):
        self.programs, self.options = programs, list(options)
        self.output, self.code, self.hung = "", None, False

    def run(self, asks=True, until=None):
        """Runs the job. `until` is called with the output so far, and returns whether the job has told enough."""
        with tempfile.NamedTemporaryFile("w", suffix=".scripts", dir=os.path.dirname(SCRIPTS)) as file:
            file.write("".join(str(program) for program, *_ in self.programs))
            file.flush()
            first = self.programs[0][0]
            words = [MPIEXEC, *self.options, "-n", str(first.ranks), SCRIPTS, file.name, "0", str(len(self.programs))]
            for _ in range(5):
                self.output = ""
                self.follow(words, asks, until)
                # If all ranks end at once, Hydra writes to proxies that have gone, and sometimes dies of that itself.
                if self.code != 128 + signal.SIGPIPE:
                    break
        return self

    def follow(self, words, asks, until):
        job = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env={**os.environ, "HEDDLE_DEADLOCK": "abort"})
        reader = threading.Thread(target=self.read, args=(job.stdout,))
        reader.start()
        end = time.monotonic() + WATCHDOG
        while job.poll() is None:
            if time.monotonic() > end or (until is not None and until(self.output)):
                self.hung = until is None
                job.terminate()
                break
            if asks and blocks(job.pid, signal.SIGQUIT):
                job.send_signal(signal.SIGQUIT)
            time.sleep(BETWEEN_QUESTIONS)
        self.code = job.wait(WATCHDOG)
        reader.join()
        job.stdout.close()

    def read(self, stream):
        for line in stream:
            self.output += line

    def verdicts(self):
        return STUCK.findall(self.output)


def check_right(job):
    job.run()
    if job.hung:
        return "did not end"
    if job.verdicts():
        return f"was told to hang: {job.verdicts()[0]}"
    return "" if job.code == 0 else f"exit code {job.code}"


def wrong_verdict(job, ever):
    for verdict in job.verdicts():
        if verdict[0].startswith("collective"):
            return f"no calls mismatch, but: {verdict}"
        if not stuck_of(verdict) <= ever:
            return f"not all of these can be stuck: {verdict}; but {sorted(ever)}"
    return ""


def check_hanging(job):
    """Runs a job whose last program hangs; returns what is wrong, or an empty text."""
    _, _, always, ever = job.programs[-1]
    job.run(asks=len(always) % 2 == 0)
    if job.hung or not job.verdicts():
        return f"was not told to hang; exit code {job.code}"
    if not always <= stuck_of(job.verdicts()[-1]):
        return f"{sorted(always)} are stuck, but was told: {job.verdicts()[-1]}"
    return wrong_verdict(job, ever) or ("" if job.code == 1 else f"exit code {job.code}")


def check_beside(job):
    """Runs a job in which ranks hang beside one that computes for ever; returns what is wrong, or an empty text."""
    _, _, always, ever = job.programs[-1]
    enough = 8
    job.run(until=lambda output: STUCK.search(output) or len(NONE.findall(output)) >= enough)
    if problem := wrong_verdict(job, ever):
        return problem
    # By the last report, ranks have waited for a while. It must say which of them are stuck.
    said = NONE.findall(job.output)
    if always and not job.verdicts() and said and "no deadlock" in said[-1]:
        return f"{sorted(always)} are stuck, but was told: {said[-1]}"
    return ""


def shape(entry):
    program = entry[0]
    return program.ranks, program.threads


def in_jobs(entries):
    """Yields the programs of each job: right ones and one that hangs, or few right ones. Programs of sessions are alone."""
    waiting = {}
    most = 5
    for entry in entries:
        program, result, *_ = entry
        if program.session:
            yield [entry]
            continue
        batch = waiting.setdefault(shape(entry), [])
        batch.append(entry)
        if result != scripts.RIGHT or len(batch) == most:
            yield waiting.pop(shape(entry))
    yield from waiting.values()


class Group:
    """Rules for a test: how its programs are made, and run."""

    def __init__(self, programs, options=(), parallel=2, **making):
        self.programs, self.options, self.parallel, self.making = programs, options, parallel, making


LAUNCHERS = os.environ.get("LAUNCHERS", "")
CORES = len(os.sched_getaffinity(0))
GROUPS = {
    "plain": Group(200),
    "crowded": Group(40, parallel=1, ranks=(8 * CORES,)),
    "beside": Group(60, forever=True, wanted=(scripts.HANGING,)),
    "hosts": Group(40, options=("--via", f"{LAUNCHERS}/mpiexec.hydra", "--map-by", "node", "--host", "node1,node2"), parallel=3),
}


class Verdicts(unittest.TestCase):
    name = ""

    def check(self, entries):
        job = Job(entries, self.group.options)
        if self.name == "beside":
            problem = check_beside(job)
        elif entries[-1][1] == scripts.RIGHT:
            problem = check_right(job)
        else:
            problem = check_hanging(job)
        shown = "".join(f"# {result} {sorted(always)} {sorted(ever)}\n{program}" for program, result, always, ever in entries)
        return problem and f"{problem}\n{shown}{job.output[-4000:]}"

    def test_no_verdict_is_wrong(self):
        self.group = GROUPS[self.name]
        number = int(os.environ.get("PROGRAMS", self.group.programs))
        seed = int(os.environ.get("SEED", time.time_ns() // 1_000_000 % 1_000_000))
        print(f"SEED={seed} PROGRAMS={number}", flush=True)
        entries = itertools.islice(scripts.generate(seed, **self.group.making), number)
        jobs = [[entry] for entry in entries] if self.name == "beside" else list(in_jobs(entries))
        with concurrent.futures.ThreadPoolExecutor(self.group.parallel) as pool:
            problems = [problem for problem in pool.map(self.check, jobs) if problem]
        print(f"{number} programs in {len(jobs)} jobs")
        self.assertFalse(problems, f"\nSEED={seed} PROGRAMS={number}: {len(problems)} jobs\n" + "\n".join(problems[:3]))


def go_to_hosts():
    """Starts this program again on the first of two hosts, from where Hydra reaches the other."""
    if "HOSTS_AGENT" in os.environ:
        os.environ.update(HYDRA_LAUNCHER="ssh", HYDRA_LAUNCHER_EXEC=os.environ["HOSTS_AGENT"])
        return
    if not os.path.exists(f"{LAUNCHERS}/mpiexec.hydra"):
        sys.exit(SKIPPED)
    tool = os.environ["HOSTS"]
    os.execv(tool, [tool, "2", sys.executable, "-B", __file__, "hosts"])


if __name__ == "__main__":
    if sys.argv[1] == "hosts":
        go_to_hosts()
    Verdicts.name = sys.argv.pop(1)
    unittest.main(verbosity=2)
