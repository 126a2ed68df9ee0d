# SPDX-License-Identifier: BSD-3-Clause
"""Random programs of MPI operations, and a model of MPI that knows whether they end. scripts.c runs them.

    scripts.py SEED [NUMBER]   shows the programs of a seed, and what the model says of them

A program has a list of operations for each thread of each rank. An operation is its letter and numbers:

    s S L i I   send to PEER:ITS THREAD:TAG: small, synchronous, too large for a buffer, MPI_Isend, MPI_Issend
    r q P M p   receive from PEER:ITS THREAD:TAG, -1 is any: MPI_Recv, MPI_Irecv, MPI_Probe and MPI_Recv, MPI_Mprobe and
                MPI_Mrecv, MPI_Probe alone
    a w         MPI_Waitany, MPI_Waitall for all requests since the last MPI_Waitall
    c           the next collective call of group PEER: which one it is follows from group and number
    l z f       computes or sleeps for PEER milliseconds; computes for ever

The model knows nothing of Heddle. It explores every order in which messages can match wildcards (`Explorer`). If MPI leaves
open whether a call waits, as the root of MPI_Bcast may, it tries both. A program counts as right if it ends in every order, as
hanging if it ends in none; others are thrown away.
"""

import pickle
import random
import sys

ANY = -1
SENDS, WAITING_SENDS, RECEIVES = "sSLiI", "SL", "rqPMp"
GROUPS = 4
MOST_STATES = 150


def members(group, size, rank):
    """Returns the ranks of the group that contains `rank`. Groups of the same number have no rank in common."""
    color = [lambda r: 0, lambda r: r >= size // 2, lambda r: r % 2, lambda r: r == size - 1][group]
    return [r for r in range(size) if color(r) == color(rank)]


def kind_of_call(group, number):
    return ("barrier", "allreduce", "bcast", "ibarrier")[(number + group) % 4]


class Operation:
    def __init__(self, code, peer=0, thread=0, tag=0):
        self.code, self.peer, self.thread, self.tag = code, peer, thread, tag

    def __str__(self):
        if self.code in "aw":
            return self.code
        if self.code in "clzf":
            return f"{self.code}:{self.peer}"
        return f"{self.code}:{self.peer}:{self.thread}:{self.tag}"


class Program:
    def __init__(self, ranks, threads, session, scripts):
        self.ranks, self.threads, self.session = ranks, threads, session
        self.scripts = scripts  # by (rank, thread)

    def __str__(self):
        lines = [f"program {self.ranks} {self.threads} {int(self.session)}"]
        lines += [f"{rank} {thread} " + " ".join(map(str, operations)) for (rank, thread), operations in self.scripts.items()]
        return "\n".join(lines) + "\n"


# --- the model ---

class Message:
    """A message that was sent. `place`: the communicator of the pair of threads; `number`: how many messages its thread has
    sent before."""

    def __init__(self, source, place, to, tag, number):
        self.source, self.place, self.to, self.tag, self.number, self.taken = source, place, to, tag, number, False

    def name(self):
        return self.source, self.place[0], self.number


class Receive:
    """A receive that was posted. `of`: its thread; `number`: how many receives that thread has posted before; `match`: the
    message that it has got."""

    def __init__(self, of, place, source, tag, number=0):
        self.of, self.place, self.source, self.tag, self.number, self.match = of, place, source, tag, number, None

    def accepts(self, message):
        return (message.place == self.place and message.to == self.of[0] and self.source in (ANY, message.source)
                and self.tag in (ANY, message.tag))


class State:
    def __init__(self, program):
        self.at = dict.fromkeys(program.scripts, 0)
        self.begun = {}  # by thread: the message, receive or call of its current operation
        self.requests = {thread: [] for thread in program.scripts}
        self.passed = dict.fromkeys(program.scripts, 0)  # calls of MPI_Waitany since the last MPI_Waitall
        self.messages, self.receives = [], []
        self.calls = {}  # by thread and group: collective calls begun

    def signature(self):
        return (tuple(self.at.values()),
                frozenset((r.of, r.number, r.match.name()) for r in self.receives if r.match is not None))


class Explorer:
    """Finds all states of one program in which nothing moves any more."""

    def __init__(self, program, calls_wait):
        self.program, self.calls_wait = program, calls_wait

    def explore(self):
        """Yields the final states, and None in the end if there are too many orders."""
        open_states, seen = [State(self.program)], set()
        while open_states:
            state = open_states.pop()
            self.settle(state)
            signature = state.signature()
            if signature in seen:
                continue
            seen.add(signature)
            if len(seen) > MOST_STATES:
                yield None
                return
            choices = self.choices(state)
            if not choices:
                yield state
            kept = pickle.dumps(state) if choices else b""
            for number in range(len(choices)):
                chosen = pickle.loads(kept)
                self.take(*self.choices(chosen)[number])
                open_states.append(chosen)

    def settle(self, state):
        """Does everything that happens whatever the order is."""
        while self.match(state) or any([self.step(state, thread) for thread in self.program.scripts]):
            pass

    @staticmethod
    def first_from(state, receive, source):
        """Returns the message from `source` that the receive may get: the first that it accepts. Returns None if there is
        none, or if a receive that was posted before takes it."""
        for message in state.messages:
            if message.taken or message.source != source or not receive.accepts(message):
                continue
            before = state.receives[:state.receives.index(receive)] if receive in state.receives else state.receives
            taken = any(r.match is None and r.of == receive.of and r.accepts(message) for r in before)
            return None if taken else message
        return None

    def candidates(self, state, receive):
        sources = range(self.program.ranks) if receive.source == ANY else [receive.source]
        found = [self.first_from(state, receive, source) for source in sources]
        return [message for message in found if message is not None]

    def match(self, state):
        for receive in state.receives:
            if receive.match is None and receive.source != ANY and (found := self.candidates(state, receive)):
                self.take(receive, found[0])
                return True
        return False

    @staticmethod
    def take(receive, message):
        receive.match, message.taken = message, True

    def choices(self, state):
        return [(receive, message) for receive in state.receives
                if receive.match is None and receive.source == ANY for message in self.candidates(state, receive)]

    def operation(self, state, thread):
        script = self.program.scripts[thread]
        return script[state.at[thread]] if state.at[thread] < len(script) else None

    def begin(self, state, thread, operation):
        rank, number = thread
        if operation.code in SENDS:
            message = Message(rank, (number, operation.thread), operation.peer, operation.tag,
                              sum((m.source, m.place[0]) == thread for m in state.messages))
            state.messages.append(message)
            return message
        if operation.code == "p":  # it takes no message
            return Receive(thread, (operation.thread, number), operation.peer, operation.tag)
        if operation.code in RECEIVES:
            receive = Receive(thread, (operation.thread, number), operation.peer, operation.tag,
                              sum(r.of == thread for r in state.receives))
            state.receives.append(receive)
            return receive
        if operation.code == "c":
            call = (thread, operation.peer)
            state.calls[call] = state.calls.get(call, 0) + 1
            return (thread, operation.peer, state.calls[call])
        return True

    def step(self, state, thread):
        """Lets the thread begin or end its operation; returns whether the thread got on."""
        operation = self.operation(state, thread)
        if operation is None:
            return False
        moved = thread not in state.begun
        if moved:
            state.begun[thread] = self.begin(state, thread, operation)
        begun = state.begun[thread]
        if self.is_over(state, thread, operation, begun):
            if operation.code in "iIq" or (operation.code == "c" and self.kind(begun) == "ibarrier"):
                state.requests[thread].append((operation, begun))
            if operation.code == "a":
                state.passed[thread] += 1
            if operation.code == "w":
                state.requests[thread], state.passed[thread] = [], 0
            del state.begun[thread]
            state.at[thread] += 1
            moved = True
        return moved

    @staticmethod
    def kind(call):
        return kind_of_call(call[1], call[2] - 1)

    def is_over(self, state, thread, operation, begun):
        code = operation.code
        if code in WAITING_SENDS:
            return begun.taken
        if code in "rPM":
            return begun.match is not None
        if code == "p":
            return bool(self.candidates(state, begun))
        if code == "a":
            done = sum(self.is_complete(state, *request) for request in state.requests[thread])
            return done > state.passed[thread] or len(state.requests[thread]) <= state.passed[thread]
        if code == "w":
            return all(self.is_complete(state, *request) for request in state.requests[thread])
        if code == "c":
            return self.kind(begun) == "ibarrier" or not self.missing(state, begun)
        return code != "f"

    def is_complete(self, state, operation, begun):
        if operation.code == "i":
            return True
        if operation.code == "I":
            return begun.taken
        if operation.code == "q":
            return begun.match is not None
        return not self.missing(state, begun)

    def missing(self, state, call):
        """Returns the ranks for which the collective call waits."""
        (rank, number), group, count = call
        ranks = members(group, self.program.ranks, rank)
        if self.kind(call) == "bcast" and not self.calls_wait:
            ranks = [ranks[(count - 1) % len(ranks)]]
        return [r for r in ranks if state.calls.get(((r, number), group), 0) < count]

    # --- who waits for whom ---

    def events(self, state, thread):
        """Returns whether the thread needs all of its events, and for each the ranks that can make it happen. Returns None
        if the thread runs or has ended."""
        operation = self.operation(state, thread)
        if operation is None or operation.code == "f":
            return None
        begun = state.begun[thread]
        if operation.code == "a":
            open_requests = [r for r in state.requests[thread] if not self.is_complete(state, *r)]
            return False, [e for r in open_requests for e in self.event_of(state, *r)]
        if operation.code == "w":
            return True, [e for r in state.requests[thread] if not self.is_complete(state, *r) for e in self.event_of(state, *r)]
        return True, self.event_of(state, operation, begun)

    def event_of(self, state, operation, begun):
        if operation.code in SENDS:
            return [{operation.peer}]
        if operation.code in RECEIVES:
            return [set(range(self.program.ranks)) if begun.source == ANY else {begun.source}]
        return [{rank} for rank in self.missing(state, begun)]

    def stuck_ranks(self, state):
        """Returns two sets of ranks. The first have a thread that can never get on, whatever is done by the ranks that compute
        for ever. The second have done everything, and wait for all others in MPI_Finalize."""
        threads = self.program.scripts
        waits = {thread: self.events(state, thread) for thread in threads}
        runs = {rank for rank, number in threads if (operation := self.operation(state, (rank, number))) and operation.code == "f"}
        acts = set(runs)

        def is_released(thread):
            needs_all, events = waits[thread]
            return (all if needs_all else any)(bool(event & acts) for event in events)

        while True:
            more = {thread[0] for thread in threads if waits[thread] and is_released(thread)} - acts
            if not more:
                break
            acts |= more
        stuck = {thread[0] for thread in threads if waits[thread] and not is_released(thread)}
        ended = set() if self.program.session or not stuck else {
            rank for rank in range(self.program.ranks)
            if all(self.operation(state, (rank, number)) is None for number in range(self.program.threads))}
        return stuck, ended


RIGHT, HANGING, OPEN = "right", "hanging", "open"


def outcome(program):
    """Returns whether the program ends. If it hangs, returns the ranks that are stuck for ever in every order, and in any."""
    results, always, ever = set(), None, set()
    for calls_wait in (False, True):
        explorer = Explorer(program, calls_wait)
        for state in explorer.explore():
            if state is None:
                return OPEN, set(), set()
            if any(explorer.operation(state, thread) is not None for thread in program.scripts):
                results.add(HANGING)
                stuck, ended = explorer.stuck_ranks(state)
                always = stuck if always is None else always & stuck
                ever |= stuck | ended
            else:
                results.add(RIGHT if all(m.taken for m in state.messages) else OPEN)
            if len(results) != 1:
                return OPEN, set(), set()
    return results.pop(), always or set(), ever


# --- making programs ---

class Maker:
    """Adds matching operations to all scripts, in one order in which they work. Then it may change something."""

    def __init__(self, choose, ranks, threads):
        self.choose, self.ranks, self.threads = choose, ranks, threads
        self.scripts = {(rank, thread): [] for rank in range(ranks) for thread in range(threads)}
        self.open = dict.fromkeys(self.scripts, 0)
        self.wild = 0.3 if ranks <= 4 else 0.05  # or there are too many orders

    def any_thread(self):
        return self.choose.randrange(self.ranks), self.choose.randrange(self.threads)

    def add(self, thread, operation):
        self.scripts[thread].append(operation)
        if operation.code in "iIq":
            self.open[thread] += 1

    def message(self):
        source, target, tag = self.any_thread(), self.any_thread(), self.choose.randrange(3)
        nonblocking = source == target
        send = self.choose.choice("iiI" if nonblocking else "sssSSLiI")
        receive = self.choose.choice("q" if nonblocking else "rrrqqqPM")
        wild_source = ANY if self.choose.random() < self.wild else source[0]
        wild_tag = ANY if self.choose.random() < self.wild else tag
        if self.choose.random() < 0.1 and not nonblocking:
            self.add(target, Operation("p", wild_source, source[1], wild_tag))
        parts = [(source, Operation(send, target[0], target[1], tag)),
                 (target, Operation(receive, wild_source, source[1], wild_tag))]
        for thread, operation in parts if self.choose.random() < 0.5 else reversed(parts):
            self.add(thread, operation)

    def collective(self):
        group, (rank, thread) = self.choose.randrange(GROUPS), self.any_thread()
        for member in members(group, self.ranks, rank):
            self.add((member, thread), Operation("c", group))
            self.open[member, thread] += 1

    def completion(self):
        thread = self.any_thread()
        if self.open[thread]:
            code = self.choose.choice("aww")
            self.add(thread, Operation(code))
            if code == "w":
                self.open[thread] = 0

    def lateness(self):
        self.add(self.any_thread(), Operation(self.choose.choice("llz"), self.choose.choice([1, 20, 150, 300])))

    def change(self):
        """Makes a mistake as people make them."""
        thread = self.any_thread()
        script = self.scripts[thread]
        if not script:
            return
        at = self.choose.randrange(len(script))
        operation = script[at]
        what = self.choose.randrange(5)
        if what == 0:
            del script[at]
        elif what == 1 and at + 1 < len(script):
            script[at], script[at + 1] = script[at + 1], script[at]
        elif operation.code in "si":
            operation.code = {"s": "S", "i": "I"}[operation.code]
        elif operation.code in RECEIVES:
            operation.tag = self.choose.randrange(3)
            operation.peer = self.choose.choice([ANY, operation.peer])

    def program(self, session, forever):
        for _ in range(self.choose.randint(3, min(5 * self.ranks, 30))):
            self.choose.choice([self.message] * 5 + [self.collective] * 2 + [self.completion] * 3)()
        for _ in range(self.choose.choice([0, 1, 1, 2])):
            self.lateness()
        for _ in range(self.choose.choice([0, 1, 1, 2, 3])):
            self.change()
        for script in self.scripts.values():
            script.append(Operation("w"))
        if forever:
            script = self.scripts[self.any_thread()]
            script.insert(self.choose.randrange(len(script)), Operation("f"))
        return Program(self.ranks, self.threads, session, self.scripts)


def random_program(choose, ranks, forever=False):
    threads = choose.choice([1, 1, 2])
    session = not forever and choose.random() < 0.15
    return Maker(choose, choose.choice(ranks), threads).program(session, forever)


def generate(seed, ranks=(2, 3, 4), wanted=(RIGHT, HANGING), forever=False):
    """Yields an endless series of programs, each with the verdict of the model: as many of each wanted outcome, in turn. If a
    rank computes for ever, others are stuck beside it in at least every second program."""
    choose = random.Random(seed)
    number = 0
    while True:
        program = random_program(choose, ranks, forever)
        result, always, ever = outcome(program)
        if result == wanted[number % len(wanted)] and not (forever and number % 2 == 0 and not always):
            number += 1
            yield program, result, always, ever


if __name__ == "__main__":
    programs = generate(int(sys.argv[1]))
    for number in range(int(sys.argv[2]) if len(sys.argv) > 2 else 2):
        program, result, always, ever = next(programs)
        print(f"# {number}: {result} {sorted(always)} {sorted(ever)}\n{program}", end="")
