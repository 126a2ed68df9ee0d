# SPDX-License-Identifier: BSD-3-Clause
"""Programs on two and four hosts: their messages arrive, and they end together."""

import os
import unittest

import hosts

MESSAGES = os.environ["MESSAGES"]
PROGRAM = os.environ["PROGRAM"]
COUNTS = (2, 4)
EACH = 2


def run_by(launcher, words):
    """Runs PROGRAM, again if the launcher itself has crashed. PRRTE's does so now and then while it ends a job. Then the
    shell says so, and the exit code says nothing about the job."""
    for _ in range(3):
        ended = hosts.run(2, f"{hosts.LAUNCHERS[launcher](2, EACH)} {PROGRAM} {words}")
        if launcher != "prterun" or ended.code != 139 or not ended.err.endswith("Segmentation fault\n"):
            break
    return ended


class Programs(unittest.TestCase):
    def assert_done(self, what, counts=COUNTS):
        for name, launcher in hosts.LAUNCHERS.items():
            for count in counts:
                ended = hosts.run(count, f"{launcher(count, EACH)} {MESSAGES} {what}")
                self.assertEqual(ended.code, 0, f"{name}: {ended}")
                self.assertEqual(ended.lines(), sorted(f"rank {rank} has done {what}" for rank in range(count * EACH)))

    def test_messages_of_every_size(self):
        self.assert_done("ring")

    def test_all_with_all(self):
        self.assert_done("all")

    def test_many_to_one(self):
        """Adds a checksum to what goes between hosts, which another provider of the network need not keep."""
        for count, each in ((2, 3), (2, 8), (3, 6)):
            for fabric in ("auto", "tcp;ofi_rxm"):
                ended = hosts.run(count, f"{hosts.hydra(count, each)} {MESSAGES} many", HEDDLE_FABRIC=fabric,
                                  HEDDLE_NETWORK_CHECKSUM="on")
                self.assertEqual(ended.lines(), sorted(f"rank {rank} has done many" for rank in range(count * each)),
                                 f"{count} x {each}, {fabric}: {ended}")

    def test_threads(self):
        self.assert_done("threads")

    def test_a_library_buffer(self):
        ended = hosts.run(2, f"{hosts.hydra(2, 1)} {os.environ['SEND_BUFFER']}", HEDDLE_SEND_BUFFER="1000000")
        self.assertEqual(ended.code, 0, ended)

    @unittest.skipUnless(os.path.exists("/proc/self/ns/time"), "the kernel has no namespaces of time")
    def test_clocks_that_do_not_agree(self):
        ahead = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ahead.sh")
        seconds = hosts.run(2, f"$HOSTS_AGENT node2 {ahead} cat /proc/uptime").out.split()[0]
        with open("/proc/uptime") as here:
            self.assertGreater(float(seconds), float(here.read().split()[0]) + 80000)
        for what in ("ring", "all", "threads"):
            ended = hosts.run(2, f"{hosts.hydra(2, EACH)} {ahead} {MESSAGES} {what}")
            self.assertEqual(ended.lines(), sorted(f"rank {rank} has done {what}" for rank in range(2 * EACH)), ended)

    def test_shared_memory_of_a_host_is_full(self):
        ended = hosts.run(2, f"""
            $HOSTS_AGENT node2 'mount -o remount,size=4k /dev/shm && head -c 4096 /dev/zero >/dev/shm/full'
            {hosts.hydra(2, EACH)} {MESSAGES} ring; $HOSTS_AGENT node2 'rm /dev/shm/full'""")
        self.assertEqual(ended.lines(), sorted(f"rank {rank} has done ring" for rank in range(2 * EACH)), ended)

    def test_communicators_come_and_go(self):
        self.assert_done("dups", counts=(2,))

    def test_a_job_that_was_stopped_goes_on(self):
        """The job is stopped for longer than a rank may be silent."""
        all_of_them = "for host in node1 node2; do $HOSTS_AGENT $host 'pkill -%s -x " + os.path.basename(MESSAGES)[:15] + "'; done"
        ended = hosts.run(2, f"""
            mkfifo /tmp/said
            {hosts.LAUNCHERS["hydra"](2, EACH)} {MESSAGES} large >/tmp/said 2>/tmp/why &
            {{ for rank in $(seq {2 * EACH}); do read line; done
            {all_of_them % "STOP"}; sleep 17; {all_of_them % "CONT"}
            sleep 3; cat /tmp/why; echo goes on; kill $!; cat; }} </tmp/said""")
        first, _, rest = ended.out.partition("\n")
        self.assertEqual((first, hosts.HYDRAS_OWN.sub("", rest), ended.err), ("goes on", "", ""), ended)

    def test_an_abort_and_a_death_end_all(self):
        for name, launcher in hosts.LAUNCHERS.items():
            for words in ("abort 7", "die"):
                ended = hosts.run(2, f"{launcher(2, EACH)} {PROGRAM} {words}")
                self.assertNotEqual(ended.code, 0, f"{name}: {ended}")
                self.assertNotIn("left behind", ended.err)
                if words == "abort 7":
                    self.assertIn("called MPI_Abort with code 7", ended.err)

    def test_exit_codes_are_those_of_one_machine(self):
        expected = {"abort 7": {"hydra": 7, "prterun": 7}, "exit 3": {"hydra": 3, "prterun": 3}, "die": {"prterun": 137}}
        for words, codes in expected.items():
            for launcher, code in codes.items():
                ended = run_by(launcher, words)
                self.assertEqual(ended.code, code, f"{launcher}: {ended}")
                self.assertNotIn("left behind", ended.err)

    def test_a_host_that_is_cut_off_ends_the_job(self):
        ended = hosts.run(2, f"""
            mkfifo /tmp/said
            {hosts.LAUNCHERS["hydra"](2, EACH)} {PROGRAM} wait >/tmp/said 2>/tmp/why &
            {{ for rank in $(seq {2 * EACH}); do read line; done; }} </tmp/said
            $HOSTS_AGENT --cut node2
            wait $!
            cat /tmp/why
            $HOSTS_AGENT --mend node2""")
        self.assertRegex(ended.out, r"rank [01]: lost rank [23]: .*has not answered for", ended)

    def test_the_death_of_a_daemon_ends_all(self):
        for name, daemon in (("hydra", "hydra_pmi_proxy"), ("prterun", "prted")):
            ended = hosts.run(2, f"""
                mkfifo /tmp/said
                {hosts.LAUNCHERS[name](2, EACH)} {PROGRAM} wait >/tmp/said &
                {{ for rank in $(seq {2 * EACH}); do read line; done; }} </tmp/said
                $HOSTS_AGENT node2 'pkill -KILL -x {daemon}'
                start=$(date +%s%N); wait $!; echo $(( ($(date +%s%N) - start) / 1000000 ))""")
            self.assertNotIn("left behind", ended.err, ended)
            self.assertLess(int(ended.out), 5000, f"milliseconds: {ended}")


if __name__ == "__main__":
    hosts.main()
