"""The MPI plug-in under a real mpirun.

usage: mpi_test.py MPIEXEC MPI_KIND SCENARIOS PLAIN PLUGIN
"""

import sys
import unittest

import launch

MPIEXEC, MPI_KIND, SCENARIOS, PLAIN, PLUGIN = sys.argv[1:6]


def run(command, extra=None):
    return launch.run(command, {**launch.MPI_PROGRAM, **(extra or {})})


def mpirun(n, *command):
    return launch.mpirun(MPIEXEC, n, *command)


class MpiPlugin(unittest.TestCase):
    def good(self, n, *command):
        done = mpirun(n, *command)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.count("good"), n, done.stdout)
        self.assertNotIn("FAILED", done.stdout)
        return done.stdout

    def scenario(self, n, name):
        return self.good(n, SCENARIOS, PLUGIN, name)

    def test_n1_program_without_mpi(self):
        for n in (1, 2, 3):
            out = self.good(n, PLAIN, PLUGIN)
            for pe in range(n):
                self.assertIn(f"PE {pe} of {n}", out)

    def test_n1_communicators_of_a_program_with_mpi(self):
        self.scenario(4, "communicators")

    def test_n1_started_and_ended_by_us(self):
        self.scenario(2, "started-by-us")

    def test_without_mpirun_there_is_one_pe(self):
        done = run([PLAIN, PLUGIN])
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("PE 0 of 1", done.stdout)

    def test_a10_launcher_of_another_mpi(self):
        for source, variables in {
            "PMI": {"PMI_RANK": "1", "PMI_SIZE": "4"},
            "Slurm": {"SLURM_PROCID": "1", "SLURM_NTASKS": "4"},
            "shmem-run": {"SHMEM_PE": "1", "SHMEM_NPES": "4"},
        }.items():
            if MPI_KIND == "MPICH" and source == "PMI":
                continue  # MPICH itself would look for that launcher
            done = run([PLAIN, PLUGIN], variables)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn(f"{source} says that this is PE 1 of 4", done.stdout)

    def test_equal_attributes(self):
        self.scenario(2, "equal-attributes")

    def test_b6_attributes_differ_from_the_communicator(self):
        out = self.scenario(3, "wrong-attributes")
        for pe in range(3):
            self.assertIn(f"PE {pe} open: code -1: attributes differ", out)
        self.assertEqual(out.count("rank 1 says my_pe 0 of n_pes 3"), 3, out)

    def test_null_communicator(self):
        self.scenario(2, "null-communicator")

    def test_absent_at_open(self):
        done = mpirun(4, SCENARIOS, PLUGIN, "absent-at-open")
        self.assertEqual(done.returncode, 42, done.stdout)
        self.assertEqual(done.stdout.count("PE 3 did not arrive"), 3, done.stdout)
        self.assertRegex(done.stdout, "PE 3 open: code -3: open over MPI: the time limit of PE . is")

    def test_absent_at_barrier(self):
        done = mpirun(4, SCENARIOS, PLUGIN, "absent-at-barrier")
        self.assertEqual(done.returncode, 42, done.stdout)
        self.assertEqual(done.stdout.count("PE 3 did not arrive"), 3, done.stdout)
        self.assertEqual(done.stdout.count("map peers: "), 4, done.stdout)

    def test_mismatch_of_steps_and_sizes(self):
        out = self.scenario(3, "mismatch")
        text = "PE 1 is in step 1, barrier 'free' while PE 0 is in step 1, allgather 'malloc' of 4"
        self.assertEqual(out.count(text), 3, out)
        self.assertEqual(out.count("allgather 'sizes' of 8 bytes while PE 0"), 3, out)

    def test_global_exit(self):
        done = mpirun(3, SCENARIOS, PLUGIN, "exit-all")
        self.assertEqual(done.returncode, 7, done.stdout)

    def test_threads(self):
        self.scenario(2, "threads")

    def test_thread_level(self):
        out = self.scenario(2, "single-thread")
        if "thread: code" in out:
            self.assertIn("MPI_THREAD_FUNNELED", out)

    def test_hundred_times(self):
        self.scenario(2, "many")

    def test_l8_mpi_ends_first(self):
        self.scenario(3, "mpi-ends-first")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
