# SPDX-License-Identifier: BSD-3-Clause
"""The facts of the MPI 5.0 standard ABI as Python values.

functions.json and constants.json say what the ABI contains; everything that is generated or
checked from them (mpi.h, the stand-ins for missing functions, the tests of the repository) reads
them through this module.
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

# Arrays in the standard, but MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY, which stand for them, are addresses
# below the first page: given one of them for an array parameter, gcc warns in the user's program.
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
        """`int MPI_Send(const void* buf, ...)`, wrapped at COLUMNS, without the semicolon."""
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
    """Type and name of each member of MPI_Status: ("int[5]", "MPI_internal")."""
    return [(type_, name) for type_, name in _constants_file()["status"]["fields"]]


def write_if_changed(path: Path, text: str) -> None:
    """Keeps the time stamp of a file that is already right, so that nothing is rebuilt for it."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
