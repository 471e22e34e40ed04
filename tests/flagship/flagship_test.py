"""The flagship example and its sibling, run as users run them.

usage: flagship_test.py BIN_FOLDER MUTANT_FOLDER [unittest arguments]
"""

import os
import pathlib
import re
import socket
import stat
import subprocess
import sys
import threading
import time
import unittest

from support import LIMIT, Job, free_port, shared_names, wait_until

BIN, MUTANTS = (pathlib.Path(sys.argv.pop(1)).absolute() for _ in range(2))
RUN = BIN / "shmem-run"
FLAGSHIP = BIN / "rdma_aclgraph"
SIGNAL = BIN / "aclgraph_signal"
# 200 is the promise; sanitizer builds take fewer.
ROUNDS = int(os.environ.get("FLAGSHIP_ROUNDS", "200"))
ARGUMENTS = ["{npes}", "{pe}", "{address}", "{npes}", "0", "0"]
# The promise is 5 seconds.
DEATH_LIMIT = 5


def launch(program, n_pes, rounds=ROUNDS, arguments=ARGUMENTS, **environment):
    names = {"RDMA_ACLGRAPH_ROUNDS": str(rounds), "ACLGRAPH_SIGNAL_ROUNDS": str(rounds)}
    return subprocess.run(
        [RUN, "-n", str(n_pes), program, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        env={**os.environ, **names, **environment},
    )


class Case(unittest.TestCase):
    def expect_success(self, job):
        codes = job.wait()
        self.assertEqual(codes, {pe: 0 for pe in range(job.n_pes)}, job.describe())
        for number, pe in job.pes.items():
            self.assertIn(f"[SUCCESS] demo run success in relative pe {number}\n", pe.out)

    def expect_clean(self, job):
        wait_until(lambda: job.left_behind() == ([], []), f"nothing to be left behind: {job.left_behind()}", 10)

    def launched(self, program, n_pes):
        done = launch(program, n_pes)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = re.findall(r"^\[SUCCESS\] demo run success in relative pe (\d+)$", done.stdout, re.MULTILINE)
        self.assertEqual(sorted(map(int, found)), list(range(n_pes)))
        times = re.findall(rf"{ROUNDS} rounds, median [0-9.]+ us per replay", done.stdout)
        self.assertEqual(len(times), n_pes, done.stdout)
        self.assertNotIn("[FAILED]", done.stderr)


class Launcher(Case):
    """All rounds with every number of PEs the promise names."""


def add_launcher_cases():
    for n_pes in (1, 2, 3, 5, 8, 16):
        for name, program in (("barriers", FLAGSHIP), ("signals", SIGNAL)):
            setattr(
                Launcher, f"test_{name}_{n_pes:02}_pes", lambda self, p=program, n=n_pes: self.launched(p, n)
            )


add_launcher_cases()


class ByHand(Case):
    """Plain commands, as in several terminals."""

    def test_any_order(self):
        for program in (FLAGSHIP, SIGNAL):
            with Job(program, 5, rounds=50) as job:
                job.start_shuffled(seed=20260501)
                self.expect_success(job)
                self.expect_clean(job)

    def test_single_pe(self):
        with Job(FLAGSHIP, 1, rounds=50) as job:
            job.start(0)
            self.expect_success(job)

    def test_default_rounds(self):
        with Job(FLAGSHIP, 2) as job:
            del job.environment["RDMA_ACLGRAPH_ROUNDS"]
            job.start_shuffled(seed=1)
            self.expect_success(job)
            self.assertIn("3 rounds", job.pes[0].out)

    def test_ten_seconds_apart(self):
        # The wait is the case itself: nothing to synchronise with.
        with Job(FLAGSHIP, 2, rounds=20) as server_first, Job(FLAGSHIP, 2, rounds=20) as server_last:
            server_first.start(0)
            server_last.start(1)
            time.sleep(10)
            server_first.start(1)
            server_last.start(0)
            self.expect_success(server_first)
            self.expect_success(server_last)

    def test_same_port_again_and_again(self):
        port = free_port()
        for _ in range(3):
            with Job(FLAGSHIP, 3, port=port) as job:
                job.start_shuffled(seed=2)
                self.expect_success(job)

    def test_secret_file_is_private(self):
        with Job(FLAGSHIP, 4) as job:
            job.start_shuffled(seed=3)
            self.expect_success(job)
            secret = pathlib.Path(job.folder, ".config/anyshmem/secret")
            self.assertEqual(stat.S_IMODE(secret.stat().st_mode), 0o600)


class Mutants(Case):
    """Copies of the kernels with one mistake each must not pass."""

    def expect_failure(self, program, n_pes, rounds, **environment):
        with Job(MUTANTS / program, n_pes, rounds=rounds, **environment) as job:
            job.start_shuffled(seed=4)
            codes = job.wait()
            self.assertEqual(codes, {pe: 1 for pe in range(n_pes)}, job.describe())
            for number, pe in job.pes.items():
                self.assertIn(f"[FAILED] demo run failed in relative pe {number}\n", pe.err)
                self.assertIn("wanted", pe.err)
                self.assertNotIn("[SUCCESS]", pe.out)

    def test_wrong_byte_in_put_with_barriers(self):
        self.expect_failure("rdma_aclgraph_wrong_byte", 3, 3)

    def test_wrong_byte_in_put_with_signals(self):
        self.expect_failure("aclgraph_signal_wrong_byte", 3, 3)

    def test_missing_quiet_shows(self):
        # ThreadSanitizer sees the mistake as well, and would end with another code.
        environment = {"SHMEM_ENGINE_DELAY_US": "50000", "TSAN_OPTIONS": "exitcode=1"}
        self.expect_failure("aclgraph_signal_no_quiet", 2, 5, **environment)

    def test_delayed_engine_alone_is_harmless(self):
        done = launch(SIGNAL, 2, rounds=5, SHMEM_ENGINE_DELAY_US="20000")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Deaths(Case):
    """A PE is killed in the middle of the rounds."""

    def kill_one(self, program, victim):
        before = shared_names()
        with Job(program, 4, rounds=100000, SHMEM_INFO="1") as job:
            job.start_shuffled(seed=5)
            job.wait_for_rounds()
            self.assertFalse([pe for pe in job.pes.values() if pe.process.poll() is not None], job.describe())
            job.kill(victim)
            killed = time.monotonic()
            for number in sorted(set(job.pes) - {victim}):
                pe = job.pes[number]
                try:
                    code = pe.wait(limit=max(0.0, killed + DEATH_LIMIT - time.monotonic()))
                except subprocess.TimeoutExpired:
                    self.fail(f"PE {number} lives {DEATH_LIMIT} s after PE {victim} died\n{job.describe()}")
                self.assertEqual(code, 1, job.describe())
                self.assertRegex(pe.err, rf"PE {victim}\b", job.describe())
                self.assertIn(f"[FAILED] demo run failed in relative pe {number}\n", pe.err)
            self.expect_clean(job)
            wait_until(lambda: shared_names() <= before, f"names to vanish: {shared_names() - before}", 10)
            # The same port serves the next job at once.
            with Job(program, 4, port=job.port) as following:
                following.start_shuffled(seed=6)
                self.expect_success(following)

    def test_pe_2_with_barriers(self):
        self.kill_one(FLAGSHIP, 2)

    def test_pe_0_with_barriers(self):
        self.kill_one(FLAGSHIP, 0)

    def test_pe_1_with_signals(self):
        self.kill_one(SIGNAL, 1)

    def test_pe_0_with_signals(self):
        self.kill_one(SIGNAL, 0)

    def test_launcher_reports_the_death(self):
        with Job(FLAGSHIP, 3, rounds=100000, SHMEM_INFO="1") as job:
            process = subprocess.Popen(
                [RUN, "-n", "3", FLAGSHIP, *ARGUMENTS],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=job.environment,
                text=True,
            )
            lines = []
            reader = threading.Thread(target=lambda: lines.extend(iter(process.stdout.readline, "")))
            reader.start()
            wait_until(lambda: any("control plane" in line for line in list(lines)), "the info line")
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            os.kill(int(children[1]), 9)
            code = process.wait(timeout=LIMIT)
            reader.join()
            process.stdout.close()
            self.assertEqual(code, 128 + 9, "".join(lines))
            self.assertIn("PE 1 was ended by signal 9", "".join(lines))
            self.expect_clean(job)


class Mistakes(Case):
    def test_busy_port(self):
        with socket.socket() as holder:
            holder.bind(("127.0.0.1", 0))
            holder.listen()
            port = holder.getsockname()[1]
            arguments = ["{npes}", "{pe}", f"tcp://127.0.0.1:{port}", "{npes}", "0", "0"]
            done = launch(FLAGSHIP, 2, arguments=arguments)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn(str(port), done.stderr)
            self.assertRegex(done.stderr, r"\[FAILED\] demo run failed in relative pe 0")

    def test_wrong_arguments(self):
        good = ["1", "0", f"tcp://127.0.0.1:{free_port()}", "1", "0", "0"]
        cases = {
            "none": [],
            "five": good[:5],
            "seven": [*good, "0"],
            "n_pes 0": ["0", *good[1:]],
            "n_pes not a number": ["2x", *good[1:]],
            "pe_id too large": ["2", "2", *good[2:]],
            "pe_id negative": ["2", "-1", *good[2:]],
            "g_npus 0": [*good[:3], "0", *good[4:]],
            "f_pe after pe_id": [*good[:4], "1", "0"],
        }
        for name, arguments in cases.items():
            with self.subTest(name):
                done = subprocess.run(
                    [FLAGSHIP, *arguments], capture_output=True, text=True, timeout=LIMIT, check=False
                )
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, r"usage:|is not a number from")
                self.assertNotIn("[SUCCESS]", done.stdout)

    def test_bad_address(self):
        for address in ("tcp://127.0.0.1:80", "nonsense", "tcp://127.0.0.1", "tcp://127.0.0.1:99999"):
            with self.subTest(address):
                done = launch(FLAGSHIP, 1, arguments=["1", "0", address, "1", "0", "0"])
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertIn("[FAILED] demo run failed in relative pe 0", done.stderr)

    def test_bad_rounds(self):
        for rounds in ("0", "-3", "many", ""):
            done = launch(FLAGSHIP, 1, rounds=rounds)
            self.assertEqual(done.returncode, 1)
            self.assertIn("RDMA_ACLGRAPH_ROUNDS", done.stderr)


if __name__ == "__main__":
    unittest.main()
