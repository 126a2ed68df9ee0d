// SPDX-License-Identifier: BSD-3-Clause
/* A ring whose idle pages are dropped: node/ring.hpp.

   Four cells on two pages; sequences count to eight, so that they begin anew every second round.
   The producer sends messages of one or two cells, with fillers, and drops pages between any two of them, a cell
   after the other. Payload is whatever would be worst. The consumer looks and gives back whenever it
   likes. Each side stores in the order in which the other may see it, and reads back what only it writes: store
   buffers (total store order) delay what is seen here at once, and add nothing. The kernel drops pages in a
   system call.

   Checked: the consumer finds all messages in order, and nothing else (no invalid end state).

   Sizes: MESSAGES.

   Each of these takes something out of the protocol, and must make the check fail:
     NO_WIPE     the last cell is not wiped after its page was dropped
     TAIL_ZERO   the page of the tail is dropped, also where zero is what is looked for there
     UNREAD      pages are dropped whatever the consumer has left to read in them                     */

#ifndef MESSAGES
#define MESSAGES 9
#endif

#define SLOTS 4
#define PAGE 2
#define SEQUENCES 8

byte sequence[SLOTS], cells[SLOTS], number[SLOTS];
bit fills[SLOTS];
byte head;                  /* given back */
byte tail;                  /* the producer's */
byte published;             /* positions before it have been: what the checks know */
byte received;

/* --- the producer --- */
bit carried[SLOTS];
byte sent;
bit idle[SLOTS / PAGE];

inline wipe(position) {
    if
    :: carried[(position) % SLOTS] ->
        sequence[(position) % SLOTS] = (position) % SEQUENCES;
        carried[(position) % SLOTS] = 0
    :: else
    fi
}
inline publish(size) {
    cells[tail % SLOTS] = size;
    wipe(tail + size);
    d_step {
        sequence[tail % SLOTS] = (tail + 1) % SEQUENCES;
        tail = tail + size;
        published = tail
    }
}
inline store_payload() {
    carried[(tail + 1) % SLOTS] = 1;
    if  /* what the next rounds look for there, and what the last one did */
    :: sequence[(tail + 1) % SLOTS] = (tail + 2) % SEQUENCES
    :: sequence[(tail + 1) % SLOTS] = (tail + 2 + SLOTS) % SEQUENCES
    :: skip
    fi
}
inline drop_cell(i) {
    if
    :: idle[(i) / PAGE] -> sequence[i] = 0; cells[i] = 0; number[i] = 0; fills[i] = 0
    :: else
    fi
}
inline find_idle() {
    d_step {
        idle[0] = 1;
        idle[1] = 1;
        at = head;
#ifdef UNREAD
        at = tail;
#endif
        do
        :: at < tail -> idle[(at % SLOTS) / PAGE] = 0; at++
        :: else -> break
        od;
#ifndef TAIL_ZERO
        if
        :: (tail + 1) % SEQUENCES == 0 -> idle[(tail % SLOTS) / PAGE] = 0
        :: else
        fi;
#endif
        at = 0;
#ifndef NO_WIPE
        if
        :: idle[1] -> carried[SLOTS - 1] = 1
        :: else
        fi
#endif
    }
}

active proctype producer() {
    byte size, at;
    do
    :: sent < MESSAGES ->
        if
        :: size = 1
        :: size = 2
        fi;
        if
        :: tail % SLOTS + size > SLOTS ->  /* a filler, once there is room for both */
            (tail + 1 + size - head < SLOTS);
            fills[tail % SLOTS] = 1;
            publish(1)
        :: else
        fi;
        (tail + size - head < SLOTS);
        fills[tail % SLOTS] = 0;
        number[tail % SLOTS] = sent;
        if
        :: size == 2 -> store_payload()
        :: else
        fi;
        publish(size);
        sent++;
        size = 0
    :: sent < MESSAGES ->
        find_idle();
        drop_cell(0);
        drop_cell(1);
        drop_cell(2);
        drop_cell(3)
    :: sent == MESSAGES -> break
    od
}

active proctype consumer() {
    byte mine;              /* its own head */
    do
    :: received < MESSAGES && sequence[mine % SLOTS] == (mine + 1) % SEQUENCES ->
        if
        :: mine < published && fills[mine % SLOTS]
        :: mine < published && !fills[mine % SLOTS] && number[mine % SLOTS] == received -> received++
        :: else -> (false)      /* it has found what is none */
        fi;
        mine = mine + cells[mine % SLOTS]
    :: received < MESSAGES && head != mine -> head = mine
    :: received == MESSAGES -> break
    od
}
