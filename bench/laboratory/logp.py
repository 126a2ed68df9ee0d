# SPDX-License-Identifier: BSD-3-Clause
"""The extended LogP model of P5 (section 4): its parameters from measurements, and its predictions for single calls.

All times are in us, lengths in bytes. The paper has overheads without a length, but its table 1 does not. A library treats
short and long messages differently: here parameters are curves, which are linear between the lengths at which they were
measured. The paper's receivers do not sleep: w is the time to wake one.
"""

from __future__ import annotations

import bisect
import dataclasses
from typing import Callable, Mapping, Sequence

Times = Mapping[int, float]  # by length


@dataclasses.dataclass(frozen=True)
class Curve:
    """A linear interpolation of one point or more. It is constant before the first, and straight on after the last."""
    points: tuple[tuple[int, float], ...]

    @staticmethod
    def through(times: Times) -> Curve:
        return Curve(tuple(sorted(times.items())))

    def at(self, length: int) -> float:
        if length <= self.points[0][0] or len(self.points) == 1:
            return self.points[0][1]
        after = min(bisect.bisect_left(self.points, (length, float("-inf"))), len(self.points) - 1)
        (left, low), (right, high) = self.points[after - 1:after + 1]
        return low + (high - low) * (length - left) / (right - left)

    def until(self, most: int) -> Curve:
        """Returns the curve without the points beyond `most`. The first point stays."""
        return Curve(tuple(point for at, point in enumerate(self.points) if at == 0 or point[0] <= most))

    def held(self, length: int) -> float:
        """Returns the same as at(), but is constant after the last point as well."""
        return self.at(min(length, self.points[-1][0]))


@dataclasses.dataclass(frozen=True)
class Measured:
    """Times by length, as bench/blocking, bench/overlap, bench/late and bench/pingpong measure it."""
    one_way: Times           # half a round trip
    send_to_waiting: Times   # MPI_Send to a rank that is in MPI_Recv, and sleeps there
    send_to_computing: Times
    isend: Times
    wait: Times              # after computing
    receiver_wait: Times     # of a posted receive, after computing
    recv_early: Times        # MPI_Recv of a message that was sent while the receiver computed
    recv_late: Times         # of a message that is sent later, without the time until then
    answer: Times            # a round trip: a message to a sleeping rank, and its empty answer
    waking_send: Times       # MPI_Send of that message
    gap: Times               # of messages in a window
    clock: Times             # an empty call, after computing

    def part(self, lengths: Sequence[int]) -> Measured:
        """Returns the measurements at these lengths."""
        return Measured(**{name: {length: time for length, time in times.items() if length in lengths}
                           for name, times in vars(self).items()})


@dataclasses.dataclass(frozen=True)
class Model:
    """The parameters. One way takes o_s + L + (n - 1) G + o_r: the curve `way` is all of it, and G its slope."""
    limit: int  # the longest message that MPI_Send copies
    o_s: Curve
    o_sb: Curve
    o_r: float
    o_rb: Curve
    o_w: Curve  # MPI_Wait for a complete request
    way: Curve
    g: float
    w: Curve    # added to one way if the receiver sleeps and the message comes alone
    w_s: float  # time for which waking keeps the sender's processor

    @property
    def L(self) -> float:
        """Returns L. The overheads of calls that follow each other are g at most, though they may be more after computing."""
        return max(0.0, self.way.at(1) - min(self.o_s.at(1), self.g) - min(self.o_r, self.g))

    def G(self, length: int) -> float:
        """Returns the time of each byte, on the piece of the curve that ends here; 0 before the first."""
        before = [n for n, _ in self.way.points if n < length]
        return (self.way.at(length) - self.way.at(before[-1])) / (length - before[-1]) if before else 0.0

    def one_way(self, length: int) -> float:
        return self.way.at(length)

    def send(self, length: int) -> float:
        """Returns (3) if the buffer has room. Otherwise MPI_Send waits until the buffer has room for the last bytes, as many
        as it holds. The buffer of a library without one holds 0 bytes, and this is (2). The receiver sleeps."""
        copied = self.o_sb.at(length) + self.w_s
        return copied if length <= self.limit else max(copied, self.recv_late(length - self.limit))

    def isend(self, length: int) -> float:
        """Returns (4)."""
        return self.o_s.at(length)

    def wait(self, length: int, computed: float) -> float:
        """Returns the time of section 4.3: that of the rest of the message, which a worker has carried meanwhile."""
        return max(self.o_w.held(length), self.one_way(length) - self.isend(length) - computed)

    def recv_early(self, length: int) -> float:
        """Returns (5)."""
        return self.o_rb.at(length)

    def recv_late(self, length: int) -> float:
        """Returns (6) without the time until the message is sent. The receiver sleeps."""
        return self.one_way(length) + self.w.at(length)


def buffered(send_to_computing: Times, computed: float) -> int:
    """Returns the longest message whose MPI_Send, like that of shorter ones, does not wait for a computing receiver."""
    limit = 0
    for length in sorted(send_to_computing):
        if send_to_computing[length] > computed / 2:
            break
        limit = length
    return limit


def waking(measured: Measured) -> Times:
    """Returns an answer's time without one way of its message and one of the empty message. It is below 0 if a long message
    by itself is faster than one of many."""
    way = Curve.through(measured.one_way)
    return {length: time - way.at(length) - way.at(0) for length, time in measured.answer.items()}


def model_of(measured: Measured, computed: float) -> Model:
    """Returns the model. computed: the us for which a computing rank computes."""
    limit, shortest = buffered(measured.send_to_computing, computed), min(measured.one_way)
    o_sb = Curve.through({n: time for n, time in measured.send_to_computing.items() if n <= limit} or {shortest: 0.0})
    return Model(
        limit=limit,
        o_s=Curve.through(measured.isend),
        o_sb=o_sb,
        o_r=measured.receiver_wait[shortest],
        o_rb=Curve.through(measured.recv_early),
        o_w=Curve.through(measured.wait).until(limit),
        way=Curve.through(measured.one_way),
        g=measured.gap[min(measured.gap)],
        w=Curve.through(waking(measured)),
        w_s=max(0.0, measured.waking_send[shortest] - o_sb.at(shortest)))


@dataclasses.dataclass(frozen=True)
class Table:
    """A table: P5's table 1 and figures 5 to 7, and half a round trip."""
    name: str
    predict: Callable[[Model, int], float]
    kind: str                # the field of Measured that the table predicts
    needs: tuple[str, ...]   # the fields from which its parameters come
    single: bool = True      # one call is timed, not many together


def tables(computed: float) -> list[Table]:
    sends = ("send_to_computing", "waking_send", "one_way", "answer")
    return [Table("half a round trip", Model.one_way, "one_way", ("one_way",), single=False),
            Table("MPI_Send, receiver waits", Model.send, "send_to_waiting", sends),
            Table("MPI_Isend", Model.isend, "isend", ("isend",)),
            Table(f"MPI_Wait after {computed / 1000:g} ms of computing", lambda model, n: model.wait(n, computed), "wait",
                  ("wait", "one_way", "isend")),
            Table("MPI_Recv, has come", Model.recv_early, "recv_early", ("recv_early",)),
            Table("MPI_Recv, has not come", Model.recv_late, "recv_late", ("one_way", "answer"))]
