"""Writes the kernel test that calls every function for every type.

usage: generate.py functions.tsv OUTPUT_FOLDER [--list]

One source file per group (the comment lines of one word in the table). --list prints the file names only.
"""

import pathlib
import sys

INTEGERS = [(f"{u}int{b}", f"{u}int{b}_t") for u in ("", "u") for b in (8, 16, 32, 64)]
REALS = [("float", "float"), ("double", "double")]
SMALL = [("half", "half"), ("bfloat16", "bfloat16_t")]
CHAR = [("char", "char")]


def pick(*names):
    return [t for t in SMALL + REALS + INTEGERS + CHAR if t[0] in names]


AMO = pick("int32", "uint32", "int64", "uint64")
TYPES = {
    "device": SMALL + REALS + INTEGERS + CHAR,
    "host": REALS + INTEGERS + CHAR,
    "p2p": pick("float") + INTEGERS + CHAR,
    "simt": SMALL + pick("float") + INTEGERS + CHAR + [("char", "signed char"), ("char", "unsigned char")],
    "bits": [("8", "uint8_t"), ("16", "uint16_t"), ("32", "uint32_t"), ("64", "uint64_t"), ("128", "Wide")],
    "bytes": [("", "char")],
    "amo": AMO,
    "amo_add": pick("int8", "int16", "bfloat16", "half", "int32", "float", "uint32", "uint64", "int64"),
    "mte_add": pick("int8", "int16", "bfloat16", "half", "int32", "float", "uint32", "uint64", "int64"),
    "amo_arith": AMO + pick("float"),
    "amo_set": AMO + pick("float"),
}

# Parameters of the function that a check calls, and of the completion.
SCRATCH = "[[maybe_unused]] auto ub = scratch<T>(); [[maybe_unused]] AscendC::LocalTensor<T> gl = local(ub, 256);"
TENSORS = "[[maybe_unused]] auto gd = global(d); [[maybe_unused]] auto gs = global(s);"
UB_TENSORS = {
    "put": "[[maybe_unused]] auto gd = global(d); [[maybe_unused]] auto gus = local(us, 0);",
    "get": "[[maybe_unused]] auto gud = local(ud, 0); [[maybe_unused]] auto gs = global(s);",
}
SIGNAL = ", int32_t* sig, int32_t v, int op, int pe"
AMO_PLAIN = ("T* d, [[maybe_unused]] T v, [[maybe_unused]] T c, int pe", "", "void")
AMO_FETCH = (AMO_PLAIN[0], "", "T")
VALUES = "T* d, size_t n, const int* status, int cmp, [[maybe_unused]] T v, [[maybe_unused]] T* vs"
SOME = "T* d, size_t n, size_t* indices, const int* status, int cmp, [[maybe_unused]] T v, [[maybe_unused]] T* vs"
CHECKS = {
    "put": ("T* d, T* s, size_t n, int pe", TENSORS + SCRATCH, "void"),
    "get": ("T* d, T* s, size_t n, int pe", TENSORS + SCRATCH, "void"),
    "relay_put": ("T* d, T* s, size_t n, int pe, int relay", TENSORS + SCRATCH, "void"),
    "relay_get": ("T* d, T* s, size_t n, int pe, int relay", TENSORS + SCRATCH, "void"),
    "put_rows": ("T* d, T* s, const non_contiguous_copy_param& p, int pe", TENSORS + SCRATCH, "void"),
    "get_rows": ("T* d, T* s, const non_contiguous_copy_param& p, int pe", TENSORS + SCRATCH, "void"),
    "iput": ("T* d, T* s, ptrdiff_t dst, ptrdiff_t sst, size_t n, int pe", "", "void"),
    "iget": ("T* d, T* s, ptrdiff_t dst, ptrdiff_t sst, size_t n, int pe", "", "void"),
    "p": ("T* d, T v, int pe", "", "void"),
    "g": ("T* s, int pe", "", "T"),
    "put_signal": ("T* d, T* s, size_t n" + SIGNAL, TENSORS, "void"),
    "put_rows_signal": ("T* d, T* s, const non_contiguous_copy_param& p" + SIGNAL, TENSORS, "void"),
    "put_signal64": (
        "T* d, T* s, size_t n, uint64_t* sig, uint64_t v, int pe",
        "[[maybe_unused]] auto ub8 = scratch<uint8_t>();",
        "void",
    ),
    "ub_put": ("T* d, volatile T* us, size_t n, int pe", UB_TENSORS["put"], "void"),
    "ub_get": ("volatile T* ud, T* s, size_t n, int pe", UB_TENSORS["get"], "void"),
    "ub_put_rows": ("T* d, volatile T* us, const non_contiguous_copy_param& p, int pe", UB_TENSORS["put"], "void"),
    "ub_get_rows": ("volatile T* ud, T* s, const non_contiguous_copy_param& p, int pe", UB_TENSORS["get"], "void"),
    "wait": ("T* d, int cmp, T v", "", "void"),
    "wait_ne": ("T* d, T v", "", "void"),
    "wait_all": (VALUES, "", "void"),
    "wait_any": (VALUES, "[[maybe_unused]] size_t result = 0;", "size_t"),
    "wait_some": (SOME, "[[maybe_unused]] size_t result = 0;", "size_t"),
    "test": ("T* d, int cmp, T v", "", "int"),
    "test_any": (VALUES, "", "size_t"),
    "test_some": (SOME, "[[maybe_unused]] size_t result = 0;", "size_t"),
    "test_all": (VALUES, "", "int"),
}
for operation in ("add", "inc", "and", "or", "xor", "set"):
    CHECKS["amo_" + operation] = AMO_PLAIN
for operation in ("fetch_add", "fetch_inc", "fetch_and", "fetch_or", "fetch_xor", "fetch", "swap", "cas"):
    CHECKS["amo_" + operation] = AMO_FETCH

for scope in ("", "_block", "_warp"):
    for verb, ub in (("put", "T* d, volatile T* us"), ("get", "volatile T* ud, T* s")):
        CHECKS[f"simt{scope}_{verb}"] = ("T* d, T* s, size_t n, int pe", "", "void")
        CHECKS[f"simt{scope}_ub_{verb}"] = (ub + ", size_t n, int pe", "", "void")
CHECKS["simt_p"] = CHECKS["p"]
CHECKS["simt_g"] = CHECKS["g"]

HEADER = """// Made by tests/kernel/generate.py from functions.tsv.
#define __CCE_AICORE__ 220
#include "tests/kernel/checks.h"

namespace symm::test {{

std::vector<Case> cases_of_{group}() {{
  return {{
"""
FOOTER = """  }};
}}

}}  // namespace symm::test
"""


def read_table(path):
    group, rows = None, {}
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("# ") and " " not in line[2:]:
            group = line[2:]
            rows[group] = []
        elif line and not line.startswith("#"):
            fields = line.split("\t")
            rows[group].append(fields + [""] * (5 - len(fields)))
    return rows


def case(row):
    check, function, types, call, done = row
    parameters, prologue, result = CHECKS[check]
    for name, type_ in TYPES[types]:
        full = function.replace("NAME", name).replace("BITS", name)
        expression = "".join(full if part == "F" else part for part in split_words(call))
        returns = "return " if result != "void" else ""
        label = f"{full}<{type_}>: {call}"
        yield (
            f'      {{"{label}", [] {{\n'
            f"         using T = {type_};\n"
            f"         check_{check}<T>(\n"
            f"             +[]({parameters}) -> {result} {{ {prologue} {returns}{expression}; }},\n"
            f"             +[]([[maybe_unused]] int pe) {{ {SCRATCH} {done}; }});\n"
            f"       }}}},\n"
        )


def split_words(text):
    word, parts = "", []
    for character in text:
        if character.isalnum() or character == "_":
            word += character
        else:
            parts += [word, character]
            word = ""
    return parts + [word]


def main():
    table = read_table(sys.argv[1])
    folder = pathlib.Path(sys.argv[2])
    names = {group: folder / f"every_function_{group}.cc" for group in table}
    if "--list" in sys.argv:
        print(";".join(str(name) for name in names.values()), end="")
        return
    folder.mkdir(parents=True, exist_ok=True)
    for group, rows in table.items():
        text = HEADER.format(group=group) + "".join(part for row in rows for part in case(row)) + FOOTER.format()
        if not names[group].exists() or names[group].read_text() != text:
            names[group].write_text(text)


if __name__ == "__main__":
    main()
