# SPDX-License-Identifier: BSD-3-Clause
"""Running things on hosts that are made for them (tools/hosts.py), and launchers that span such hosts."""

import os
import re
import subprocess
import sys
import unittest

TOOL = os.environ["HOSTS"]
PLACE = os.environ.get("LAUNCHERS", "")
WATCHDOG = 60.0
# Variables by which Hydra and PRRTE reach other hosts, if their caller does not say how.
START_BY_AGENT = f"""export HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC=$HOSTS_AGENT
export PRTE_MCA_plm_ssh_agent=$HOSTS_AGENT PRTE_MCA_prte_launch_agent={PLACE}/prted"""
# Hydra's report of ranks that end by a signal. Its proxy prints the first part. Hydra prints the second, unless it has been
# ended by then.
HYDRAS_OWN = re.compile(r"\A\n=+\n=   BAD TERMINATION .*?\n=+\n(YOUR APPLICATION TERMINATED .*?debugging suggestions\n)?", re.DOTALL)
# PRRTE's warning if a child begins its program before PRRTE puts the child in a group of its own.
PRRTES_OWN = re.compile(r"^\[\S+\] plm:ssh: Warning: setpgid\(\d+,\d+\) failed in parent with errno=Permission denied\(13\)\n",
                        re.MULTILINE)
SKIPPED = 77


class Ended:
    def __init__(self, done):
        self.script = done.args[-1]
        self.code, self.out = done.returncode, done.stdout
        self.err = PRRTES_OWN.sub("", done.stderr)

    def lines(self):
        return sorted(self.out.splitlines())

    def __repr__(self):
        return f"{self.script}: exit code {self.code}, output {self.out!r}, errors {self.err!r}"


def run(count, script, **variables):
    """Runs a shell script on the first of so many hosts. The errors name the processes that are left on them."""
    environment = {**os.environ, "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **variables}
    return Ended(subprocess.run([TOOL, str(count), "sh", "-c", script], env=environment, stdin=subprocess.DEVNULL,
                                capture_output=True, timeout=WATCHDOG, check=False, text=True))


def names(count):
    return [f"node{number}" for number in range(1, count + 1)]


def hydra(count, each):
    return (f"{PLACE}/mpiexec.hydra -launcher ssh -launcher-exec $HOSTS_AGENT -hosts {','.join(names(count))} "
            f"-ppn {each} -n {count * each}")


def hydra_in_turn(count, each):
    """Returns a command that starts consecutive ranks on consecutive hosts."""
    return hydra(count, each).replace(f"-ppn {each}", "-ppn 1")


def prterun(count, each):
    hosts = ",".join(f"{name}:{each}" for name in names(count))
    return (f"{PLACE}/prterun --prtemca plm_ssh_agent $HOSTS_AGENT --prtemca prte_launch_agent {PLACE}/prted "
            f"--host {hosts} -n {count * each}")


LAUNCHERS = {"hydra": hydra, "hydra in turn": hydra_in_turn, "prterun": prterun}


def skip_without_hosts():
    if run(1, "true").code == SKIPPED:
        print("no hosts can be made here")
        sys.exit(SKIPPED)


def main():
    """Runs the tests of the program, unless launchers or hosts are missing."""
    if not os.path.exists(f"{PLACE}/mpiexec.hydra"):
        sys.exit(SKIPPED)
    skip_without_hosts()
    unittest.main(verbosity=2)
