"""The table of host functions: expansion over types, and comparison with what a library exports.

usage: inventory.py functions.tsv LIBRARY     fails when the library lacks a function of the table
       inventory.py functions.tsv --count     prints the number of functions
"""

import pathlib
import subprocess
import sys

INTEGERS = [(f"{u}int{b}", f"{u}int{b}_t") for u in ("", "u") for b in (8, 16, 32, 64)]
P2P = [("float", "float"), *INTEGERS, ("char", "char")]
TYPES = {
    "host": [*P2P, ("double", "double")],
    "p2p": P2P,
    "bits": [("8", "uint8_t"), ("16", "uint16_t"), ("32", "uint32_t"), ("64", "uint64_t"), ("128", "Wide")],
    "bytes": [("", "char")],
    "none": [("", "")],
}


def functions(table):
    """(check, function, C type, call) for every function of the table."""
    for line in pathlib.Path(table).read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        check, name, types, call = line.split("\t")
        for short, ctype in TYPES[types]:
            yield check, name.replace("NAME", short).replace("BITS", short), ctype, call


def exported(library):
    """Symbols that others can link: the C ones by name."""
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines()}


def main():
    wanted = [name for _, name, _, _ in functions(sys.argv[1])]
    if len(wanted) != len(set(wanted)):
        sys.exit("the table names a function twice")
    if sys.argv[2] == "--count":
        print(len(wanted))
        return
    have = exported(sys.argv[2])
    missing = [name for name in wanted if name not in have]
    extra = sorted(n for n in have if n.startswith(("shmem_", "shmemx_")))
    print(f"{len(wanted)} functions in the table, {len(wanted) - len(missing)} exported")
    if missing:
        print("missing:", ", ".join(missing))
    if extra:
        print("names of the alias macros must not be symbols:", ", ".join(extra))
    sys.exit(1 if missing or extra else 0)


if __name__ == "__main__":
    main()
