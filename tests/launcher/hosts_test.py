"""shmem-run over several hosts, with an agent that stands in for ssh: it runs the part of another host on this one,
with an empty environment and in a folder of its own, as a login there would.

usage: hosts_test.py SHMEM_RUN START_PLAIN
"""

import hashlib
import os
import pathlib
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

RUN = os.path.abspath(sys.argv.pop(1))
PROGRAM = os.path.abspath(sys.argv.pop(1))
LIMIT = 100
HOSTS = "127.0.0.2:2,127.0.0.3:2"

# What ssh does: another folder, none of our variables, the words joined and taken apart by a shell.
AGENT = """#!/bin/sh
host=$1; shift
cd /
exec env -i PATH="$PATH" FAKE_HOST="$host" sh -c "exec $*"
"""


def alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until(condition, what):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {LIMIT} s for: {what}")
        time.sleep(0.01)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def agent(self, text=AGENT):
        path = self.folder / "agent"
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def command(self, *arguments, hosts=HOSTS, agent=None):
        return [RUN, "-H", hosts, "--agent", agent or self.agent(), *arguments]

    def run_job(self, *arguments, hosts=HOSTS, agent=None, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("cwd", self.folder)
        command = self.command(*arguments, hosts=hosts, agent=agent)
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False, **options)

    def shell(self, script, *flags, **options):
        return self.run_job(*flags, "sh", "-c", script, **options)

    def start(self, script, *flags):
        """Starts a job whose PEs write their numbers into files pidN, and waits for the files."""
        process = subprocess.Popen(
            self.command(*flags, "sh", "-c", script),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.communicate, timeout=LIMIT)
        self.addCleanup(process.kill)
        return process, self.pids()

    def pids(self):
        files = [self.folder / f"pid{pe}" for pe in range(4)]
        wait_until(lambda: all(f.exists() and f.read_text().endswith("\n") for f in files), "all PEs to start")
        return [int(f.read_text()) for f in files]

    def parts(self, launcher):
        """The processes of the agents, which became the parts."""
        children = pathlib.Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()
        return [int(pid) for pid in children]


class Start(Case):
    def test_each_pe_knows_who_it_is_and_where(self):
        done = self.shell('echo "$SHMEM_PE $SHMEM_NPES $SHMEM_LOCAL_PES $FAKE_HOST"', hosts="127.0.0.2:1,127.0.0.3:3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            sorted(done.stdout.splitlines()),
            ["0 4 1 127.0.0.2", "1 4 3 127.0.0.3", "2 4 3 127.0.0.3", "3 4 3 127.0.0.3"],
        )

    def test_slots_and_oversubscription(self):
        script = 'echo "$SHMEM_PE $FAKE_HOST"'
        done = self.shell(script, "-n", "3")
        self.assertEqual(sorted(done.stdout.splitlines()), ["0 127.0.0.2", "1 127.0.0.2", "2 127.0.0.3"])
        done = self.shell(script, "-n", "5")
        self.assertEqual(done.returncode, 2)
        self.assertIn("5 PEs, but the hosts have 4 slots", done.stderr)
        done = self.shell(script, "-n", "5", "--oversubscribe")
        self.assertEqual(sorted(done.stdout.splitlines())[-1], "4 127.0.0.2")

    def test_this_host_among_others(self):
        done = self.shell('echo "$SHMEM_PE $FAKE_HOST"', hosts="localhost:1,127.0.0.3:1")
        self.assertEqual(sorted(done.stdout.splitlines()), ["0 ", "1 127.0.0.3"])

    def test_all_share_address_and_secret(self):
        done = self.shell('echo "$SHMEM_BOOTSTRAP $SHMEM_JOB_SECRET"')
        lines = set(done.stdout.splitlines())
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines.pop(), r"^tcp://127\.0\.0\.1:\d+ [0-9a-f]{64}$")

    def test_the_secret_is_on_no_command_line_and_not_in_the_agents_environment(self):
        script = """
import os, pathlib
secret = os.environ["SHMEM_JOB_SECRET"].encode()
for process in pathlib.Path("/proc").glob("[0-9]*"):
    try:
        line = (process / "cmdline").read_bytes()
        environment = (process / "environ").read_bytes() if line.endswith(b"--part\\0") else b""
    except OSError:
        continue
    assert secret not in line and secret not in environment, line
print("looked")
"""
        done = self.run_job(sys.executable, "-c", script)
        self.assertEqual(done.stdout, "looked\n" * 4, done.stderr)

    def test_variables_go_along(self):
        environment = dict(os.environ, SHMEM_LOG_LEVEL="WARN", MINE="from here", OTHER="not sent")
        script = 'echo "$SHMEM_LOG_LEVEL|$MINE|$GIVEN|$OTHER"'
        done = self.shell(script, "-x", "MINE", "-x", "GIVEN=a=b c", env=environment)
        self.assertEqual(set(done.stdout.splitlines()), {"WARN|from here|a=b c|"}, done.stderr)

    def test_stale_values_are_replaced(self):
        environment = dict(os.environ, SHMEM_PE="77", SHMEM_JOB_SECRET="old", SHMEM_LISTEN_FD="5")
        done = self.shell('echo "$SHMEM_PE $SHMEM_JOB_SECRET"', "-n", "1", env=environment)
        self.assertRegex(done.stdout, r"^0 [0-9a-f]{64}\n$")

    def test_variables_of_a_local_job(self):
        command = [RUN, "-n", "1", "-x", "A=1", "-x", "A=2", "sh", "-c", 'echo "$A"']
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.stdout, "2\n", done.stderr)

    def test_the_working_folder_is_the_same(self):
        done = self.shell("pwd")
        self.assertEqual(set(done.stdout.splitlines()), {str(self.folder.resolve())})
        (self.folder / "sub").mkdir()
        done = self.shell("pwd", "--wdir", "sub")
        self.assertEqual(set(done.stdout.splitlines()), {str(self.folder.resolve() / "sub")})

    def test_arguments_are_substituted_and_arrive_whole(self):
        done = self.run_job("-n", "1", "printf", "%s|", "{pe} of {npes}", "", "a'b\"c", "$HOME")
        self.assertEqual(done.stdout, "0 of 1||a'b\"c|$HOME|")

    def test_a_login_that_prints_something(self):
        noisy = self.agent(AGENT.replace("cd /\n", "cd /\necho 'Welcome! 3 updates'\n"))
        done = self.shell("echo $SHMEM_PE", agent=noisy)
        self.assertEqual(sorted(done.stdout.split()), ["0", "1", "2", "3"])

    def test_agent_from_the_environment(self):
        environment = dict(os.environ, SHMEM_RUN_AGENT=self.agent())
        command = [RUN, "-H", "127.0.0.2", "sh", "-c", "echo $FAKE_HOST"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.stdout, "127.0.0.2\n", done.stderr)


class Streams(Case):
    def test_standard_input_goes_to_pe_0(self):
        data = os.urandom(3 << 19).hex()
        done = self.shell('echo "$SHMEM_PE $(sha256sum | cut -c1-64)"', stdin=None, input=data)
        empty = hashlib.sha256(b"").hexdigest()
        whole = hashlib.sha256(data.encode()).hexdigest()
        self.assertEqual(
            sorted(done.stdout.splitlines()), [f"0 {whole}"] + [f"{pe} {empty}" for pe in (1, 2, 3)], done.stderr
        )

    def test_input_that_pe_0_does_not_read(self):
        done = self.shell("true", stdin=None, input="x" * (1 << 20))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_output_and_errors_keep_apart_and_complete(self):
        done = self.shell('seq 1 20000; echo "error $SHMEM_PE" >&2', "--prefix-output")
        for pe in range(4):
            mine = [line.split()[1] for line in done.stdout.splitlines() if line.startswith(f"[{pe}] ")]
            self.assertEqual(mine, [str(i) for i in range(1, 20001)])
        self.assertEqual(sorted(done.stderr.splitlines()), [f"[{pe}] error {pe}" for pe in range(4)])

    def test_output_without_prefix_is_not_changed(self):
        done = self.shell("printf 'a\\nno newline'", "-n", "1")
        self.assertEqual(done.stdout, "a\nno newline")


class Ends(Case):
    FOREVER = "echo $$ >pid$SHMEM_PE; exec sleep 1000"

    def test_first_failure_counts_and_ends_the_job(self):
        done = self.shell('[ "$SHMEM_PE" = 3 ] && exit 7; exec sleep 1000')
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertIn("PE 3 exited with code 7", done.stderr)

    def test_signal_of_a_pe(self):
        done = self.shell('[ "$SHMEM_PE" = 0 ] && kill -KILL $$; exec sleep 1000')
        self.assertEqual(done.returncode, 128 + signal.SIGKILL)
        self.assertIn("PE 0 was ended by signal 9", done.stderr)

    def test_pe_that_ignores_sigterm_is_killed(self):
        script = """
            if [ "$SHMEM_PE" = 0 ]; then while [ ! -e ready ]; do sleep 0.01; done; exit 3; fi
            trap "" TERM; echo >ready; while :; do sleep 0.1; done"""
        done = self.shell(script, hosts="127.0.0.2,127.0.0.3")
        self.assertEqual(done.returncode, 3)
        self.assertIn("killing what did not end", done.stderr)

    def test_time_limit(self):
        done = self.shell("exec sleep 1000", "--timeout", "1")
        self.assertEqual(done.returncode, 124)
        self.assertIn("time limit of 1 s", done.stderr)

    def test_time_limit_while_a_host_does_not_answer(self):
        done = self.shell("true", "--timeout", "1", agent=self.agent("#!/bin/sh\nexec sleep 1000\n"))
        self.assertEqual(done.returncode, 124)
        self.assertIn("the hosts have not answered yet", done.stderr)

    def test_user_signals_reach_all(self):
        script = 'trap "exit 0" USR1; echo $$ >pid$SHMEM_PE; while :; do sleep 0.02; done'
        process, _ = self.start(script)
        process.send_signal(signal.SIGUSR1)
        process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 0)

    def test_interrupt_and_terminate_end_all(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                for file in self.folder.glob("pid*"):
                    file.unlink()
                process, pids = self.start(self.FOREVER)
                process.send_signal(number)
                process.communicate(timeout=LIMIT)
                self.assertEqual(process.returncode, 128 + number)
                wait_until(lambda pids=pids: not any(alive(pid) for pid in pids), "all PEs to end")

    def test_pes_die_with_the_launcher(self):
        process, pids = self.start(self.FOREVER)
        process.kill()
        process.communicate(timeout=LIMIT)
        wait_until(lambda: not any(alive(pid) for pid in pids), "the PEs to die")

    def test_pes_die_when_the_connection_goes(self):
        """The agent dies, but not the part that it started: its input ends."""
        text = '#!/bin/sh\nhost=$1; shift\ncat | sh -c "$*"\n'
        process = subprocess.Popen(
            self.command("sh", "-c", self.FOREVER, agent=self.agent(text)),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        pids = self.pids()
        process.kill()
        process.communicate(timeout=LIMIT)
        wait_until(lambda: not any(alive(pid) for pid in pids), "the PEs to die")

    def test_death_of_an_agent_names_the_host_and_ends_the_job(self):
        process, pids = self.start(self.FOREVER)
        os.kill(self.parts(process.pid)[1], signal.SIGKILL)
        _, errors = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 255)
        self.assertRegex(errors, r"host 127\.0\.0\.3 is lost: the agent \(.*\) was ended by signal 9")
        wait_until(lambda: not any(alive(pid) for pid in pids), "all PEs to end")

    def test_silent_host_is_a_lost_host(self):
        process, pids = self.start(self.FOREVER)
        os.kill(self.parts(process.pid)[0], signal.SIGSTOP)
        _, errors = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 255)
        self.assertIn("host 127.0.0.2 is lost: nothing was heard of it for 20 s", errors)
        wait_until(lambda: not any(alive(pid) for pid in pids), "all PEs to end")


class CannotStart(Case):
    def test_host_that_cannot_be_reached(self):
        done = self.shell("true", agent=self.agent("#!/bin/sh\necho 'ssh: no route' >&2\nexit 255\n"))
        self.assertEqual(done.returncode, 255)
        self.assertRegex(done.stderr, r"shmem-run: host 127\.0\.0\.[23] is lost: the agent \(.*\) exited with code 255")
        self.assertIn("ssh: no route", done.stderr)

    def test_no_shmem_run_on_the_host(self):
        done = self.shell("true", agent=self.agent("#!/bin/sh\nexec /nonexistent/shmem-run\n"))
        self.assertEqual(done.returncode, 255)
        self.assertIn("before shmem-run ran there; is " + RUN, done.stderr)

    def test_no_agent(self):
        done = self.shell("true", agent="/nonexistent/agent")
        self.assertEqual(done.returncode, 127)
        self.assertIn("cannot run '/nonexistent/agent'", done.stderr)
        self.assertIn("--agent", done.stderr)

    def test_agent_that_speaks_something_else(self):
        done = self.shell("true", agent=self.agent("#!/bin/sh\nexec yes\n"))
        self.assertEqual(done.returncode, 255)
        self.assertIn("bytes that are not from shmem-run", done.stderr)

    def test_program_that_is_not_there(self):
        done = self.run_job("/nonexistent/program")
        self.assertEqual(done.returncode, 127)
        self.assertRegex(done.stderr, r"host 127\.0\.0\.[23]: cannot run '/nonexistent/program': No such file")

    def test_working_folder_that_is_not_there(self):
        gone = self.folder / "gone"
        gone.mkdir()
        agent = self.agent(AGENT.replace("cd /\n", f"cd /\nrm -rf '{gone}'\n"))
        done = self.shell("true", agent=agent, cwd=gone)
        self.assertEqual(done.returncode, 127)
        self.assertIn(f"cannot enter the working folder {gone.resolve()}: No such file or directory", done.stderr)

    def test_name_that_the_first_host_cannot_look_up(self):
        done = self.shell("true", hosts="127.0.0.2,no-such-host.invalid")
        self.assertEqual(done.returncode, 127)
        self.assertIn("no address under which the other hosts reach PE 0 was found (no-such-host.invalid", done.stderr)
        done = self.shell("echo $SHMEM_BOOTSTRAP", "--address", "127.0.0.1", hosts="127.0.0.2,no-such-host.invalid")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^tcp://127\.0\.0\.1:\d+\n")

    def test_mistakes_in_the_list_of_hosts(self):
        for hosts, text in {
            "a:0": "slots of a: 0 is not between 1 and 16384",
            "a,,b": "'' is not a host",
            "fd00::1": "an IPv6 address is written in brackets",
            "-oProxyCommand=x": "is not a host",
        }.items():
            with self.subTest(hosts):
                done = subprocess.run(
                    [RUN, f"--host={hosts}", "true"], capture_output=True, text=True, timeout=LIMIT, check=False
                )
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(text, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)


class Oshrun(Case):
    OSHRUN = str(pathlib.Path(RUN).with_name("oshrun"))

    def oshrun(self, *arguments):
        return subprocess.run([self.OSHRUN, *arguments], capture_output=True, text=True, timeout=LIMIT, check=False)

    def test_usual_options(self):
        done = self.oshrun("-np", "2", "--allow-run-as-root", "--oversubscribe", "-x", "A=1", "sh", "-c", "echo $A-np")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1-np\n1-np\n", ""))

    def test_options_without_effect_are_noted_once(self):
        done = self.oshrun("--map-by", "socket", "-mca", "btl", "self", "--bind-to", "socket", "-n", "1", "echo", "x")
        self.assertEqual((done.returncode, done.stdout), (0, "x\n"))
        self.assertEqual(done.stderr, "shmem-run: without effect here: --map-by, -mca, --bind-to socket\n")

    def test_options_of_the_program_stay(self):
        done = self.oshrun("-np", "1", "echo", "-np", "--map-by", "x")
        self.assertEqual((done.stdout, done.stderr), ("-np --map-by x\n", ""))

    def test_hosts(self):
        command = ["-host", "127.0.0.2:2", "--agent", self.agent(), "sh", "-c", "echo $FAKE_HOST"]
        self.assertEqual(self.oshrun(*command).stdout, "127.0.0.2\n" * 2)


class Program(Case):
    def test_a_shmem_program(self):
        done = self.run_job("--prefix-output", PROGRAM, "article")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for pe in range(4):
            self.assertIn(f"[{pe}] PE {pe} of 4\n", done.stdout)
            self.assertIn(f"[{pe}] good\n", done.stdout)
        self.assertRegex(done.stdout, r"\[0\] info: control plane tcp://127\.0\.0\.1:\d+, TLSv1\.3")

    def test_global_exit(self):
        done = self.run_job(PROGRAM, "exit")
        self.assertEqual(done.returncode, 9, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
