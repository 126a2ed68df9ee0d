#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# dependencies_test.sh SCRIPT SCRATCH: tools/dependencies.sh on machines made of stand-ins for Debian's
# commands, which write down what they are asked to do.
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
# run: what the script says goes to `output`, what it asks of apt-get to `apt-log`.
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

# The product needs little, and the tests more.
purposes=demo
run MISSING=libgtest-dev
[ "$status" -eq 0 ] && [ ! -s apt-log ] || fail "installed for a demonstration what only tests need"
[ "$(awk '$2 == "demo"' "${script%/*}/debian-packages.txt" | wc -l)" -le 14 ] ||
    fail "the product needs more than 14 packages"
for package in libfabric-dev gfortran; do
    run MISSING=$package
    grep -q "^install .*$package\$" apt-log || fail "$package is no part of the product"
done
