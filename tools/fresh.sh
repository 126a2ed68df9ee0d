#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# fresh.sh [--in DIR]: does what the README tells a newcomer, in a Debian made anew, and says how long it took.
#
# The Debian is a folder below TMPDIR, from the package sources of this machine. It contains only git, make and what
# every Debian has. The newest commit is cloned into it. Every line of the README's sections "Try it" and "Your own
# program" is run there as it stands. Then a wheel and packages are made there. Another Debian, which has only
# Python's venv, tries them: the wheel with mpi4py from PyPI, the packages by apt. Mounts live in a namespace that
# ends with the script. The folder is removed, also if the script is interrupted. Takes root, about two gigabytes
# and the network.
#
# With --in the folder is DIR and stays, and the next call goes on after the last line that worked. So
# `timeout 500 tools/fresh.sh --in DIR`, again and again, does the same where no command may run for long.
set -eu

keep=
[ $# -ne 2 ] || [ "$1" != --in ] || { mkdir -p "$2"; keep=$(cd "$2" && pwd); shift 2; }
[ $# -eq 0 ] || { sed -n '4,14p' "$0" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo "fresh.sh: making a Debian and mounting in it takes root" >&2; exit 1; }
checkout=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:?fresh.sh: this is not a Debian with a name}")

if [ "${HEDDLE_FRESH_INSIDE:-}" != yes ]; then
    work=${keep:-$(mktemp -d "${TMPDIR:-/tmp}/heddle-fresh.XXXXXX")}
    inside=
    end() {
        if [ -n "$inside" ]; then
            kill -KILL "$inside" 2>/dev/null || :  # all processes in its namespace end with it
            wait "$inside" || :
        fi
        [ -n "$keep" ] || rm -rf --one-file-system "$work"
    }
    trap end EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    # In the background, since a shell handles a signal only after its foreground command has ended.
    HEDDLE_FRESH_INSIDE=yes HEDDLE_FRESH_WORK=$work \
        unshare --mount --pid --fork --kill-child=KILL "$0" </dev/null &
    inside=$!
    status=0
    wait "$inside" || status=$?
    inside=
    exit $status
fi

work=$HEDDLE_FRESH_WORK
root=$work/debian
export TMPDIR="$work"
mount --make-rprivate /

# shellcheck source=tools/debian_anew.sh
. "$checkout/tools/debian_anew.sh"
if [ ! -e "$work/made" ]; then
    make_debian "$suite" "$root" git,make,ca-certificates
    git clone --quiet --no-hardlinks "$checkout" "$root/root/heddle-source"
    touch "$work/made"
fi

mount_debian "$root"

# The indented lines of these sections.
awk '/^## / { wanted = ($0 == "## Try it" || $0 == "## Your own program") }
     wanted && sub(/^    /, "")' "$root/root/heddle-source/README.md" >"$root/root/newcomer"
printf 'make wheel\nmake deb\n' >>"$root/root/newcomer"
grep -q '^make install' "$root/root/newcomer" || { echo "fresh.sh: the README has no lines to try" >&2; exit 1; }

cat >"$root/root/try" <<'END'
set -eu
update-ca-certificates >/dev/null 2>&1
packages() { dpkg-query --show --showformat='${binary:Package}\n' | wc -l; }
[ -e /root/before ] || packages >/root/before
cd /root/heddle-source
worked=$(cat /root/worked 2>/dev/null || echo 0)
number=0
while IFS= read -r line <&3; do
    number=$((number + 1))
    if [ $number -le "$worked" ]; then
        case $line in export*) eval "$line" ;; esac
        continue
    fi
    echo "newcomer\$ $line"
    start=$(date +%s)
    eval "$line" </dev/null
    echo "($(($(date +%s) - start)) s)"
    case $line in
        "make install"*)
            grep -q 'nothing is left out' build/release/left_out/left_out.txt ||
                { echo "fresh.sh: what make install installs is not the whole product" >&2; exit 1; } ;;
    esac
    echo $number >/root/worked
done 3</root/newcomer
echo "packages installed on the way: $(($(packages) - $(cat /root/before)))"
echo "CPU time of all this (shell, then what it ran; user and system):"
times
END
in_debian "$root" sh /root/try

bare=$work/bare
if [ ! -e "$work/bare-made" ]; then
    make_debian "$suite" "$bare" ca-certificates,python3-venv
    touch "$work/bare-made"
fi
mount_debian "$bare"
rm -rf "$bare/made"
mkdir "$bare/made"
cp "$root"/root/heddle-source/build/wheel/*.whl "$root"/root/heddle-source/build/deb/*.deb "$bare/made/"
cat >"$bare/root/try" <<'END'
set -eu
update-ca-certificates >/dev/null 2>&1
rm -rf /environment
python3 -m venv /environment
/environment/bin/pip install --quiet --disable-pip-version-check --only-binary :all: /made/*.whl mpi4py
said=$(PATH=/environment/bin:$PATH mpiexec --timeout 60 -n 4 python -m mpi4py.bench helloworld)
echo "$said"
[ "$(echo "$said" | grep -c 'of 4 on')" -eq 4 ] || { echo "fresh.sh: mpi4py does not work on the wheel" >&2; exit 1; }
/environment/bin/heddle info | grep 'nothing is left out'
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends /made/*.deb gcc libc6-dev >/dev/null
mpicc /usr/share/doc/heddle-dev/examples/hash_table.c -o /program
said=$(mpirun --timeout 60 -n 3 /program)
echo "$said"
case $said in *", correct"*) ;; *) echo "fresh.sh: the packages do not work" >&2; exit 1 ;; esac
heddle info | grep 'nothing is left out'
DEBIAN_FRONTEND=noninteractive apt-get purge -qq -y heddle heddle-dev libheddle >/dev/null
! command -v mpirun || { echo "fresh.sh: mpirun is left behind" >&2; exit 1; }
END
in_debian "$bare" sh /root/try
echo "fresh.sh: every line of the README works in a new Debian $suite, and so do the wheel and the packages"
