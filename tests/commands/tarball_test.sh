#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# tarball_test.sh PREFIX SCRATCH SOURCE PYTHON: the installation at PREFIX works as an archive, in any folder, also after
# the folder has moved. `make tarball` does the same with a build for other machines.
set -eu
rm -rf "$2"
archive=$("$4" -B "$3/packaging/wheel/build.py" --pack-tarball "$1" "$2" | tail -n 1)
"$4" -B "$3/packaging/wheel/check.py" "$archive"
