# SPDX-License-Identifier: BSD-3-Clause
"""The extended LogP model of P5 (section 4): its parameters from measurements, and what follows for single calls.

All times are in us, lengths in bytes. Short messages, which MPI_Send copies into a buffer of the library, and long ones
have parameters of their own: a long one's latency contains the words that the two sides change about it. The paper has
overheads without a length, but its table 1 does not: here they are lines in the length.
"""

from __future__ import annotations

import dataclasses
from typing import Mapping

Times = Mapping[int, float]  # by length


@dataclasses.dataclass(frozen=True)
class Line:
    """What a message takes: something for itself, and something for each byte."""
    start: float
    per_byte: float = 0.0

    def at(self, length: int) -> float:
        return self.start + self.per_byte * length


def fit(times: Times) -> Line:
    """The line whose relative errors have the least sum of squares, and that neither falls nor begins below 0."""
    weights = {length: 1 / max(time, 1e-9) ** 2 for length, time in times.items()}
    total = sum(weights.values())
    mean_length = sum(w * length for length, w in weights.items()) / total
    mean_time = sum(w * times[length] for length, w in weights.items()) / total
    spread = sum(w * (length - mean_length) ** 2 for length, w in weights.items())
    slope = sum(w * (length - mean_length) * (times[length] - mean_time) for length, w in weights.items())
    per_byte = max(0.0, slope / spread) if spread else 0.0
    start = mean_time - per_byte * mean_length
    if start >= 0:
        return Line(start, per_byte)
    squares = sum(w * length ** 2 for length, w in weights.items())
    return Line(0.0, sum(w * length * times[length] for length, w in weights.items()) / squares)


@dataclasses.dataclass(frozen=True)
class Measured:
    """Single calls by length, as bench/blocking, bench/overlap and bench/pingpong measure them."""
    one_way: Times           # half a round trip
    send_to_waiting: Times   # MPI_Send to a rank that is in MPI_Recv
    send_to_computing: Times
    isend: Times
    wait: Times              # after computing
    receiver_wait: Times     # of a posted receive, after computing
    recv_early: Times        # MPI_Recv of what was sent while the receiver computed
    recv_late: Times         # of what is sent later, without the time until then
    gap: float               # of short messages in a window

    def part(self, lengths: list[int]) -> Measured:
        """What was measured at these lengths."""
        return Measured(**{field.name: value if isinstance(value, float) else
                           {length: time for length, time in value.items() if length in lengths}
                           for field in dataclasses.fields(self) for value in [getattr(self, field.name)]})


@dataclasses.dataclass(frozen=True)
class Parameters:
    """Of short or of long messages. `one_way` is o_s + L + (n - 1) G + o_r."""
    o_s: Line
    o_sb: Line
    o_r: float
    o_rb: Line
    L: float
    G: float

    def one_way(self, length: int) -> float:
        return self.o_s.start + self.L + max(0, length - 1) * self.G + self.o_r


@dataclasses.dataclass(frozen=True)
class Model:
    limit: int  # the longest message that is short
    short: Parameters
    long: Parameters
    g: float
    o_w: float  # MPI_Wait for what is complete

    def of(self, length: int) -> Parameters:
        return self.short if length <= self.limit else self.long

    def one_way(self, length: int) -> float:
        return self.of(length).one_way(length)

    def send(self, length: int) -> float:
        """(3) with room in the buffer; (2) without: until the sender has heard that all has come."""
        own = self.of(length)
        return own.o_sb.at(length) if length <= self.limit else own.one_way(length) - own.o_r + own.o_s.start

    def isend(self, length: int) -> float:
        """(4)"""
        return self.of(length).o_s.at(length)

    def wait(self, length: int, computed: float) -> float:
        """Section 4.3: what is left of the message, which a worker has carried meanwhile."""
        return max(self.o_w, self.one_way(length) - self.isend(length) - computed)

    def recv_early(self, length: int) -> float:
        """(5)"""
        return self.of(length).o_rb.at(length)

    def recv_late(self, length: int) -> float:
        """(6) without the time until the message is sent"""
        return self.one_way(length)


def buffered(send_to_computing: Times, computed: float) -> int:
    """The longest message whose MPI_Send does not wait for its receiver, who computes; so are all that are shorter."""
    limit = 0
    for length in sorted(send_to_computing):
        if send_to_computing[length] > computed / 2:
            break
        limit = length
    return limit


def parameters(measured: Measured, lengths: list[int]) -> Parameters:
    here = measured.part(lengths)
    o_s, way = fit(here.isend), fit(here.one_way)
    o_r = measured.receiver_wait[min(measured.receiver_wait)]
    return Parameters(o_s, fit(here.send_to_computing), o_r, fit(here.recv_early),
                      way.at(1) - o_s.start - o_r, way.per_byte)


def model_of(measured: Measured, computed: float) -> Model:
    """computed: the us for which a rank computes where it does. At least two lengths count as short, and two as long."""
    lengths = sorted(measured.one_way)
    limit = min(max(buffered(measured.send_to_computing, computed), lengths[1]), lengths[-3])
    return Model(limit, parameters(measured, [n for n in lengths if n <= limit]),
                 parameters(measured, [n for n in lengths if n > limit]), measured.gap,
                 measured.wait[lengths[0]])


@dataclasses.dataclass(frozen=True)
class Row:
    length: int
    predicted: float
    measured: float

    @property
    def error(self) -> float:
        """In percent of what was measured."""
        return 100 * (self.predicted - self.measured) / self.measured if self.measured else 0.0


def tables(model: Model, measured: Measured, computed: float) -> dict[str, list[Row]]:
    """P5's table 1 and figures 5 to 7, and half a round trip, at the lengths that were measured."""
    kinds = {"half a round trip": (model.one_way, measured.one_way),
             "MPI_Send, receiver waits": (model.send, measured.send_to_waiting),
             "MPI_Isend": (model.isend, measured.isend),
             f"MPI_Wait after {computed / 1000:g} ms of computing": (lambda n: model.wait(n, computed), measured.wait),
             "MPI_Recv, has come": (model.recv_early, measured.recv_early),
             "MPI_Recv, has not come": (model.recv_late, measured.recv_late)}
    return {name: [Row(length, predict(length), time) for length, time in sorted(times.items())]
            for name, (predict, times) in kinds.items()}
