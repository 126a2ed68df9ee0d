#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# deb.sh FOLDER: builds the Debian packages libheddle, heddle and heddle-dev in FOLDER, from the files that git knows.
# Lets lintian check them, and tries their contents.
set -eu
[ $# -eq 1 ] || { sed -n '4,5p' "$0" >&2; exit 2; }
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
version=$(sed -n 's/^project(heddle VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
work=$folder/heddle-$version
rm -rf "$work" "$folder"/*.deb
mkdir -p "$work"
(cd "$source" && git ls-files -z --cached --others --exclude-standard | tar --null --files-from - -cf -) | tar -xf - -C "$work"
cp -r "$work/packaging/debian" "$work/debian"
{ sed -n '/^Copyright/!p' "$source/LICENSE" | sed 's/^$/./; s/^/ /'; } >>"$work/debian/copyright"
cat >"$work/debian/changelog" <<END
heddle ($version) unstable; urgency=medium

  * What has changed is in CHANGELOG.md.

 -- The Heddle developers <heddle@example.org>  $(git -C "$source" log -1 --format=%cD 2>/dev/null || date -R)
END
cd "$work"
unset MAKEFLAGS MAKELEVEL
DEB_BUILD_OPTIONS="parallel=${JOBS:-$(nproc)} noautodbgsym" dpkg-buildpackage --build=binary --no-sign --no-check-builddeps
cd "$folder"
lintian --fail-on error,warning --allow-root ./*.changes

# The files work from any folder.
rm -rf "$folder/root"
for package in ./*.deb; do dpkg-deb --extract "$package" "$folder/root"; done
bin=$(dirname "$(find "$folder/root/usr/lib" -path '*heddle/bin/mpiexec')")
PATH=$bin:$PATH
mpicc "$source/examples/hash_table.c" -o "$folder/root/program"
said=$(mpiexec --timeout 60 -n 3 "$folder/root/program")
echo "$said"
case $said in *", correct"*) ;; *) exit 1 ;; esac
mpifort "$source/examples/primes.f90" -o "$folder/root/program"
case $(mpiexec --timeout 60 -n 3 "$folder/root/program") in *", correct"*) ;; *) exit 1 ;; esac
heddle info | grep 'nothing is left out'

# The packages' scripts put the commands among those of other MPIs, here in a database of its own.
mkdir "$folder/root/names" "$folder/root/admin"
for name in heddle:mpirun heddle-dev:mpicc; do
    for script in postinst:configure prerm:remove; do
        dpkg-deb --info "$folder"/"${name%:*}"_*.deb "${script%:*}" |
            sed "s|/usr/|$folder/root/usr/|g
                 s|update-alternatives|& --altdir $folder/root/names --admindir $folder/root/admin --log /dev/null|" \
                >"$folder/root/script"
        sh "$folder/root/script" "${script#*:}" 2>/dev/null
        case $script in
            postinst*) "$folder/root/usr/bin/${name#*:}" --version | grep -q . ;;
            *) [ ! -e "$folder/root/usr/bin/${name#*:}" ] ;;
        esac || { echo "deb.sh: ${script%:*} of ${name%:*} is wrong" >&2; exit 1; }
    done
done
rm -rf "$folder/root" "$work"
