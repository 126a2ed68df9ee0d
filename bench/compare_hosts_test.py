# SPDX-License-Identifier: BSD-3-Clause
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

import compare
import compare_hosts
import host_experiments
from laboratory import contestants, hosts

HERE = pathlib.Path(__file__).resolve().parent
# A launcher that runs a program once, without hosts, and another that starts nothing.
LAUNCHER = """#!/bin/sh
while [ $# -gt 0 ]; do
    [ "$1" != -n ] || { shift 2; break; }
    shift
done
exec "$@"
"""


def named(folder, name, launchers=("mpiexec",)):
    for command in ("mpicc", "mpicxx", *launchers):
        path = folder / name / "bin" / command
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(LAUNCHER)
        path.chmod(0o755)
    return contestants.named(f"{name}={folder / name}", "yield", folder / "programs")


class Starting(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        visible = unittest.mock.patch("laboratory.hosts.problem", return_value="")
        visible.start()
        self.addCleanup(visible.stop)

    def words(self, contestant, pinned=False):
        return " ".join(contestant.start(8, 2, pinned))

    def test_heddle_by_the_hydra_of_a_peer(self):
        heddle, mpich = named(self.folder, "heddle"), named(self.folder, "mpich", ("mpiexec", "mpiexec.hydra"))
        contestants.lend_hydra([heddle, mpich])
        few = unittest.mock.patch("laboratory.contestants.cores", return_value=7)
        few.start()
        self.addCleanup(few.stop)
        for contestant in (heddle, mpich):
            self.assertEqual(self.words(contestant, True), f'{hosts.TOOL} 2 sh -c exec "$0" -launcher ssh -launcher-exec '
                             f'"$HOSTS_AGENT" "$@" {self.folder}/mpich/bin/mpiexec.hydra -hosts node1,node2 -ppn 4 -n 8 '
                             f'{HERE}/pinned.sh --host')

    def test_ranks_have_cores_of_their_own_where_there_are_enough(self):
        intel = named(self.folder, "intel")
        for cores, last in ((8, "pinned.sh"), (7, "--host")):
            with unittest.mock.patch("laboratory.contestants.cores", return_value=cores):
                self.assertTrue(self.words(intel, True).endswith(last))
        self.assertTrue(self.words(intel).endswith("-n 8"))

    def test_peers_by_their_own(self):
        self.assertIn("-bootstrap ssh -bootstrap-exec", self.words(named(self.folder, "intel")))
        openmpi = self.words(named(self.folder, "openmpi", ("mpiexec", "prted")))
        self.assertIn(f"prte_launch_agent {self.folder}/openmpi/bin/prted --bind-to none", openmpi)
        self.assertTrue(openmpi.endswith("--mca btl tcp,sm,self --host node1:4,node2:4 -n 8"), openmpi)
        intel = named(self.folder, "intel")
        self.assertEqual((intel.environment_on(1)["I_MPI_FABRICS"], intel.environment_on(2)["I_MPI_FABRICS"]),
                         ("shm", "shm:ofi"))

    def test_who_cannot_says_why(self):
        for name, why in (("openmpi-ucx", "on one host only"), ("mpich-debian", "on one host only"), ("openmpi", "no PRRTE")):
            with self.assertRaisesRegex(contestants.Unusable, why):
                self.words(named(self.folder, name))
        heddle = named(self.folder, "heddle")
        with unittest.mock.patch("shutil.which", return_value=None):
            contestants.lend_hydra([heddle])
        with self.assertRaisesRegex(contestants.Unusable, "needs mpiexec.hydra"):
            self.words(heddle)

    def test_one_host_is_as_before(self):
        openmpi = named(self.folder, "openmpi")
        self.assertEqual(openmpi.start(2), [*openmpi.launch, "-n", "2"])
        self.assertEqual(openmpi.start(2, pinned=True), [*openmpi.launch, "--bind-to", "none", "-n", "2", f"{HERE}/pinned.sh"])

    def test_starts_are_timed_on_the_hosts(self):
        mpich = named(self.folder, "mpich", ("mpiexec", "mpiexec.hydra"))
        args = types.SimpleNamespace(only="start", seconds=0.1)
        [experiment] = host_experiments.experiments(args)
        with unittest.mock.patch.object(contestants.Contestant, "program", lambda self, name: self.programs / name):
            words = compare.command(experiment.runs[0], mpich)
        self.assertEqual(words[:2], [str(hosts.TOOL), "2"])
        self.assertEqual(words[-4:], ["-hosts", "node1,node2", "-ppn", "2"])
        self.assertLess(words.index("--ranks"), words.index("--"))


class Experiments(unittest.TestCase):
    def test_sizes_are_chosen(self):
        args = types.SimpleNamespace(only="sizes,windows", seconds=0.1, bytes="0,1048576")
        trips, bandwidths = host_experiments.experiments(args)
        self.assertEqual([run.rows[0].where["bytes"] for run in trips.runs], ["0", "1048576"])
        self.assertEqual([run.rows[0].where["bytes"] for run in bandwidths.runs], ["1048576"])

    def test_collectives_are_on_any_number_of_hosts(self):
        args = types.SimpleNamespace(only="collectives", seconds=0.1, hosts=3, each="2,5")
        self.assertEqual([{(run.hosts, run.ranks) for run in one.runs} for one in host_experiments.experiments(args)],
                         [{(3, 6)}, {(3, 15)}])

    def test_all_are_on_two_hosts(self):
        args = types.SimpleNamespace(only=None, seconds=0.1, bytes=None, hosts=2, each="1,4")
        for experiment in host_experiments.experiments(args):
            for run in experiment.runs:
                self.assertEqual(run.hosts, 2)
                self.assertEqual(run.ranks % 2, 0)

    def test_unknown_ones_are_refused(self):
        with self.assertRaisesRegex(SystemExit, "--only knows sizes,.* not fast"):
            host_experiments.experiments(types.SimpleNamespace(only="fast", seconds=0.1))


class Pages(unittest.TestCase):
    def test_say_who_was_measured(self):
        contestant = types.SimpleNamespace(name="mpich")
        with unittest.mock.patch("compare_hosts.version", return_value="MPICH 9"):
            self.assertIn("- mpich: MPICH 9", compare_hosts.introduction([contestant]))


class Pinned(unittest.TestCase):
    def test_the_ranks_of_a_host_share_a_core(self):
        allowed = sorted(os.sched_getaffinity(0))
        with tempfile.TemporaryDirectory() as folder:
            command = pathlib.Path(folder) / "hostname"
            for number in range(1, 12):
                command.write_text(f"#!/bin/sh\necho node{number}\n")
                command.chmod(0o755)
                done = subprocess.run([HERE / "pinned.sh", "--host", sys.executable, "-c",
                                       "import os; print(*os.sched_getaffinity(0))"], capture_output=True, text=True,
                                      check=True, env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
                self.assertEqual(int(done.stdout), allowed[(number - 1) % len(allowed)])


class Starts(unittest.TestCase):
    def test_of_empty_ranks_beside_the_launcher(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "empty"
            program.symlink_to("/bin/true")
            launcher = pathlib.Path(folder) / "launcher"
            launcher.write_text(LAUNCHER)
            launcher.chmod(0o755)
            done = subprocess.run([sys.executable, HERE / "startup.py", "--ranks", "4", "--runs", "2", folder, "--",
                                   launcher], capture_output=True, text=True, check=True)
        self.assertRegex(done.stdout, r"result bench=startup ranks=4 empty_ms=[\d.]+ true_ms=[\d.]+ over_ms=-?[\d.]+")


if __name__ == "__main__":
    unittest.main()
