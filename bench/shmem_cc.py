"""What shmem-cc adds to the plain compile of a kernel file. Arguments: the tool, the include folder, kernel files.

A kernel file is not C++, so the plain compile is the same compiler on the rewritten text (--keep), which leaves out
the preprocessing that a plain compile has too: the difference is an upper bound. Median of the rounds, wall time and
processor time; on a busy machine only the latter means something."""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time


def seconds(command):
    """Wall and processor time of a command."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    tool, include, *sources = sys.argv[1:]
    rounds = int(os.environ.get("ROUNDS", "5"))
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        target = os.path.join(folder, "out.o")
        kept = os.path.join(folder, "kept.ii")
        for source in sources:
            common = ["-std=c++20", "-O2", "-I", os.path.dirname(os.path.abspath(source))]
            ours = [tool, *common, "-c", source, "-o", target]
            subprocess.run([*ours, f"--keep={kept}"], check=True)
            roots = [w for r in ("", "device", "device/impl", "device_simt", "host")
                     for w in ("-isystem", os.path.join(include, r))]
            preprocess = ["g++", *common, *roots, "-DSYMM_SHMEM_CC=1", "-E", "-x", "c++", source,
                          "-o", os.path.join(folder, "plain.ii")]
            compile_ = ["g++", *common, "-c", "-x", "c++-cpp-output", kept, "-o", target]
            # Alternating, so that a busy machine burdens both.
            times = [(seconds(ours), seconds(compile_), seconds(preprocess)) for _ in range(rounds)]
            for kind, name in enumerate(("wall", "processor")):
                whole, plain, pre = (statistics.median(t[i][kind] for t in times) for i in range(3))
                if kind == 1:
                    worst = max(worst, whole - plain)
                print(f"{os.path.basename(source)}, {name} time: shmem-cc {whole:.2f} s, the compiler on the rewritten "
                      f"text {plain:.2f} s, so {whole - plain:.2f} s more; the preprocessor alone {pre:.2f} s")
    print(f"most added, processor time: {worst:.2f} s (aim 0.30)")


if __name__ == "__main__":
    main()
