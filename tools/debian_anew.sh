# SPDX-License-Identifier: BSD-3-Clause
#
# The part that fresh.sh and cross.sh have in common: a Debian in a folder, from the package sources of this machine. It takes
# root, in a namespace of mounts.

# make_debian SUITE FOLDER PACKAGES [OPTION...]: makes a Debian with these packages, whose names commas separate.
make_debian() {
    made=$2
    packages=$3
    debian=$1
    shift 3
    rm -rf --one-file-system "$made"  # the rest of an unfinished one
    set -- --variant=minbase --include="$packages" --dpkgopt=force-unsafe-io "$@" "$debian" "$made"
    for sources in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
        [ ! -s "$sources" ] || set -- "$@" "$sources"
    done
    echo "${0##*/}: a Debian $debian"
    mmdebstrap --quiet "$@"
    for certificate in /usr/local/share/ca-certificates/*.crt; do
        [ ! -f "$certificate" ] || cp "$certificate" "$made/usr/local/share/ca-certificates/"
    done
    cp -L /etc/resolv.conf /etc/hosts "$made/etc/"
    for setting in /etc/apt/apt.conf /etc/apt/apt.conf.d/*proxy*; do
        [ ! -f "$setting" ] || cp "$setting" "$made/${setting#/}"
    done
}

# mount_debian FOLDER: mounts the kernel's file systems there.
mount_debian() {
    mount -t proc proc "$1/proc"
    mount --rbind /sys "$1/sys"
    mount --rbind /dev "$1/dev"
    mount -t tmpfs tmpfs "$1/dev/shm"
}

# in_debian FOLDER COMMAND...: runs COMMAND there, with the network's proxies and nothing else of this environment.
in_debian() {
    made=$1
    shift
    chroot "$made" /usr/bin/env -i HOME=/root TERM=dumb LANG=C.UTF-8 \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        ${no_proxy:+no_proxy="$no_proxy"} "$@"
}
