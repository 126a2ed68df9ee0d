#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# wheel_test.sh PREFIX SCRATCH SOURCE PYTHON: the installation at PREFIX works as a wheel, in an environment of Python, also
# after the environment has moved. `make wheel` does the same with the wheel for other machines.
set -eu
rm -rf "$2"
wheel=$("$4" -B "$3/packaging/wheel/build.py" --pack "$1" "$2" | tail -n 1)
"$4" -B "$3/packaging/wheel/check.py" "$wheel"

# The test finds a wheel that lacks a library.
"$4" - "$wheel" "$2/${wheel##*/}.less" <<'END'
import sys
import zipfile
with zipfile.ZipFile(sys.argv[1]) as whole, zipfile.ZipFile(sys.argv[2], "w") as less:
    for item in whole.infolist():
        if not item.filename.endswith("lib/libmpi_abi.so.1"):
            less.writestr(item, whole.read(item.filename))
END
mv "$2/${wheel##*/}.less" "$wheel"
if said=$("$4" -B "$3/packaging/wheel/check.py" "$wheel" 2>&1); then
    echo "FAILED: a wheel without a library passes: $said" >&2
    exit 1
fi
