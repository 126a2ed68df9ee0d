# SPDX-License-Identifier: BSD-3-Clause
"""Timelines of jobs: MPIEXEC runs TIMELINE with --trace and --advice; HEDDLE trace and HEDDLE top look at it.

    test_timeline.py perfetto PLACE   tests the files by Perfetto's own description of them, which pip fetches to PLACE
    test_timeline.py GROUP            runs another group of tests below

The exit code is 77 if the description cannot be had.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter, defaultdict
from pathlib import Path

MPIEXEC, HEDDLE, TIMELINE = (os.environ[name] for name in ("MPIEXEC", "HEDDLE", "TIMELINE"))
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
WATCHDOG = 100


class Job(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.trace = self.folder / "out.pftrace"

    def run_job(self, *arguments, code=0, ranks=2, options=("--trace", None)):
        options = [self.trace if option is None else option for option in options]
        done = subprocess.run([MPIEXEC, *map(str, options), "-n", str(ranks), TIMELINE, *map(str, arguments)],
                              capture_output=True, text=True, timeout=WATCHDOG)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr

    def start_job(self, *arguments):
        job = subprocess.Popen([MPIEXEC, "--trace", self.trace, "-n", "2", TIMELINE, *arguments], text=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(self.kill, job)
        return job

    def kill(self, job):
        """Kills mpiexec and waits for the whole job: each process of it has its stderr, and who ends it writes files."""
        if job.stderr.closed:
            return
        job.kill()
        job.communicate(timeout=WATCHDOG)

    def heddle(self, *arguments, code=0):
        done = subprocess.run([HEDDLE, *map(str, arguments)], capture_output=True, text=True, timeout=WATCHDOG)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def summary(self):
        return json.loads(self.heddle("trace", "--json", self.trace))


class Summary(Job):
    def test_late_rank_is_named(self):
        self.run_job("late", ranks=3)
        summary = self.summary()
        self.assertEqual(summary["late"][0]["rank"], 1)
        self.assertGreaterEqual(summary["late"][0]["times"], 20)
        self.assertGreaterEqual(summary["late"][0]["waited_ns"], 200_000_000)
        self.assertEqual(summary["messages"], 30)
        self.assertEqual(summary["critical_path"][0]["rank"], 1)
        self.assertEqual([rank["rank"] for rank in summary["ranks"]], [0, 1, 2])
        waits = [wait for wait in summary["longest_waits"] if wait["call"] == "MPI_Allreduce"]
        self.assertTrue(waits)
        self.assertRegex(waits[0]["location"], r"timeline\.c:\d+")
        advice = summary["advice"][0]
        self.assertEqual((advice["ranks"], advice["call"], advice["waits_for"]), ([0, 2], "MPI_Allreduce", 1))
        self.assertGreaterEqual(advice["late_ns"], 15_000_000)

    def test_ten_lines_at_most(self):
        self.run_job("late", ranks=3)
        lines = self.heddle("trace", self.trace).splitlines()
        self.assertLessEqual(len(lines), 10)
        self.assertRegex(lines[0], r"^3 ranks with 3 threads on 1 host: .* 30 messages, 120 bytes")
        text = "\n".join(lines)
        self.assertRegex(text, r"time in MPI: ranks? \d")
        self.assertRegex(text, r"critical path: \d+ % on rank 1")
        self.assertRegex(text, r"late: rank 1 was waited for \d+ times, .* most in MPI_Allreduce \(timeline\.c:\d+\)")
        self.assertRegex(text, r"longest waits: rank [02] waits [\d.]+ ms in MPI_Allreduce")

    def test_events_of_a_killed_rank_are_there(self):
        self.run_job("killed", code=128 + signal.SIGKILL)
        summary = self.summary()
        self.assertEqual([rank["rank"] for rank in summary["ranks"]], [0, 1])
        self.assertFalse((self.folder / "out.pftrace.parts").exists())

    def test_hang_shows_who_is_waited_for(self):
        self.run_job("hang", code=124, options=("--trace", None, "--timeout", "2"))
        waits = [wait for wait in self.summary()["longest_waits"] if not wait["over"]]
        self.assertEqual([(wait["rank"], wait["call"], wait["waits_for"]) for wait in waits], [(0, "MPI_Recv", 1)])
        self.assertIn("and has not come back", self.heddle("trace", self.trace))

    def test_newest_events_are_kept(self):
        self.run_job("many")
        summary = self.summary()
        self.assertGreater(summary["overwritten"], 0)
        self.assertGreater(summary["messages"], 20_000)

    def test_no_trace_is_an_error(self):
        (self.folder / "other").write_text("this is something else")
        self.assertRegex(self.heddle("trace", self.folder / "other", code=1), "heddle trace: .*other: it is ")
        self.assertRegex(self.heddle("trace", self.folder / "absent", code=1), "it cannot be read")

    def test_unwritable_file_is_an_error(self):
        said = self.run_job("late", code=1, options=("--trace", "/proc/none/out.pftrace"))
        self.assertIn("--trace /proc/none/out.pftrace.parts", said)

    def test_no_other_rank_traces_nothing(self):
        self.run_job("late", options=())
        self.assertFalse(list(self.folder.iterdir()))


class Advice(Job):
    def test_late_rank_is_named(self):
        said = self.run_job("late", ranks=3, options=("--advice",))
        self.assertRegex(said, r"ranks 0, 2 waited \d+ % of their time in MPI_Allreduce \(timeline\.c:\d+\) for rank 1, "
                               r"which came [\d.]+ ms late on average: give rank 1 less to do before it, or do other work "
                               r"meanwhile \(MPI_Iallreduce\); that would save [\d.]+ m?s")

    def test_most_time_comes_first(self):
        said = self.run_job("late", ranks=3, options=("--advice",))
        shares = [int(share) for share in re.findall(r"waited (\d+) % of", said)]
        self.assertTrue(shares)
        self.assertGreaterEqual(min(shares), 1)
        self.assertIn("MPI_Allreduce", said[said.index("advice to the job"):].splitlines()[1])


class Live(Job):
    def wait_until(self, condition):
        end = time.monotonic() + WATCHDOG
        while time.monotonic() < end:
            if (found := condition()):
                return found
            time.sleep(0.05)
        self.fail("it did not come to that")

    def rows(self, job):
        done = subprocess.run([HEDDLE, "top", str(job.pid), "--once", "--json", "--seconds", "0.3"],
                              capture_output=True, text=True, timeout=WATCHDOG)
        if done.returncode != 0:
            return []
        return json.loads(done.stdout)[0]["threads"]

    def test_top_shows_who_waits_for_whom(self):
        job = self.start_job("hang")
        waits = self.wait_until(lambda: [row for row in self.rows(job) if row["waits_for"] is not None])
        self.assertEqual([(row["rank"], row["call"], row["waits_for"]) for row in waits], [(0, "MPI_Recv", 1)])
        row = self.wait_until(lambda: [row for row in self.rows(job) if row["rank"] == 0 and (row["in_mpi"] or 0) > 0.9])
        self.assertGreater(row[0]["memory"], 1 << 20)
        table = self.heddle("top", job.pid, "--once", "--seconds", "0.1")
        self.assertIn("MPI_Recv for rank 1", table)
        self.assertNotIn("\033", table)

    def test_top_without_a_job_is_an_error(self):
        self.assertIn("heddle top: process", self.heddle("top", os.getpid(), "--once", code=1))

    def test_quit_writes_what_there_is(self):
        job = self.start_job("hang")
        self.wait_until(lambda: [row for row in self.rows(job) if row["waits_for"] is not None])
        job.send_signal(signal.SIGQUIT)
        self.wait_until(self.trace.exists)
        self.assertIsNone(job.poll())
        self.assertFalse(self.summary()["longest_waits"][0]["over"])

    def test_events_outlive_mpiexec(self):
        job = self.start_job("hang")
        self.wait_until(lambda: [row for row in self.rows(job) if row["waits_for"] is not None])
        self.kill(job)
        self.assertIn("MPI_Recv", self.heddle("trace", self.trace))


def fetch_perfetto(place):
    """Lets this process import Perfetto's descriptions. pip fetches them to the place, unless they are there."""
    if not (place / "perfetto").is_dir():
        done = subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-deps",
                               "--require-hashes", "--target", str(place), "-r", str(REQUIREMENTS)],
                              capture_output=True, text=True)
        if done.returncode != 0:
            print(done.stdout, done.stderr, file=sys.stderr)
            unreachable = re.search(r"No matching distribution|Connection|Max retries|timed out|No module named pip",
                                    done.stdout + done.stderr)
            sys.exit(77 if unreachable and "DO NOT MATCH" not in done.stderr else 1)
    sys.path.insert(0, str(place))
    try:
        import google.protobuf  # noqa: F401
    except ImportError:
        done = subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--target",
                               str(place), "protobuf>=5"], capture_output=True, text=True)
        if done.returncode != 0:
            print(done.stdout, done.stderr, file=sys.stderr)
            sys.exit(77)
        import importlib
        importlib.invalidate_caches()


class Perfetto(Job):
    """Tests of the packets that Perfetto's viewer would read."""

    def packets(self):
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos
        trace = protos.Trace()
        bytes_ = self.trace.read_bytes()
        trace.ParseFromString(bytes_)
        # A field with another number or another type is unknown to Perfetto. It would be lost here, and the size differ.
        trace.DiscardUnknownFields()
        self.assertEqual(trace.ByteSize(), len(bytes_))
        return trace.packet

    def read(self):
        """Returns the tracks by number, the slices as dictionaries, and by track the slices that are still open."""
        tables = defaultdict(dict)
        tracks, slices, stacks = {}, [], defaultdict(list)
        last = {}
        for packet in self.packets():
            if packet.HasField("track_descriptor"):
                tracks[packet.track_descriptor.uuid] = packet.track_descriptor
                continue
            for kind in ("event_categories", "event_names", "debug_annotation_names"):
                for entry in getattr(packet.interned_data, kind):
                    tables[kind][entry.iid] = entry.name
            for entry in packet.interned_data.debug_annotation_string_values:
                tables["texts"][entry.iid] = entry.str.decode()
            event = packet.track_event
            self.assertIn(event.track_uuid, tracks)
            self.assertGreaterEqual(packet.timestamp, last.get(event.track_uuid, 0), "slices lie within each other")
            last[event.track_uuid] = packet.timestamp
            if event.type == event.TYPE_SLICE_END:
                stacks[event.track_uuid].pop()["end"] = packet.timestamp
                continue
            notes = {}
            for note in event.debug_annotations:
                name = tables["debug_annotation_names"][note.name_iid]
                notes[name] = tables["texts"][note.string_value_iid] if note.string_value_iid else note.int_value
            found = {"track": event.track_uuid, "name": tables["event_names"][event.name_iid],
                     "category": tables["event_categories"][event.category_iids[0]], "begin": packet.timestamp,
                     "notes": notes, "out": list(event.flow_ids), "in": list(event.terminating_flow_ids),
                     "depth": len(stacks[event.track_uuid])}
            slices.append(found)
            if event.type == event.TYPE_SLICE_BEGIN:
                stacks[event.track_uuid].append(found)
        return tracks, slices, {track: stack for track, stack in stacks.items() if stack}

    def rank_of(self, tracks, slice_):
        process = tracks[tracks[slice_["track"]].parent_uuid].process.process_name
        return int(re.match(r"rank (\d+) \(test_timeline, process \d+ on ", process).group(1))

    def check_flows(self, slices):
        out, into = (Counter(flow for one in slices for flow in one[side]) for side in ("out", "in"))
        self.assertEqual(out, into)
        self.assertTrue(all(count == 1 for count in out.values()))
        return len(out)

    def test_file_is_whole(self):
        self.run_job("late", ranks=3)
        tracks, slices, still_open = self.read()
        self.assertFalse(still_open)
        names = Counter((self.rank_of(tracks, one), one["name"]) for one in slices)
        for rank in range(3):
            for name, times in (("MPI_Init_thread", 1), ("MPI_Irecv", 10), ("MPI_Isend", 10), ("MPI_Waitall", 10),
                                ("MPI_Allreduce", 10), ("MPI_Finalize", 1), ("received", 10)):
                self.assertEqual(names[rank, name], times, (rank, name))
        self.assertEqual(self.check_flows(slices), 30)
        for one in slices:
            if one["name"] == "MPI_Isend":
                self.assertEqual(one["notes"]["rank"], (self.rank_of(tracks, one) + 1) % 3)
                self.assertEqual((one["notes"]["tag"], one["notes"]["bytes"], one["notes"]["object"]),
                                 (7, 4, "MPI_COMM_WORLD"))
        waits = [one for one in slices if one["name"] == "MPI_Allreduce" and one["notes"].get("waits for rank") == 1]
        self.assertGreaterEqual(len(waits), 16)
        self.assertGreaterEqual(sum(one["name"] == "for rank 1" for one in slices), len(waits))

    def test_receives_get_the_messages_that_they_got(self):
        self.run_job("receives")
        tracks, slices, _ = self.read()
        self.assertEqual(self.check_flows(slices), 12)
        sent = {flow: one for one in slices for flow in one["out"]}
        waits = [one for one in slices if one["name"] == "MPI_Wait"]
        # The last message goes to the receive that was posted last. The program waits for that one first.
        numbers = [sent[flow]["notes"]["number"] for one in waits for flow in one["in"]]
        self.assertEqual(numbers, [6, 5, 4, 3, 2, 1])

    def test_objects_have_names(self):
        self.run_job("objects", self.folder / "data")
        _, slices, _ = self.read()
        objects = {one["name"]: one["notes"].get("object", "") for one in slices}
        self.assertRegex(objects["MPI_Bcast"], r"^communicator \d+$")
        self.assertRegex(objects["MPI_Put"], r"^window \d+$")
        self.assertRegex(objects["MPI_File_write_at_all"], r"^file \d+$")

    def test_threads_have_tracks(self):
        self.run_job("threads")
        tracks, slices, _ = self.read()
        used = {one["track"] for one in slices if one["name"] == "MPI_Sendrecv"}
        self.assertEqual(len(used), 4)
        self.assertEqual(len({tracks[track].thread.tid for track in used}), 4)
        self.assertEqual(self.check_flows(slices), 80)

    def test_intercommunicators_have_arrows(self):
        self.run_job("between")
        _, slices, _ = self.read()
        self.assertEqual(self.check_flows(slices), 2)
        ranks = sorted(one["notes"]["rank"] for one in slices if one["name"] == "MPI_Sendrecv")
        self.assertEqual(ranks, [0, 1])

    def test_what_has_not_come_back_is_open(self):
        self.run_job("hang", code=124, options=("--trace", None, "--timeout", "2"))
        _, _, still_open = self.read()
        names = [one["name"] for stack in still_open.values() for one in stack]
        self.assertIn("MPI_Recv", names)


GROUPS = {"summary": Summary, "advice": Advice, "live": Live, "perfetto": Perfetto}

if __name__ == "__main__":
    if sys.argv[1] == "perfetto":
        fetch_perfetto(Path(sys.argv[2]))
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(GROUPS[sys.argv[1]])
    sys.exit(0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1)
