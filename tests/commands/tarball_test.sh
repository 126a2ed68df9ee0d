#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# tarball_test.sh PREFIX SCRATCH SOURCE PYTHON: what is installed at PREFIX works as an archive, in any folder, also after that has
# moved. `make tarball` does so with what is built for other machines.
set -eu
rm -rf "$2"
archive=$("$4" -B "$3/packaging/wheel/build.py" --pack-tarball "$1" "$2" | tail -n 1)
"$4" -B "$3/packaging/wheel/check.py" "$archive"
