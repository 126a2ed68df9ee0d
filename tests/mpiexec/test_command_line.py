# SPDX-License-Identifier: BSD-3-Clause
"""The command line: words that mpiexec understands, and errors about those that it refuses."""

import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile

from harness import DOUBLE, LaunchTest, cores, main


class Options(LaunchTest):
    def test_help_names_every_listed_option(self):
        for word in ("-h", "--help", "-help"):
            code, out, err = self.run_job(word)
            self.assertEqual((code, err), (0, ""))
            for name in ("-n,", "--wdir", "--bind-to", "--map-by", "--timeout", "-x", "--stdin", "--tag-output"):
                self.assertIn(name, out)

    def test_version(self):
        code, out, _ = self.run_job("--version")
        self.assertEqual(code, 0)
        self.assertIn("Heddle", out)

    def test_number_of_ranks_in_every_spelling(self):
        for words in (["-n", "3"], ["-np", "3"], ["--np", "3"], ["--n", "3"], ["-n=3"], ["--np=3"], ["-c", "3"]):
            self.assertEqual(self.run_job(*words, DOUBLE, "say:x")[:2], (0, "x\n" * 3), words)

    def test_default_is_one_rank_for_each_core(self):
        self.assertEqual(self.run_job(DOUBLE, "say:x")[:2], (0, "x\n" * cores()))

    def test_default_of_several_programs_is_one_each(self):
        code, out, _ = self.run_job(DOUBLE, "say:a", ":", DOUBLE, "say:b")
        self.assertEqual((code, sorted(out.split())), (0, ["a", "b"]))

    def test_options_after_the_program_are_its_own(self):
        self.assertEqual(self.run_job("-n", 1, "echo", "-n", "7", "--np")[1], "7 --np")

    def test_what_changes_nothing_here_is_accepted(self):
        words = ["--allow-run-as-root", "--oversubscribe", "-q", "-v", "-ppn", "4", "-host", "localhost:2",
                 "-H", socket.gethostname(), "--use-hwthread-cpus", "-genvall"]
        self.assertEqual(self.run_job(*words, "-n", 1, DOUBLE, "say:x")[:2], (0, "x\n"))
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(f"# hosts\nlocalhost slots=2  # here\n\n{socket.gethostname()}:4\n")
            file.flush()
            self.assertEqual(self.run_job("--hostfile", file.name, "-n", 1, DOUBLE, "say:x")[:2], (0, "x\n"))


    def test_initial_error_handler(self):
        for name in ("mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"):
            code, out, _ = self.run_job("-n", 1, "-initial-errhandler", name, "printenv",
                                        "HEDDLE_INITIAL_ERRHANDLER")
            self.assertEqual((code, out), (0, name + "\n"))


def hosts_in(test):
    """Returns the name of a file that lasts as long as the test."""
    file = tempfile.NamedTemporaryFile("w")
    test.addCleanup(file.close)
    file.write("localhost slots=2  # here\n\nelsewhere:4\n")
    file.flush()
    return file.name


class HandedOver(LaunchTest):
    """Commands for other launchers. A script plays each launcher and prints them. Ranks on real hosts: tests/hosts."""

    NAMES = ("srun", "mpiexec.hydra", "prterun")

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name in self.NAMES:
            self.add(name, 'printf "%s\\n" "${0##*/}" "$@"; exit 5')

    def add(self, name, script):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(f"#!/bin/sh\n{script}\n")
        os.chmod(path, stat.S_IRWXU)

    def told(self, *words, **variables):
        """Returns the launcher and the words that it gets before mpiexec --inner, then those after it."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "PMI"))}
        code, out, err = self.run_job(*words, env={**clean, "PATH": self.folder, **variables})
        self.assertEqual((code, err), (5, ""))
        lines = out.splitlines()
        inner = lines.index("--inner")
        return lines[:inner - 1], lines[inner + 1:]

    def test_a_launcher_that_fails_by_itself_is_named(self):
        """Other exit codes are those of ranks, of which the launcher or mpiexec --inner has told."""
        for script, code, how in (("exit 255", 255, "ended with exit code 255"), ("exit 1", 1, None), ("exit 0", 0, None),
                                  ("kill -SEGV $$", 128 + 11, "was ended by signal 11, SIGSEGV")):
            self.add("prterun", script)
            path = os.path.join(self.folder, "prterun")
            ended = self.run_job("--host", "a,b", "--via", path, "-n", 2, "true")
            self.assertEqual(ended[:2], (code, ""), ended)
            if how is None:
                self.assertEqual(ended[2], "")
            else:
                self.assertRegex(ended[2], rf"^mpiexec: {re.escape(path)} \(pid \d+\) {how}[^\n]*\n$")

    def test_which_launcher(self):
        self.assertEqual(self.told("--host", "a,b", "-n", 2, "true")[0][0], "mpiexec.hydra")
        self.assertEqual(self.told("--host", "a,b", "-n", 2, "true", SLURM_JOB_ID="7")[0][0], "srun")
        self.assertEqual(self.told("-n", 2, "true", SLURM_JOB_ID="7", SLURM_JOB_NUM_NODES="2")[0][0], "srun")
        for name in self.NAMES:
            self.assertEqual(self.told("--host", "a,b", "--via", name, "-n", 2, "true")[0][0], name)
            path = os.path.join(self.folder, name)
            self.assertEqual(self.told("--host", "a,b", "--via", path, "-n", 2, "true")[0][0], name)
        os.remove(os.path.join(self.folder, "mpiexec.hydra"))
        self.assertEqual(self.told("--host", "a,b", "-n", 2, "true")[0][0], "prterun")

    def test_a_rank_of_slurm_stays_where_it_is(self):
        own = dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}", SLURM_JOB_ID="7", SLURM_JOB_NUM_NODES="2")
        for words in ({"SLURM_STEP_ID": "0"}, {"PMI_RANK": "1"}, {"SLURM_JOB_NUM_NODES": "1"}):
            self.assertEqual(self.run_job("-n", 1, DOUBLE, "say:x", env={**own, **words})[:2], (0, "x\n"))

    def test_hosts(self):
        for words, hosts in ((("--host", "a,b", "-n", 4), "a:2,b:2"), (("--host", "a,b", "-n", 5), "a:3,b:3"),
                             (("--host", "a:1,b:3", "-n", 4), "a:1,b:3"), (("--host", "a:1,b", "-n", 4), "a:1,b:3"),
                             (("--host", "a,a,b", "-n", 3), "a:2,b:1"), (("--host", "a,b", "-ppn", 3, "-n", 6), "a:3,b:3"),
                             (("--host", "a:1,b:1", "-n", 4), "a:2,b:2"), (("--host", "a:2,b:2",), "a:2,b:2"),
                             (("--hostfile", hosts_in(self)), "localhost:2,elsewhere:4")):
            for via, option in (("mpiexec.hydra", "-hosts"), ("prterun", "--host")):
                told = self.told(*words, "--via", via, "true")[0]
                self.assertEqual(told[told.index(option) + 1], hosts)

    def test_words_of_srun(self):
        told, inner = self.told("--host", "a,b", "--via", "srun", "-n", 4, "-stdin", "none", "--bind-to", "core", "true")
        for word in ("--nodelist=a,b", "--nodes=2", "--ntasks=4", "--ntasks-per-node=2", "--input=none", "--mpi=pmi2",
                     "--cpu-bind=cores"):
            self.assertIn(word, told)
        self.assertEqual(inner, ["-n", "1", "-stdin", "none", "true"])
        self.assertNotIn("--mpi=pmi2", self.told("--host", "a,b", "--via", "srun", "-n", 2, "true",
                                                 SLURM_MPI_TYPE="pmix")[0])

    def test_what_concerns_a_rank(self):
        inner = self.told("--host", "a,b", "-n", 2, "-l", "-wdir", "/x", "-genv", "A", "b c", "-x", "D=1", "program", "-n", "7")[1]
        self.assertEqual(inner, ["-n", "1", "-l", "-wdir", "/x", "-env", "A", "b c", "-env", "D", "1", "program", "-n", "7"])

    def test_variables(self):
        hosts = ("--host", "a,b", "-n", 2)
        told = self.told(*hosts, "--via", "prterun", "true", MINE="1")[0]
        self.assertIn("MINE", told)
        self.assertEqual(told[told.index("MINE") - 1], "-x")
        inner = self.told(*hosts, "-genvnone", "-genvlist", "A,B", "true")[1]
        self.assertEqual(inner, ["-n", "1", "-genvnone", "-genvlist", "A", "-genvlist", "B", "true"])

    def test_several_programs(self):
        _, rest = self.told("--host", "a,b", "-n", 1, "one", ":", "-n", 3, "two")
        self.assertEqual(rest[:4], ["-n", "1", "one", ":"])
        self.assertEqual(rest[-2:], ["1", "two"])

    def test_what_has_no_word_is_refused(self):
        own = dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}")
        hosts = ("--host", "a,b", "-n", "4")
        for via, words in (("srun", ("--map-by", "numa")), ("srun", ("-usize", 3)), ("prterun", ("-usize", 3)),
                           ("mpiexec.hydra", ("-stdin", "all")), ("mpiexec.hydra", ("--report-bindings",))):
            self.assert_refused(2, f"{via}, which starts the ranks on other machines, has nothing like", *hosts, "--via",
                                via, *words, "true", env=own)
        self.assert_refused(2, "different numbers", "--host", "a:1,b:3", "-n", 4, "--via", "srun", "true", env=own)
        self.assert_refused(2, "several programs", *hosts, "--via", "srun", "true", ":", "true", env=own)


class Refused(LaunchTest):
    def test_unknown_options_name_the_nearest(self):
        self.assert_refused(2, "--bind-to", "--bindto", "core", "true")
        self.assert_refused(2, "did you mean --timeout?", "--timout", "3", "true")
        self.assert_refused(2, "unknown option --zzzzzzzzzzzz (", "--zzzzzzzzzzzz", "true")

    def test_numbers_of_ranks(self):
        self.assert_refused(2, "0 is too small", "-n", "0", "true")
        self.assert_refused(2, "-3 is too small", "-n", "-3", "true")
        self.assert_refused(2, "'two' is not a whole number", "-n", "two", "true")
        self.assert_refused(2, "'2x' is not a whole number", "-np", "2x", "true")
        self.assert_refused(2, "too large", "-n", "99999999999999999999", "true")
        self.assert_refused(2, "-n needs N", "-n")
        self.assert_refused(1, "cannot start 2000000000 ranks", "-n", "2000000000", "true")

    def test_other_values(self):
        self.assert_refused(2, "'no' is not one of mpi_errors_are_fatal", "--initial-errhandler", "no", "true")
        self.assert_refused(2, "'tree' is not one of", "--bind-to", "tree", "true")
        self.assert_refused(2, "'tree' is not one of", "--map-by", "tree", "true")
        self.assert_refused(2, "seconds", "--timeout", "soon", "true")
        self.assert_refused(2, "seconds", "--timeout", "0", "true")
        self.assert_refused(2, "takes no value", "--quiet=3", "true")
        self.assert_refused(2, "the job has 2 ranks", "-stdin", "2", "-n", "2", "true")
        self.assert_refused(2, "environment has no variable", "-x", "HEDDLE_NO_SUCH", "true")

    def test_what_needs_several_machines(self):
        nothing = dict(os.environ, PATH="/nowhere")
        for words in (["-hostfile", hosts_in(self)], ["-f", hosts_in(self)], ["-host", "localhost,elsewhere"]):
            self.assert_refused(1, "none of them is in PATH; Hydra comes with MPICH", *words, "-n", "1", "true", env=nothing)
        self.assert_refused(2, "cannot read nowhere: no such file", "--hostfile", "nowhere", "-n", "1", "true")
        self.assert_refused(2, "'-n' is not the name of a host", "--host", "-n", "1", "true")
        self.assert_refused(2, "'x' is not a whole number", "--host", "a:x", "-n", "1", "true")
        self.assert_refused(2, "how many ranks?", "--host", "a,b", "true")
        self.assert_refused(2, "not one of srun, prterun", "--host", "a,b", "--via", "ssh", "-n", "1", "true")
        self.assert_refused(1, "it is not there", "--host", "a,b", "--via", "/nowhere/srun", "-n", "1", "true")

    def test_files_of_hosts_that_are_none(self):
        with tempfile.TemporaryDirectory() as folder:
            for option in ("--hostfile", "-configfile"):
                self.assert_refused(2, "is a directory", option, folder, *(["-n", "1", "true"] if "host" in option else []))
                self.assert_refused(2, "is longer than 16 MiB", option, "/dev/zero",
                                    *(["-n", "1", "true"] if "host" in option else []))
            for text in ("", "\n \n# none\n"):
                path = os.path.join(folder, "hosts")
                with open(path, "w") as file:
                    file.write(text)
                self.assert_refused(2, "hosts names no host", "--hostfile", path, "-n", "1", "true")

    def test_names_that_no_host_has(self):
        for name in ("a b", "a;b", "$(x)", "a/b", "node[1-4]", ".a", "a\tb", "\u00e4", "x" * 300, "localhost\n"):
            self.assert_refused(2, "is not the name of a host", "--host", name, "-n", "1", "true")
        self.assert_refused(2, "'a?[31mb' is not the name of a host", "--host", "a\x1b[31mb", "-n", "1", "true")

    def test_names_that_no_variable_has(self):
        for name in ("A B=3", "A\tB=3", "=3", "A\nB=3", " A=3"):
            self.assert_refused(2, "is not the name of an environment variable", "-x", name, "-n", "1", "true")

    def test_missing_program(self):
        for words in ([], ["-n", "2"], ["true", ":"], ["true", ":", ":", "true"], [":", "true"]):
            self.assert_refused(2, "no program to run", *words)

    def test_programs_that_cannot_be_run(self):
        with tempfile.TemporaryDirectory() as folder:
            plain = os.path.join(folder, "plain")
            with open(plain, "w") as file:
                file.write("not a program")
            self.assert_refused(127, "no such file", "-n", "2", "./no_such_program")
            self.assert_refused(127, "no such program in PATH", "-n", "2", "no_such_program")
            self.assert_refused(126, "it is a directory", "-n", "2", folder)
            self.assert_refused(126, "not executable", "-n", "2", plain)
            self.assert_refused(127, "no such file", "true", ":", "./no_such_program")
            self.assert_refused(1, "no such file", "-wdir", folder + "/none", "true")
            os.chmod(plain, stat.S_IRWXU)
            os.rename(plain, os.path.join(folder, "tool"))
            self.assert_refused(127, "did you mean ./tool?", "tool", cwd=folder)

    def test_a_broken_binary_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "broken")
            with open(path, "wb") as file:
                file.write(b"\x7fELF" + bytes(100))
            os.chmod(path, stat.S_IRWXU)
            code, _, err = self.run_job("-n", "3", path)
            self.assertEqual(code, 126)
            self.assertRegex(err, r"mpiexec: cannot start rank \d: '.*broken': exec format error")

    def test_scripts_run_with_and_without_a_first_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "script")
            for start in ("", "#!/bin/sh\n"):
                with open(path, "w") as file:
                    file.write(start + 'echo "$1-$2"\n')
                os.chmod(path, stat.S_IRWXU)
                self.assertEqual(self.run_job("-n", 1, path, "a b", "c")[:2], (0, "a b-c\n"))


class ConfigFile(LaunchTest):
    def write(self, text):
        file = tempfile.NamedTemporaryFile("w", suffix=".config")
        self.addCleanup(file.close)
        file.write(text)
        file.flush()
        return file.name

    def test_a_line_for_each_program(self):
        name = self.write("# two programs\n\n-n 2 sh -c 'echo a b $PMI_RANK' # the first\n"
                          "-n 1 echo \"it's \" x\\ #y : -n 1 echo after a colon :\n-n 1 echo last\n")
        for words in (["-configfile", name], [f"--configfile={name}"], ["-genv", "A", "1", "-configfile", name]):
            code, out, err = self.run_job(*words)
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(sorted(out.splitlines()), ["a b 0", "a b 1", "after a colon", "it's  x #y", "last"])

    def test_an_option_of_that_name_of_a_program_is_left_alone(self):
        self.assertEqual(self.run_job("-n", 1, "echo", "-configfile", "x"), (0, "-configfile x\n", ""))

    def test_what_is_wrong_with_it(self):
        self.assert_refused(2, "no such file", "-configfile", "/nowhere")
        self.assert_refused(2, "it names no program", "-configfile", self.write("# nothing\n"))
        self.assert_refused(2, "line 2: a quote has no end", "-configfile", self.write("echo\n'x\n"))
        self.assert_refused(2, "follows -configfile", "-configfile", self.write("true\n"), "-n", 2, "true")
        self.assert_refused(2, "needs FILE", "-configfile")
        self.assert_refused(2, "before the first program", "-configfile", self.write("-configfile x\n"))


class Warnings(LaunchTest):
    def warned(self, *words, **options):
        code, out, err = self.run_job(*words, **options)
        self.assertEqual((code, out), (0, ""), err)
        return err

    def test_variables_that_nobody_reads(self):
        own = dict(os.environ, HEDDLE_EAGER_LIMTI="1", HEDDLE_STRANGE_THING="1", HEDDLE_EAGER_LIMIT="8")
        self.assertEqual(self.warned("-n", 2, "true", env=own),
                         "mpiexec: HEDDLE_EAGER_LIMTI is no variable of Heddle; did you mean HEDDLE_EAGER_LIMIT?\n"
                         "mpiexec: HEDDLE_STRANGE_THING is no variable of Heddle; heddle info --knobs lists those that "
                         "are\n")
        self.assertEqual(self.warned("-q", "-n", 2, "true", env=own), "")
        self.assertIn("HEDDLE_COUNTERS?", self.warned("-x", "HEDDLE_COUNTER=1", "-n", 2, "true"))

    def test_cores_that_are_not_there(self):
        self.assertRegex(self.warned("-n", 1, "--map-by", f"slot:PE={cores() + 1}", "true"),
                         rf"^mpiexec: PE={cores() + 1}: a rank gets {cores()} cores, since there are no more\n$")
        self.assertRegex(self.warned("-n", cores() + 1, "--map-by", "slot:PE=1", "true"),
                         r"^mpiexec: PE=1: .* ranks share them\n$")
        self.assertEqual(self.warned("-n", 1, "--map-by", f"slot:PE={cores()}", "true"), "")
        self.assertEqual(self.warned("-n", 9, "--bind-to", "none", "--map-by", "slot:PE=99", "true"), "")

    def test_a_program_of_another_library(self):
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, "libmpi.so.40")
            with open("/proc/self/maps") as maps:
                shutil.copy(next(line.split()[-1] for line in maps if "/libc.so.6" in line), library)
            # The library that is loaded later lies at lower addresses. Ranks of MPICH find each other by PMI-1.
            mpich = shutil.copy(library, os.path.join(folder, "libmpi.so.12"))
            wait = f"import ctypes, sys; ctypes.CDLL({library!r}); ctypes.CDLL({mpich!r}); sys.stdin.read()"
            job = self.start("-n", 2, sys.executable, "-c", wait, stdin=subprocess.PIPE)
            said = job.process.stderr.readline().decode()
            self.assertRegex(said, r"^mpiexec: rank [01] \(.*\) has loaded .*/libmpi.so.40, the library of another MPI")
            self.assertEqual(job.end(b""), (0, "", ""))


if __name__ == "__main__":
    main()
