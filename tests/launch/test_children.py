# SPDX-License-Identifier: BSD-3-Clause
"""Children that a process starts: a program that is alone, or a rank of an mpiexec."""

import contextlib
import os
import random
import resource
import signal
import stat
import tempfile
import time

from harness import DOUBLE, MPIEXEC, LaunchTest, become_user, cores, main, marked, need_users, our_files, read_proc, wait_until

SPAWNER = os.environ["SPAWNER"]
MPI = ("board:initialized", "board:finalized")  # what a program with MPI does
WITH_MPI = f'exec "{DOUBLE}" board:initialized board:finalized'  # for shells


def reports(out, kind=None):
    """Returns the reports that the parent has heard, as dictionaries."""
    found = []
    for line in out.splitlines():
        if "hears " not in line:
            continue
        words, _, reason = line.partition("hears ")[2].partition(" reason=")
        report = {"kind": words.split()[0], "reason": reason}
        report.update((name, int(value)) for name, value in (word.split("=") for word in words.split()[1:]))
        found.append(report)
    return [report for report in found if kind in (None, report["kind"])]


class ChildrenTest(LaunchTest):
    def alone(self, *arguments, **options):
        return self.start(*arguments, program=SPAWNER, **options)

    def run_alone(self, *arguments, **options):
        """Runs a parent that no launcher has started; returns its output. It and its children print no errors."""
        job = self.alone(*arguments, **options)
        code, out, err = job.end()
        self.assertEqual((code, err), (0, ""), out)
        job.assert_nothing_left()
        return out

    def run_in_job(self, *arguments, ranks=1, options=(), **others):
        code, out, err = self.run_job(*options, "-n", ranks, SPAWNER, *arguments, **others)
        self.assertEqual((code, err), (0, ""), out)
        return out

    def run_both(self, *arguments, **options):
        return [self.run_alone(*arguments, **options), self.run_in_job(*arguments, **options)]

    def await_line(self, job, text):
        """Reads standard output until a line with `text` has come; returns the lines until then."""
        lines = []
        while not lines or text not in lines[-1]:
            line = job.process.stdout.readline().decode()
            self.assertTrue(line, f"the end came before {text!r}: {lines}")
            lines.append(line.rstrip("\n"))
        return lines

    def keepers_of_children(self, job):
        return [pid for pid in marked(job.mark) if read_proc(pid, "comm").strip() == b"heddle-children"]

    def doubles(self, job):
        return [pid for pid in marked(job.mark) if read_proc(pid, "comm").strip() == b"rank_double"]


class Start(ChildrenTest):
    def test_children_are_a_job_of_their_own(self):
        show = f'echo "of $PMI_APPNUM: $PMI_RANK of $PMI_SIZE, $HEDDLE_PARENT, $1"; {WITH_MPI}'
        for out in self.run_both(2, "sh", "-c", show, "sh", "a", "THEN", 1, "sh", "-c", show, "sh", "b"):
            for line in ("of 0: 0 of 3, the port of the parent, a", "of 0: 1 of 3, the port of the parent, a",
                         "of 1: 2 of 3, the port of the parent, b"):
                self.assertEqual(out.splitlines().count(line), 1, out)
            self.assertEqual([report["kind"] for report in reports(out)], ["started", "ended"])
            self.assertEqual(reports(out)[-1]["code"], 0)

    def test_ranks_start_children_each(self):
        out = self.run_in_job(2, DOUBLE, "say:hello", *MPI, ranks=3)
        self.assertEqual(out.splitlines().count("hello"), 6)
        self.assertEqual(len(reports(out, "started")), 3)

    def test_children_start_children(self):
        out = self.run_in_job(1, "sh", "-c", f'"{SPAWNER}" 2 "{DOUBLE}" say:hello {" ".join(MPI)}; {WITH_MPI}')
        self.assertEqual(out.splitlines().count("hello"), 2)
        self.assertEqual(len(reports(out, "started")), 2)

    def test_programs_see_no_further_child_of_theirs(self):
        out = self.run_alone("-handler", "-times", 5, 2, DOUBLE, *MPI)
        self.assertIn("\nchildren seen 0\n", out)

    def test_words_of_any_kind_arrive(self):
        with tempfile.NamedTemporaryFile() as file:
            show = f'file=$1; shift; printf "<%s>" "$@" > "$file"; {WITH_MPI}'
            words = ("two\nlines", "", ":", "-n", "a b", "$HOME", "é", "\n")
            self.run_alone(1, "sh", "-c", show, "sh", file.name, *words)
            with open(file.name) as written:
                self.assertEqual(written.read(), "".join(f"<{word}>" for word in words))

    def test_ten_thousand_words_arrive(self):
        for out in self.run_both("-words", 10000, 2, "sh", "-c", f'echo "$# words, last ${{10000}}"; {WITH_MPI}', "sh"):
            self.assertEqual(out.count("10000 words, last word9999\n"), 2, out)

    def test_environment_is_that_of_the_parent(self):
        environment = dict(os.environ, **{"an odd name": "1", "a.b": "two\nlines", "empty": "", "HEDDLE_ADVICE": "off",
                                          "SLURM_PROCID": "7", "SLURM_STEP_ID": "3", "PMI_RANK": "9", "PMIX_RANK": "9"})
        out = self.run_alone("-info", "env", "ADDED=a=b\nSECOND=x y", 1, "cat", "/proc/self/environ", env=environment)
        # A line of the parent may come between two lines of a value.
        out = "".join(line for line in out.splitlines(True) if "hears " not in line or "\0" in line)
        entries = out[:out.rindex("\0")].split("\0")
        for entry in ("an odd name=1", "a.b=two\nlines", "empty=", "HEDDLE_ADVICE=off", "ADDED=a=b", "SECOND=x y", "PMI_RANK=0"):
            self.assertEqual(sum(one.endswith(entry) for one in entries), 1, entry)
        self.assertFalse([one for one in entries if one.startswith(("SLURM_", "PMIX_"))])

    def test_input_is_nothing_and_no_descriptor_is_handed_down(self):
        show = f'readlink /proc/self/fd/0; echo descriptors of the child: $(ls /proc/$$/fd); {WITH_MPI}'
        read, write = os.pipe()
        os.set_inheritable(write, True)
        try:
            out = self.run_alone(1, "sh", "-c", show, pass_fds=[write])
        finally:
            os.close(read)
            os.close(write)
        self.assertIn("/dev/null\n", out)
        # Descriptors: standard streams, two that name the job, the view of what is printed, and the shell's own pipe.
        numbers = out.partition("descriptors of the child:")[2].splitlines()[0].split()
        self.assertNotIn(str(write), numbers)
        self.assertLessEqual(len(numbers), 7, numbers)

    def test_threads_start_children_at_once(self):
        for out in self.run_both("-threads", 6, "-times", 3, 2, DOUBLE, "say:hello", *MPI):
            self.assertEqual(out.splitlines().count("hello"), 36)
            self.assertEqual(len(reports(out, "ended")), 18)

    def test_a_hundred_starts_leave_nothing(self):
        files = our_files()
        for out in self.run_both("-times", 50, 2, DOUBLE, *MPI):
            self.assertEqual(len(reports(out, "started")), 50)
            before, after = out.splitlines()[-1].split()[1].split(":")
            self.assertEqual(before, after)
        self.assertEqual(our_files() - files, set())

    def test_universe_is_that_of_the_outer_job(self):
        show = f'echo "universe $PMI_UNIVERSE_SIZE"; {WITH_MPI}'
        out = self.run_in_job(1, "sh", "-c", show, options=("-usize", 17))
        self.assertIn("universe 17\n", out)
        self.assertIn(f"universe {max(cores(), 3)}\n", self.run_alone(3, "sh", "-c", show))

    def test_cores_are_those_of_the_outer_job(self):
        if cores() < 2:
            self.skipTest("there is one core")
        out = self.run_in_job(1, DOUBLE, "cpus", *MPI, ranks=2, options=("--bind-to", "core"))
        _, all_of_them, _ = self.run_job("--bind-to", "none", "-n", 1, DOUBLE, "cpus")
        self.assertEqual(out.count(all_of_them), 2, out)


class Info(ChildrenTest):
    def test_number_is_of_a_set(self):
        for most, chosen in ((7, 6), (8, 8), (100, 8)):
            out = self.run_alone("-info", "soft", "1, 2:8:2", most, DOUBLE, "say:hello", *MPI)
            self.assertEqual(out.splitlines().count("hello"), chosen)
        self.assertIn("refused: info key soft: the set '9:12' has no number from 0 to 8",
                      self.run_alone("-info", "soft", "9:12", 8, DOUBLE, *MPI))
        self.assertIn("refused: info key soft: '1:x' is not a triplet",
                      self.run_alone("-info", "soft", "1:x", 8, DOUBLE, *MPI))

    def test_places(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "hidden_program")
            with open(program, "w") as file:
                file.write(f"#!/bin/sh\npwd\n{WITH_MPI}\n")
            os.chmod(program, 0o755)
            for info in (("path", folder), ("path", f"/nowhere:{folder}")):
                out = self.run_alone("-info", *info, "-info", "wdir", "/usr", 1, "hidden_program")
                self.assertIn("/usr\n", out)
            self.assertIn("not_started", self.run_alone("-info", "wdir", "/usr", 1, "hidden_program"))

    def test_file_has_further_keys(self):
        with tempfile.NamedTemporaryFile("w", suffix=" info") as file:
            file.write("# keys\nwdir = /usr\n\nenv = A=from the file\n")
            file.flush()
            show = f'echo "$PWD $A"; {WITH_MPI}'
            self.assertIn("/usr from the file\n", self.run_alone("-info", "file", file.name, 1, "sh", "-c", show))
            self.assertIn("/ from the file\n",
                          self.run_alone("-info", "wdir", "/", "-info", "file", file.name, 1, "sh", "-c", show))
        self.assertIn("refused: info key file: cannot read /nowhere", self.run_alone("-info", "file", "/nowhere", 1, "true"))

    def test_this_machine_can_be_named(self):
        for key in ("host", "add-host"):
            out = self.run_alone("-info", key, "localhost", 2, DOUBLE, "say:hello", *MPI)
            self.assertEqual(out.splitlines().count("hello"), 2)

    def test_other_machines_are_reached_by_a_launcher(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("mpiexec.hydra", "prterun"):
                launcher = os.path.join(folder, name)
                with open(launcher, "w") as file:
                    file.write('#!/bin/sh\necho "$0" "$@"\necho "for $HEDDLE_PARENT"\nexit 3\n')
                os.chmod(launcher, 0o755)
                environment = dict(os.environ, PATH=folder)
                for prefix in ((), (MPIEXEC, "-n", 1)):  # the options of mpiexec concern this machine only
                    words = [str(word) for word in (*prefix, SPAWNER, "-info", "host", "elsewhere:2", 2, "./a.out", "x")]
                    job = self.start(*words[1:], program=words[0], env=environment)
                    code, out, err = job.end()
                    self.assertEqual(code, 0, err)
                    command = next(line for line in out.splitlines() if launcher in line)
                    self.assertIn("--inner -n 1 -stdin none ./a.out x", command)
                    self.assertNotIn("the port", command)
                    self.assertIn("for the port of the parent\n", out)
                    self.assertEqual(reports(out)[-1]["code"], 3)
                os.remove(launcher)

    def test_parents_are_those_of_ranks_only(self):
        out = self.run_alone(1, MPIEXEC, "-n", 1, "sh", "-c", 'echo "parent <$HEDDLE_PARENT>"')
        self.assertIn("parent <>\n", out)

    def test_binding(self):
        out = self.run_alone("-info", "bind_to", "core", 1, DOUBLE, "cpus", *MPI)
        _, bound, _ = self.run_job("--bind-to", "core", "-n", 1, DOUBLE, "cpus")
        self.assertIn(bound, out)

    def test_wrong_values_are_the_fault_of_their_command(self):
        for key, value, words in (("bind-to", "moon", "info key bind-to: 'moon' is not one of"),
                                  ("env", "nonsense", "info key env: 'nonsense' is not NAME=VALUE"),
                                  ("hostfile", "/nowhere", "info key hostfile: cannot read /nowhere")):
            report = reports(self.run_alone(1, DOUBLE, *MPI, "THEN", "-info", key, value, 1, DOUBLE, *MPI))[0]
            self.assertEqual((report["kind"], report["command"]), ("not_started", 1))
            self.assertIn(words, report["reason"])

    def test_keys_without_effect_are_named_once(self):
        job = self.alone("-times", 3, "-info", "arch", "any", "-info", "of somebody else", "x", 1, DOUBLE, *MPI)
        code, out, err = job.end()
        self.assertEqual((code, len(reports(out, "started"))), (0, 3))
        self.assertEqual(err, "mpiexec: MPI_Comm_spawn: info key arch has no effect\n")


class Faults(ChildrenTest):
    def assert_not_started(self, error, words, *arguments, **options):
        for out in self.run_both(*arguments, **options):
            report, last = reports(out)
            self.assertEqual((report["kind"], report["command"], report["error"]), ("not_started", 0, error), out)
            self.assertIn(words, report["reason"])
            self.assertEqual(last["kind"], "ended")

    def test_programs_that_are_not_there(self):
        self.assert_not_started(2, "cannot run 'no_such_program': there is no such program in PATH", 1, "no_such_program")
        self.assert_not_started(2, "cannot run '/no/such': no such file", 2, "/no/such")
        self.assert_not_started(2, "cannot run '': its name is empty", 1, "")

    def test_programs_that_may_not_be_run(self):
        self.assert_not_started(13, "cannot run '/etc/passwd': it is not executable", 1, "/etc/passwd")
        self.assert_not_started(13, "cannot run '/usr': it is a directory", 1, "/usr")

    def test_folders_that_are_not_there(self):
        self.assert_not_started(2, "/no/such: no such file", "-info", "wdir", "/no/such", 1, DOUBLE)

    def test_interpreters_that_are_not_there(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "program")
            with open(program, "w") as file:
                file.write("#!/no/such/interpreter\n")
            os.chmod(program, stat.S_IRWXU)
            self.assert_not_started(2, "(the interpreter it names does not exist)", 1, program)

    def test_each_command_at_fault_is_named(self):
        out = self.run_alone(1, DOUBLE, "say:hello", *MPI, "THEN", 1, "/etc/passwd", "THEN", 1, "no_such_program")
        self.assertEqual([report["command"] for report in reports(out, "not_started")], [1, 2])
        self.assertNotIn("hello", out)

    def test_children_that_end_without_mpi(self):
        for command, code, ended_by in ((("true",), 0, 0), (("sh", "-c", "exit 9"), 9, 0), (("sh", "-c", "kill -11 $$"), 0, 11)):
            for out in self.run_both(1, *command):
                report = reports(out, "ended_early")[0]
                self.assertEqual((report["rank"], report["code"], report["signal"]), (0, code, ended_by))
                self.assertIn("rank 0 (pid ", report["reason"])

    def test_a_child_that_ends_without_mpi_ends_the_others(self):
        for out in self.run_both(3, DOUBLE, "2@exit:5", "wait"):
            report, last = reports(out)[-2:]
            self.assertEqual((report["kind"], report["rank"], report["code"]), ("ended_early", 2, 5))
            self.assertEqual(last["kind"], "ended")

    def test_children_of_another_mpi(self):
        report = reports(self.run_alone(2, DOUBLE, "init", "wait"), "ended_early")[0]
        self.assertIn("was linked with another MPI", report["reason"])

    def test_children_that_fail_later(self):
        code, out, err = self.run_job("-n", 1, SPAWNER, 2, DOUBLE, "board:initialized", "1@exit:6", "wait")
        self.assertEqual((code, reports(out)[-1]["kind"], reports(out)[-1]["code"]), (0, "ended", 6))
        self.assertIn("ended with exit code 6", reports(out)[-1]["reason"])
        self.assertRegex(err, r"mpiexec: rank 1 \(pid \d+, .*, a child of process \d+\) ended with exit code 6; the job is ended\n")

    def test_too_many(self):
        out = self.run_alone(4_000_000, DOUBLE, *MPI)
        report = reports(out, "not_started")[0]
        self.assertIn("cannot start 4000000 ranks", report["reason"])

    def test_mpiexec_that_is_not_there_or_another(self):
        gone = dict(os.environ, HEDDLE_MPIEXEC="/no/such/mpiexec")
        self.assertIn("refused: cannot run /no/such/mpiexec: No such file", self.run_alone(1, DOUBLE, *MPI, env=gone))
        other = dict(os.environ, HEDDLE_MPIEXEC="/bin/true")
        self.assertIn("mpiexec, which has started the processes, was ended", self.run_alone(1, DOUBLE, *MPI, env=other))
        self.assert_refused(2, "--children is for MPI_Comm_spawn", "--children")

    def test_no_descriptors(self):
        def few():
            used = len(os.listdir("/proc/self/fd"))
            resource.setrlimit(resource.RLIMIT_NOFILE, (used + 1, used + 1))
        out = self.run_alone(1, DOUBLE, *MPI, preexec_fn=few)
        self.assertRegex(out, r"refused: .*: Too many open files")

    def test_no_processes(self):
        need_users(self, MPIEXEC, SPAWNER)

        def limit(most):
            return become_user(70_000 + os.getpid() * 8 % 800_000 + most, most)
        for most in (1, 2):  # too few for the process in between, and for mpiexec
            out = self.run_alone(3, DOUBLE, *MPI, preexec_fn=limit(most))
            self.assertIn("refused: no further process can be started: Resource temporarily unavailable (limits", out)
        report = reports(self.run_alone(3, DOUBLE, "board:initialized", "wait", preexec_fn=limit(5)))[0]
        self.assertEqual((report["kind"], report["error"]), ("not_started", 11))
        self.assertRegex(report["reason"], "cannot start rank [12] of 3: fork")


class End(ChildrenTest):
    def test_with_their_object(self):
        job = self.alone("-destroy", 2, DOUBLE, "board:initialized", "wait")
        self.await_line(job, "descriptors")
        wait_until(lambda: marked(job.mark) == [job.pid], "the children to end")
        job.signal(signal.SIGTERM)
        job.end()

    def test_with_their_parent(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            job = self.alone("-stay", 2, DOUBLE, "ignore:15", "board:initialized", "wait")
            self.await_line(job, "started")
            job.signal(number)
            job.end()
            job.assert_nothing_left()

    def test_with_their_parent_whose_forked_child_lives(self):
        job = self.alone("-forked", 1, DOUBLE, "board:initialized", "wait")
        self.await_line(job, "started")
        os.kill(job.pid, signal.SIGKILL)
        wait_until(lambda: len(marked(job.mark)) == 1, "the child and its keeper to end")
        self.assertEqual(self.doubles(job), [])
        os.kill(marked(job.mark)[0], signal.SIGKILL)
        job.end()

    def test_with_a_parent_that_is_killed_while_they_start(self):
        for step in range(20):
            job = self.alone("-stay", 3, DOUBLE, "board:initialized", "daemon", "wait")
            time.sleep(step * 0.001)  # any moment will do
            os.kill(job.pid, signal.SIGKILL)
            job.end()
            job.assert_nothing_left()

    def test_with_any_process_that_is_killed(self):
        for seed in range(30):
            chance = random.Random(seed)
            words = ["-stay", 2, DOUBLE, "daemon", "board:initialized", "wait"]
            job = self.start("-n", 2, SPAWNER, *words) if seed % 2 else self.alone(*words)
            time.sleep(chance.random() * 0.03)  # any moment will do
            for victim in chance.sample(marked(job.mark), 1):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
            job.signal(signal.SIGTERM)
            job.end()
            job.assert_nothing_left()

    def test_with_their_keeper(self):
        job = self.alone(2, DOUBLE, "stubborn-daemon", "board:initialized", "say:ready", "wait")
        for _ in range(2):
            self.await_line(job, "ready")
        os.kill(self.keepers_of_children(job)[0], signal.SIGKILL)
        _, out, _ = job.end()
        self.assertIn("was ended", reports(out)[-1]["reason"])
        job.assert_nothing_left()

    def test_with_the_watcher_of_their_keeper(self):
        job = self.alone(2, DOUBLE, "stubborn-daemon", "board:initialized", "say:ready", "wait")
        for _ in range(2):
            self.await_line(job, "ready")
        os.kill(job.watcher(), signal.SIGKILL)
        job.end()
        job.assert_nothing_left()

    def test_with_the_outer_job(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            job = self.start("-n", 2, SPAWNER, 2, DOUBLE, "daemon", f"until:{number}", "wait")
            lines = self.await_line(job, "started") + self.await_line(job, "started")
            if not any("ready" in line for line in lines):  # children may be faster than their parents
                self.await_line(job, "ready")
            job.signal(number)
            self.assertEqual(job.end()[0], 128 + number)
            self.assertEqual(marked(job.mark), [])

    def test_with_the_time_limit_of_the_outer_job(self):
        code, _, err = self.run_job("--timeout", 1.5, "-n", 1, SPAWNER, "-stay", 1, DOUBLE, "ignore:15", "wait")
        self.assertEqual(code, 124)
        self.assertIn("--timeout", err)

    def test_with_processes_of_the_outer_job_that_are_killed(self):
        for victim in (lambda job: job.pid, lambda job: job.keeper(), lambda job: self.keepers_of_children(job)[0]):
            job = self.start("-n", 1, SPAWNER, 2, DOUBLE, "ignore:15", "stubborn-daemon", "board:initialized", "wait")
            self.await_line(job, "started")
            os.kill(victim(job), signal.SIGKILL)
            job.end()
            self.assertEqual(self.doubles(job), [])
            job.assert_nothing_left()


class Released(ChildrenTest):
    def test_outlive_a_parent_that_is_alone(self):
        for option in ("-release", *10 * ("-release-at-once",)):  # the last words must not be lost
            job = self.alone(option, 1, DOUBLE, "board:initialized", f"until:{int(signal.SIGUSR1)}", "say:bye", "board:finalized")
            lines = self.await_line(job, "ready")
            wait_until(lambda job=job: job.process.poll() is not None, "the parent to end")
            os.kill(self.keepers_of_children(job)[0], signal.SIGUSR1)
            lines += self.await_line(job, "bye")
            job.end()
            job.assert_nothing_left()

    def test_are_waited_for_by_the_outer_job(self):
        job = self.start("-n", 1, SPAWNER, "-release", 1, DOUBLE, "board:initialized", f"until:{int(signal.SIGUSR1)}", "say:bye",
                         "board:finalized")
        self.await_line(job, "ready")
        wait_until(lambda: not [p for p in marked(job.mark) if b"launch_spawner" in read_proc(p, "comm")], "the parent to end")
        self.assertIsNone(job.process.poll())
        job.signal(signal.SIGUSR1)
        code, out, err = job.end()
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(out.endswith("bye\n"), out)
        self.assertEqual(marked(job.mark), [])

    def test_end_with_the_outer_job(self):
        job = self.start("-n", 1, SPAWNER, "-release", 2, DOUBLE, "ignore:15", "stubborn-daemon", "board:initialized", "say:ready", "wait")
        for _ in range(2):
            self.await_line(job, "ready")
        job.signal(signal.SIGTERM)
        self.assertEqual(job.end()[0], 143)
        self.assertEqual(marked(job.mark), [])

    def test_are_waited_for_and_other_leftovers_are_not(self):
        job = self.start("-n", 1, "sh", "-c", 'sleep 1000 & exec "$0" "$@"', SPAWNER, "-release", 1, DOUBLE, "board:initialized",
                         f"until:{int(signal.SIGUSR1)}", "board:finalized")
        self.await_line(job, "ready")
        wait_until(lambda: not [p for p in marked(job.mark) if b"sleep" in read_proc(p, "comm")], "what was left to end")
        self.assertEqual(len(self.doubles(job)), 1)
        job.signal(signal.SIGUSR1)
        self.assertEqual(job.end()[0], 0)


class Output(ChildrenTest):
    def test_lines_name_parent_and_child(self):
        out = self.run_in_job(2, DOUBLE, "say:hello", *MPI, ranks=2, options=("-l",))
        for parent in range(2):
            for child in range(2):
                self.assertEqual(out.splitlines().count(f"[{parent}] [{child}] hello"), 1, out)

    def test_lines_are_whole(self):
        words = [word for i in range(200) for word in ("print:first half, ", f"say:second half {i}")]
        out = self.run_in_job(4, DOUBLE, *words, *MPI)
        for i in range(200):
            self.assertEqual(out.splitlines().count(f"first half, second half {i}"), 4)

    def test_keepers_say_nothing_where_they_are_told_to(self):
        code, _, err = self.run_job("-q", "-n", 1, SPAWNER, 1, DOUBLE, "board:initialized", "exit:6")
        self.assertEqual((code, err), (0, ""))


if __name__ == "__main__":
    main()
