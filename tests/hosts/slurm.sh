#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs Slurm on hosts of tools/hosts.py, for as long as a command runs on the first of them.
#
#     slurm.sh HOSTS COMMAND [ARGUMENT ...]
#
# All its files lie in /run, which each host has for itself, and in /run/hosts, which the hosts share.
set -eu

hosts=$1
shift
place=/run/hosts/slurm
export SLURM_CONF=$place/slurm.conf
mkdir "$place" "$place/state"
head -c 1024 /dev/urandom >"$place/key"
chmod 400 "$place/key"

cat >"$SLURM_CONF" <<END
ClusterName=hosts
SlurmctldHost=node1
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=/run/munge.socket
StateSaveLocation=$place/state
SlurmdSpoolDir=/run/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=$place/slurmctld.log
SlurmdLogFile=$place/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/linear
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
NodeName=node[1-$hosts] CPUs=4
PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=FORCE
END

munge='munged --force --socket=/run/munge.socket --key-file=/run/hosts/slurm/key --pid-file=/run/munge.pid
    --log-file=/run/munge.log --seed-file=/run/munge.seed'
$munge
for number in $(seq 2 "$hosts"); do "$HOSTS_AGENT" "node$number" $munge; done
slurmctld
for number in $(seq "$hosts"); do "$HOSTS_AGENT" "node$number" "SLURM_CONF=$SLURM_CONF slurmd -N node$number"; done
# end: kills Slurm's own processes, which take their time to end. Ranks that they leave behind stay.
end() {
    for number in $(seq "$hosts"); do
        "$HOSTS_AGENT" "node$number" "pkill -KILL -x 'slurmctld|slurmd|slurmstepd|munged' || true"
    done
}
trap end EXIT
# Wait thirty seconds at most.
for moment in $(seq 300); do
    [ "$(sinfo -h -t idle -o %D 2>/dev/null)" != "$hosts" ] || break
    sleep 0.1
done
"$@"
