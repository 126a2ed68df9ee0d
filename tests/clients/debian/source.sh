#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fetches the sources of a Debian package as its authors published them, without Debian's changes.
#
#     source.sh PACKAGE PLACE
#
# The sources are in PLACE/source afterwards. apt asks the servers that this machine's packages come from, by a list of its
# own in PLACE; the lists of the machine stay as they are. The exit code is 77 if the sources cannot be reached.
set -eu

[ $# -eq 2 ] || { sed -n '3,8p' "$0" >&2; exit 2; }
package=$1
mkdir -p "$2"
place=$(cd "$2" && pwd)
[ ! -d "$place/source" ] || exit 0
command -v apt-get >/dev/null || { echo "source.sh: apt-get is not installed" >&2; exit 77; }

apt=$place/apt
rm -rf "$apt"
mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/download"
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    case $list in
        *.list) sed -n 's/^deb /deb-src /p' "$list" >"$apt/parts/$(basename "$list")" ;;
        */debian.sources) sed 's/^Types: .*/Types: deb-src/' "$list" >"$apt/parts/debian.sources" ;;
    esac
done 2>/dev/null || true
chmod 755 "$apt" "$apt"/* 2>/dev/null || true
options="-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts=$apt/parts -o Dir::State::Lists=$apt/lists
    -o Dir::Cache=$apt/cache -o APT::Sandbox::User=root"
# shellcheck disable=SC2086  # several words
apt-get $options -q update >"$apt/log" 2>&1 &&
    (cd "$apt/download" && apt-get $options -q source --download-only "$package" >>"$apt/log" 2>&1) || {
    echo "source.sh: the sources of $package cannot be reached; what apt-get said: $apt/log" >&2
    exit 77
}
archive=$(find "$apt/download" -name '*.orig.tar.*' ! -name '*.asc' | head -n 1)
mkdir "$place/unpacked"
tar -xf "$archive" -C "$place/unpacked"
mv "$place"/unpacked/* "$place/source"
rmdir "$place/unpacked"
