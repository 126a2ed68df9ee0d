# SPDX-License-Identifier: BSD-3-Clause
"""The output of `heddle logp --parameters` for `heddle scale`: lines of NAME VALUE, or of NAME BYTES:US BYTES:US ...

Beside the model of logp.py, three times are measured. (1) A message keeps processors busy: a ping-pong of two ranks that share
one. (2) The other rank starts to run there: the same within a node. (3) Each byte of many takes some time.
"""

from __future__ import annotations

from typing import Callable, Mapping, Sequence

from .logp import Model, Times

LENGTHS = (1, 256, 1024, 4096, 16384, 32768, 65536, 262144, 1 << 20, 4 << 20)
STREAMED = 1 << 20  # bytes of each of many messages
ONE_CORE = ("taskset", "--cpu-list", "0")
COMBINED = 2.0  # times as long as a copied byte, since two operands are read. It is not measured

# A pingpong of two ranks on so many hosts, with these words, behind this prefix; its times.
Pingpong = Callable[[int, Sequence[str], Sequence[str]], Times]


def overhead(on_one_core: Times, switch: float) -> Times:
    """Returns half of one way without the switch of ranks. The overheads of sender and receiver are not told apart."""
    return {length: max(0.0, (time - switch) / 2) for length, time in on_one_core.items()}


def measured(pingpong: Pingpong, hosts: int, repeated: Sequence[str]) -> dict[str, object]:
    """Returns the parameters that are no part of the model."""
    sizes = ("--sizes", ",".join(map(str, sorted(LENGTHS, reverse=True))), *repeated)
    within = pingpong(1, ("--sizes", "1", *repeated), ONE_CORE)
    switch = within[1]
    shared = pingpong(hosts, sizes, ONE_CORE)
    streamed = pingpong(hosts, ("--window", "64", "--sizes", str(STREAMED), *repeated), ())
    byte = streamed[STREAMED] / STREAMED
    if hosts > 1:
        return {"overhead_us": overhead(shared, switch), "byte_us": byte, "switch_us": switch}
    return {"overhead_us": overhead(shared, switch), "switch_us": switch, "copied_byte_us": byte,
            "combined_byte_us": COMBINED * byte}


def printed(title: str, model: Model, more: Mapping[str, object]) -> str:
    values = {"way_us": dict(model.way.points), "most_copied": model.limit, **more}
    return f"# {title}\n" + "".join(f"{name} {text_of(value)}\n" for name, value in values.items())


def text_of(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{length}:{time:.6g}" for length, time in sorted(value.items()))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
