#!/usr/bin/env python3
"""What a PE costs: hello world (init, barrier, finalize) with several numbers of PEs.

Wall time and processor time of the whole job, launcher included, and per PE resident memory (RSS, and PSS, which
shares common pages out), descriptors and threads. The dearest PE of ours is PE 0, which has a connection to each. Beside it the same program over Open MPI's OpenSHMEM and MPI, when
oshcc and mpicc are there.

usage: pe_cost.py BUILD_FOLDER [--pes 2,8,32,128] [--repeat 5] [--only ours] [--check]
"""

import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().with_name("pe_hello.cc")
LIMIT = 300
MOST_DESCRIPTORS = 20


class Contender:
    def __init__(self, name, launch, program):
        self.name = name
        self.launch = launch
        self.program = program

    def command(self, n_pes, *arguments):
        return [word.replace("{n}", str(n_pes)) for word in self.launch] + [self.program, *arguments]

    def run(self, n_pes, *arguments):
        """Wall seconds, processor seconds, output; None when it fails."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        command = self.command(n_pes, *arguments)
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT, check=False
            )
        except subprocess.TimeoutExpired:
            print(f"{self.name}, {n_pes} PEs: not through in {LIMIT} s", file=sys.stderr)
            return None
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no message"])[0]
            print(f"{self.name}, {n_pes} PEs: exit code {done.returncode}: {last}", file=sys.stderr)
            return None
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return wall, used, done.stdout


def compiled(compiler, define, folder):
    """The hello program over another library, or None when there is no such compiler."""
    if shutil.which(compiler) is None:
        return None
    program = str(pathlib.Path(folder, define.lower()))
    command = [compiler, "-O2", f"-D{define}", "-x", "c", str(SOURCE), "-o", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"{compiler}: {done.stderr.strip()}", file=sys.stderr)
        return None
    return program


def contenders(build, folder, only):
    binaries = pathlib.Path(build, "bin")
    found = [Contender("ours", [str(binaries / "shmem-run"), "-n", "{n}"], str(binaries / "bench_pe_hello"))]
    flags = ["--allow-run-as-root", "--oversubscribe", "-np", "{n}"]
    # osc/rdma of Debian's build calls a hook of a module that is unloaded already, and crashes at the end.
    oshrun = ["oshrun", "--mca", "osc", "^rdma", *flags]
    mpirun = [shutil.which("mpirun.openmpi") or "mpirun", *flags]
    for name, compiler, define, launch in (
        ("oshrun", "oshcc", "PE_HELLO_OSHMEM", oshrun),
        ("mpirun", "mpicc.openmpi" if shutil.which("mpicc.openmpi") else "mpicc", "PE_HELLO_MPI", mpirun),
    ):
        program = None if only == "ours" else compiled(compiler, define, folder)
        if program is not None:
            found.append(Contender(name, launch, program))
    return found


def costs(output):
    """Rows of RSS KiB, PSS KiB, descriptors, threads."""
    return [[int(word) for word in line.split()[1:]] for line in output.splitlines() if line.startswith("pe_cost ")]


def measure(contender, n_pes, repeat):
    runs = [contender.run(n_pes) for _ in range(repeat)]
    report = contender.run(n_pes, "cost")
    if report is None or None in runs:
        return None
    rows = costs(report[2])
    if len(rows) != n_pes:
        print(f"{contender.name}: {len(rows)} of {n_pes} PEs reported", file=sys.stderr)
        return None
    most = [max(column) for column in zip(*rows)]
    typical = [statistics.median_low(column) for column in zip(*rows)]
    return {
        "wall": statistics.median(run[0] for run in runs),
        "best": min(run[0] for run in runs),
        "cpu": statistics.median(run[1] for run in runs),
        "rss": typical[0] / 1024,
        "pss": typical[1] / 1024,
        "descriptors": typical[2],
        "threads": typical[3],
        "dearest": f"{most[0] / 1024:.1f} MiB, {most[2]} descriptors, {most[3]} threads",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--pes", default="2,8,32,128")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", choices=["ours"])
    parser.add_argument("--check", action="store_true", help=f"fail above {MOST_DESCRIPTORS} descriptors per PE")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} processors, load {load:.1f}; medians of {arguments.repeat} runs, and of the PEs")
    print(f"{'':8} {'PEs':>5} {'wall s':>8} {'best s':>8} {'CPU s':>8} {'RSS MiB':>8} {'PSS MiB':>8} {'fds':>5} threads  dearest PE")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        everybody = contenders(arguments.build, folder, arguments.only)
        for n_pes in (int(word) for word in arguments.pes.split(",")):
            for contender in everybody:
                row = measure(contender, n_pes, arguments.repeat)
                if row is None:
                    good = good and contender.name != "ours"
                    continue
                print(
                    f"{contender.name:8} {n_pes:5} {row['wall']:8.3f} {row['best']:8.3f} {row['cpu']:8.3f} "
                    f"{row['rss']:8.1f} {row['pss']:8.1f} {row['descriptors']:5} {row['threads']:7}  {row['dearest']}",
                    flush=True,
                )
                if arguments.check and contender.name == "ours" and row["descriptors"] > MOST_DESCRIPTORS:
                    print(f"more than {MOST_DESCRIPTORS} descriptors in a PE", file=sys.stderr)
                    good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
