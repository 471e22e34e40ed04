"""Writes the host test that calls every function of the table for every type.

usage: generate.py functions.tsv OUTPUT.cc
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from inventory import functions

SIGNATURES = {
    "put": "(T* d, T* s, size_t n, int pe)",
    "get": "(T* d, T* s, size_t n, int pe)",
    "iput": "(T* d, T* s, ptrdiff_t dst, ptrdiff_t sst, size_t n, int pe)",
    "iget": "(T* d, T* s, ptrdiff_t dst, ptrdiff_t sst, size_t n, int pe)",
    "p": "(T* d, T v, int pe)",
    "g": "(T* s, int pe)",
    "put_signal": "(T* d, T* s, size_t n, int32_t* sig, int32_t v, int op, int pe)",
    "wait": "(T* d, [[maybe_unused]] T v)",
    "wait_all": "(T* d, size_t n, const int* st, [[maybe_unused]] T v, [[maybe_unused]] T* vs)",
    "any": "(T* d, size_t n, const int* st, [[maybe_unused]] T v, [[maybe_unused]] T* vs, size_t* out)",
    "some": "(T* d, size_t n, size_t* ix, const int* st, [[maybe_unused]] T v, [[maybe_unused]] T* vs, size_t* out)",
    "test": "(T* d, T v, int* out)",
    "test_all": "(T* d, size_t n, const int* st, T* vs, int* out)",
}


def main():
    lines = ['#include "tests/host/checks.h"', "", "namespace conformance {", "namespace {", ""]
    for check, name, ctype, call in functions(sys.argv[1]):
        if call == "job":  # start and end of the job are the call
            continue
        call = call.replace("F(", name + "(").replace("(F)", f"({name})")
        lines.append(f"TEST(EveryHostFunction, {name}) {{")
        if check == "one":
            lines.append(f"  EXPECT_TRUE(({call}));")
            if "ACLSHMEM_INNER_ERROR" in call or "ACLSHMEM_INVALID" in call or "-1" in call:
                lines.append("  forget_error();  // wrong arguments are part of it")
        else:
            result = "return " if check == "g" else ""
            lines.append(f"  using T = {ctype};")
            lines.append(f"  check_{check}<T>([]{SIGNATURES[check]} {{ {result}{call}; }});")
        lines += ["  expect_no_error();", "}", ""]
    lines += ["}  // namespace", "}  // namespace conformance", ""]
    pathlib.Path(sys.argv[2]).write_text("\n".join(lines))


if __name__ == "__main__":
    main()
