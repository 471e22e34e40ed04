"""Runs a job with SHMEM_TRACE and checks the file: valid JSON, every PE, kernels and waits, spans that nest.

usage: check_trace.py FILE N_PES KERNEL COMMAND...
"""

import collections
import json
import os
import subprocess
import sys


def fail(text):
    sys.exit(f"check_trace.py: {text}")


def check_nesting(row, spans):
    """On one row a span lies inside another or beside it."""
    open_spans = []
    for begin, end, name in sorted(spans, key=lambda s: (s[0], -s[1])):
        while open_spans and open_spans[-1][1] <= begin:
            open_spans.pop()
        if open_spans and end > open_spans[-1][1]:
            fail(f"row {row}: '{name}' begins inside '{open_spans[-1][2]}' and ends behind it")
        open_spans.append((begin, end, name))


def main():
    path, n_pes, kernel, command = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    sizes = []
    for _ in range(2):  # the second job must not add to the file of the first
        done = subprocess.run(command, env={**os.environ, "SHMEM_TRACE": path}, check=False)
        if done.returncode != 0:
            fail(f"the job ended with {done.returncode}")
        with open(path, encoding="utf-8") as file:
            events = json.load(file)
        sizes.append(sum(e["ph"] == "X" and e["cat"] == "kernel" for e in events))
    if sizes[0] != sizes[1]:
        fail(f"{sizes[0]} kernel spans in the first job, {sizes[1]} in the second")

    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    if processes != {pe: f"PE {pe}" for pe in range(n_pes)}:
        fail(f"processes {processes} instead of PE 0 to PE {n_pes - 1}")
    rows = collections.defaultdict(list)
    kinds = collections.defaultdict(set)
    kernel_rows = collections.defaultdict(set)
    for e in events:
        if e["ph"] != "X":
            continue
        row = (e["pid"], e["tid"])
        if row not in names:
            fail(f"row {row} has no name")
        # Exact nanoseconds: the file has three decimals.
        begin, length = round(e["ts"] * 1000), round(e["dur"] * 1000)
        rows[row].append((begin, begin + length, e["name"]))
        kinds[e["pid"]].add(e["cat"])
        if e["cat"] == "kernel" and e["name"] == kernel:
            kernel_rows[e["pid"]].add(names[row])
    for row, spans in rows.items():
        check_nesting(f"{row} {names[row]}", spans)
    for pe in range(n_pes):
        missing = {"kernel", "wait", "task", "call", "transfer"} - kinds[pe]
        if missing:
            fail(f"PE {pe} has no spans of kind {missing}")
        if len(kernel_rows[pe]) < 2:
            fail(f"PE {pe}: kernel {kernel} on rows {kernel_rows[pe]}, expected one per block")
    print(f"{len(events)} events, {len(rows)} rows")


main()
