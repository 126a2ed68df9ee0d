# SPDX-License-Identifier: BSD-3-Clause
"""New processes, and jobs that meet, on two hosts: a server on one or both, clients on either; parents on both; Hydra's and
PRRTE's ranks as parents."""

import os
import pathlib
import shutil
import tempfile
import unittest

import hosts

MPIEXEC, SERVICE, SPAWN = os.environ["MPIEXEC"], os.environ["SERVICE"], os.environ["SPAWN"]


class Processes(unittest.TestCase):
    def setUp(self):
        # The folder is beside the programs, which all hosts see.
        self.folder = tempfile.mkdtemp(dir=pathlib.Path(SERVICE).parent)
        self.addCleanup(shutil.rmtree, self.folder)

    def serve_and_ask(self, server, *clients):
        asks = "\n".join(f"{client} {SERVICE} ask {number}" for number, client in enumerate(clients, 3))
        ended = hosts.run(2, f"""{hosts.START_BY_AGENT}
            export HEDDLE_NAMES={self.folder}
            {server} {SERVICE} serve >{self.folder}/said & server=$!
            until grep -q serving {self.folder}/said; do kill -0 $server || exit 3; sleep 0.02; done
            {asks}
            {clients[0]} {SERVICE} end && wait $server""")
        self.assertEqual(ended.code, 0, str(ended))
        expected = [f"the square of {number} is {number * number}: correct" for number in range(3, 3 + len(clients))]
        self.assertEqual(ended.out.splitlines(), expected, str(ended))

    def test_clients_of_either_host(self):
        self.serve_and_ask(f"{MPIEXEC} -n 2", f"{MPIEXEC} -n 1", f"{MPIEXEC} --host node2 -n 2", f"{MPIEXEC} --host node2,node1 -n 3", "")

    def test_server_on_both_hosts(self):
        self.serve_and_ask(f"{MPIEXEC} --host node1,node2 -n 2", f"{MPIEXEC} --host node2 -n 1", "",
                           f"{MPIEXEC} --host node2,node1 -n 2")

    def test_parents_on_both_hosts(self):
        for launcher in (f"{MPIEXEC} --host node1,node2 -n 2", hosts.hydra(2, 1), hosts.prterun(2, 1)):
            with self.subTest(launcher=launcher):
                ended = hosts.run(2, f"{hosts.START_BY_AGENT}\n{launcher} {SPAWN}")
                self.assertEqual((ended.code, ended.out), (0, "spawn: fine\n"), str(ended))


if __name__ == "__main__":
    hosts.main()
