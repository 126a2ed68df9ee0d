# SPDX-License-Identifier: BSD-3-Clause
"""A launcher that speaks PMI-1 and hands no memory down: what ranks believe of each other."""

import os
import tempfile
import unittest

from harness import LaunchTest
from identity import NAMESPACE, OWN_NAMESPACES, allowed, main, program

BOOT_ID = "/proc/sys/kernel/random/boot_id"
NO_MEMORY = ["env", "-u", "HEDDLE_NODE_FD"]

# Plays rank 0: it says that its memory is descriptor 5, which is a file of the user.
LIAR = r"""
import os, socket
pmi = socket.socket(fileno=int(os.environ["PMI_FD"]))
lines = pmi.makefile("rw", newline="\n")
def ask(line):
    lines.write(line + "\n"); lines.flush()
    return lines.readline()
ask("cmd=init pmi_version=1 pmi_subversion=1")
store = ask("cmd=get_my_kvsname").split("kvsname=")[1].split()[0]
boot = open("/proc/sys/kernel/random/boot_id").read().strip()
namespace = os.stat("/proc/self/ns/pid").st_ino
value = os.environ["SAYS"].format(boot=boot, namespace=namespace, pid=os.getpid())
ask(f"cmd=put kvsname={store} key=heddle-0-node-0 value=1:{value}")
ask("cmd=barrier_in")
ask("cmd=barrier_in")
"""


class ByPmi(LaunchTest):
    def test_ranks_find_each_other(self):
        code, out, err = self.run_job("-n", 3, *NO_MEMORY, program("program"))
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(sorted(out.splitlines()), [f"rank {rank} of 3" for rank in range(3)])

    def test_large_messages(self):
        self.assertEqual(self.run_job("-n", 2, *NO_MEMORY, program("copies")), (0, "", ""))

    def test_what_a_rank_starts_is_a_job_of_its_own(self):
        code, out, err = self.run_job("-n", 2, *NO_MEMORY, program("program"), "start")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(sorted(out.splitlines()), ["rank 0 of 1"] * 6 + ["rank 0 of 2", "rank 1 of 2"])

    def assert_fails(self, text, *arguments, **options):
        code, out, err = self.run_job(*arguments, **options)
        self.assertNotEqual(code, 0)
        self.assertEqual(out, "")
        self.assertIn("heddle: rank 1 cannot share memory with the others: ", err)
        self.assertIn(text, err)

    @unittest.skipUnless(allowed(*NAMESPACE, "true"), OWN_NAMESPACES)
    def test_another_pid_namespace(self):
        self.assert_fails("in another PID namespace", "-n", 2, *NO_MEMORY, *NAMESPACE, program("program"))

    @unittest.skipUnless(allowed("unshare", "-m", "mount", "--bind", "/dev/null", BOOT_ID),
                         "mount namespaces are not allowed here")
    def test_another_machine(self):
        with tempfile.NamedTemporaryFile("w") as other:
            other.write("00000000-1111-2222-3333-444444444444\n")
            other.flush()
            elsewhere = f'mount --bind {other.name} {BOOT_ID} && exec {program("program")}'
            self.assert_fails("runs on another machine", "-n", 2, *NO_MEMORY, "sh", "-c",
                              f'[ $PMI_RANK = 0 ] && exec {program("program")}; '
                              f"exec unshare -m sh -c '{elsewhere}'")

    def test_a_path_that_names_a_file(self):
        content = os.urandom(4200)
        with tempfile.NamedTemporaryFile() as victim:
            victim.write(content)
            victim.flush()
            liar = ["sh", "-c", f'[ $PMI_RANK = 1 ] && exec {program("program")}; exec python3 -c "$LIAR" 5<>{victim.name}']
            token = "0123456789abcdef" * 2
            for says, text in ((f"{{boot}},{{namespace}},{{pid}},5,{token}", "/fd/5 is something else"),
                               ("{boot},{namespace},{pid},5,", "not what this version says"),
                               (f"{{boot}},{{namespace}},1/../{{pid}},5,{token}", "not what this version says"),
                               (f"/proc/{{pid}}/fd/5", "not what this version says")):
                self.assert_fails(text, "-n", 2, *NO_MEMORY, *liar, env=dict(os.environ, LIAR=LIAR, SAYS=says))
            with open(victim.name, "rb") as file:
                self.assertEqual(file.read(), content)


if __name__ == "__main__":
    main()
