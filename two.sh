cd /work/src
M=build/release/bin/mpiexec; S=build/release/examples/service; V=build/release/tests/processes_server
export HYDRA_LAUNCHER_EXEC=$HOSTS_AGENT HYDRA_LAUNCHER=ssh; export HEDDLE_NAMES=/work/src/names_dir; mkdir -p $HEDDLE_NAMES
(timeout 20 $M -n 2 $S serve; echo server rc $?) &
sleep 1
timeout 20 $M -n 1 $S ask 12; echo rc $?
timeout 20 $M --host node2 -n 1 $S ask 12; echo rc $?
timeout 20 $S end; echo rc $?
wait; (timeout 20 $M --host node1,node2 -n 2 $S serve; echo server rc $?) & sleep 2; timeout 20 $M --host node2,node1 -n 2 $S ask 13; echo rc $?; timeout 20 $M -n 1 $S end; echo rc $?; wait; timeout 30 $M --host node1,node2 -n 2 build/release/tests/test_spawn; echo rc $?
rm -rf $HEDDLE_NAMES
