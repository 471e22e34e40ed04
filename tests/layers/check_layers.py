"""Checks the rules of the source tree that a compiler does not.

usage: check_layers.py ROOT

- A module includes itself and strictly lower layers; transport/<name>/ never includes another transport.
- Public headers are included only where allowed.
- getenv appears only in src/base/config.cc, setenv nowhere outside tests.
- Every source is listed in CMake (CMake itself complains about listed files that do not exist).
- No placeholder words are left.
"""

import pathlib
import re
import sys

LAYERS = {
    "base": 0,
    "os": 1,
    "net": 2,
    "runtime": 2,
    "store": 3,
    "heap": 3,
    "bootstrap": 4,
    "transport": 4,
    "core": 5,
    "ops": 6,
    "capi": 7,
    "openshmem": 7,
}

# Folders of include/ that anybody may use: plain data shared with kernels.
SHARED_DATA = re.compile(r"^(host_device/symm_|ascendc/(core_abi|small_float)\.h$)")
# Who may include the rest of include/.
PUBLIC_USERS = {
    "host_device/": {"capi", "openshmem", "core", "ops", "transport"},
    "host/": {"capi", "openshmem", "core"},
    "shmem.h": {"capi", "openshmem", "core"},
    "device/": set(),
    "device_simt/": set(),
    "acl/": {"runtime", "heap", "transport", "core", "ops", "capi"},
    "kernel_operator.h": set(),
    "ascendc/": {"runtime"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
PLACEHOLDER = re.compile(r"\b(TODO|FIXME|XXX|HACK|not implemented|for now)\b")
SOURCE_FOLDERS = ["src", "tools", "tests", "bench", "fuzz", "examples"]
SUFFIXES = {".cc", ".cpp", ".h", ".hpp", ".c"}


def sources(root, folders):
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                yield path


def public_rule(target):
    for prefix, users in PUBLIC_USERS.items():
        if target.startswith(prefix):
            return users
    return None


def check_include(module, path, root, target):
    parts = path.relative_to(root / "src").parts
    first = target.split("/")[0]
    if first in LAYERS and "/" in target:
        if first == module:
            return transport_rule(parts, target)
        if LAYERS[first] >= LAYERS[module]:
            return f"{module} (layer {LAYERS[module]}) includes {target} (layer {LAYERS[first]})"
        return None
    if SHARED_DATA.match(target):
        return None
    users = public_rule(target)
    if users is not None and module not in users:
        return f"{module} includes the public header {target}"
    return None


def transport_rule(parts, target):
    """transport/<a>/ may use transport/*.h and its own folder, never transport/<b>/."""
    names = target.split("/")
    if names[0] == "transport" and len(names) > 2:
        inside = len(parts) > 2
        if inside and parts[1] != names[1]:
            return f"transport {parts[1]} includes {target}"
    return None


def check_includes(root):
    problems = []
    for path in sources(root, ["src"]):
        module = path.relative_to(root / "src").parts[0]
        if module not in LAYERS:
            problems.append(f"{path}: module {module} has no layer")
            continue
        for target in INCLUDE.findall(path.read_text()):
            problem = check_include(module, path, root, target)
            if problem:
                problems.append(f"{path}: {problem}")
    return problems


def check_environment(root):
    problems = []
    for path in sources(root, ["src", "tools", "include"]):
        if path == root / "src/base/config.cc" or path.name.endswith("_test.cc"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(r"\b(secure_)?getenv\s*\(|\b(setenv|putenv|unsetenv)\s*\(", line):
                problems.append(f"{path}:{number}: reads or writes the environment outside base/config.cc")
    return problems


def check_listed(root):
    problems = []
    for path in sources(root, SOURCE_FOLDERS):
        if path.suffix not in {".cc", ".cpp", ".c"} or "data" in path.relative_to(root).parts:
            continue
        if not any(is_listed(path, folder) for folder in path.parents if root in (folder, *folder.parents)):
            problems.append(f"{path}: not listed in a CMakeLists.txt")
    return problems


def is_listed(path, folder):
    lists = folder / "CMakeLists.txt"
    if not lists.exists():
        return False
    name = str(path.relative_to(folder))
    for word in re.findall(r"[\w./${}-]+", lists.read_text()):
        # A variable in a name stands for anything without a slash: "${group}_test.cc".
        pattern = r"[^/]+".join(re.escape(part) for part in re.split(r"\$\{\w+\}", word))
        if word.endswith(path.suffix) and re.fullmatch(pattern, name):
            return True
    return False


def check_words(root):
    problems = []
    for path in sources(root, ["include", *SOURCE_FOLDERS]):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if PLACEHOLDER.search(line):
                problems.append(f"{path}:{number}: {line.strip()}")
    return problems


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    problems = [
        problem
        for check in (check_includes, check_environment, check_listed, check_words)
        for problem in check(root)
    ]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
