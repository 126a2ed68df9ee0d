#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Hosts out of namespaces, with a network between them, for tests of several hosts on one machine.
#
#   hosts.sh COUNT COMMAND [ARGUMENT ...]
#
# Runs COMMAND on the first of the hosts node1, node2, ... and answers its exit code. Each host has a network, a
# name, /tmp, /dev/shm and System V memory of its own. HOSTS_AGENT stands in for ssh: HOSTS_AGENT HOST WORD ...
# runs a shell command on a host. When COMMAND has ended, what is left on the hosts is killed and named.
#
# Exit code 77: it takes root, and a kernel that lets it make namespaces.
set -eu

[ $# -ge 2 ] || { sed -n '3,11p' "$0" >&2; exit 2; }
skip() { echo "hosts.sh: $1" >&2; exit 77; }
[ "$(id -u)" = 0 ] || skip "making hosts takes root"
for tool in ip nsenter unshare; do
    command -v $tool >/dev/null || skip "$tool is not installed"
done
unshare -n -u -m -i true 2>/dev/null || skip "namespaces are not allowed here"

count=$1
shift
work=$(mktemp -d -p /var/tmp)
mkdir "$work/shown"
# Hosts see this tree also where it lies below /tmp.
root=$(cd "$(dirname "$0")/.." && pwd)
holders=

# Process ids in the network namespace of process $1, but for that process.
others_of() {
    network=$(readlink "/proc/$1/ns/net")
    for process in /proc/[0-9]*; do
        [ "$(readlink "$process/ns/net" 2>/dev/null)" = "$network" ] || continue
        [ "${process#/proc/}" = "$1" ] || echo "${process#/proc/}"
    done
}

# Launchers' helpers may need a moment to follow them: five seconds at most.
wait_for_others_of() {
    for moment in $(seq 50); do
        [ -n "$(others_of "$1")" ] || return 0
        sleep 0.1
    done
}

end() {
    for holder in $holders; do
        wait_for_others_of "$holder"
        for process in $(others_of "$holder"); do
            echo "hosts.sh: left behind: $(tr '\0' ' ' <"/proc/$process/cmdline" 2>/dev/null)" >&2
            kill -KILL "$process" 2>/dev/null || true
            touch "$work/left"
        done
        kill -KILL "$holder" 2>/dev/null || true
    done
    left=no
    [ ! -e "$work/left" ] || left=yes
    rm -rf "$work"
    [ $left = no ]
}
trap 'end || true' EXIT
trap 'exit 1' INT TERM HUP

# Starts a process that keeps namespaces of its own, and waits until it is in them.
hold() {
    unshare "$@" sh -c 'echo $$ >"$0.new" && mv "$0.new" "$0" && exec sleep infinity' "$work/holder" &
    while [ ! -e "$work/holder" ]; do sleep 0.01; done
    holder=$(cat "$work/holder")
    rm "$work/holder"
    holders="$holders $holder"
}

echo "127.0.0.1 localhost" >"$work/hosts"
for host in $(seq "$count"); do echo "10.77.0.$host node$host" >>"$work/hosts"; done

hold -n
switch=$holder
nsenter -t "$switch" -n ip link add switch type bridge
nsenter -t "$switch" -n ip link set switch up

for host in $(seq "$count"); do
    hold -n -u -m -i
    echo "$holder" >"$work/node$host"
    ip link add name eth0 netns "$holder" type veth peer name "to$host" netns "$switch"
    nsenter -t "$switch" -n sh -c "ip link set to$host master switch && ip link set to$host up"
    nsenter -t "$holder" -n -u -m -i sh -ec "
        hostname node$host
        mount --make-rprivate /
        mount --bind '$root' $work/shown
        mount -t tmpfs none /tmp
        mkdir -p '$root'
        mount --move $work/shown '$root'
        mount -t tmpfs none /dev/shm
        mount --bind $work/hosts /etc/hosts
        ip link set lo up
        ip addr add 10.77.0.$host/24 dev eth0
        ip link set eth0 up"
done

cat >"$work/agent" <<END
#!/bin/sh
while :; do case \$1 in -*) shift ;; *) break ;; esac; done
holder=\$(cat "$work/\$1") || exit 255
shift
exec nsenter -t "\$holder" -n -u -m -i sh -c "\$*"
END
chmod +x "$work/agent"

code=0
HOSTS_AGENT="$work/agent" nsenter -t "$(cat "$work/node1")" -n -u -m -i "$@" || code=$?
trap - EXIT
end || code=1
exit $code
