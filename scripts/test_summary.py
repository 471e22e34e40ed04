"""Adds up the results that scripts/test left behind, checks the floors, prints "N passed, N failed".

usage: test_summary.py RESULTS_FOLDER FLOOR_FILE PRESET...

A GoogleTest program and a Python unittest program count once per single test, any other ctest entry counts once. The
single tests are read from the output that ctest kept, since a record per program is written by every process that
inherits the request, several at a time.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree


class Count:
    def __init__(self):
        self.passed = 0
        self.failed = []
        self.skipped = []

    @property
    def total(self):
        return self.passed + len(self.failed) + len(self.skipped)


# The lines by which GoogleTest ends each test; a job of several PEs prints them once per PE, with a prefix or without.
CASE_LINE = re.compile(r"\[ {2,}(OK|FAILED|SKIPPED) {1,2}\] (\w[\w/]*\.[\w/]+)[^\n]*\(\d+ ms\)")


def cases_of(output):
    """Name -> OK, FAILED or SKIPPED of the single GoogleTest tests in an output; the worst of several PEs counts."""
    order = {"OK": 0, "SKIPPED": 1, "FAILED": 2}
    cases = {}
    for verdict, name in CASE_LINE.findall(output):
        if name not in cases or order[verdict] > order[cases[name]]:
            cases[name] = verdict
    return cases


def add_cases(count, program, entry_failed, cases):
    """Adds the single tests of one GoogleTest program."""
    failed = [f"{program}: {name}" for name, verdict in cases.items() if verdict == "FAILED"]
    if entry_failed and not failed:
        failed = [f"{program}: failed outside its tests, such as at exit"]
    count.failed += failed
    count.skipped += [f"{program}: {name}" for name, verdict in cases.items() if verdict == "SKIPPED"]
    count.passed += sum(verdict == "OK" for verdict in cases.values())


def unittest_counts(output):
    """Tests and failures that Python's unittest reported, or None when the output is not its."""
    ran = re.search(r"^Ran (\d+) tests? in ", output, re.MULTILINE)
    if not ran:
        return None
    failed = re.search(r"^FAILED \((.*)\)$", output, re.MULTILINE)
    numbers = re.findall(r"(?:failures|errors)=(\d+)", failed.group(1)) if failed else []
    return int(ran.group(1)), sum(map(int, numbers))


def add_entry(count, program, entry_failed, output):
    """Adds a ctest entry that is no GoogleTest program."""
    counts = unittest_counts(output)
    if counts is None:
        if entry_failed:
            count.failed.append(program)
        else:
            count.passed += 1
        return
    tests, failures = counts
    # A subtest can fail more than once in one test; the entry failed in any case.
    failures = max(failures, 1) if entry_failed else failures
    count.passed += max(tests - failures, 0)
    count.failed += [f"{program}: one of its tests"] * failures


def add_preset(results, preset):
    count = Count()
    if (results / f"{preset}.broken").exists():
        count.failed.append("the build")
        return count
    junit = results / f"{preset}.xml"
    if not junit.exists():
        count.failed.append("ctest left no record")
        return count
    for entry in ElementTree.parse(junit).getroot().iter("testcase"):
        program = entry.get("name")
        entry_failed = entry.get("status") == "fail"
        output = entry.findtext("system-out") or ""
        cases = cases_of(output)
        if cases:
            add_cases(count, program, entry_failed, cases)
        elif entry_failed or entry.get("status") == "run":
            add_entry(count, program, entry_failed, output)
        else:
            count.skipped.append(program)
    return count


def read_floors(path):
    floors = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            preset, number = line.split()
            floors[preset] = int(number)
    return floors


def main():
    results, floor_file, presets = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    floors = read_floors(floor_file)
    passed = failed = skipped = 0
    for preset in presets:
        count = add_preset(results, preset)
        floor = floors.get(preset, 0)
        if count.total < floor:
            count.failed.append(f"only {count.total} tests ran, the floor is {floor}")
        print(
            f"test: {preset}: {count.total} tests, {count.passed} passed, {len(count.failed)} failed, "
            f"{len(count.skipped)} skipped (floor {floor})"
        )
        for name in count.failed:
            print(f"test:   failed: {name}")
        for name in count.skipped:
            print(f"test:   skipped: {name}")
        passed += count.passed
        failed += len(count.failed)
        skipped += len(count.skipped)
    print(f"{passed} passed, {failed} failed, {skipped} skipped" if skipped else f"{passed} passed, {failed} failed")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
