"""What the tests of this folder share: running programs under launchers."""

import os
import subprocess

# Whatever launched the test itself must not be seen by the programs.
FOREIGN = ("SHMEM_", "PMI_", "PMIX_", "OMPI_COMM", "SLURM_", "TORCHELASTIC_", "MASTER_")
NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")

OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}

# What the sanitizers leave out in programs that use Open MPI, which is built without them: it unloads
# components whose memory it never frees, so leak reports hold no names; its locks and atomics are
# not seen, so only races between our own code count. Programs without MPI are checked for all.
MPI_PROGRAM = {
    "ASAN_OPTIONS": "detect_leaks=0",
    "TSAN_OPTIONS": "ignore_noninstrumented_modules=1 detect_deadlocks=0",
}


def environment(extra=None):
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(FOREIGN) and name not in NAMES
    }
    return {**clean, **OPEN_MPI, **(extra or {})}


def start(command, extra=None):
    return subprocess.Popen(
        command,
        env=environment(extra),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(command, extra=None, limit=100):
    return subprocess.run(
        command,
        env=environment(extra),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=limit,
        text=True,
        check=False,
    )


def mpirun(mpiexec, n, *command):
    return run([mpiexec, "-n", str(n), *command], {} if "hydra" in mpiexec else MPI_PROGRAM)
