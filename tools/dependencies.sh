#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# dependencies.sh PURPOSE...: installs the Debian packages for these purposes that are missing.
#
# tools/debian-packages.txt is the list, and says which purposes there are. The script first says what it installs. It
# says and does nothing if all is there. If it cannot install packages, it says why. The build then goes on if the
# commands to configure it exist: CMake names any missing library.
# On Fedora, openSUSE, Arch and Alpine the script installs nothing. It names the packages that `demo` lacks, with the
# command that installs them (tools/other-packages.txt).
set -eu

[ $# -gt 0 ] || { sed -n '3,8p' "$0" >&2; exit 2; }
purposes=" $* "
list=$(dirname "$0")/debian-packages.txt

commands=
case $purposes in *" demo "*) commands="cmake ninja c++ cc python3" ;; esac
case $purposes in *" format "*) commands="$commands clang-format-19 clang-tidy-19" ;; esac
case $purposes in *" fresh "*) commands="$commands mmdebstrap" ;; esac

# go_on REASON...: ends the script since no package can be installed. Succeeds if the commands to configure exist.
go_on() {
    echo "dependencies: $*" >&2
    for command in $commands; do
        if ! command -v "$command" >/dev/null; then
            echo "dependencies: without the command $command it ends here" >&2
            exit 1
        fi
    done
    echo "dependencies: going on with what is installed" >&2
    exit 0
}

packages=$(awk -v purposes="$purposes" '$1 !~ /^#/ && NF && index(purposes, " " $2 " ") { print $1 }' "$list")

# family: prints the column of other-packages.txt, or 0 if there is none. HEDDLE_OS_RELEASE is for tests.
family() {
    release=$(sed -n 's/^ID\(_LIKE\)\{0,1\}=//p' "${HEDDLE_OS_RELEASE:-/etc/os-release}" 2>/dev/null | tr -d '"' | tr '\n' ' ')
    case " $release " in
        *" fedora "* | *" rhel "* | *" centos "*) echo 2 ;;
        *suse*) echo 3 ;;
        *" arch "*) echo 4 ;;
        *" alpine "*) echo 5 ;;
        *) echo 0 ;;
    esac
}

# name_others COLUMN: names the packages that a distribution other than Debian lacks, and ends.
name_others() {
    case $1 in
        2) query='rpm -q' install='dnf install' ;;
        3) query='rpm -q' install='zypper install' ;;
        4) query='pacman -Q' install='pacman -S --needed' ;;
        5) query='apk info -e' install='apk add' ;;
    esac
    others=
    for package in $(awk -v column="$1" '$1 !~ /^#/ && NF && $column != "-" { print $column }' "${list%/*}/other-packages.txt"); do
        $query "$package" >/dev/null 2>&1 || others="$others $package"
    done
    [ -n "$others" ] || exit 0
    go_on "these packages are missing; please run, as root:
    $install$others"
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    column=$(family)
    case $purposes in *" demo "*) [ "$column" = 0 ] || name_others "$column" ;; esac
    for command in $commands; do
        command -v "$command" >/dev/null || go_on "this is not Debian: install by hand what" \
            "corresponds to the packages" $packages
    done
    exit 0
fi

missing=
for package in $packages; do
    # shellcheck disable=SC2016
    state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null) || state=
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
    root=
elif command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    root=sudo
else
    go_on "these packages are missing, and installing them takes root; please run:
    apt-get install$missing"
fi

echo "Installing Debian packages:$missing"
# shellcheck disable=SC2086
{
    $root apt-get update -q ||
        echo "dependencies: apt-get update failed; trying with the lists that are there" >&2
    $root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing ||
        go_on "apt-get could not install:$missing"
}
