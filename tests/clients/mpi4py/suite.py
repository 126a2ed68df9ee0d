# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's own test suite as a judge.

suite.py build INSTALLATION PLACE: gets mpi4py's sources from PyPI and builds them with INSTALLATION's mpicc. It does so in a
virtual environment in PLACE, and keeps one that is there and still fits.
suite.py run INSTALLATION PLACE RANKS SECONDS: runs the suite, except what excluded.txt names. The log is in PLACE.
suite.py run_with_worker INSTALLATION PLACE RANKS SECONDS: the same with HEDDLE_WORKER=on.
suite.py run_checked INSTALLATION PLACE RANKS SECONDS: the same under mpiexec --check, which must find nothing but what
findings.txt explains.
suite.py build_wheel INSTALLATION PLACE: gets mpi4py's wheel from PyPI, and its sources for the suite.
suite.py run_mpich INSTALLATION PLACE RANKS SECONDS: runs the suite on the unchanged wheel, as built for MPICH;
run_openmpi: the same, as built for Open MPI.
suite.py run_on_hosts INSTALLATION PLACE RANKS SECONDS: the same as run, on two hosts. HOSTS makes the hosts, and the
mpiexec.hydra in LAUNCHERS spans them.

Exit codes: 0; 77 if PyPI cannot be reached, and nothing has been built; 1 for anything else.
"""

import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements.txt"
BUILD_REQUIREMENTS = HERE / "build-requirements.txt"
SKIPPED = 77

# A run with fewer tests has not loaded the suite that we mean.
FEWEST_TESTS = 1500
HOSTS = 2


class Unreachable(Exception):
    pass


class Place:
    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        self.environment = self.path / "environment"
        self.python = self.environment / "bin" / "python"
        self.sources = self.path / "sources"
        self.stamp = self.path / "built"

    def log(self, name):
        return self.path / f"{name}.log"

    def suite(self):
        return next(self.sources.glob("mpi4py-*/test/main.py"))


def logged(log, command, **options):
    """Runs the command and appends its output to the log; returns its exit code and its output."""
    result = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options
    )
    with open(log, "a") as file:
        print("+", *command, file=file)
        file.write(result.stdout)
    return result.returncode, result.stdout


def pip(place, *arguments, fetches=False, **options):
    log = place.log("build")
    command = [str(place.python), "-m", "pip", "--disable-pip-version-check", *map(str, arguments)]
    code, said = logged(log, command, **options)
    if code == 0:
        return
    # pip has no exit code of its own for an unreachable PyPI.
    if fetches and re.search(r"No matching distribution found|Connection|Max retries|timed out", said):
        if "DO NOT MATCH THE HASHES" not in said:
            raise Unreachable
    sys.exit(f"{said[-3000:]}\nmpi4py: pip {arguments[0]} failed; all it said: {log}")


def stamp_of(installation):
    """Returns a hash of all that a built mpi4py depends on, except the library itself: that has a standard ABI."""
    content = hashlib.sha256(sys.version.encode())
    content.update(str(installation).encode())
    for file in (REQUIREMENTS, BUILD_REQUIREMENTS, installation / "include" / "mpi.h"):
        content.update(file.read_bytes())
    return content.hexdigest()


def fetch(place):
    archives = place.path / "archives"
    if archives.exists():
        shutil.rmtree(archives)
    pip(place, "install", "-r", BUILD_REQUIREMENTS, fetches=True)
    pip(place, "download", "--no-deps", "--no-binary", "mpi4py", "--no-build-isolation",
        "--require-hashes", "-r", REQUIREMENTS, "-d", archives, fetches=True)
    (archive,) = archives.iterdir()
    with tarfile.open(archive) as sources:
        sources.extractall(place.sources)
    return archive


def build(installation, place):
    stamp = stamp_of(installation)
    if place.stamp.exists() and place.stamp.read_text() == stamp:
        return
    if place.path.exists():
        shutil.rmtree(place.path)
    place.path.mkdir(parents=True)
    code, said = logged(place.log("build"), [sys.executable, "-m", "venv", str(place.environment)])
    if code != 0:
        sys.exit(f"{said}\nmpi4py: no virtual environment; Debian has it in the package python3-venv")
    archive = fetch(place)
    environment = {
        **os.environ,
        "MPI4PY_BUILD_MPICC": str(installation / "bin" / "mpicc"),
        "CFLAGS": "-O0",  # its speed does not matter here
    }
    pip(place, "install", "--no-deps", "--no-index", "--no-build-isolation", "--verbose", archive,
        env=environment)
    place.stamp.write_text(stamp)


def build_wheel(_installation, place):
    """Installs mpi4py's wheel and fetches the suite. The wheel is not pinned by a hash: there is one for each Python."""
    if place.stamp.exists():
        return
    if place.path.exists():
        shutil.rmtree(place.path)
    place.path.mkdir(parents=True)
    code, said = logged(place.log("build"), [sys.executable, "-m", "venv", str(place.environment)])
    if code != 0:
        sys.exit(f"{said}\nmpi4py: no virtual environment; Debian has it in the package python3-venv")
    fetch(place)
    version = re.search(r"^mpi4py==(\S+)", REQUIREMENTS.read_text(), re.M)[1]
    pip(place, "install", "--only-binary", "mpi4py", f"mpi4py=={version}", fetches=True)
    place.stamp.write_text(version)


def excluded(*files):
    """Yields the tests that the files name, as options of the suite's main.py."""
    for line in "\n".join((HERE / file).read_text() for file in files).splitlines():
        if not line or line.startswith("#"):
            continue
        kind, name, _reason = line.split(maxsplit=2)
        yield from {"module": ("-e", rf"^{name}\.py$"), "test": ("-x", name)}[kind]


def run(installation, place, ranks, seconds, kind="ranks"):
    launcher = [str(installation / "bin" / "mpiexec"), "--timeout", str(seconds), "-n", str(ranks)]
    judge(place, ranks, place.log(f"{ranks}-{kind}"), [*launcher, *suite(place, "excluded.txt")])


def run_with_worker(installation, place, ranks, seconds):
    os.environ["HEDDLE_WORKER"] = "on"
    run(installation, place, ranks, seconds, "ranks-with-worker")


def explained():
    """Returns kind and call of the findings that are mistakes of the suite, as findings.txt has them."""
    lines = (HERE / "findings.txt").read_text().splitlines()
    return {tuple(line.split(maxsplit=2)[:2]) for line in lines if line and not line.startswith("#")}


def run_checked(installation, place, ranks, seconds):
    launcher = [str(installation / "bin" / "mpiexec"), "--timeout", str(seconds), "--check", "--json", "-n", str(ranks)]
    said = judge(place, ranks, place.log(f"{ranks}-ranks-checked"), [*launcher, *suite(place, "excluded.txt")])
    found = [json.loads(line) for line in re.findall(r'\{"check":.*\}$', said, re.M)]
    known = explained()
    wrong = [one for one in found if (one["check"], one.get("call")) not in known]
    print(f"{len(found)} findings, {len(wrong)} of them not explained")
    if wrong:
        sys.exit("\n".join(map(json.dumps, wrong)))


def run_face(name):
    def runner(installation, place, ranks, seconds):
        os.environ["MPI4PY_MPIABI"] = name
        run(installation, place, ranks, seconds, f"ranks-{name}")
    return runner


def run_on_hosts(_installation, place, ranks, seconds):
    # Each host has a /tmp of its own, and files are for all ranks.
    shared = place.path / f"shared-by-{ranks}"
    shared.mkdir(exist_ok=True)
    os.environ["TMPDIR"] = str(shared)
    command = [
        "timeout", str(seconds), f"{os.environ['LAUNCHERS']}/mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", "AGENT",
        "-hosts", "node1,node2", "-ppn", str(ranks // HOSTS), "-n", str(ranks),
        *suite(place, "excluded.txt", "excluded_on_hosts.txt")]
    script = shlex.join(command).replace("AGENT", '"$HOSTS_AGENT"', 1)
    judge(place, ranks, place.log(f"{ranks}-ranks-on-hosts"), [os.environ["HOSTS"], str(HOSTS), "sh", "-c", script])


def suite(place, *files):
    if not place.stamp.exists():
        raise Unreachable
    return [str(place.python), str(place.suite()), "--verbose", *excluded(*files)]


def judge(place, ranks, log, command):
    log.unlink(missing_ok=True)
    code, said = logged(log, command)
    if code == SKIPPED:
        sys.exit(SKIPPED)
    print("\n".join(re.findall(r"^(?:ERROR|FAIL): .*$|^OK\b.*$|^FAILED\b.*$|^mpiexec: .*$", said, re.M)))
    print(f"the whole log: {log}")
    if code != 0:
        sys.exit(f"{said[-5000:]}\nmpi4py: exit code {code}")
    counts = [int(count) for count in re.findall(r"Ran (\d+) tests", said)]
    if len(counts) != ranks or min(counts) < FEWEST_TESTS:
        sys.exit(f"mpi4py: {ranks} ranks ran {counts} tests; at least {FEWEST_TESTS} each are meant")
    return said


def main(command, installation, place, *numbers):
    try:
        {"build": build, "run": run, "run_with_worker": run_with_worker,
         "run_checked": run_checked, "run_on_hosts": run_on_hosts,
         "build_wheel": build_wheel, "run_mpich": run_face("mpich"), "run_openmpi": run_face("openmpi")}[command](
            pathlib.Path(installation).resolve(), Place(place), *map(int, numbers))
    except Unreachable:
        print("mpi4py: not tested, for its sources are not here: PyPI cannot be reached")
        sys.exit(SKIPPED)


if __name__ == "__main__":
    main(*sys.argv[1:])
