#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fetches Debian packages, with those that they need and this machine lacks, and unpacks them. It installs nothing.
#
#     packages.sh PLACE PACKAGE...
#
# The files are in PLACE/root afterwards, apt's lists in PLACE. The exit code is 77 if a package cannot be reached.
set -eu

[ $# -ge 2 ] || { sed -n '3,7p' "$0" >&2; exit 2; }
mkdir -p "$1"
place=$(cd "$1" && pwd)
shift
command -v apt-get >/dev/null || { echo "packages.sh: apt-get is not installed" >&2; exit 77; }

apt=$place/apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/download" "$apt/unpacked" "$place/root"
options="-o Dir::State::Lists=$apt/lists -o Dir::Cache=$apt/cache -o APT::Sandbox::User=root
    -o Debug::NoLocking=true -o APT::Install-Recommends=false"
fail() {
    echo "packages.sh: $1; what apt-get said: $apt/log" >&2
    exit 77
}
# shellcheck disable=SC2086  # several words
[ -e "$apt/updated" ] || apt-get $options -q update >"$apt/log" 2>&1 || fail "the lists of packages cannot be reached"
touch "$apt/updated"
for package in "$@"; do
    [ ! -e "$apt/unpacked/$package" ] || continue
    # The packages that apt would install, and the package itself if it is there already.
    # shellcheck disable=SC2086
    all=$(apt-get $options -s install "$package" 2>>"$apt/log" | sed -n 's/^Inst \([^ ]*\) .*/\1/p') ||
        fail "$package is not known"
    for one in $all $package; do
        [ ! -e "$apt/unpacked/$one" ] || continue
        # shellcheck disable=SC2086
        (cd "$apt/download" && rm -f ./*.deb && apt-get $options -q download "$one" >>"$apt/log" 2>&1) ||
            fail "$one cannot be reached"
        dpkg-deb -x "$apt"/download/*.deb "$place/root"
        rm -f "$apt"/download/*.deb
        touch "$apt/unpacked/$one"
    done
done
