# SPDX-License-Identifier: BSD-3-Clause
"""The library can be loaded by a program that runs already, as Python loads a module that needs it.

    library_loads_late.py LIBRARY READELF

Its thread-local variables are of the kind initial-exec. If it is loaded late, they must fit into the space that the
loader keeps free in each thread's block. Other libraries share that space.
"""

import ctypes
import subprocess
import sys

LIMIT = 256  # bytes; glibc keeps 512 unless told otherwise (glibc.rtld.optional_static_tls)

library, readelf = sys.argv[1:3]
segments = subprocess.run([readelf, "-lW", library], check=True, capture_output=True, text=True).stdout
sizes = [int(line.split()[5], 16) for line in segments.splitlines() if line.split()[:1] == ["TLS"]]
if sum(sizes) > LIMIT:
    sys.exit(f"thread-local variables take {sum(sizes)} bytes, more than {LIMIT}: keep a pointer there")

major, minor = ctypes.c_int(), ctypes.c_int()
if ctypes.CDLL(library).MPI_Abi_get_version(ctypes.byref(major), ctypes.byref(minor)) != 0:
    sys.exit("MPI_Abi_get_version failed")
if (major.value, minor.value) != (1, 0):
    sys.exit(f"ABI {major.value}.{minor.value}")
