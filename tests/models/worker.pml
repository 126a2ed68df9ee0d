// SPDX-License-Identifier: BSD-3-Clause
/* Sleeping and waking of the worker of the node: p2p/node_worker.cpp, wake_workers(), poll_for_program() and flush_one(),
   BasicDoorbell of sync/parking.hpp.

   A process announces large messages through a ring with room for ROOM of them; what finds no room waits in its backlog. In the
   receiving process the worker naps NAPS times when it is awake, then sleeps. The program posts receives, for which it has the
   lock of the instance for a moment, and otherwise computes: only the worker takes messages. When it has taken all, the
   program ends it. Store buffers are those of x86: what the sender publishes, and what the worker says, reach memory late unless there
   is a fence.

   Checked: no message is left while the worker sleeps for ever, and who ends the worker ends (no invalid end state).

   Each of these takes something out of the protocol, and must make the check fail:
     NO_SENDER_FENCE  who announces looks at the bell before the message is visible
     NO_WORKER_FENCE  the worker looks before its saying that it sleeps is visible
     LOOK_FIRST       the worker looks before it says that it sleeps
     CARELESS_LOOK    a lock that is not free counts as nothing to do
     EARLY_WAKE       what had to wait for room wakes when it begins to wait, and not when it gets into the ring
     SILENT_END       who ends the worker does not ring                                                     */

#ifndef MESSAGES
#define MESSAGES 3
#endif
#ifndef ROOM
#define ROOM 1
#endif
#ifndef NAPS
#define NAPS 1
#endif

byte published;
byte buffered;          /* messages in the sender's store buffer */
byte consumed;
byte backlog;
bit asleep;             /* the word of the bell */
bit asleep_buffer;      /* in the worker's store buffer */
bit locked;             /* by the program */
bit ends, over;

inline drain_sender() { published = published + buffered; buffered = 0 }
inline drain_worker() {
    if
    :: asleep_buffer -> asleep = 1; asleep_buffer = 0
    :: else
    fi
}

/* A load, and where it finds a sleeper an exchange and a wake-up. */
inline ring_bell() {
    seen = asleep;
    if
    :: seen -> d_step { drain_sender(); asleep = 0; seen = 0 }
    :: else
    fi
}

inline wake() {
#ifndef NO_SENDER_FENCE
    d_step { drain_sender() };
#endif
    ring_bell()
}

#define HAS_ROOM (published + buffered - consumed < ROOM)

proctype Sender() {
    byte sent;
    bit seen;
    do
    :: sent < MESSAGES ->
        atomic {
            sent++;
            if
            :: HAS_ROOM && backlog == 0 -> buffered++
            :: else -> backlog++
            fi
        };
        wake()
    :: backlog > 0 && HAS_ROOM ->
        d_step { backlog--; buffered++ };
#ifndef EARLY_WAKE
        wake()
#endif
    :: sent == MESSAGES && backlog == 0 -> break
    od
}

/* Takes what there is, by try-lock; `found`: there was something, or some is left. */
inline poll() {
    atomic {
        found = 0;
        if
        :: published > consumed && !locked -> consumed = published; found = 1
#ifndef CARELESS_LOOK
        :: published > consumed && locked -> found = 1
#endif
        :: else
        fi
    }
}

inline say_that_it_sleeps() {
#ifdef NO_WORKER_FENCE
    asleep_buffer = 1
#else
    asleep = 1
#endif
}

proctype Worker() {
    bit found;
    byte naps;
    do
    :: true ->
#ifdef LOOK_FIRST
        poll();
        say_that_it_sleeps();
        if
        :: ends -> break
        :: else
        fi;
#else
        say_that_it_sleeps();
        if
        :: ends -> break
        :: else
        fi;
        poll();
#endif
        if
        :: !found -> drain_worker(); !asleep  /* in the kernel */
        :: else
        fi;
        d_step { asleep_buffer = 0; asleep = 0; naps = 0; found = 0 };
        do
        :: naps < NAPS && !ends -> naps++; poll()
        :: naps == NAPS || ends -> break
        od
    od;
    over = 1
}

proctype Program() {
    bit seen;
    byte receives;
    do
    :: receives < 2 -> receives++; locked = 1; locked = 0
    :: receives == 2 -> break
    od;
    consumed == MESSAGES;
    ends = 1;
#ifndef SILENT_END
    ring_bell();
#endif
    over
}

/* Buffers empty themselves in the end. */
proctype Memory() {
end:
    do
    :: d_step { buffered > 0 -> published++; buffered-- }
    :: d_step { asleep_buffer -> asleep = 1; asleep_buffer = 0 }
    od
}

init {
    atomic { run Sender(); run Worker(); run Program(); run Memory() }
}
