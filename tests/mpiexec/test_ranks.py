# SPDX-License-Identifier: BSD-3-Clause
"""The environment, directory, streams and cores of ranks."""

import os
import resource
import subprocess
import tempfile

from harness import DOUBLE, LaunchTest, cores, main


class Surroundings(LaunchTest):
    def variables(self, *arguments, **options):
        code, out, err = self.run_job(*arguments, "env", **options)
        self.assertEqual(code, 0, err)
        return dict(line.split("=", 1) for line in out.splitlines() if "=" in line)

    def test_names_of_ranks(self):
        script = "echo $PMI_RANK $PMI_SIZE $MPI_LOCALRANKID $MPI_LOCALNRANKS"
        _, out, _ = self.run_job("-n", 2, "sh", "-c", script, ":", "-n", 1, "sh", "-c", script)
        self.assertEqual(sorted(out.splitlines()), ["0 3 0 3", "1 3 1 3", "2 3 2 3"])

    def test_variables_are_set(self):
        own = dict(os.environ, INHERITED="i", PMI_FD="77", PMIX_RANK="5")
        got = self.variables("-n", 1, "-genv", "A", "1 2", "-env", "B", "=b", "-x", "C=c=c", "-x", "INHERITED",
                             env=own)
        self.assertEqual((got["A"], got["B"], got["C"], got["INHERITED"]), ("1 2", "=b", "c=c", "i"))
        self.assertNotEqual(got["PMI_FD"], "77")
        self.assertNotIn("PMIX_RANK", got)

    def test_a_program_has_its_own_over_those_of_all(self):
        code, out, _ = self.run_job("-genv", "A", "all", "-n", 1, "sh", "-c", "echo 0$A$B", ":",
                                    "-env", "A", "own", "-x", "B=b", "-n", 1, "sh", "-c", "echo 1$A$B")
        self.assertEqual((code, sorted(out.split())), (0, ["0all", "1ownb"]))

    def test_nothing_but_the_list(self):
        got = self.variables("-n", 1, "-genvnone", "-genvlist", "KEPT", env=dict(os.environ, KEPT="k", LOST="l"))
        self.assertEqual(got.get("KEPT"), "k")
        self.assertNotIn("LOST", got)

    def test_directory(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = os.path.realpath(folder)
            code, out, _ = self.run_job("-wdir", folder, "-n", 1, "pwd", ":", "-n", 1, "pwd", cwd="/")
            self.assertEqual((code, sorted(out.split())), (0, sorted(["/", folder])))

    def test_limits_and_session_are_the_users(self):
        script = "ulimit -Sn; cut -d' ' -f6 /proc/self/stat; grep SigBlk /proc/self/status"
        here = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout
        self.assertEqual(self.run_job("-n", 1, "sh", "-c", script)[1], here)


class SmallStack(LaunchTest):
    def test_a_small_stack(self):
        small = lambda: resource.setrlimit(resource.RLIMIT_STACK, (64 << 10, 64 << 10))
        code, out, err = self.run_job("-n", 2, "-stdin", "all", "-l", DOUBLE, "echo", data=b"a\n" * 50000, preexec_fn=small)
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(sorted(set(out.splitlines())), ["[0] a", "[1] a"])
        self.assertEqual(len(out), 2 * 50000 * len("[0] a\n"))


class Streams(LaunchTest):
    def test_input_goes_to_rank_0_and_what_it_leaves_stays(self):
        self.assertEqual(self.run_job("-n", 3, "-l", DOUBLE, "echo", data=b"a\nb\n")[1], "[0] a\n[0] b\n")

    def test_input_for_another_rank_all_and_none(self):
        self.assertEqual(self.run_job("-n", 3, "-stdin", 2, "-l", DOUBLE, "echo", data=b"a\n")[1], "[2] a\n")
        self.assertEqual(self.run_job("-n", 3, "-stdin", "none", DOUBLE, "echo", data=b"a\n")[1], "")
        big = b"".join(b"%07d\n" % i for i in range(100000))
        code, out, _ = self.run_job("-n", 2, "-stdin", "all", "md5sum", data=big)
        self.assertEqual((code, len(out.split()), len(set(out.split()))), (0, 4, 2))

    def test_input_for_all_when_one_does_not_read(self):
        big = b"x" * 1000000
        code, out, _ = self.run_job("-n", 2, "-stdin", "all", "sh", "-c",
                                    'if [ $PMI_RANK = 1 ]; then wc -c; fi', data=big)
        self.assertEqual((code, out.strip()), (0, "1000000"))

    def test_tags_on_both_streams_and_on_an_unfinished_line(self):
        code, out, err = self.run_job("-n", 2, "--tag-output", DOUBLE, "say:one", "error:bad", "print:end")
        self.assertEqual(code, 0)
        self.assertEqual(sorted(out.splitlines()), ["[0] end", "[0] one", "[1] end", "[1] one"])
        self.assertEqual(sorted(err.splitlines()), ["[0] bad", "[1] bad"])

    def test_tagged_lines_stay_whole(self):
        script = "i=0; while [ $i -lt 3000 ]; do echo $PMI_RANK-$i-abcdefghijklmnopqrstuvwxyz; i=$((i+1)); done"
        code, out, _ = self.run_job("-n", 4, "-prepend-rank", "sh", "-c", script)
        self.assertEqual(code, 0)
        for rank in range(4):
            mine = [line for line in out.splitlines() if line.startswith(f"[{rank}] ")]
            wanted = [f"[{rank}] {rank}-{i}-abcdefghijklmnopqrstuvwxyz" for i in range(3000)]
            self.assertEqual(mine, wanted)
        self.assertEqual(len(out.splitlines()), 12000)

    def test_a_tagged_line_longer_than_any_buffer(self):
        code, out, _ = self.run_job("-n", 1, "-l", "sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x; echo")
        self.assertEqual((code, out), (0, "[0] " + "x" * 300000 + "\n"))

    def test_a_reader_that_goes_away_ends_the_writers(self):
        job = self.start("-n", 2, "-l", "yes")
        self.assertEqual(job.lines(1)[0][1:], job.lines(1)[0][1:])
        job.process.stdout.close()
        job.process.stdout = open(os.devnull, "rb")
        code, _, err = job.end()
        self.assertEqual(code, 128 + 13, err)

    def test_closed_standard_streams(self):
        code, _, err = self.run_job("-n", 1, "sh", "-c", "exit 3", stdin=subprocess.DEVNULL,
                                    preexec_fn=lambda: (os.close(0), os.close(1)))
        self.assertEqual(code, 3, err)


class Crowds(LaunchTest):
    """OMP_WAIT_POLICY: mpiexec sets it if threads outnumber cores; the user's own value stays if there is one."""

    def policy(self, *words, **variables):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
        code, out, err = self.run_job(*words, "sh", "-c", "echo x$OMP_WAIT_POLICY", env={**clean, **variables})
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(len(set(out.split())), 1)
        return out.split()[0][1:]

    def test_policy(self):
        here = len(os.sched_getaffinity(0))
        self.assertEqual(self.policy("-n", 1), "")
        self.assertEqual(self.policy("-n", 1, OMP_NUM_THREADS=str(here)), "")
        self.assertEqual(self.policy("-n", here, "--bind-to", "none", OMP_NUM_THREADS="1"), "")
        self.assertEqual(self.policy("-n", 1, OMP_NUM_THREADS=str(here + 1)), "passive")
        self.assertEqual(self.policy("-n", 1, "-x", f"OMP_NUM_THREADS={here + 1},2"), "passive")
        self.assertEqual(self.policy("-n", here + 1, OMP_NUM_THREADS="1"), "passive")
        if here > 1:
            self.assertEqual(self.policy("-n", 2, "--bind-to", "none"), "passive")
            self.assertEqual(self.policy("-n", 1, "--bind-to", "hwthread", OMP_NUM_THREADS="2"), "passive")
        if cores() > 1:
            self.assertEqual(self.policy("-n", 2, "--bind-to", "share"), "")

    def test_the_users_own(self):
        for words in ((), ("-x", "OMP_WAIT_POLICY=active")):
            self.assertEqual(self.policy("-n", 99, *words, OMP_WAIT_POLICY="active"), "active")


class Cores(LaunchTest):
    def masks(self, *arguments, **options):
        code, out, err = self.run_job("-l", *arguments, DOUBLE, "cpus", **options)
        self.assertEqual(code, 0, err)
        rows = sorted(out.splitlines())
        return [set(map(int, row.split(":")[1].split())) for row in rows]

    def setUp(self):
        super().setUp()
        self.allowed = os.sched_getaffinity(0)
        allocation = ("SLURM_", "PBS_", "LSB_", "PE_", "FLUX_", "OAR_", "OMP_")
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(allocation)}

    def assert_shared(self, masks):
        self.assertEqual(set().union(*masks), self.allowed)
        self.assertEqual(sum(len(mask) for mask in masks), len(self.allowed))

    def test_default_shares_all_cores_of_an_allocation(self):
        for variable in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE"):
            own = dict(self.env, **{variable: "7"})
            self.assertEqual(self.masks("-n", 1, env=own), [self.allowed])
            if cores() > 1:
                self.assert_shared(self.masks("-n", 2, env=own))

    def test_default_shares_all_cores_of_a_narrow_set(self):
        if len(self.allowed) < 3 or cores() < 3:
            self.skipTest("takes three cores")
        few = set(sorted(self.allowed)[:2])
        masks = self.masks("-n", 2, preexec_fn=lambda: os.sched_setaffinity(0, few))
        self.assertEqual(set().union(*masks), few)
        self.assertFalse(masks[0] & masks[1])

    def test_default_binds_nothing_beside_others(self):
        count = 2 * len(self.allowed)
        others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
        try:
            self.assertEqual(self.masks("-n", 2, env=self.env), [self.allowed] * 2)
            _, _, err = self.run_job("-n", 1, "--report-bindings", "true", env=self.env)
            self.assertRegex(err, r"^mpiexec: rank 0 is not bound: \d+ other threads run on the \d+ cores; --bind-to share ")
            if cores() > 1:
                self.assert_shared(self.masks("-n", 2, "--bind-to", "share", env=self.env))
                self.assert_shared(self.masks("-n", 2, env=dict(self.env, SLURM_JOB_ID="7")))
        finally:
            for other in others:
                other.kill()
                other.wait()

    def test_cores_for_threads(self):
        if cores() < 2:
            self.skipTest("takes two cores")
        sizes = [len(mask) for mask in self.masks("-n", 2, "--bind-to", "core", env=self.env)]
        threads = self.masks("-n", 2, "--bind-to", "core", "-x", "OMP_NUM_THREADS=2", env=self.env)
        self.assertEqual([len(mask) for mask in threads], [2 * sizes[0]] * 2)
        if cores() < 3:
            return
        masks = self.masks("--bind-to", "share", "-n", 1, "-x", f"OMP_NUM_THREADS={cores() - 1}", DOUBLE, "cpus", ":",
                           "-n", 1, "-x", "OMP_NUM_THREADS=1", env=self.env)
        self.assert_shared(masks)
        self.assertEqual(len(masks[0]), len(self.allowed) - len(masks[1]))
        self.assertLess(len(masks[1]), len(masks[0]))

    def test_default_binds_nothing_when_ranks_outnumber_cores(self):
        count = cores() + 1
        self.assertEqual(self.masks("-n", count), [self.allowed] * count)

    def test_explicit(self):
        self.assertEqual(self.masks("-n", 2, "--bind-to", "none"), [self.allowed] * 2)
        for mask in self.masks("-n", 3, "--bind-to", "hwthread"):
            self.assertEqual(len(mask), 1)
        for what in ("core", "socket", "numa"):
            for mask in self.masks("-n", 3, "--bind-to", what):
                self.assertTrue(mask and mask <= self.allowed)
        for what in ("core", "slot", "socket", "numa", "node", "slot:PE=1"):
            self.assertEqual(len(self.masks("-n", 2, "--map-by", what)), 2)

    def test_the_launchers_own_mask_is_the_limit(self):
        one = min(self.allowed)
        code, out, _ = self.run_job(DOUBLE, "cpus", preexec_fn=lambda: os.sched_setaffinity(0, {one}))
        self.assertEqual((code, out), (0, f"cpus 1: {one}\n"))

    def test_report(self):
        _, _, err = self.run_job("-n", 1, "--report-bindings", "--bind-to", "share", "true")
        self.assertRegex(err, r"^mpiexec: rank 0 is bound to cpu [0-9,-]+\n$")
        _, _, err = self.run_job("-n", 1, "--report-bindings", "true", env=dict(self.env, SLURM_JOB_ID="7"))
        self.assertRegex(err, r"^mpiexec: rank 0 is bound to cpu [0-9,-]+\n$")
        _, _, err = self.run_job("-n", cores() + 1, "--report-bindings", "true", env=self.env)
        self.assertIn(f"rank 0 is not bound: {cores() + 1} ranks outnumber {cores()} cores\n", err)
        _, _, err = self.run_job("-n", 1, "--report-bindings", "--bind-to", "none", "true")
        self.assertEqual(err, "mpiexec: rank 0 is not bound\n")


if __name__ == "__main__":
    main()
