#!/bin/sh
# Measures without pacing, then with a link on which communication takes 30 % of the serial time.
. "$(dirname "$0")/../utils/run_pes.sh"
echo "without pacing:"
first=$(run_pes fused_matmul_allreduce "$@")
result=$?
echo "$first"
[ $result -eq 0 ] || exit $result
bandwidth=$(echo "$first" | sed -n 's/.*SHMEM_ENGINE_BANDWIDTH=\([0-9]*\).*/\1/p')
[ -n "$bandwidth" ] || exit 0
echo "with SHMEM_ENGINE_BANDWIDTH=$bandwidth:"
SHMEM_ENGINE_BANDWIDTH=$bandwidth run_pes fused_matmul_allreduce "$@"
