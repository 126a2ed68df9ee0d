# SPDX-License-Identifier: BSD-3-Clause
"""Starting ranks on several hosts, which tools/hosts.py makes out of namespaces for each run.

No launcher binds ranks to cores: on each host it would count the same cores, and begin with the same one.
"""

from __future__ import annotations

import functools
import pathlib
import shutil
import subprocess
from typing import Optional, Sequence

SOURCES = pathlib.Path(__file__).resolve().parent.parent
TOOL = SOURCES.parent / "tools/hosts.py"  # beside this folder in an installation as well
AGENT = '"$HOSTS_AGENT"'  # known on the hosts only
PATIENCE_S = 60


def names(hosts: int) -> list[str]:
    return [f"node{number}" for number in range(1, hosts + 1)]


def made(hosts: int) -> list[str]:
    """Returns the words before a command that runs on the first of so many hosts."""
    return [str(TOOL), str(hosts)]


def with_agent(launcher: pathlib.Path, options: str, *words: str) -> list[str]:
    """Returns the launcher with options in which a shell on the host fills the agent in."""
    return ["sh", "-c", f'exec "$0" {options} "$@"', str(launcher), *words]


def by_hydra(launcher: pathlib.Path, ranks: int, hosts: int, kind: str = "launcher") -> list[str]:
    """Returns the words for Hydra, before `-n RANKS`. kind: its option's name for the agent that reaches other hosts."""
    return with_agent(launcher, f"-{kind} ssh -{kind}-exec {AGENT}", "-hosts", ",".join(names(hosts)),
                      "-ppn", str(ranks // hosts))


def by_prrte(launcher: pathlib.Path, options: Sequence[str], ranks: int, hosts: int) -> list[str]:
    slots = ",".join(f"{name}:{ranks // hosts}" for name in names(hosts))
    return with_agent(launcher, f"--prtemca plm_ssh_agent {AGENT}", "--prtemca", "prte_launch_agent",
                      str(launcher.parent / "prted"), "--bind-to", "none", *options, "--host", slots)


def hydra_of(prefixes: Sequence[pathlib.Path]) -> Optional[pathlib.Path]:
    """Returns the Hydra of one of these MPI libraries, or that of the machine."""
    for prefix in prefixes:
        if (launcher := prefix / "bin/mpiexec.hydra").exists():
            return launcher
    found = shutil.which("mpiexec.hydra")
    return pathlib.Path(found) if found else None


@functools.cache
def problem(folder: pathlib.Path) -> str:
    """Returns why no program in that folder can run on hosts, or '' if it can."""
    if not TOOL.is_file():
        return f"there is no {TOOL}"
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([*made(1), "test", "-d", str(folder)], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=PATIENCE_S, check=False)
    if done.returncode == 1:
        return f"hosts have a /tmp of their own, where {folder} is not"
    return done.stderr.strip() if done.returncode else ""
