// SPDX-License-Identifier: BSD-3-Clause
/* How jobs meet: ports, letters and leaders (dyn/meeting.cpp, dyn/spawning.cpp, comm/letters.cpp, comm/leaders.cpp).

   A server of two processes: its root accepts at one port until this is closed, and tells the other one how each step has
   ended. Clients, a process each, connect. Each of them, and the server, may be killed at any moment; another thread of the
   server closes the port at any moment. What a process has sent before it was killed arrives or not; then others hear that
   it is lost.

   SPAWN: the client is a child. The root accepts once; a starter tells it of a child that has ended.

   Checked: nobody waits for ever (no invalid end state), whoever is killed and whenever the port is closed; and both
   processes of the server see the same steps.

   Each of these takes something out of the protocol, and must make the check fail:
     NO_REFUSAL       a letter to a key that is not open is not answered
     SILENT_CLOSE     a port is closed with letters in it, which nobody refuses
     DEAF_CLIENT      who waits for an answer does not look whether the server is lost
     DEAF_EXCHANGE    who waits for the other leader does not look whether it is lost
     MISSED_LOSS      who waits for the other leader hears of a loss only if it comes while it waits
     SILENT_LEADER    a root that loses the other leader after the first step does not tell its group
     SILENT_STARTER   nobody tells the root of a child that has ended before it came                        */

#ifdef SPAWN
#define CLIENTS 1
#else
#define CLIENTS 2
#endif
#define SERVER CLIENTS
#define STEPS 2         /* of leaders: what they exchange, and tell their groups */

/* Letters, and what a step has come to. */
#define CONNECTS 1
#define ACCEPTED 2
#define REFUSED 3
#define FAILED 4
#define SUCCESS 5
#define LOST 6
#define CLOSED 7
#define LEFT 8

bit is_open = 1;
chan port = [CLIENTS + 1] of { byte, byte };            /* what a letter says, and who has sent it */
chan to_client[CLIENTS] = [1] of { byte };              /* letters at a client's key */
chan to_server[CLIENTS] = [STEPS] of { byte };          /* steps of a client */
chan steps[CLIENTS] = [STEPS] of { byte };              /* of the server */
chan told = [1] of { byte };                            /* by the root to its group */

bit killed[CLIENTS + 1];
bit lost[CLIENTS + 1];  /* the others know */
bit returned[CLIENTS];  /* clients that have connected or were refused */
#define GONE(client) (returned[client] || lost[client])
#ifdef SPAWN
#define ALL_GONE GONE(0)
#else
#define ALL_GONE (GONE(0) && GONE(1))
#endif

/* Of clients that are there. */
inline write_to(client, what) {
    if
    :: killed[client]
    :: !killed[client] -> to_client[client]!what
    fi
}

inline refuse(client) {
#ifdef NO_REFUSAL
    skip
#else
    write_to(client, REFUSED)
#endif
}

inline close_port() {
    atomic {
        is_open = 0;
        do
        :: port?says,from ->
#ifndef SILENT_CLOSE
            if
            :: says == CONNECTS && !lost[from] -> write_to(from, REFUSED)
            :: else
            fi;
#endif
            skip
        :: empty(port) -> break
        od;
        says = 0;
        from = 0
    }
}

/* What has come of the other's step counts, also when the other is lost. */
inline exchange_step(out, in, other) {
#ifdef MISSED_LOSS
    known = lost[other];
#endif
    if
    :: killed[other]
    :: !killed[other] -> out!SUCCESS
    fi;
    if
    :: in?_ -> result = SUCCESS
#ifdef MISSED_LOSS
    :: lost[other] && !known && empty(in) -> result = LOST
#elif !defined(DEAF_EXCHANGE)
    :: lost[other] && empty(in) -> result = LOST
#endif
    fi
}

proctype Root() {
    byte says, from, step, result;
    bit known;
    {
        do
        :: atomic {
                result = 0;
                step = 0;
                if
                :: port?says,from
                :: !is_open && empty(port) -> result = CLOSED
#ifndef SPAWN
                :: ALL_GONE && empty(port) -> result = LEFT   /* nobody will come */
#endif
                fi
            };
            if
            :: result != 0 -> break
            :: result == 0 && says == FAILED -> result = LOST; break
            :: result == 0 && says == CONNECTS && lost[from]         /* the next one, then */
            :: result == 0 && says == CONNECTS && !lost[from] ->
                atomic { write_to(from, ACCEPTED) };
                do
                :: step < STEPS ->
                    exchange_step(steps[from], to_server[from], from);
#ifdef SILENT_LEADER
                    if
                    :: result == LOST && step > 0 -> break
                    :: else
                    fi;
#endif
                    told!result;
                    if
                    :: result == LOST -> break
                    :: result == SUCCESS -> step++
                    fi
                :: step == STEPS -> break
                od;
#ifdef SPAWN
                break
#endif
            fi
        od;
        told!LEFT;
#ifdef SPAWN
        close_port()
#endif
    } unless { killed[SERVER] }
}

/* Repeats the root's calls, and waits for its word at each step. */
proctype Member() {
    byte result, step;
    {
        do
        :: told?result ->
            if
            :: result == SUCCESS -> step = (step + 1) % STEPS
            :: result == LOST -> step = 0
            :: result == LEFT && step == 0 -> break         /* else it waits for the next step */
            fi
        od
    } unless { killed[SERVER] }
}

#ifdef SPAWN
proctype Starter() {
end: {
        killed[0];
#ifndef SILENT_STARTER
        atomic {
            if
            :: is_open -> port!FAILED,0
            :: !is_open
            fi
        }
#endif
    } unless { killed[SERVER] }
}
#else
proctype Closer() {
    byte says, from;
    {
        close_port()
    } unless { killed[SERVER] }
}
#endif

proctype Client(byte self) {
    byte says, step, result;
    bit known;
    {
        atomic {
            if
            :: killed[SERVER]
            :: !killed[SERVER] && is_open -> port!CONNECTS,self
            :: !killed[SERVER] && !is_open -> refuse(self)
            fi
        };
        if
        :: to_client[self]?says
#ifndef DEAF_CLIENT
        :: lost[SERVER] && empty(to_client[self]) -> says = LOST
#endif
        fi;
        do
        :: says == ACCEPTED && step < STEPS ->
            exchange_step(to_server[self], steps[self], SERVER);
            if
            :: result == LOST -> break
            :: result == SUCCESS -> step++
            fi
        :: else -> break
        od;
        returned[self] = 1
    } unless { killed[self] }
}

/* Kills at most one. What that one has sent may be lost with it. */
proctype Killer() {
    byte victim, at;
    if
    :: victim = 0
    :: victim = SERVER
    :: victim = CLIENTS + 1                                          /* nobody */
    fi;
    if
    :: victim <= SERVER ->
        killed[victim] = 1;
        atomic {
            if
            :: victim == SERVER ->
                do
                :: at < CLIENTS ->
                    do
                    :: to_client[at]?_
                    :: steps[at]?_
                    :: break
                    od;
                    at++
                :: at == CLIENTS -> break
                od
            :: victim < SERVER ->
                do
                :: to_server[victim]?_
                :: break
                od
            fi;
            lost[victim] = 1
        }
    :: else
    fi
}

init {
    atomic {
        run Root();
        run Member();
        run Killer();
        run Client(0);
#ifdef SPAWN
        run Starter()
#else
        run Client(1);
        run Closer()
#endif
    }
}
