# SPDX-License-Identifier: BSD-3-Clause
"""P1: communication resources instances, and how many threads of a process gain by them.

The paper has 1, 10 and 20 instances for up to 20 pairs of threads. Heddle's knob takes powers of two, so that
these are 1, 4 and 32 here: one for all, fewer than pairs, and one for each. A receiver posts its window before
it tells the sender to send, which keeps unexpected messages out of the rates.
"""

from __future__ import annotations

from typing import Optional

from laboratory.figure import At, Claim, End, Figure, Metric, Paper, Series, Who
from laboratory.readings import Counter, Ratio, Result

PAIRS = (1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20)
TIMED = ("--seconds", "{seconds}", "--repetitions", "{repetitions}")
RATE = Metric("rate", "message rate", "M/s", Result("rate"))
COLOURS = {1: "tab:red", 4: "tab:green", 32: "tab:blue"}

ONE_EACH = ("--comm", "per-pair")
ANY_TAG = ("--tag", "any")


def recipe(instances: int, assignment: str, progress: str) -> dict[str, str]:
    """Returns the recipe of the paper's library: instances, and matching in a list for each source of a communicator."""
    return {"HEDDLE_INSTANCES": str(instances), "HEDDLE_ASSIGNMENT": assignment,
            "HEDDLE_PROGRESS": progress, "HEDDLE_MATCHER": "source"}


def threads(name: str, words: tuple[str, ...] = (), environment: Optional[dict[str, str]] = None,
            who: Who = Who.HEDDLE, colour: Optional[str] = None, dashed: bool = False) -> Series:
    return Series(name, ("--pairs", "{x}", "--mode", "threads", *words), environment or {},
                  who=who, colour=colour, dashed=dashed)


def processes(name: str, who: Who) -> Series:
    return Series(name, ("--pairs", "{x}", "--mode", "processes"), ranks=0, ranks_per_x=2, who=who,
                  dashed=True)


def design(instances: int, assignment: str, progress: str, words: tuple[str, ...] = ()) -> Series:
    """Returns a line of figure 3 or 4. Solid is round-robin and dashed is dedicated, as in the paper."""
    several = f"{instances} instances, {assignment}"
    return threads("1 instance" if instances == 1 else several, words,
                   recipe(instances, assignment, progress), colour=COLOURS[instances],
                   dashed=assignment == "dedicated" and instances > 1)


def designs(progress: str, words: tuple[str, ...] = ()) -> tuple[Series, ...]:
    return (design(1, "dedicated", progress, words),
            *(design(instances, assignment, progress, words)
              for instances in (4, 32) for assignment in ("round-robin", "dedicated")),
            threads("Heddle as it comes", words, colour="black"))


def rates(id: str, number: str, title: str, summary: str, series: tuple[Series, ...],
          claims: tuple[Claim, ...]) -> Figure:
    return Figure(id, number, title, summary, "multirate", "pairs of threads", PAIRS, (RATE,), series,
                  claims, words=TIMED)


SERIAL_REFERENCE = threads("32 instances, dedicated, serial progress", (),
                           recipe(32, "dedicated", "serial"), colour="grey", dashed=True)

FIGURE_3A = rates(
    "p1-3a", "figure 3a", "concurrent sends, serial progress",
    "Zero-byte messages between pairs of threads of two processes, one communicator. Only the sending "
    "side has several instances; one thread at a time makes progress.",
    designs("serial"),
    (Claim("One instance shared by all threads loses rate as soon as there are two of them.",
           At("1 instance", 2), At("1 instance", 1), most=1.0),
     Claim("An instance for each thread gains up to 100 % over a shared one.",
           At("32 instances, dedicated"), At("1 instance"), least=1.5),
     Claim("Fewer instances than threads cost a little of that.",
           At("4 instances, dedicated"), At("32 instances, dedicated"), most=1.0),
     Claim("Round-robin assignment gains as well, but less than dedicated instances.",
           At("32 instances, round-robin"), At("32 instances, dedicated"), most=1.0)))

FIGURE_3B = rates(
    "p1-3b", "figure 3b", "concurrent sends and progress",
    "As figure 3a, and all threads may make progress at once. Matching stays serial: one "
    "communicator, one set of queues.",
    (*designs("concurrent"), SERIAL_REFERENCE),
    (Claim("Concurrent progress alone makes it worse than serial progress.",
           At("32 instances, dedicated"), At("32 instances, dedicated, serial progress"), most=1.0),
     Claim("More threads lose rate, whatever the number of instances.",
           At("32 instances, dedicated"), At("32 instances, dedicated", End.FIRST), most=1.0),
     Claim("Round-robin loses likewise.",
           At("32 instances, round-robin"), At("32 instances, round-robin", End.FIRST), most=1.0)))

FIGURE_3C = rates(
    "p1-3c", "figure 3c", "concurrent sends, progress and matching",
    "As figure 3b with a communicator for each pair, whose queues only this pair uses.",
    (*designs("concurrent", ONE_EACH), SERIAL_REFERENCE),
    (Claim("Concurrent matching is what lets the rate rise, far above what serial matching gives.",
           At("32 instances, dedicated"), At("32 instances, dedicated, serial progress"), least=2.0),
     Claim("Dedicated instances let it grow with the number of threads.",
           At("32 instances, dedicated"), At("32 instances, dedicated", End.FIRST), least=1.5),
     Claim("Round-robin grows, too.",
           At("32 instances, round-robin"), At("32 instances, round-robin", End.FIRST), least=1.0),
     Claim("Dedicated instances are better than round-robin.",
           At("32 instances, dedicated"), At("32 instances, round-robin"), least=1.0)))

OVERTAKING = ("All receives have MPI_ANY_TAG on communicators with mpi_assert_allow_overtaking: no "
              "sequence is checked and the first posted receive matches. ")

FIGURE_4A = rates(
    "p1-4a", "figure 4a", "no message order, serial progress",
    OVERTAKING + "Otherwise as figure 3a. With tags instead of MPI_ANY_TAG a message that overtook others "
    "has to be searched for among the receives.",
    (*designs("serial", ANY_TAG), SERIAL_REFERENCE,
     threads("32 instances, dedicated, tags", ("--order", "free"), recipe(32, "dedicated", "serial"),
             colour="tab:cyan", dashed=True)),
    (Claim("More instances still gain something on the sending side.",
           At("32 instances, dedicated"), At("1 instance"), least=1.1),
     Claim("Cheap matching keeps the rate up: more threads do not lose it.",
           At("32 instances, dedicated"), At("32 instances, dedicated", End.FIRST), least=0.9),
     Claim("With tags, giving up the order gains less: the search of the queue has its price.",
           At("32 instances, dedicated, tags"), At("32 instances, dedicated"), most=1.0)))

FIGURE_4B = rates(
    "p1-4b", "figure 4b", "no message order, concurrent progress",
    OVERTAKING + "Otherwise as figure 3b.",
    (*designs("concurrent", ANY_TAG),
     threads("32 instances, dedicated, serial progress", ANY_TAG, recipe(32, "dedicated", "serial"),
             colour="grey", dashed=True)),
    (Claim("Threads meet at the lock of the queues: more of them lose rate.",
           At("32 instances, dedicated"), At("32 instances, dedicated", End.FIRST), most=1.0),
     Claim("Still it ends at about the same rate as serial progress.",
           At("32 instances, dedicated"), At("32 instances, dedicated, serial progress"),
           least=0.7, most=1.3)))

FIGURE_4C = rates(
    "p1-4c", "figure 4c", "no message order, concurrent progress and matching",
    OVERTAKING + "Otherwise as figure 3c.",
    (*designs("concurrent", ONE_EACH + ANY_TAG),
     threads("32 instances, dedicated, order kept", ONE_EACH, recipe(32, "dedicated", "concurrent"),
             colour="grey", dashed=True)),
    (Claim("With matching concurrent, giving up the order gains nothing more.",
           At("32 instances, dedicated"), At("32 instances, dedicated, order kept"),
           least=0.8, most=1.25),))

FIGURE_5 = Figure(
    "p1-5", "figure 5", "threads against processes, for several MPIs",
    "The same pairs as threads of two processes and as processes of one thread each. Beside Heddle as it "
    "comes, and the peers that were given: the paper's library before (one instance, serial progress), "
    "with an instance for each thread, and with concurrent progress and matching.",
    "multirate", "pairs", PAIRS,
    (Metric("rate", "message rate", "M/s", Result("rate"), log=True),),
    (threads("threads", who=Who.ALL), processes("processes", Who.ALL),
     threads("one instance, serial progress", (), recipe(1, "dedicated", "serial"), colour="tab:red"),
     threads("instance for each thread", (), recipe(32, "dedicated", "serial"), colour="tab:orange"),
     threads("and concurrent progress and matching", ONE_EACH, recipe(32, "dedicated", "concurrent"),
             colour="grey")),
    (Claim("Threads stay far below processes in every MPI.", At("processes"), At("threads"), least=2.0,
           each=True),
     Claim("Several instances give about twice the rate of one.",
           At("instance for each thread"), At("one instance, serial progress"), least=1.5),
     Claim("With concurrent progress and matching it is up to ten times that of one.",
           At("and concurrent progress and matching"), At("one instance, serial progress"), least=5.0),
     Claim("Even so threads do not reach processes.",
           At("and concurrent progress and matching"), At("processes"), most=0.9),
     Claim("Heddle's promise, not the paper's: threads that share one communicator are as fast as "
           "processes.", At("threads"), At("processes"), least=0.95)),
    words=TIMED)


TIMED_MATCHING = {"HEDDLE_MATCH_TIMING": "on"}


def counted(name: str, progress: str, words: tuple[str, ...] = ()) -> tuple[Series, ...]:
    return tuple(threads(f"{name}, {instances} instance{'s' if instances > 1 else ''}", words,
                         {**recipe(instances, "dedicated", progress), **TIMED_MATCHING}) for instances in (1, 4, 32))


ROUND_ROBIN = threads("concurrent progress, 32 instances, round-robin", (),
                      {**recipe(32, "round-robin", "concurrent"), **TIMED_MATCHING})
AS_IT_COMES = threads("Heddle as it comes", (), TIMED_MATCHING, colour="black")


# The receivers are rank 1. The messages by which they tell senders to go on are not counted.
OUT_OF_SEQUENCE, RECEIVED = Counter("out_of_sequence", 1), Counter("received_messages", 1)
NS_IN_MS = 1e-6

TABLE_2 = Figure(
    "p1-t2", "table II", "messages out of sequence, and time spent in matching",
    "Figure 3's runs with dedicated instances, but of 1010 windows of 128 messages for each pair, which "
    "makes the paper's 2,585,600 messages at 20 pairs, as the receiving process counts them.",
    "multirate", "pairs of threads", PAIRS,
    (Metric("out_of_sequence", "out of sequence", "messages", OUT_OF_SEQUENCE, log=True),
     Metric("share", "out of sequence", "%", Ratio(OUT_OF_SEQUENCE, RECEIVED, 100)),
     Metric("match_time", "match time", "ms", Counter("match_time", 1, NS_IN_MS), log=True)),
    (*counted("serial progress", "serial"), *counted("concurrent progress", "concurrent"),
     *counted("and matching", "concurrent", ONE_EACH), ROUND_ROBIN, AS_IT_COMES),
    (Claim("With serial progress most messages come out of sequence: 86 %.",
           At("serial progress, 32 instances"), least=50, metric="share"),
     Claim("With concurrent progress it is even more of them: 94 %.",
           At("concurrent progress, 32 instances"), At("serial progress, 32 instances"),
           least=1.0, metric="share"),
     Claim("Matching takes three times as long with concurrent progress.",
           At("concurrent progress, 32 instances"), At("serial progress, 32 instances"),
           least=2.0, metric="match_time"),
     Claim("With concurrent matching hardly any message is out of sequence.",
           At("and matching, 32 instances"), most=1.0, metric="share"),
     Claim("Concurrent matching takes a seventh of the time of serial progress.",
           At("and matching, 32 instances"), At("serial progress, 32 instances"),
           most=0.3, metric="match_time"),
     Claim("Round-robin sends most of one communicator's messages out of sequence.",
           At(ROUND_ROBIN.name), least=50, metric="share"),
     Claim("Here: as it comes, no message is out of sequence.", At(AS_IT_COMES.name), most=0, metric="share"),
     Claim("Here: and matching takes less than with the paper's concurrent matching.",
           At(AS_IT_COMES.name), At("and matching, 32 instances"), most=1.0, metric="match_time")),
    words=("--windows", "1000", "--repetitions", "1"))



def one_sided(operation: str, flush: str, bytes: int, colour: str) -> Series:
    by = "each thread flushes" if flush == "each" else "one thread flushes"
    return Series(f"{operation} {bytes} B, {by}",
                  ("--threads", "{x}", "--operation", operation, "--flush", flush, "--bytes", str(bytes)), {},
                  who=Who.ALL, colour=colour, dashed=flush == "one")


THREADS = (1, 2, 4, 8, 16)
RMA = Figure(
    "p1-rma", "section IV-F", "one-sided communication of threads (RMA-MT)",
    "Threads of one process put to, or get from, places of their own in a window of the other process, a thousand "
    "operations each before a flush.",
    "rma", "threads", THREADS, (RATE,),
    (one_sided("put", "each", 8, "tab:blue"), one_sided("put", "one", 8, "tab:blue"),
     one_sided("get", "each", 8, "tab:green"), one_sided("put", "each", 16384, "tab:red")),
    (Claim("Here: threads on one window do not slow each other down.",
           At("put 8 B, each thread flushes"), At("put 8 B, each thread flushes", End.FIRST), least=0.9),
     Claim("Here: nor does one thread that flushes for all.",
           At("put 8 B, one thread flushes"), At("put 8 B, each thread flushes"), least=0.7)),
    words=("--measure", "rate", "--rounds", "100000", "--repetitions", "{repetitions}"))

PAPER = Paper(
    "p1", "Give MPI Threading a Fair Chance: A Study of Multithreaded MPI Designs",
    "Patinyasakdikul, Eberius, Bosilca, Hjelm; IEEE Cluster 2019",
    (FIGURE_3A, FIGURE_3B, FIGURE_3C, TABLE_2, FIGURE_4A, FIGURE_4B, FIGURE_4C, FIGURE_5, RMA))
