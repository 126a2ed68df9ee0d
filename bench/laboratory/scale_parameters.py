# SPDX-License-Identifier: BSD-3-Clause
"""The output of `heddle logp --parameters` for `heddle scale`: lines of NAME VALUE, or of NAME BYTES:US BYTES:US ...

Beside the model of logp.py, three times are measured. (1) A message keeps processors busy: streams and exchanges of two ranks
with one each. (2) The other rank starts to run on a processor that two share: a ping-pong there. (3) Each byte of many takes
some time.
"""

from __future__ import annotations

import statistics
from typing import Callable, Mapping, Sequence

from .logp import Model, Times

LENGTHS = (1, 256, 1024, 4096, 16384, 32768, 65536, 262144, 1 << 20, 4 << 20)
SHORT = LENGTHS[0]
TURNS = 5
STREAMED = 1 << 20  # bytes of each of many messages
ONE_CORE = ("taskset", "--cpu-list", "0")
COMBINED = 2.0  # times as long as a copied byte, since two operands are read. It is not measured

# A pingpong of two ranks on so many hosts, with these words, behind this prefix; its times.
Pingpong = Callable[[int, Sequence[str], Sequence[str]], Times]


def overheads(copied: Callable[[int], bool], handshake: float, one: Times, both: Times) -> tuple[Times, Times]:
    """Returns o_s and o_r by length, of a stream in one direction (`one`) and of exchanges (`both`).

    In an exchange each rank spends o_s and o_r. In a stream the longer of them is seen, and is taken to be o_s. An exchange of
    messages that are not copied has a handshake besides, and they are not told apart. Latency of a wire that is longer than o_s
    and o_r would count as overhead: here there is no such wire.
    """
    half = {length: max(0.0, time - (0 if copied(length) else handshake)) / 2 for length, time in both.items()}
    o_s = {length: max(half[length], min(one[length], time)) if copied(length) else half[length] for length, time in both.items()}
    return o_s, {length: 2 * half[length] - o_s[length] for length in both}


def measured(pingpong: Pingpong, hosts: int, repeated: Sequence[str], model: Model) -> dict[str, object]:
    """Returns the parameters that are no part of the model: medians of several turns."""
    sizes = ("--sizes", ",".join(map(str, sorted(LENGTHS, reverse=True))), *repeated)
    runs = (((*sizes, "--direction", "one"), ()), ((*sizes, "--direction", "both"), ()),
            (("--sizes", str(SHORT), *repeated), ONE_CORE), (("--window", "64", "--sizes", str(STREAMED), *repeated), ()))
    turns = [[pingpong(hosts, *run) for run in runs] for _ in range(TURNS)]
    one, both, shared, streamed = ({length: statistics.median(times[length] for times in of_run) for length in of_run[0]}
                                   for of_run in zip(*turns))
    o_s, o_r = overheads(lambda length: length <= model.limit, 2 * model.way.at(SHORT), one, both)
    switch = max(0.0, shared[SHORT] - both[SHORT])
    byte = streamed[STREAMED] / STREAMED
    always = {"o_s_us": o_s, "o_r_us": o_r, "switch_us": switch}
    if hosts > 1:
        return {**always, "byte_us": byte}
    return {**always, "copied_byte_us": byte, "combined_byte_us": COMBINED * byte}


def printed(title: str, model: Model, more: Mapping[str, object]) -> str:
    values = {"way_us": dict(model.way.points), "most_copied": model.limit, **more}
    return f"# {title}\n" + "".join(f"{name} {text_of(value)}\n" for name, value in values.items())


def text_of(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{length}:{time:.6g}" for length, time in sorted(value.items()))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
