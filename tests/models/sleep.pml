// SPDX-License-Identifier: BSD-3-Clause
/* Sleeping and being woken: progress/wait.hpp, progress/lot.hpp, sync/parking.hpp, Producer::cold()
   of node/ring.hpp, Node::notify and what p2p/hot_rings.cpp does to rings.

   Two senders in other processes, one ring each; in the receiving process a thread that waits for the
   last message of ring 0, one for that of ring 1, and a helper that makes progress now and then and
   goes away. Whichever waiter comes first leads. Store buffers are those of x86 (total store order):
   a sender's publishing, the receiving threads' stores of hot, done and waiter reach memory late; a
   heavy fence empties all buffers.

   Checked: nobody sleeps for ever (no invalid end state) while a message is left or a request is done.

   Sizes: MESSAGES (of each sender), HELPER_POLLS. UNLISTED: the rings start unused instead of polled.

   Each of these takes something out of the protocol, and must make the check fail:
     NO_FENCE        heavy fences do nothing
     EARLY_UNLIST    a ring leaves the polled ones when it is cold, without a fence since it became so
     CARELESS_HELPER the mailbox's bit is cleared before the ring is listed, and without the lock, and who
                     leaves messages behind in a cold ring does not tell the leader
     NO_HANDOVER     a leader that goes away does not ask another thread to lead                      */

#ifndef MESSAGES
#define MESSAGES 2
#endif
#ifndef HELPER_POLLS
#define HELPER_POLLS 1
#endif

#define NOBODY 3
#define HELPER 2

/* slots */
#define RUNNING 0
#define ASLEEP 1
#define AT_BELL 2
#define SIGNALLED 3

byte published[2];
byte buffered[2];           /* messages in the sender's store buffer */
byte consumed[2];
#ifdef UNLISTED
bit hot[2];                 /* nobody has used the rings yet */
bit listed[2];
#else
bit hot[2] = 1;             /* both rings have been polled lately */
bit listed[2] = 1;
#endif
bit fenced[2];
bit moved_since[2];
bit rung[2];
bit locked[2];
byte holder[2] = NOBODY;    /* of the lock, lastly */
byte parked[2];
bit done[2];
bit waiter[2];
byte slot[2];
bit in_lot[2];
bit led, leader_sleeps, bell;   /* bell: 1 asleep */

/* store buffers of the receiving threads */
byte hot_buffer[6];         /* [2 * thread + ring]: 0 nothing, 1 store of 0, 2 store of 1 */
bit done_buffer[6];
bit waiter_buffer[2];

inline drain_ring_stores(t, q) {
    if
    :: hot_buffer[2 * t + q] != 0 -> hot[q] = hot_buffer[2 * t + q] - 1; hot_buffer[2 * t + q] = 0
    :: else
    fi;
    if
    :: done_buffer[2 * t + q] -> done[q] = 1; done_buffer[2 * t + q] = 0
    :: else
    fi
}
inline drain_own(t) {
    drain_ring_stores(t, 0);
    drain_ring_stores(t, 1);
    if
    :: t < 2 && waiter_buffer[t] -> waiter[t] = 1; waiter_buffer[t] = 0
    :: else
    fi
}
inline drain_sender(q) { published[q] = published[q] + buffered[q]; buffered[q] = 0 }

inline heavy() {
#ifdef NO_FENCE
    skip
#else
    d_step {
        drain_sender(0); drain_sender(1);
        drain_own(0); drain_own(1); drain_own(2)
    }
#endif
}

/* Taking a lock is a read-modify-write, and sees what the last holder stored before it let go. */
inline take(t, q) {
    if
    :: holder[q] == 0 -> drain_own(0)
    :: holder[q] == 1 -> drain_own(1)
    :: holder[q] == 2 -> drain_own(2)
    :: else
    fi;
    drain_own(t);
    locked[q] = 1;
    holder[q] = t
}
inline ring_bell() { bell = 0 }
inline signal(s) {
    if
    :: slot[s] == AT_BELL -> ring_bell()
    :: else
    fi;
    slot[s] = SIGNALLED
}

/* What the thread sees, its own buffer first. */
#define SEES_HOT(t, q) (hot_buffer[2 * t + q] == 2 || (hot_buffer[2 * t + q] == 0 && hot[q]))
#define SEES_DONE(t, q) (done[q] || done_buffer[2 * t + q])
#define CAME(q) (listed[q] && published[q] > consumed[q])

/* Delivers one message, a full batch, lets go of the lock and wakes. In one step: what others see
   late is late because of the buffers. */
inline deliver_and_unlock(t, q) {
    d_step {
        wake = 0;
        if
        :: published[q] > consumed[q] ->
            consumed[q]++;
            moved_since[q] = 1;
            if
            :: consumed[q] == MESSAGES -> done_buffer[2 * t + q] = 1; wake = waiter[q]
            :: else
            fi;
            if
            :: !SEES_HOT(t, q) && parked[q] == 0 ->
                hot_buffer[2 * t + q] = 2;
                fenced[q] = 0;
                if
                :: leader_sleeps -> ring_bell()
                :: else
                fi
            :: else
            fi;
#ifndef CARELESS_HELPER
            if
            :: leader_sleeps -> ring_bell()
            :: else
            fi
#endif
        :: else
        fi;
        locked[q] = 0
    };
    if
    :: wake -> d_step { drain_own(t); signal(q); wake = 0 }
    :: else
    fi
}

inline visit(t, q) {
    if
    :: CAME(q) ->
        if
        :: d_step { !locked[q] -> take(t, q) }; deliver_and_unlock(t, q)
        :: else
        fi
    :: else
    fi
}

inline answer(t, q) {
    if
    :: rung[q] ->
#ifdef CARELESS_HELPER
        d_step { drain_own(t); rung[q] = 0 };
        d_step { !locked[q] -> take(t, q); listed[q] = 1 };
        deliver_and_unlock(t, q)
#else
        if
        :: d_step { !locked[q] -> take(t, q); rung[q] = 0; listed[q] = 1 };
            deliver_and_unlock(t, q)
        :: else
        fi
#endif
    :: else
    fi
}

inline answer_mailbox(t) { answer(t, 0); answer(t, 1) }
inline poll_all(t) { visit(t, 0); visit(t, 1); answer_mailbox(t) }

inline cool(t, q) {
    d_step {
        !locked[q] -> take(t, q);
        if
        :: listed[q] -> hot_buffer[2 * t + q] = 1
        :: else
        fi;
        locked[q] = 0
    }
}

/* Nobody waits in the instance: the ring may stay hot while it moves. */
inline cool_idle(t, q) {
    d_step {
        !locked[q] -> take(t, q);
        if
        :: !listed[q]
        :: listed[q] && moved_since[q] && parked[q] == 0 && SEES_HOT(t, q) -> watching = 1
        :: else ->
            if
#ifdef EARLY_UNLIST
            :: !SEES_HOT(t, q) && !moved_since[q] && published[q] == consumed[q] -> listed[q] = 0
#else
            :: fenced[q] && !moved_since[q] && published[q] == consumed[q] -> listed[q] = 0
#endif
            :: else
            fi;
            hot_buffer[2 * t + q] = 1;
            fenced[q] = 1
        fi;
        moved_since[q] = 0;
        locked[q] = 0
    }
}

inline lead(t, q) {
    do
    :: SEES_DONE(t, q) -> break
    :: else ->
        d_step { drain_own(t); bell = 1 };
        if
        :: slot[t] == SIGNALLED -> break
        :: d_step { slot[t] == RUNNING -> slot[t] = AT_BELL }
        fi;
        d_step { leader_sleeps = 1; watching = 0 };
        cool_idle(t, 0);
        cool_idle(t, 1);
        heavy();
        if
        :: rung[0] || rung[1]
        :: else ->
            if
            :: CAME(0) || CAME(1) || SEES_DONE(t, q) || watching  /* a watch ends by itself */
            :: else -> bell == 0                                  /* sleeps */
            fi
        fi;
        d_step {
            bell = 0;
            leader_sleeps = 0;
            drain_own(t);
            if
            :: slot[t] == AT_BELL -> slot[t] = RUNNING
            :: else
            fi
        };
        poll_all(t);
        if
        :: slot[t] == SIGNALLED -> break
        :: else
        fi
    od;
    bell = 0
}

inline leave(t) {
    d_step {
        drain_own(t);
        if
        :: leading -> led = 0
        :: else
        fi
    };
    d_step {
        in_lot[t] = 0;
#ifndef NO_HANDOVER
        if
        :: in_lot[1 - t] && !led ->
            if
            :: slot[1 - t] == AT_BELL -> ring_bell()
            :: else
            fi;
            slot[1 - t] = SIGNALLED
        :: else
        fi
#endif
    }
}

proctype Waiter(byte self) {
    bit wake, leading, watching;
    d_step { parked[self]++; in_lot[self] = 1 };
    cool(self, self);
    do
    :: d_step { drain_own(self); slot[self] = RUNNING };
        waiter_buffer[self] = 1;
        heavy();
        visit(self, self);
        answer_mailbox(self);
        if
        :: SEES_DONE(self, self) ->
            d_step { drain_own(self); waiter[self] = 0; parked[self]-- };
            leave(self);
            break
        :: else
        fi;
        if
        :: !leading && !led -> d_step { if :: !led -> drain_own(self); led = 1; leading = 1 :: else fi }
        :: else
        fi;
        if
        :: leading -> lead(self, self)
        :: else ->
            d_step {
                drain_own(self);
                if
                :: slot[self] == RUNNING -> slot[self] = ASLEEP
                :: else
                fi
            };
            slot[self] != ASLEEP
        fi
    od
}

proctype Helper() {
    bit wake;
    byte polls;
    do
    :: polls < HELPER_POLLS -> polls++; poll_all(HELPER)
    :: polls == HELPER_POLLS -> break
    od
}

proctype Sender(byte to) {
    byte sent;
    bit cold;
    do
    :: sent < MESSAGES ->
        buffered[to]++;
        cold = !hot[to];     /* the load may go before the store above reaches memory */
        if
        :: cold ->
            d_step { drain_sender(to); rung[to] = 1 };
            ring_bell()
        :: else
        fi;
        sent++;
        cold = 0
    :: sent == MESSAGES -> break
    od
}

/* Buffers empty themselves in the end. */
proctype Memory() {
end:
    do
    :: d_step { buffered[0] > 0 -> published[0]++; buffered[0]-- }
    :: d_step { buffered[1] > 0 -> published[1]++; buffered[1]-- }
    :: d_step { hot_buffer[0] || hot_buffer[1] || done_buffer[0] || done_buffer[1] || waiter_buffer[0] -> drain_own(0) }
    :: d_step { hot_buffer[2] || hot_buffer[3] || done_buffer[2] || done_buffer[3] || waiter_buffer[1] -> drain_own(1) }
    :: d_step { hot_buffer[4] || hot_buffer[5] || done_buffer[4] || done_buffer[5] -> drain_own(2) }
    od
}

init {
    atomic {
        run Sender(0); run Sender(1);
        run Waiter(0); run Waiter(1);
        run Helper(); run Memory()
    }
}
