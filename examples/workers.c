// SPDX-License-Identifier: BSD-3-Clause
/* A pool of workers. One process starts others, which run this program, too, and hands them work.
 * Start it by ./workers (without mpiexec), or by mpiexec -n 1 ./workers. */
#include <mpi.h>
#include <stdio.h>

enum { workers = 3, ranges = 60, length = 2000, stop = -1 };

static int primes_in(int range) {
    int found = 0;
    for (int n = range * length; n < (range + 1) * length; ++n) {
        int is_prime = n > 1;
        for (int divisor = 2; is_prime && divisor * divisor <= n; ++divisor)
            is_prime = n % divisor != 0;
        found += is_prime;
    }
    return found;
}

static void work(MPI_Comm parent) {
    for (int range = 0, found = 0;; found = primes_in(range)) {
        /* the first message says only that the worker is there */
        MPI_Send(&found, 1, MPI_INT, 0, 0, parent);
        MPI_Recv(&range, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
        if (range == stop) return;
    }
}

static int hand_out(MPI_Comm pool) {
    int sum = 0;
    for (int next = 0, working = workers; working > 0;) {
        int found, what = next < ranges ? next++ : stop;
        MPI_Status status;
        MPI_Recv(&found, 1, MPI_INT, MPI_ANY_SOURCE, 0, pool, &status);
        sum += found;
        MPI_Send(&what, 1, MPI_INT, status.MPI_SOURCE, 0, pool);
        working -= what == stop;
    }
    return sum;
}

int main(int argc, char* argv[]) {
    MPI_Init(&argc, &argv);
    MPI_Comm pool;
    MPI_Comm_get_parent(&pool);
    if (pool != MPI_COMM_NULL) {
        work(pool);
    } else {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, workers, MPI_INFO_NULL, 0, MPI_COMM_SELF, &pool,
                       MPI_ERRCODES_IGNORE);
        const int found = hand_out(pool);
        printf("%d primes below %d, %s\n", found, ranges * length,
               found == 11301 ? "correct" : "wrong");
    }
    MPI_Comm_disconnect(&pool);
    MPI_Finalize();
    return 0;
}
