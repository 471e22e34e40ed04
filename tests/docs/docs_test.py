"""The documentation is true: links resolve, the README's program is the example, the tutorial runs.

usage: docs_test.py ROOT BIN_FOLDER SANITIZER

SANITIZER is what this build was made with (address, thread or nothing); programs get the same.

In docs/tutorial.md and docs/security.md a fence "cpp file=NAME" is a file, "sh" is run by bash in the folder of those files with our tools in
PATH, and the "text" fence after it is what it must print, lines in any order.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT, BIN = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
SANITIZER = sys.argv.pop(1)
FLAGS = {"": "", "address": "-fsanitize=address,undefined", "thread": "-fsanitize=thread"}[SANITIZER]
FENCE = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
LIMIT = 300


def pages():
    listed = subprocess.run(["find", ROOT, "-name", "*.md", "-not", "-path", "*/build/*"], capture_output=True, text=True)
    return [pathlib.Path(line) for line in listed.stdout.splitlines() if "/build/" not in line]


class Docs(unittest.TestCase):
    def test_links_resolve(self):
        self.assertGreater(len(pages()), 5)
        for page in pages():
            for target in LINK.findall(page.read_text()):
                if "://" in target:
                    continue
                with self.subTest(page=str(page), target=target):
                    self.assertTrue((page.parent / target).exists())

    def test_readme_shows_the_example(self):
        shown = [text for kind, _, text in FENCE.findall((ROOT / "README.md").read_text()) if kind == "cpp"]
        self.assertEqual(shown, [(ROOT / "examples/hello/main.cpp").read_text()])

    def test_named_files_exist(self):
        for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))):
            for name in re.findall(r"`((?:src|scripts|examples|tests|tools|include|cmake)/[\w./-]+)`", page.read_text()):
                with self.subTest(page=str(page), name=name):
                    self.assertTrue((ROOT / name).exists())

    def test_named_options_exist(self):
        table = (ROOT / "src/base/config.cc").read_text()
        for page in pages():
            for name in set(re.findall(r"\bSHMEM_[A-Z_]*[A-Z]\b", page.read_text())):
                with self.subTest(page=str(page), name=name):
                    self.assertIn(f'"{name}"', table)

    def test_tutorial_runs(self):
        self.assertGreater(self.run_page("docs/tutorial.md"), 3)

    def test_security_page_runs(self):
        self.assertEqual(self.run_page("docs/security.md"), 4)

    def run_page(self, page):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SHMEM_")}
        environment["PATH"] = f"{BIN}:{environment['PATH']}"
        fences = FENCE.findall((ROOT / page).read_text())
        ran = 0
        with tempfile.TemporaryDirectory() as folder:
            environment["HOME"] = folder
            output = None
            for kind, name, text in fences:
                if kind == "cpp":
                    pathlib.Path(folder, name).write_text(text)
                elif kind == "sh":
                    output = self.run_shell(text, folder, environment)
                    ran += 1
                elif kind == "text":
                    self.assertEqual(sorted(output.splitlines()), sorted(text.splitlines()))
        return ran

    def run_shell(self, text, folder, environment):
        done = subprocess.run(
            ["bash", "-e", "-c", f'shmem-cc() {{ command shmem-cc {FLAGS} "$@"; }}\n{text}'],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        self.assertEqual(done.returncode, 0, f"{text}\n{done.stdout}{done.stderr}")
        return done.stdout


if __name__ == "__main__":
    unittest.main()
