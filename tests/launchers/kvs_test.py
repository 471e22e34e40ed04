"""The PMI and PMIx plug-ins under real launchers.

usage: kvs_test.py SCENARIOS PLAIN PMI_PLUGIN MPIEXEC-or-"" MPI_KIND PMIX_PLUGIN-or-""
"""

import shutil
import sys
import threading
import unittest

import launch

SCENARIOS, PLAIN, PMI, MPIEXEC, MPI_KIND, PMIX = sys.argv[1:7]
HYDRA = shutil.which("mpiexec.hydra")


class Common:
    """Runs against whatever launcher and plugin a subclass names."""

    launcher = plugin = number = missing = None

    def scenario(self, n, name):
        command = [SCENARIOS, self.plugin, name, self.number]
        return launch.mpirun(self.launcher, n, *command)

    def good(self, done, n):
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.count("good"), n, done.stdout)
        self.assertNotIn("FAILED", done.stdout)
        return done.stdout

    def test_every_step(self):
        for n in (1, 2, 3, 5):
            done = launch.mpirun(self.launcher, n, PLAIN, self.plugin)
            out = self.good(done, n)
            for pe in range(n):
                self.assertIn(f"PE {pe} of {n}", out)

    def test_many_times(self):
        self.good(self.scenario(2, "many"), 2)

    def test_two_at_once(self):
        self.good(self.scenario(3, "two-at-once"), 3)

    def test_b6_attributes_differ_from_the_launcher(self):
        out = self.good(self.scenario(3, "wrong-attributes"), 3)
        self.assertEqual(out.count("PE 1 says my_pe 0 of n_pes 3"), 3, out)

    def test_global_exit(self):
        done = self.scenario(3, "exit-all")
        self.assertEqual(done.returncode, 7, done.stdout)

    def test_absent_pe(self):
        command = [self.launcher, "-n", "3", SCENARIOS, self.plugin, "absent", self.number]
        job = launch.start(command, launch.MPI_PROGRAM)
        watchdog = threading.Timer(60, job.kill)
        watchdog.start()
        lines = []
        while len([line for line in lines if " open: " in line]) < 2:
            line = job.stdout.readline()
            if not line:
                break
            lines.append(line)
        job.terminate()
        job.communicate(timeout=60)
        watchdog.cancel()
        out = "".join(lines)
        self.assertEqual(out.count("open: code -3: compare attributes: time limit of 1 s"), 2, out)
        self.assertEqual(out.count(self.missing), 2, out)


@unittest.skipUnless(PMIX and MPI_KIND == "Open MPI", "no PMIx launcher here")
class Pmix(Common, unittest.TestCase):
    launcher, plugin, number = MPIEXEC, PMIX, "PMIX_RANK"
    missing = "PE 2 did not arrive"

    def test_without_launcher(self):
        done = launch.run([PLAIN, PMIX])
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("PMIx_Init failed", done.stdout)


@unittest.skipUnless(HYDRA, "no mpiexec.hydra here")
class Pmi1(Common, unittest.TestCase):
    launcher, plugin, number = HYDRA, PMI, "PMI_RANK"
    missing = "PMI-1 does not tell which"


class Pmi1WithoutLauncher(unittest.TestCase):
    def test_without_launcher(self):
        done = launch.run([PLAIN, PMI])
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("PMI_FD, PMI_RANK and PMI_SIZE must be set", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
