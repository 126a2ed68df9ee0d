#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# configured_test.sh SOURCE SCRATCH: runs `make configured` on a machine where libfabric and a Fortran compiler come and
# go. Each time it must see what is there. It must say what is left out, why, and which package brings it.
set -eu
source=$1
scratch=$2
rm -rf "$scratch"
mkdir -p "$scratch/pkgconfig"
build=$scratch/build
unset FC MAKEFLAGS MAKEOVERRIDES PKG_CONFIG_PATH || :

fail() {
    echo "FAILED: $*" >&2
    tail -n 40 "$scratch/log" >&2
    exit 1
}

# Headers of hwloc without those of libfabric; add_libfabric adds a stand-in for the latter.
for folder in $(pkg-config --variable pc_path pkg-config | tr : ' '); do
    [ ! -e "$folder/hwloc.pc" ] || ln -sf "$folder/hwloc.pc" "$scratch/pkgconfig/"
done
export PKG_CONFIG_LIBDIR="$scratch/pkgconfig"
add_libfabric() {
    printf 'Name: libfabric\nDescription: a stand-in\nVersion: %s\n' "$1" >"$scratch/pkgconfig/libfabric.pc"
}

# configure VARIABLE=VALUE...: configures a build, and prints the parts that it leaves out.
configure() {
    env "$@" make --no-print-directory -C "$source" configured BUILD="$build" >"$scratch/log" 2>&1 || fail "configure"
    cat "$build/left_out/left_out.txt"
}

said=$(configure FC=/nowhere/gfortran)
case $said in *"left out: the network between hosts (there are no headers of libfabric 1.17 or newer"*"), Fortran (there is no Fortran compiler"*) ;;
*) fail "with neither: $said" ;; esac
add_libfabric 1.16.1
case $(configure FC=/nowhere/gfortran) in *"the network between hosts"*) ;; *) fail "with an old libfabric" ;; esac
add_libfabric 1.17.0
said=$(configure FC=/nowhere/gfortran)
case $said in *"left out: Fortran ("*) ;; *) fail "after libfabric has come: $said" ;; esac
case $said in *"network"*) fail "libfabric was not seen: $said" ;; esac
! command -v gfortran >/dev/null || {
    said=$(configure)
    case $said in *"nothing is left out"*) ;; *) fail "after a Fortran compiler has come: $said" ;; esac
    [ -z "$(grep -L heddle_fortran "$build/build.ninja")" ] || fail "the Fortran library is not built"
}
rm "$scratch/pkgconfig/libfabric.pc"
case $(configure) in *"left out: the network between hosts"*) ;; *) fail "after libfabric has gone" ;; esac

# The package has the name that the distribution gives it.
while read -r id manager; do
    echo "ID_LIKE=\"$id\"" >"$scratch/os-release"
    cmake -DHEDDLE_OS_RELEASE="$scratch/os-release" "$build" >"$scratch/log" 2>&1 || fail "configure"
    grep -q "newer: $manager)" "$build/left_out/left_out.txt" || fail "$id: $(cat "$build/left_out/left_out.txt")"
done <<'END'
debian apt-get install libfabric-dev
ubuntu apt-get install libfabric-dev
fedora dnf install libfabric-devel
opensuse-suse zypper install libfabric-devel
arch pacman -S libfabric
alpine apk add libfabric-dev
END

# A C library that is untried ends the configuration, unless the user wants that library.
! cmake -DHEDDLE_LIBC_IS_GLIBC=OFF "$build" >"$scratch/log" 2>&1 || fail "configured with a C library that is not glibc"
tr -s '\n ' ' ' <"$scratch/log" | grep -q "The C library is not glibc (Alpine has musl)" || fail "another C library has no words"
cmake -DHEDDLE_UNTRIED_LIBC=ON "$build" >"$scratch/log" 2>&1 || fail "HEDDLE_UNTRIED_LIBC=ON does not configure"
grep -q "CMake Warning" "$scratch/log" || fail "HEDDLE_UNTRIED_LIBC=ON has no warning"
