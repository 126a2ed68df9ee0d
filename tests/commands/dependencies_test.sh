#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# dependencies_test.sh SCRIPT SCRATCH: runs tools/dependencies.sh on machines made of stand-ins for Debian's
# commands. The stand-ins write down what they are asked to do.
set -eu
script=$1
scratch=$2
rm -rf "$scratch"
mkdir -p "$scratch/bin"
cd "$scratch"

stand_in() {
    { echo '#!/bin/sh'; cat; } >"bin/$1"
    chmod +x "bin/$1"
}
stand_in dpkg-query <<'END'
for package; do :; done
[ "$package" = "${MISSING:-}" ] && exit 1
printf installed
END
stand_in apt-get <<'END'
echo "$*" >>apt-log
[ "$1" != install ] || exit "${APT_FAILS:-0}"
END
stand_in id <<'END'
echo "${USER_ID:-0}"
END
stand_in sudo <<'END'
exit 1
END

fail() {
    echo "FAILED: $*" >&2
    cat output apt-log >&2 || :
    exit 1
}
# run: runs the script. Its output goes to `output`, its requests to apt-get go to `apt-log`.
purposes='demo check'
run() {
    : >apt-log
    status=0
    env PATH="$PWD/bin:$PATH" "$@" "$script" $purposes >output 2>&1 </dev/null || status=$?
}

run MISSING=
[ "$status" -eq 0 ] && [ ! -s output ] && [ ! -s apt-log ] || fail "not silent though nothing is missing"

run MISSING=libfmt-dev
[ "$status" -eq 0 ] || fail "could not install"
grep -q 'Installing Debian packages: libfmt-dev$' output || fail "did not say what it installs"
grep -q '^install .*libfmt-dev$' apt-log || fail "did not install"

run MISSING=libfmt-dev USER_ID=1000
[ "$status" -eq 0 ] || fail "gave up though there is enough to try"
grep -q 'apt-get install libfmt-dev' output || fail "did not say what to run"
[ ! -s apt-log ] || fail "tried to install without being root"

run MISSING=libfmt-dev APT_FAILS=100
[ "$status" -eq 0 ] || fail "gave up though there is enough to try"
grep -q 'apt-get could not install: libfmt-dev' output || fail "hid that apt-get failed"

# The product needs few packages, and the tests more.
purposes=demo
run MISSING=libgtest-dev
[ "$status" -eq 0 ] && [ ! -s apt-log ] || fail "installed for a demonstration what only tests need"
[ "$(awk '$2 == "demo"' "${script%/*}/debian-packages.txt" | wc -l)" -le 14 ] ||
    fail "the product needs more than 14 packages"
for package in libfabric-dev gfortran; do
    run MISSING=$package
    grep -q "^install .*$package\$" apt-log || fail "$package is no part of the product"
done

# On other distributions the script installs nothing. It names missing packages as the distribution does. PATH has none of
# Debian's commands.
others=$PWD/others
mkdir -p "$others"
for command in sh awk sed tr cat grep dirname env cmake ninja c++ cc python3; do
    ln -s "$(command -v "$command" || echo /bin/true)" "$others/$command"
done
while read -r query id install package; do
    rm -f "$others/rpm" "$others/pacman" "$others/apk"
    { echo '#!/bin/sh'; echo 'for package; do :; done; [ "$package" != "${MISSING:-}" ]'; } >"$others/$query"
    chmod +x "$others/$query"
    printf 'NAME=x\nID=%s\nID_LIKE="x y"\n' "$id" >os-release
    env -i PATH="$others" HEDDLE_OS_RELEASE="$PWD/os-release" "$script" demo >output 2>&1 || fail "$id: nothing is missing"
    [ ! -s output ] || fail "$id: not silent though nothing is missing"
    env -i PATH="$others" HEDDLE_OS_RELEASE="$PWD/os-release" MISSING="$package" "$script" demo >output 2>&1 ||
        fail "$id: gave up though there is enough to try"
    grep -q "^ *$(echo "$install" | tr _ ' ') $package\$" output || fail "$id: did not say what to install"
done <<'END'
rpm fedora dnf_install libfabric-devel
rpm rhel dnf_install gcc-gfortran
rpm opensuse-leap zypper_install gcc-fortran
pacman arch pacman_-S_--needed hwloc
apk alpine apk_add fmt-dev
END
# other-packages.txt names each package of the product for the other distributions.
for package in $(awk '$2 == "demo" { print $1 }' "${script%/*}/debian-packages.txt"); do
    awk -v package="$package" '$1 == package && NF == 5 { found = 1 } END { exit !found }' "${script%/*}/other-packages.txt" ||
        fail "other-packages.txt lacks $package"
done
