# SPDX-License-Identifier: BSD-3-Clause
"""Output of ranks to files and pipes: whole lines, nothing added, nothing lost, whichever process is killed."""

import os
import pty
import resource
import select
import signal
import subprocess
import sys
import tempfile

from harness import DOUBLE, MPIEXEC, LaunchTest, main, marked, state_of, wait_until

PIECES = """
import os, sys
rank = os.environ["PMI_RANK"]
for i in range(400):
    for piece in (rank, "-", str(i), "-", "x" * (i % 50 * 100), "\\n"):
        os.write(1, piece.encode())
"""


class WholeLines(LaunchTest):
    def assert_whole(self, text, ranks):
        wanted = {f"{rank}-{i}-{'x' * (i % 50 * 100)}" for rank in range(ranks) for i in range(400)}
        lines = text.splitlines()
        self.assertEqual((len(lines), set(lines)), (len(wanted), wanted))
        for rank in range(ranks):
            mine = [int(line.split("-")[1]) for line in lines if line.startswith(f"{rank}-")]
            self.assertEqual(mine, sorted(mine))

    def test_in_a_pipe(self):
        code, out, err = self.run_job("-n", 3, sys.executable, "-c", PIECES)
        self.assertEqual((code, err), (0, ""))
        self.assert_whole(out, 3)

    def test_in_a_file(self):
        with tempfile.TemporaryFile() as file:
            self.assertEqual(subprocess.run([MPIEXEC, "-n", "3", sys.executable, "-c", PIECES], stdout=file,
                                            check=False).returncode, 0)
            file.seek(0)
            self.assert_whole(file.read().decode(), 3)

    def test_a_prompt_comes_without_its_end(self):
        job = self.start("-n", 1, DOUBLE, "print:name? ", "echo", stdin=subprocess.PIPE)
        self.assertEqual(job.process.stdout.read(6), b"name? ")
        self.assertEqual(job.end(b"me\n"), (0, "me\n", ""))

    def test_a_rank_that_is_kept_from_running_ends_its_line(self):
        job = self.start("-n", 1, DOUBLE, "print:half ", f"raise:{int(signal.SIGSTOP)}", "say:and half")
        wait_until(lambda: [pid for pid in marked(job.mark) if state_of(pid) == "T"], "the rank to stop")
        rank = next(pid for pid in marked(job.mark) if state_of(pid) == "T")
        # This is longer than a piece waits for its end, so that a wrong one is seen. A right one never comes.
        self.assertEqual(select.select([job.process.stdout], [], [], 0.5)[0], [])
        os.kill(rank, signal.SIGCONT)
        self.assertEqual(job.end(), (0, "half and half\n", ""))

    def test_a_piece_comes_while_its_rank_computes(self):
        job = self.start("-n", 1, sys.executable, "-c", "import os\nos.write(1, b'computing ')\nwhile True: pass")
        self.assertEqual(job.process.stdout.read(10), b"computing ")
        job.signal(signal.SIGTERM)
        job.end()

    def test_binary_output_is_left_alone(self):
        data = bytes(range(256)) * 3000 + b"no end"
        with tempfile.NamedTemporaryFile() as file:
            file.write(data)
            file.flush()
            result = subprocess.run([MPIEXEC, "-n", "1", "cat", file.name], capture_output=True, check=False)
            self.assertEqual((result.returncode, result.stdout == data), (0, True))

    def test_both_streams_in_one_file_keep_their_order(self):
        words = [word for i in range(50) for word in (f"say:out {i}", f"error:err {i}")]
        with tempfile.TemporaryFile() as file:
            subprocess.run([MPIEXEC, "-n", "1", DOUBLE, *words], stdout=file, stderr=file, check=True)
            file.seek(0)
            self.assertEqual(file.read().decode().splitlines(), [word.split(":")[1] for word in words])

    def test_last_words_come_before_the_verdict(self):
        with tempfile.TemporaryFile() as file:
            subprocess.run([MPIEXEC, "-n", "1", DOUBLE, "say:first", "error:last words", "exit:3"], stdout=file,
                           stderr=file, check=False)
            file.seek(0)
            lines = file.read().decode().splitlines()
            self.assertEqual(lines[:2], ["first", "last words"])
            self.assertRegex(lines[2], "^mpiexec: rank 0 .* exit code 3")

    def test_a_terminal_stays_one(self):
        leader, follower = pty.openpty()
        asks = ["sh", "-c", "test -t 1 && test -t 2"]
        for words in (["-n", "2"], ["-n", "2", "--raw-output"]):
            code = subprocess.run([MPIEXEC, *words, *asks], stdout=follower, stderr=follower, check=False).returncode
            self.assertEqual(code, 0)
        os.close(leader)
        os.close(follower)

    def test_raw_output_is_the_launchers_own(self):
        with tempfile.NamedTemporaryFile() as file:
            code = subprocess.run([MPIEXEC, "--raw-output", "-n", "1", "sh", "-c",
                                   f"test /proc/self/fd/1 -ef {file.name}"], stdout=file, check=False).returncode
            self.assertEqual(code, 0)

    def test_variables_of_the_user_stay(self):
        code, out, _ = self.run_job("-n", 1, "-x", "PYTHONUNBUFFERED=", "env")
        self.assertIn("PYTHONUNBUFFERED=\n", out)
        self.assertIn("HEDDLE_LINE_BUFFERING=on\n", out)


class NothingLost(LaunchTest):
    def test_when_a_rank_is_killed(self):
        code, out, _ = self.run_job("-n", 1, DOUBLE, "say:line", "print:piece", f"raise:{int(signal.SIGKILL)}")
        self.assertEqual((code, out), (137, "line\npiece"))

    def test_while_it_hangs(self):
        job = self.start("-n", 2, DOUBLE, "say:line", "wait")
        self.assertEqual(job.lines(2), ["line"] * 2)
        job.signal(signal.SIGTERM)
        job.end()

    def test_python_prints_before_it_hangs(self):
        job = self.start("-n", 1, sys.executable, "-c", "print('here', 1)\nwhile True: pass")
        self.assertEqual(job.lines(1), ["here 1"])
        job.signal(signal.SIGKILL)
        job.end()

    def test_when_mpiexec_is_killed(self):
        with tempfile.NamedTemporaryFile() as file:
            job = self.start("-n", 1, "sh", "-c", f"i=0; while [ $i -lt 200 ]; do echo $i; i=$((i+1)); done; "
                             f"echo done >{file.name}; exec {DOUBLE} wait")
            wait_until(lambda: os.path.getsize(file.name), "the rank to have written")
            job.signal(signal.SIGKILL)
            _, out, _ = job.end()
            self.assertEqual(out.splitlines(), [str(i) for i in range(200)])

    def test_a_full_disk_is_said_to_be_full(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([MPIEXEC, "-l", "-n", "2", DOUBLE, "say:lost", "error:seen"], stdout=full,
                                    stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("mpiexec: cannot write standard output: no space left on device; what ranks write there is "
                      "lost\n", result.stderr)
        self.assertNotIn("rank 0", result.stderr)
        self.assertEqual(result.stderr.count("seen"), 2)

    def test_descriptors_that_do_not_suffice_for_pipes(self):
        limit = (200, 200)
        code, out, err = self.run_job("-n", 80, DOUBLE, "say:here",
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit))
        self.assertEqual((code, err, out), (0, "", "here\n" * 80))


if __name__ == "__main__":
    main()
