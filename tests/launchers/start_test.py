"""Starts through libshmem.so under every launcher that is here.

usage: start_test.py PLAIN SHMEM_RUN MPIEXEC-or-"" MPI_KIND MPI_PROGRAM-or-"" HAVE_PMIX
"""

import shutil
import socket
import subprocess
import sys
import unittest

import launch

PLAIN, SHMEM_RUN, MPIEXEC, MPI_KIND, MPI_PROGRAM, HAVE_PMIX = sys.argv[1:7]
HYDRA = shutil.which("mpiexec.hydra")
SRUN = shutil.which("srun")


def slurm_works():
    """Whether there is a Slurm that takes jobs, not only its commands."""
    if not SRUN:
        return False
    try:
        return launch.run([SRUN, "-n", "2", "true"], limit=20).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def free_master_port():
    """A MASTER_PORT whose derived port (10240 + MASTER_PORT % 16384) is free now."""
    for seed in range(29500, 29900):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", 10240 + seed % 16384))
                return seed
            except OSError:
                continue
    raise RuntimeError("no free port")


class Start(unittest.TestCase):
    def good(self, done, n, rounds=1):
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertNotIn("FAILED", done.stdout)
        self.assertEqual(done.stdout.count("good"), n, done.stdout)
        for pe in range(n):
            self.assertEqual(done.stdout.count(f"PE {pe} of {n}"), rounds, done.stdout)
        return done.stdout

    def test_no_launcher_is_one_pe(self):
        for way in ("article", "null"):
            self.good(launch.run([PLAIN, way]), 1)
        self.good(launch.run([PLAIN, "twice"]), 1, rounds=2)

    def test_shmem_run(self):
        for way in ("article", "null"):
            self.good(launch.run([SHMEM_RUN, "-n", "3", PLAIN, way]), 3)
        self.good(launch.run([SHMEM_RUN, "-n", "1", PLAIN, "article"]), 1)
        self.good(launch.run([SHMEM_RUN, "-n", "3", PLAIN, "twice"]), 3, rounds=2)

    def test_shmem_run_global_exit(self):
        done = launch.run([SHMEM_RUN, "-n", "3", PLAIN, "exit"])
        self.assertEqual(done.returncode, 9, done.stdout)

    def torchrun(self, n, extra=None):
        port = str(free_master_port())
        programs = [
            launch.start(
                [PLAIN, "article"],
                {
                    "RANK": str(pe),
                    "LOCAL_RANK": str(pe),
                    "WORLD_SIZE": str(n),
                    "LOCAL_WORLD_SIZE": str(n),
                    "MASTER_ADDR": "127.0.0.1",
                    "MASTER_PORT": port,
                    **(extra or {}),
                },
            )
            for pe in range(n)
        ]
        return [(one.communicate(timeout=100)[0], one.returncode) for one in programs]

    def test_variables_of_torchrun(self):
        for pe, (out, code) in enumerate(self.torchrun(3)):
            self.assertEqual(code, 0, out)
            self.assertIn(f"PE {pe} of 3", out)

    def test_torchrun_started_by_a_launcher_with_pmi(self):
        inherited = {"TORCHELASTIC_RUN_ID": "x", "PMI_FD": "9", "PMI_RANK": "0", "PMI_SIZE": "1"}
        for pe, (out, code) in enumerate(self.torchrun(2, inherited)):
            self.assertEqual(code, 0, out)
            self.assertIn(f"PE {pe} of 2", out)

    def test_a10_launchers_that_cannot_be_used(self):
        for variables, words in (
            ({"SLURM_NTASKS": "4"}, "SLURM_PROCID is not"),
            ({"PMI_SIZE": "4"}, "PMI_RANK is not"),
            ({"PMI_SIZE": "4", "PMI_RANK": "0"}, "PE 0 of 4"),
            ({"PMI_SIZE": "4", "PMI_RANK": "0", "PMI_FD": "99"}, "PMI_FD=99 is not an open socket"),
            ({"OMPI_COMM_WORLD_SIZE": "4"}, "OMPI_COMM_WORLD_RANK is not"),
            ({"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "1"}, "PE 1 of 4"),
            ({"SHMEM_PE": "1"}, "SHMEM_NPES is not"),
            ({"SHMEM_PE": "2", "SHMEM_NPES": "2", "SHMEM_BOOTSTRAP": "tcp://h:9000"}, "SHMEM_PE=2"),
            ({"RANK": "x", "WORLD_SIZE": "2", "MASTER_ADDR": "h"}, "'x' is not an integer"),
        ):
            done = launch.run([PLAIN, "article"], variables)
            self.assertEqual(done.returncode, 10, f"{variables}: {done.stdout}")
            self.assertIn(words, done.stdout)
            self.assertNotIn("PE 0 of 1", done.stdout)

    @unittest.skipUnless(HAVE_PMIX == "1" and MPI_KIND == "Open MPI", "no PMIx launcher here")
    def test_pmix(self):
        for way in ("article", "null"):
            self.good(launch.mpirun(MPIEXEC, 3, PLAIN, way), 3)
        self.good(launch.mpirun(MPIEXEC, 1, PLAIN, "article"), 1)
        self.good(launch.mpirun(MPIEXEC, 2, PLAIN, "twice"), 2, rounds=2)

    @unittest.skipUnless(HAVE_PMIX == "1" and MPI_KIND == "Open MPI", "no PMIx launcher here")
    def test_pmix_global_exit(self):
        done = launch.mpirun(MPIEXEC, 3, PLAIN, "exit")
        self.assertEqual(done.returncode, 9, done.stdout)

    @unittest.skipUnless(HYDRA, "no mpiexec.hydra here")
    def test_pmi1_of_hydra(self):
        for way in ("article", "null"):
            self.good(launch.mpirun(HYDRA, 3, PLAIN, way), 3)
        self.good(launch.mpirun(HYDRA, 1, PLAIN, "article"), 1)
        self.good(launch.mpirun(HYDRA, 2, PLAIN, "twice"), 2, rounds=2)

    @unittest.skipUnless(HYDRA, "no mpiexec.hydra here")
    def test_pmi1_global_exit(self):
        done = launch.mpirun(HYDRA, 3, PLAIN, "exit")
        self.assertEqual(done.returncode, 9, done.stdout)

    @unittest.skipUnless(MPI_PROGRAM, "built without MPI")
    def test_n1_mpi_mode_of_a_program_without_mpi(self):
        self.good(launch.mpirun(MPIEXEC, 3, PLAIN, "mpi"), 3)

    @unittest.skipUnless(MPI_PROGRAM, "built without MPI")
    def test_mpi_info_line(self):
        done = launch.mpirun(MPIEXEC, 3, MPI_PROGRAM, "nested")
        self.good(done, 3)
        self.assertIn("info: MPI communicator of 3 processes", done.stdout)

    @unittest.skipUnless(MPI_PROGRAM, "built without MPI")
    def test_l8_n1_orders_of_init_and_finalize(self):
        for order, rounds in (
            ("nested", 1),
            ("mpi-first-out", 2),
            ("only-shmem", 1),
            ("shmem-outside", 3),
            ("crossed", 1),
            ("shmem-inside", 1),
        ):
            with self.subTest(order=order):
                self.good(launch.mpirun(MPIEXEC, 3, MPI_PROGRAM, order), 3, rounds)

    @unittest.skipUnless(MPI_PROGRAM, "built without MPI")
    def test_n1_communicators(self):
        done = launch.mpirun(MPIEXEC, 3, MPI_PROGRAM, "communicators")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.count("PE 0 of 1"), 3, done.stdout)
        for pe in range(3):
            self.assertEqual(done.stdout.count(f"PE {pe} of 3"), 1, done.stdout)

    @unittest.skipUnless(MPI_PROGRAM, "built without MPI")
    def test_b6_attributes_differ_from_the_communicator(self):
        done = launch.mpirun(MPIEXEC, 3, MPI_PROGRAM, "wrong-attributes")
        out = self.good(done, 3)
        self.assertEqual(out.count("rank 1 says my_pe 0 of n_pes 3"), 3, out)
        done = launch.mpirun(MPIEXEC, 3, MPI_PROGRAM, "pe-out-of-range")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.count("rank 1 says my_pe 7 of n_pes 3"), 3, done.stdout)

    @unittest.skipUnless(MPI_PROGRAM, "built without MPI")
    def test_mpi_mode_fifty_times(self):
        done = launch.mpirun(MPIEXEC, 2, MPI_PROGRAM, "fifty")
        self.assertEqual(done.returncode, 0, done.stdout)

    @unittest.skipUnless(slurm_works(), "no Slurm here")
    def test_slurm(self):
        self.good(launch.run([SRUN, "-n", "2", "--mpi=none", PLAIN, "article"]), 2)
        self.good(launch.run([SRUN, "-n", "2", "--mpi=pmi2", PLAIN, "article"]), 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
