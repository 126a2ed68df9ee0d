# SPDX-License-Identifier: BSD-3-Clause
"""Options and variables of MPICH's, Intel's and Open MPI's launchers: mpiexec understands them, or warns and ignores them."""

import os
import re
import shlex
import tempfile

from harness import DOUBLE, LaunchTest, cores, main

# Options that change nothing here: mpiexec accepts them without a word.
SILENT = """
--oversubscribe
--allow-run-as-root
--nooversubscribe
--use-hwthread-cpus
--map-by :OVERSUBSCRIBE
--map-by slot:OVERSUBSCRIBE
--map-by core
--map-by node:PE=1
--map-by numa
--map-by l3cache
--map-by ppr:2:node
--map-by ppr:2:node:OVERSUBSCRIBE
--map-by ppr:1:socket
--map-by socket:HWTCPUS
--bind-to core:overload-allowed
--bind-to none
--bind-to l3cache
--bind-to hwthread:overload-allowed
--bind-to numa:if-supported
--rank-by slot
--bind-to-core
--bind-to-none
--bycore
--bynode
--bysocket
--npersocket 2
--npernode 2
--mca orte_base_help_aggregate 0
--mca rmaps_base_oversubscribe 1
--mca hwloc_base_binding_policy none
--mca btl_tcp_if_include lo
--tag-output
--timestamp-output
--merge-stderr-to-stdout
--output tag
--output merge
--cpus-per-rank 1
--leave-session-attached
--personality ompi
--prefix /opt/mpi
--get-stack-traces --report-state-on-timeout
-genv A=B
-genv A B
-env A=B
-ppn 2
-perhost 2
-grr 2
-rr
-launcher ssh
-bootstrap fork
-launcher-exec /usr/bin/ssh
-rmk slurm
-iface lo
-disable-hostname-propagation
-bind-to core:1
-bind-to rr
-bind-to l2cache
-path /opt/bin
-order-nodes
-localhost node1
-topolib hwloc
-demux poll
-branch-count 8
-enable-x
-disable-x
-nameserver node1
-bind-to board
-bind-to l1
-map-by l1cache
-map-by hwthread
-lp64
-localroot
-hostos linux
-genvlist PATH
-genvnone
-genvall
-envlist PATH
-envnone
-envall
-usize 4
--pernode
--map-by ppr:2:l3cache:PE=1
--map-by core:NOOVERSUBSCRIBE
--rank-by fill
--bind-to package
--cpus-per-proc 1
--cpus-per-task 1
--byslot
--bind-to-socket
--display-allocation
--display-devel-allocation
--do-not-resolve
--output merge-stderr-to-stdout
--noprefix
--novm
--no-ready-msg
--show-progress
--parsable
--debug-daemons
--debug-devel
--wait-for-server
--use-regexp
--keepalive 1
--spawn-timeout 5
--launch-agent prted
--max-vm-size 4
--stream-buffering 1
--forward-signals SIGUSR1
--disable-recovery
--mca mpi_yield_when_idle 1
--mca plm_rsh_agent ssh
-x A=1
--wd /tmp
--stdin all
--timeout 60
"""

# Options that would change something elsewhere: mpiexec warns of them, in one line.
WARNED = """
--rankfile ranks
--rf ranks
--rank-by node
--bind-to cpu-list:ordered
--map-by dist:span
--map-by seq
--mca btl self,vader
--mca pml ob1
--gmca coll_tuned_use_dynamic_rules 1
--prtemca ess base
--am file
--xterm 0
--debug
--tv
--enable-recovery
--with-ft ulfm
--preload-binary
--xml
--report-pid -
--output xml
-disable-auto-cleanup
-print-all-exitcodes
-membind firsttouch
-prepend-pattern %r
-gpus-per-proc 1
-genvexcl A
-trace
-check_mpi
-tune
-gdb
-gdba 7
-gtool x
-silent-abort
-ordered-output
-nolocal
-soft 1:4
-memory-alloc-kinds system
-binding pin=yes
-dapl
-IB
-psm2
-ofi
-tcp
-trace-imbalance
-idb
-tva 7
-restart
-ckpoint on
-ckpoint-interval 5
-hosts-group a
-localuser me
-umask 022
-tmpdir /tmp
-ilp64
-aps
-mps
-noconf
-profile
-arch x86
--map-by pe-list=0
--map-by rankfile:FILE=ranks
--bind-to user:0
--xml-file F
--pset x
--hnp URI
--daemonize
--stop-on-exec
--add-host node2
--add-hostfile F
--continuous
--max-restarts 1
--preload-files F
--preload-files-dest-dir D
--set-cwd-to-session-dir
--index-argv-by-rank
--report-uri -
--ompi-server U
--server-wait-time 1
--dvm U
--debugger ddt
--rtos continuous
--amca F
--omca a b
--pmixmca a b
"""


def lines(text):
    return [shlex.split(line) for line in text.split("\n") if line]


def without_variables():
    prefixes = ("I_MPI_", "OMPI_", "PRTE_", "MPIR_CVAR_", "HYDRA_", "MPIEXEC_", "PMI", "SLURM_", "OMP_", "HEDDLE_")
    return {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}


class Options(LaunchTest):
    def test_what_is_understood_or_changes_nothing(self):
        for words in lines(SILENT):
            code, out, err = self.run_job(*words, "-n", 2, DOUBLE, "say:x", env=without_variables())
            self.assertEqual((code, err), (0, ""), words)
            self.assertEqual(len(re.findall("x$", out, re.M)), 2, words)

    def test_what_is_warned_of(self):
        for words in lines(WARNED):
            code, out, err = self.run_job(*words, "-n", 2, "sh", "-c", "echo x", env=without_variables())
            self.assertEqual((code, len(re.findall("x$", out, re.M))), (0, 2), (words, err))
            self.assertRegex(err, rf"^mpiexec: ignored: {re.escape(' '.join(words[:2]))}[^\n]*\n$", words)
            self.assertEqual(self.run_job("-q", *words, "-n", 1, "true", env=without_variables())[::2], (0, ""))

    def test_a_report(self):
        for words in ("--display-map", "--display bind", "-print-rank-map", "--bind-to core:report",
                      "--map-by core:display", "--report-bindings"):
            code, _, err = self.run_job(*words.split(), "-n", 1, "true", env=without_variables())
            self.assertEqual(code, 0)
            self.assertRegex(err, "^mpiexec: rank 0 is (not )?bound", words)
        code, out, err = self.run_job("--do-not-launch", "-n", 2, DOUBLE, "say:x", env=without_variables())
        self.assertEqual((code, out, len(err.splitlines())), (0, "", 2))

    def test_how_many(self):
        self.assertEqual(self.run_job("--map-by", "ppr:3:node", DOUBLE, "say:x")[:2], (0, "x\n" * 3))
        self.assertEqual(self.run_job("--pernode", DOUBLE, "say:x")[:2], (0, "x\n"))
        self.assertEqual(self.run_job("-ppn", 3, DOUBLE, "say:x")[:2], (0, "x\n" * 3))

    def test_variables_in_one_word(self):
        code, out, _ = self.run_job("-genv", "A=1 2", "-env", "B=b=c", "-n", 1, "sh", "-c", "echo $A,$B")
        self.assertEqual((code, out), (0, "1 2,b=c\n"))

    def test_cores(self):
        allowed = sorted(os.sched_getaffinity(0))
        first = allowed[0]
        self.assertEqual(self.run_job("--cpu-set", str(first), "-n", 1, DOUBLE, "cpus")[1], f"cpus 1: {first}\n")
        self.assert_refused(2, "none of these may be used", "--cpu-list", "8000", "-n", "1", "true")
        self.assert_refused(2, "is no list of hardware threads", "--cpu-list", "x", "-n", "1", "true")
        if cores() > 1:
            wide = self.run_job("--cpus-per-rank", 2, "-n", 1, DOUBLE, "cpus")[1]
            narrow = self.run_job("--cpus-per-rank", 1, "-n", 1, DOUBLE, "cpus")[1]
            self.assertEqual(int(wide.split()[1][:-1]), 2 * int(narrow.split()[1][:-1]))

    def test_wrong_values(self):
        self.assert_refused(2, "it is ppr:N:WHAT", "--map-by", "ppr:2", "true")
        self.assert_refused(2, "'x' is not a whole number", "--map-by", "ppr:x:node", "true")
        self.assert_refused(2, "use PE=N", "--map-by", "core:sideways", "true")
        self.assert_refused(2, "--mca needs KEY VALUE", "--mca", "btl")

    def test_hints_are_names_that_could_be_meant(self):
        for letter in "abdgijkmoptuwyz":
            self.assert_refused(2, f"unknown option -{letter} (", f"-{letter}", "true")
        self.assert_refused(2, "did you mean --map-by?", "--mapby", "core", "true")


class Files(LaunchTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def read(self, name):
        with open(os.path.join(self.folder, name)) as file:
            return file.read()

    def test_a_file_for_each_rank(self):
        pattern = os.path.join(self.folder, "new/out.%r")
        for _ in range(2):  # the second job begins the files anew
            self.assertEqual(self.run_job("-outfile-pattern", pattern, "-n", 2, "sh", "-c", "echo o$PMI_RANK; echo e >&2"),
                             (0, "", "e\ne\n"))
            self.assertEqual([self.read(f"new/out.{rank}") for rank in (0, 1)], ["o0\n", "o1\n"])

    def test_one_file_for_all_ranks(self):
        one = os.path.join(self.folder, "one%%")
        self.run_job("-outfile-pattern", one, "-errfile-pattern", one + "e", "-n", 3, "sh", "-c", "echo x; echo y >&2")
        self.assertEqual((self.read("one%"), self.read("one%e")), ("x\n" * 3, "y\n" * 3))

    def test_the_folders_of_open_mpi(self):
        script = "echo o$PMI_RANK; echo e$PMI_RANK >&2"
        self.assertEqual(self.run_job("--output-filename", self.folder + "/a", "-n", 2, "sh", "-c", script), (0, "", ""))
        self.assertEqual((self.read("a/1/rank.1/stdout"), self.read("a/1/rank.0/stderr")), ("o1\n", "e0\n"))
        self.run_job("--output", f"dir={self.folder}/b", "--merge-stderr-to-stdout", "-n", 1, "sh", "-c", script)
        self.assertEqual(self.read("b/1/rank.0/stdout"), "o0\ne0\n")
        self.run_job("--output", f"file={self.folder}/c", "-n", 1, "sh", "-c", "echo x")
        self.assertEqual(self.read("c.0"), "x\n")

    def test_what_cannot_be_written(self):
        code, _, err = self.run_job("-outfile-pattern", "/proc/none/%r", "-n", 2, "true")
        self.assertEqual(code, 1)
        self.assertIn("cannot write the output of rank 0 to /proc/none/0", err)

    def test_merged_and_with_the_time(self):
        script = "echo o; echo e >&2; echo p"
        self.assertEqual(self.run_job("--merge-stderr-to-stdout", "-n", 1, "sh", "-c", script), (0, "o\ne\np\n", ""))
        _, out, err = self.run_job("--timestamp-output", "-l", "-n", 1, "sh", "-c", script)
        time = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d "
        self.assertRegex(out, rf"^{time}\[0\] o\n{time}\[0\] p\n$")
        self.assertRegex(err, rf"^{time}\[0\] e\n$")


class Variables(LaunchTest):
    def job(self, *words, **variables):
        return self.run_job(*words, env={**without_variables(), **variables})

    def test_those_that_are_understood(self):
        allowed = os.sched_getaffinity(0)
        all_of_them = f"cpus {len(allowed)}:"
        for variables in ({"I_MPI_PIN": "0"}, {"OMPI_MCA_hwloc_base_binding_policy": "none"}):
            _, out, err = self.job("-n", 1, DOUBLE, "cpus", SLURM_JOB_ID="7", **variables)
            self.assertEqual((out[:len(all_of_them)], err), (all_of_them, ""))
        if cores() > 1:
            narrow = self.job("--bind-to", "core", "-n", 1, DOUBLE, "cpus")
            for variables in ({"I_MPI_PIN_DOMAIN": "core"}, {"OMPI_MCA_hwloc_base_binding_policy": "core"}):
                self.assertEqual(self.job("-n", 1, DOUBLE, "cpus", **variables), narrow)
                self.assertEqual(self.job("--bind-to", "none", "-n", 1, DOUBLE, "cpus", **variables)[1][:len(all_of_them)],
                                 all_of_them)
        self.assertEqual(self.job(DOUBLE, "say:x", I_MPI_PERHOST="3"), (0, "x\n" * 3, ""))
        script = "echo $HEDDLE_INTERFACE $HEDDLE_FABRIC"
        self.assertEqual(self.job("-n", 1, "sh", "-c", script, OMPI_MCA_btl_tcp_if_include="eth7,eth8",
                                  I_MPI_OFI_PROVIDER="tcp"), (0, "eth7 tcp\n", ""))
        self.assertEqual(self.job("-n", 1, "sh", "-c", script, OMPI_MCA_btl_tcp_if_include="eth7",
                                  HEDDLE_INTERFACE="lo")[1], "lo\n")
        self.assertEqual(self.job("--mca", "btl_tcp_if_include", "eth9", "-n", 1, "sh", "-c", script)[1], "eth9\n")

    def test_those_that_are_named(self):
        code, out, err = self.job("-n", 1, "true", I_MPI_ADJUST_BCAST="1", MPIR_CVAR_ASYNC_PROGRESS="1",
                                  OMPI_MCA_btl="self", I_MPI_ROOT="/opt")
        self.assertEqual((code, out), (0, ""))
        self.assertEqual(err, "mpiexec: ignored: I_MPI_ADJUST_BCAST, MPIR_CVAR_ASYNC_PROGRESS, OMPI_MCA_btl "
                              "('heddle info --knobs' lists what can be set)\n")
        self.assertEqual(self.job("-q", "-n", 1, "true", OMPI_MCA_btl="self"), (0, "", ""))

    def test_those_of_a_ranks_launcher(self):
        self.assertEqual(self.job("-n", 1, "true", OMPI_MCA_btl="self", PMI_RANK="0"), (0, "", ""))

    def test_a_file_of_hosts(self):
        self.assertIn("cannot read /nowhere", self.job("-n", 1, "true", I_MPI_HYDRA_HOST_FILE="/nowhere")[2])
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("localhost\n")
            file.flush()
            self.assertEqual(self.job("-n", 1, DOUBLE, "say:x", HYDRA_HOST_FILE=file.name), (0, "x\n", ""))


if __name__ == "__main__":
    main()
