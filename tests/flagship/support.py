"""Starting PEs by hand, watching them, and proving that nothing is left behind."""

import os
import pathlib
import random
import signal
import socket
import subprocess
import tempfile
import time
import uuid

# A watchdog for one job; generous, since a sanitizer build on a busy machine is slow.
LIMIT = 300
MARK = "SHMEM_TEST_JOB"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(condition, what, limit=LIMIT):
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {limit} s for: {what}")
        time.sleep(0.005)


def cpu_ticks(pid):
    """Processor time that a process has used, in ticks; 0 when it is gone."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def marked_processes(mark):
    """Processes that inherited the mark of a job and are not zombies."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes()
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if f"{MARK}={mark}".encode() in environment.split(b"\0") and state != "Z":
            found.append(int(entry.name))
    return found


def shared_names():
    """What a SHMEM library could leave in places that all processes share."""
    names = set()
    for folder in ("/dev/shm", "/tmp", "/var/tmp"):
        if os.path.isdir(folder):
            names |= {f"{folder}/{name}" for name in os.listdir(folder) if is_ours(name)}
    for line in pathlib.Path("/proc/net/unix").read_text().splitlines()[1:]:
        fields = line.split()
        if len(fields) == 8 and is_ours(fields[7]):
            names.add(fields[7])
    return names


def is_ours(name):
    # A compilation that runs at the same time is not what is looked for.
    if "shmem-cc" in name:
        return False
    return any(word in name.lower() for word in ("shmem", "symm", "acl"))


class Pe:
    """One PE started by a plain command, with its output in files."""

    def __init__(self, number, command, folder, environment):
        self.number = number
        self.files = [pathlib.Path(folder, f"{kind}{number}") for kind in ("out", "err")]
        with open(self.files[0], "wb") as out, open(self.files[1], "wb") as err:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, cwd=folder
            )

    @property
    def out(self):
        return self.files[0].read_text(errors="replace")

    @property
    def err(self):
        return self.files[1].read_text(errors="replace")

    def wait(self, limit=LIMIT):
        return self.process.wait(timeout=limit)


class Job:
    """PEs started one by one, as in several terminals; a folder of its own is their home, TMPDIR and working folder."""

    def __init__(self, program, n_pes, port=None, rounds=3, **environment):
        self.program = program
        self.n_pes = n_pes
        self.port = port or free_port()
        self.mark = uuid.uuid4().hex
        self.pes = {}
        self.holder = tempfile.TemporaryDirectory()
        self.folder = self.holder.name
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("SHMEM_")}
        self.environment.update(
            {
                "HOME": self.folder,
                "TMPDIR": self.folder,
                MARK: self.mark,
                "RDMA_ACLGRAPH_ROUNDS": str(rounds),
                "ACLGRAPH_SIGNAL_ROUNDS": str(rounds),
                **environment,
            }
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pe in self.pes.values():
            if pe.process.poll() is None:
                pe.process.kill()
            pe.process.wait()
        self.holder.cleanup()

    def start(self, number):
        address = f"tcp://127.0.0.1:{self.port}"
        command = [self.program, str(self.n_pes), str(number), address, str(self.n_pes), "0", "0"]
        self.pes[number] = Pe(number, command, self.folder, self.environment)

    def start_shuffled(self, seed):
        order = list(range(self.n_pes))
        random.Random(seed).shuffle(order)
        for number in order:
            self.start(number)

    def wait(self):
        return {number: pe.wait() for number, pe in self.pes.items()}

    def kill(self, number):
        self.pes[number].process.send_signal(signal.SIGKILL)
        self.pes[number].wait()

    def wait_for_rounds(self):
        """Until PE 0 has said that init is over and every PE has used processor time since: they are replaying."""
        wait_until(lambda: "control plane" in self.pes[0].err + self.pes[0].out, "the info line of PE 0")
        before = {number: cpu_ticks(pe.process.pid) for number, pe in self.pes.items()}
        wait_until(
            lambda: all(cpu_ticks(pe.process.pid) >= before[number] + 3 for number, pe in self.pes.items()),
            "all PEs to replay",
        )

    def describe(self):
        return "\n".join(
            f"--- PE {number}, exit {pe.process.poll()}\n{pe.out}{pe.err}" for number, pe in sorted(self.pes.items())
        )

    def left_behind(self):
        """Processes of this job, and files in its folders that are not the outputs."""
        known = {path.name for pe in self.pes.values() for path in pe.files}
        # The secret of this user, made on the first use, stays by intent.
        files = [
            str(path.relative_to(self.folder))
            for path in pathlib.Path(self.folder).rglob("*")
            if path.is_file() and path.name not in known
        ]
        return marked_processes(self.mark), [name for name in files if name != ".config/anyshmem/secret"]
