#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Resident memory of an empty rank in a job of many. Each rank has a host of its own; only this one is real.

    many_peers.py PROGRAM [RANKS]

PROGRAM is `memory`. This script is the launcher, which says over PMI-1 that there are so many ranks; the program
talks to none of them. Prints one `result` line.
"""

import os
import re
import socket
import subprocess
import sys
import threading


class Server:
    """PMI-1 for rank 0 of many. Another rank's published value is the one that rank 0 has published."""

    def __init__(self, ranks, connection):
        self.ranks, self.values = ranks, {"PMI_process_mapping": f"(vector,(0,{ranks},1))"}
        self.connection = connection

    def serve(self):
        with self.connection.makefile("rw", encoding="ascii", newline="\n") as lines:
            for line in lines:
                lines.write(self.answer(dict(re.findall(r"(\w+)=(\S*)", line))) + "\n")
                lines.flush()

    def answer(self, asked):
        command = asked["cmd"]
        if command == "put":
            self.values[asked["key"]] = asked["value"]
            return "cmd=put_result rc=0"
        if command == "get":
            found = self.values.get(asked["key"])
            return f"cmd=get_result rc=0 value={found}" if found is not None else "cmd=get_result rc=-1"
        return {"init": "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1",
                "get_maxes": "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024",
                "get_my_kvsname": "cmd=my_kvsname rc=0 kvsname=many", "get_appnum": "cmd=appnum rc=0 appnum=0",
                "get_universe_size": f"cmd=universe_size rc=0 size={self.ranks}",
                "barrier_in": "cmd=barrier_out rc=0", "finalize": "cmd=finalize_ack rc=0"}[command]


def run(program, ranks):
    """Returns the output of the program."""
    ours, its = socket.socketpair()
    with ours, its:
        threading.Thread(target=Server(ranks, ours).serve, daemon=True).start()
        environment = {**os.environ, "PMI_FD": str(its.fileno()), "PMI_RANK": "0", "PMI_SIZE": str(ranks)}
        done = subprocess.run([program, "alone"], env=environment, pass_fds=[its.fileno()], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, check=True, text=True, timeout=60)
    return done.stdout


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        print(run(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10_000), end="")
    except (OSError, subprocess.SubprocessError) as problem:
        sys.exit(f"many_peers.py: {problem}")
