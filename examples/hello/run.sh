#!/bin/sh
. "$(dirname "$0")/../utils/run_pes.sh"
run_pes hello "$@"
