# SPDX-License-Identifier: BSD-3-Clause
"""The facts of the MPI 5.0 standard ABI as Python values.

functions.json and constants.json say what the ABI contains. Generators and checks read them through this
module: of mpi.h, of the stand-ins for missing functions, and of the tests of the repository.
"""

import json
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
COLUMNS = 100

# The facts list MPI_Irecv, which sorts among the nonblocking collectives, in their chapter.
CHAPTER_OF = {"MPI_Irecv": "p2p", "MPI_Irecv_c": "p2p"}

# The standard has arrays here. MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY, which stand for them, are addresses below
# the first page: gcc warns in the user's program if one of them is given for an array parameter.
POINTERS = {"weights", "sourceweights", "destweights"}


@dataclass(frozen=True)
class Parameter:
    type: str  # as in the standard: "const void *", "int[]", "int[][3]", "..."
    name: str

    def __str__(self) -> str:
        if self.type == "...":
            return "..."
        base, array = re.fullmatch(r"([^\[]*)((?:\[\d*\])*)", self.type).groups()
        base = re.sub(r"\s+(?=\*)", "", base.strip())  # "void *" becomes "void*"
        if self.name in POINTERS and array == "[]":
            return f"{base}* {self.name}"
        return f"{base} {self.name}{array}"


@dataclass(frozen=True)
class Function:
    name: str
    chapter: str
    returns: str
    parameters: tuple[Parameter, ...]
    deprecated: str | None  # the version of the standard that deprecated it

    @property
    def profiling_name(self) -> str:
        return "P" + self.name

    def declarator(self, name: str) -> str:
        """Returns `int MPI_Send(const void* buf, ...)`, wrapped at COLUMNS, without the semicolon."""
        parameters = ", ".join(map(str, self.parameters)) or "void"
        return wrap(f"{self.returns} {name}({parameters})")


@dataclass(frozen=True)
class Constant:
    name: str
    value: str
    kind: str  # "macro" or "enumerator"


def wrap(declaration: str) -> str:
    """Breaks a declaration between its parameters, never inside one."""
    glued = re.sub(r"(?<![,]) ", "\0", declaration)
    return textwrap.fill(
        glued,
        width=COLUMNS - 1,  # leaves room for a semicolon
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    ).replace("\0", " ")


def functions(path: Path = FOLDER / "functions.json") -> list[Function]:
    return [
        Function(
            name=fact["name"],
            chapter=CHAPTER_OF.get(fact["name"], fact["chapter"]),
            returns=fact["returns"],
            parameters=tuple(Parameter(p["type"], p["name"]) for p in fact["params"]),
            deprecated=fact.get("deprecated"),
        )
        for fact in json.loads(path.read_text())
    ]


def _constants_file() -> dict:
    return json.loads((FOLDER / "constants.json").read_text())


def constants() -> list[Constant]:
    return [Constant(c["name"], c["value"], c["kind"]) for c in _constants_file()["constants"]]


def typedefs() -> list[str]:
    return _constants_file()["typedefs"]


def status_fields() -> list[tuple[str, str]]:
    """Returns type and name of each member of MPI_Status: ("int[5]", "MPI_internal")."""
    return [(type_, name) for type_, name in _constants_file()["status"]["fields"]]


def write_if_changed(path: Path, text: str) -> None:
    """Writes the file unless it has this text already: its time stamp stays, and nothing is rebuilt."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
