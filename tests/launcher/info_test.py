"""shmem-info tells the truth, and the page of environment variables is the one it prints.

usage: info_test.py SHMEM_INFO PAGE
"""

import os
import pathlib
import subprocess
import sys
import unittest

INFO, PAGE = sys.argv.pop(1), sys.argv.pop(1)


def run(*arguments, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SHMEM_")}
    return subprocess.run(
        [INFO, *arguments], capture_output=True, text=True, timeout=60, check=False, env={**clean, **environment}
    )


class Info(unittest.TestCase):
    def test_plain(self):
        done = run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("AnySHMEM", done.stdout)
        self.assertIn(f"usable by this process: {len(os.sched_getaffinity(0))}", done.stdout)
        self.assertIn("memory:", done.stdout)
        self.assertRegex(done.stdout, r"SHMEM_LOG_TO_STDOUT +flag")

    def test_value_read(self):
        self.assertRegex(run(SHMEM_KERNEL_STACK="1.5m").stdout, r"SHMEM_KERNEL_STACK .* now '1572864' \(set\)")

    def test_secret_is_not_shown(self):
        out = run(SHMEM_JOB_SECRET="hush").stdout
        self.assertNotIn("hush", out)
        self.assertIn("(set)", out)

    def test_bad_value_is_an_error(self):
        done = run(SHMEM_ENGINE_DEPTH="10x")
        self.assertEqual(done.returncode, 1)
        self.assertIn("SHMEM_ENGINE_DEPTH", done.stderr)
        self.assertIn("'10x'", done.stderr)

    def test_page_is_up_to_date(self):
        wanted = run("--environment-page").stdout
        self.assertEqual(
            pathlib.Path(PAGE).read_text(), wanted, f"renew it: {INFO} --environment-page > {PAGE}"
        )


if __name__ == "__main__":
    unittest.main()
