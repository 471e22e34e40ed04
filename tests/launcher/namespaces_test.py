"""shmem-run between two network namespaces that are joined by a pair of interfaces: other addresses, real sockets
between them. Once with memory that can be shared, and once as two hosts whose memory cannot be.

usage: namespaces_test.py SHMEM_RUN START_PLAIN
"""

import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

RUN = os.path.abspath(sys.argv.pop(1))
PROGRAM = os.path.abspath(sys.argv.pop(1))
LIMIT = 100
NAMES = [f"symm{os.getpid()}{side}" for side in "ab"]
NETWORK = f"10.231.{os.getpid() % 256}."
ADDRESSES = [NETWORK + "1", NETWORK + "2"]

# Every namespace is entered by its address. With HOSTS set each looks like a machine of its own.
AGENT = f"""#!/bin/sh
host=$1; shift
case $host in {ADDRESSES[0]}) name={NAMES[0]};; *) name={NAMES[1]};; esac
if [ -n "$TWO_HOSTS" ]; then
  echo "boot-of-$name" >"$TWO_HOSTS/$name"
  set -- "mount --bind '$TWO_HOSTS/$name' /proc/sys/kernel/random/boot_id && exec $*"
else
  set -- "exec $*"
fi
exec ip netns exec $name sh -c "$*"
"""


def ip(*arguments):
    return subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)


def make_namespaces():
    """The reason why there are none, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for name in NAMES:
        made = ip("netns", "add", name)
        if made.returncode != 0:
            return "no network namespaces here: " + made.stderr.strip()
    ip("link", "add", NAMES[0], "type", "veth", "peer", "name", NAMES[1])
    for name, address in zip(NAMES, ADDRESSES):
        for command in (
            ["link", "set", name, "netns", name],
            ["-n", name, "addr", "add", address + "/24", "dev", name],
            ["-n", name, "link", "set", name, "up"],
            ["-n", name, "link", "set", "lo", "up"],
        ):
            done = ip(*command)
            if done.returncode != 0:
                return f"ip {' '.join(command)}: {done.stderr.strip()}"
    return None


class Namespaces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(lambda: [ip("netns", "del", name) for name in NAMES])
        why = make_namespaces()
        if why is not None:
            raise unittest.SkipTest(why)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        agent = cls.folder / "agent"
        agent.write_text(AGENT)
        agent.chmod(agent.stat().st_mode | stat.S_IXUSR)

    def run_job(self, *arguments, **variables):
        command = [RUN, "-H", ",".join(f"{address}:2" for address in ADDRESSES), "--agent", str(self.folder / "agent")]
        return subprocess.run(
            [*command, "--prefix-output", *arguments],
            env=dict(os.environ, **variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )

    def test_pes_are_where_they_should_be(self):
        done = self.run_job("sh", "-c", "echo $(ip -o -4 addr show scope global | cut -d' ' -f7) $SHMEM_BOOTSTRAP")
        self.assertEqual(done.returncode, 0, done.stderr)
        for pe, address in enumerate([ADDRESSES[0]] * 2 + [ADDRESSES[1]] * 2):
            self.assertRegex(done.stdout, rf"\[{pe}\] {address}/24 tcp://{ADDRESSES[0]}:\d+\n")

    def test_a_job_over_real_sockets(self):
        done = self.run_job(PROGRAM, "article")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for pe in range(4):
            self.assertIn(f"[{pe}] PE {pe} of 4\n", done.stdout)
        self.assertRegex(done.stdout, rf"info: control plane tcp://{ADDRESSES[0]}:\d+, TLSv1\.3 .*job secret")

    def test_exit_code_and_global_exit_cross_over(self):
        done = self.run_job(PROGRAM, "exit")
        self.assertEqual(done.returncode, 9, done.stdout + done.stderr)

    def test_hosts_without_common_memory_are_named(self):
        done = self.run_job(PROGRAM, "article", TWO_HOSTS=str(self.folder))
        self.assertEqual(done.returncode, 10, done.stdout + done.stderr)
        for pe, other in enumerate((2, 2, 0, 0)):
            self.assertIn(f"[{pe}] init: -100\n", done.stdout)
            self.assertRegex(done.stderr, rf"init: PE {other} runs on another host than PE {pe} and no transport")


if __name__ == "__main__":
    unittest.main()
