"""What shmem-run promises, tried with shell commands as programs.

usage: launcher_test.py SHMEM_RUN
"""

import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import time
import unittest

RUN = os.path.abspath(sys.argv.pop(1))
LIMIT = 60


def run(*arguments, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([RUN, *arguments], capture_output=True, text=True, timeout=LIMIT, check=False, **options)


def shell(n, script, *arguments, flags=(), **options):
    return run("-n", str(n), *flags, "sh", "-c", script, "sh", *arguments, **options)


def wait_until(condition, what):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {LIMIT} s for: {what}")
        time.sleep(0.01)


def alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


class Environment(unittest.TestCase):
    def test_each_pe_knows_who_it_is(self):
        done = shell(5, 'echo "$SHMEM_PE $SHMEM_NPES $SHMEM_LOCAL_PES"')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(done.stdout.split("\n")[:-1]), [f"{pe} 5 5" for pe in range(5)])

    def test_all_share_address_and_secret(self):
        done = shell(3, 'echo "$SHMEM_BOOTSTRAP $SHMEM_JOB_SECRET"')
        lines = set(done.stdout.splitlines())
        self.assertEqual(len(lines), 1, lines)
        address, secret = lines.pop().split()
        self.assertRegex(address, r"^tcp://127\.0\.0\.1:\d+$")
        self.assertRegex(secret, r"^[0-9a-f]{64}$")

    def test_secret_and_address_differ_between_jobs(self):
        first, second = (shell(1, 'echo "$SHMEM_BOOTSTRAP $SHMEM_JOB_SECRET"').stdout.split() for _ in range(2))
        self.assertNotEqual(first[1], second[1])

    def test_stale_values_are_replaced(self):
        stale = dict(os.environ, SHMEM_PE="77", SHMEM_JOB_SECRET="old", SHMEM_BOOTSTRAP="tcp://x:1")
        done = shell(1, 'echo "$SHMEM_PE $SHMEM_JOB_SECRET $SHMEM_BOOTSTRAP"', env=stale)
        self.assertRegex(done.stdout, r"^0 [0-9a-f]{64} tcp://127")

    def test_only_pe_0_inherits_the_listening_socket(self):
        script = 'echo "$SHMEM_PE $SHMEM_LISTEN_FD $(readlink /proc/self/fd/$SHMEM_LISTEN_FD)"'
        lines = sorted(shell(2, script).stdout.splitlines())
        self.assertRegex(lines[0], r"^0 \d+ socket:")
        self.assertEqual(lines[1].strip(), "1 -1")

    def test_arguments_are_substituted(self):
        done = shell(2, 'echo "$1|$2|$3"', "pe{pe}of{npes}", "{address}", "{other}")
        for pe, line in enumerate(sorted(done.stdout.splitlines())):
            self.assertRegex(line, rf"^pe{pe}of2\|tcp://127\.0\.0\.1:\d+\|{{other}}$")

    def test_options_after_the_program_belong_to_it(self):
        done = run("-n", "1", "echo", "-n", "x", "--timeout", "3")
        self.assertEqual((done.returncode, done.stdout), (0, "x --timeout 3"))

    def test_binding(self):
        usable = sorted(os.sched_getaffinity(0))
        script = 'echo "$SHMEM_PE $(grep Cpus_allowed_list /proc/self/status | cut -f2)"'
        lines = sorted(shell(3, script, flags=["--bind-to", "core"]).stdout.splitlines())
        self.assertEqual(lines, [f"{pe} {usable[pe % len(usable)]}" for pe in range(3)])


class ExitCode(unittest.TestCase):
    def test_success(self):
        self.assertEqual(run("-n", "4", "true").returncode, 0)

    def test_first_failure_counts_and_ends_the_job(self):
        done = shell(3, '[ "$SHMEM_PE" = 1 ] && exit 7; exec sleep 1000')
        self.assertEqual(done.returncode, 7)
        self.assertIn("PE 1 exited with code 7", done.stderr)

    def test_signal(self):
        done = shell(2, '[ "$SHMEM_PE" = 0 ] && kill -KILL $$; exec sleep 1000')
        self.assertEqual(done.returncode, 128 + signal.SIGKILL)
        self.assertIn("PE 0 was ended by signal 9", done.stderr)

    def test_pe_that_ignores_sigterm_is_killed(self):
        script = """
            if [ "$SHMEM_PE" = 0 ]; then while [ ! -e ready ]; do sleep 0.01; done; exit 3; fi
            trap "" TERM; echo >ready; while :; do sleep 0.1; done"""
        with tempfile.TemporaryDirectory() as folder:
            done = shell(2, script, cwd=folder)
        self.assertEqual(done.returncode, 3)
        self.assertIn("killing what did not end", done.stderr)

    def test_time_limit(self):
        done = shell(2, "exec sleep 1000", flags=["--timeout", "1"])
        self.assertEqual(done.returncode, 124)
        self.assertIn("time limit of 1 s", done.stderr)

    def test_program_that_cannot_run(self):
        done = run("-n", "3", "/nonexistent/program")
        self.assertEqual(done.returncode, 127)
        self.assertEqual(done.stderr, "shmem-run: cannot run '/nonexistent/program': No such file or directory\n")


class Mistakes(unittest.TestCase):
    CASES = {
        "no program": (["-n", "2"], "program to run is missing"),
        "no number": (["true"], "-n N, the number of PEs, is missing"),
        "zero": (["-n", "0", "true"], "0 is not between 1 and 16384"),
        "too many": (["-n", "16385", "true"], "16385 is not between"),
        "not a number": (["-n", "2x", "true"], "'2x' is not an integer"),
        "unknown option": (["-n", "2", "--nonsense", "true"], "option --nonsense is unknown"),
        "time": (["-n", "2", "--timeout", "0", "true"], "--timeout: 0 is not between"),
        "binding": (["-n", "2", "--bind-to", "socket", "true"], "'socket' is neither core nor none"),
    }

    def test_each_mistake_gives_one_line_of_help(self):
        for name, (arguments, text) in self.CASES.items():
            with self.subTest(name):
                done = run(*arguments)
                self.assertEqual(done.returncode, 2)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn(text, done.stderr)
                self.assertIn("usage: shmem-run -n N", done.stderr)


class Streams(unittest.TestCase):
    def test_stdin_goes_to_pe_0_only(self):
        done = shell(3, 'echo "$SHMEM_PE:$(cat)"', stdin=None, input="hello")
        self.assertEqual(sorted(done.stdout.splitlines()), ["0:hello", "1:", "2:"])

    def test_terminal_goes_to_pe_0(self):
        # A child with the terminal as its controlling one, as in a shell.
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(RUN, [RUN, "-n", "2", "sh", "-c", '[ "$SHMEM_PE" = 0 ] || exit 0; read x; echo "got $x"'])
        os.write(terminal, b"words\n")
        seen = b""
        while b"got words" not in seen:
            chunk = os.read(terminal, 1024)
            self.assertTrue(chunk, seen)
            seen += chunk
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        os.close(terminal)

    def test_prefix(self):
        script = 'echo "out $SHMEM_PE"; echo "error $SHMEM_PE" >&2; printf "no newline"'
        done = shell(2, script, flags=["--prefix-output"])
        self.assertEqual(
            sorted(done.stdout.splitlines()), ["[0] no newline", "[0] out 0", "[1] no newline", "[1] out 1"]
        )
        self.assertEqual(sorted(done.stderr.splitlines()), ["[0] error 0", "[1] error 1"])

    def test_prefixed_lines_are_whole_and_complete(self):
        done = shell(4, "seq 1 20000", flags=["--prefix-output"])
        for pe in range(4):
            mine = [line.split()[1] for line in done.stdout.splitlines() if line.startswith(f"[{pe}] ")]
            self.assertEqual(mine, [str(i) for i in range(1, 20001)])

    def test_reader_that_goes_away_ends_the_job(self):
        command = f"'{RUN}' -n 2 --prefix-output yes | head -1; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 128 + signal.SIGPIPE)


class Signals(unittest.TestCase):
    def start(self, n, script, folder):
        process = subprocess.Popen(
            [RUN, "-n", str(n), "sh", "-c", script],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        files = [pathlib.Path(folder, f"pid{pe}") for pe in range(n)]
        wait_until(lambda: all(f.exists() and f.read_text().endswith("\n") for f in files), "all PEs to start")
        return process, [int(f.read_text()) for f in files]

    def test_user_signals_reach_all(self):
        # Each PE ends with 0 once the signal came.
        script = 'trap "exit 0" USR1; echo $$ >pid$SHMEM_PE; while :; do sleep 0.02; done'
        with tempfile.TemporaryDirectory() as folder:
            process, _ = self.start(3, script, folder)
            process.send_signal(signal.SIGUSR1)
            process.communicate(timeout=LIMIT)
            self.assertEqual(process.returncode, 0)

    def test_interrupt_and_terminate_end_all(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number), tempfile.TemporaryDirectory() as folder:
                process, pids = self.start(3, "echo $$ >pid$SHMEM_PE; exec sleep 1000", folder)
                process.send_signal(number)
                process.communicate(timeout=LIMIT)
                self.assertEqual(process.returncode, 128 + number)
                self.assertFalse([pid for pid in pids if alive(pid)])

    def test_pes_die_with_the_launcher(self):
        with tempfile.TemporaryDirectory() as folder:
            process, pids = self.start(3, "echo $$ >pid$SHMEM_PE; exec sleep 1000", folder)
            process.kill()
            process.communicate(timeout=LIMIT)
            wait_until(lambda: not any(alive(pid) for pid in pids), "the PEs to die")

    def test_what_a_pe_left_running_is_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            done = shell(2, "sleep 1000 & echo $! >pid$SHMEM_PE", cwd=folder)
            self.assertEqual(done.returncode, 0)
            pids = [int(pathlib.Path(folder, f"pid{pe}").read_text()) for pe in range(2)]
            wait_until(lambda: not any(alive(pid) for pid in pids), "what the PEs started to end")


if __name__ == "__main__":
    unittest.main()
