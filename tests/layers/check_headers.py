"""Each public header must compile alone: C++17 (shmem.hpp C++20), and C11 for the runtime headers.

usage: check_headers.py ROOT CXX C [SHMEM_CC]

Headers of the kernel side (device/, device_simt/, kernel_operator.h, ascendc/) go through shmem-cc, as kernel files
do; their *_inl.h parts and host_device/ are covered through the headers that include them as well as alone.
"""

import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

WARNINGS = ["-Wall", "-Wextra", "-Werror"]
C_HEADERS = ("acl/",)
C_ALSO = ("host_device/symm_wait_abi.h", "ascendc/core_abi.h")
KERNEL_SIDE = ("device/", "device_simt/", "kernel_operator.h", "ascendc/", "opdev/", "simt_api/", "tiling/", "utils/")


def commands(root, header, cxx, c, shmem_cc):
    include = root / "include"
    name = str(header.relative_to(include))
    flags = [*WARNINGS, "-fsyntax-only", f"-I{include}"]
    if name.startswith(C_HEADERS) or name in C_ALSO:
        yield [c, "-std=c11", *flags, "-x", "c"], ".c"
    if name.startswith(KERNEL_SIDE) and name not in C_ALSO:
        if shmem_cc:
            yield [shmem_cc, cxx, "-std=c++17", *flags, f"-I{include}/device/impl"], ".cpp"
    else:
        standard = "c++20" if name.endswith(".hpp") else "c++17"
        yield [cxx, f"-std={standard}", *flags, "-x", "c++"], ".cc"


def compile_alone(root, folder, header, command, suffix):
    name = str(header.relative_to(root / "include"))
    source = folder / (name.replace("/", "_") + suffix)
    # Twice: the include guard must hold.
    source.write_text(f'#include "{name}"\n#include "{name}"\n')
    done = subprocess.run([*command, str(source)], capture_output=True, text=True, timeout=100)
    return None if done.returncode == 0 else f"{name}: {' '.join(command)}\n{done.stderr[:2000]}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    cxx, c = sys.argv[2], sys.argv[3]
    shmem_cc = sys.argv[4] if len(sys.argv) > 4 else None
    headers = sorted(p for p in (root / "include").rglob("*") if p.suffix in {".h", ".hpp"})
    # Parts of a header, included only by it.
    headers = [p for p in headers if not p.name.endswith("_inl.h")]
    checked, problems = 0, []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [
            pool.submit(compile_alone, root, pathlib.Path(folder), header, command, suffix)
            for header in headers
            for command, suffix in commands(root, header, cxx, c, shmem_cc)
        ]
        for job in jobs:
            checked += 1
            if job.result():
                problems.append(job.result())
    print(f"{len(headers)} headers, {checked} compilations")
    for problem in problems:
        print(problem)
    return 1 if problems or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
