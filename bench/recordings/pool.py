# SPDX-License-Identifier: BSD-3-Clause
"""A pool of MPI ranks that work on lines of the Mandelbrot set. It uses mpi4py.futures, whose manager waits for
any worker with any answer."""

import sys

from mpi4py.futures import MPICommExecutor

WIDTH, HEIGHT, MOST = 64, int(sys.argv[1]) if len(sys.argv) > 1 else 1000, 100


def line(y: int) -> int:
    inside = 0
    for x in range(WIDTH):
        c, z = complex(3 * x / WIDTH - 2, 2 * y / HEIGHT - 1), 0j
        for _ in range(MOST):
            z = z * z + c
            if abs(z) > 2:
                break
        else:
            inside += 1
    return inside


with MPICommExecutor() as pool:
    if pool is not None:
        print(sum(pool.map(line, range(HEIGHT))), "of", WIDTH * HEIGHT, "points are inside")
