"""A real Slurm of one node on the loopback interface, from Debian's packages, without slurmdbd.

`python -m tests.slurm.cluster COMMAND ...` runs a command within such a cluster.
"""

import argparse
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

PACKAGES = ("slurmctld", "slurmd", "slurm-client", "munge")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol")
# Snakemake's plugin hides SLURM_CONF from the steps of a job: they look here.
DEFAULT_CONF = Path("/etc/slurm/slurm.conf")
_PATIENCE_SECONDS = 60
# Memory and GPUs are only promised: jobs of any size are scheduled, `cpus` at a time. But a job
# that takes more memory than it asked for is killed (OverMemoryKill looks once a second).
_CONF = """\
ClusterName=paraloom
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=2
PropagateResourceLimits=NONE
ReturnToService=2
MinJobAge=3600
KillWait=2
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=1000000 Gres=gpu:4 State=UNKNOWN
PartitionName=cpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=gpu Nodes=ALL MaxTime=INFINITE State=UP
"""
# Slurm counts the files that stand for them.
_GPUS = "".join(f"Name=gpu File=/dev/{name}\n" for name in ("null", "zero", "full", "random"))


def obstacle() -> str | None:
    """Return why no cluster can be started here, or None."""
    if os.geteuid() != 0:
        return "Slurm's daemons are started as root only"
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        return f"no {', '.join(missing)} here: apt-get install {' '.join(PACKAGES)}"
    if DEFAULT_CONF.exists() and not DEFAULT_CONF.is_symlink():
        return f"{DEFAULT_CONF} is there: this machine has a Slurm of its own"
    return None


@contextmanager
def cluster(folder: Path, cpus: int) -> Iterator[None]:
    """Start Slurm in `folder`, point SLURM_CONF to it, and stop it with all its jobs in the end.

    There is one cluster at a time on a machine: a second waits for the first to end.

    Raises:
        RuntimeError: it did not start.
    """
    DEFAULT_CONF.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        lock = stack.enter_context((DEFAULT_CONF.parent / ".paraloom.lock").open("w"))
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = folder.resolve()
        _write_configuration(folder, cpus)
        DEFAULT_CONF.unlink(missing_ok=True)  # of a cluster that was killed
        DEFAULT_CONF.symlink_to(folder / "slurm.conf")
        stack.callback(DEFAULT_CONF.unlink, missing_ok=True)
        before = os.environ.get("SLURM_CONF")
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
        stack.callback(_restore, "SLURM_CONF", before)
        files = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munged.pid"}
        files |= {"seed-file": "munge.seed", "log-file": "munged.log"}
        options = [f"--{option}={folder / name}" for option, name in files.items()]
        stack.enter_context(_daemon(folder, "munged", "--foreground", "--force", *options))
        _wait(folder, lambda: (folder / "munge.socket").exists())
        stack.enter_context(_daemon(folder, "slurmctld", "-D"))
        stack.enter_context(_daemon(folder, "slurmd", "-D", "-N", _host()))
        _wait(folder, lambda: _ask("sinfo", "--noheader", "--format=%T").startswith("idle"))
        stack.callback(_cancel_all, folder)
        yield


def _host() -> str:
    return socket.gethostname().split(".")[0]


def _write_configuration(folder: Path, cpus: int) -> None:
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(128))
    with closing(socket.socket()) as first, closing(socket.socket()) as second:
        for each in (first, second):
            each.bind(("127.0.0.1", 0))
        ports = [each.getsockname()[1] for each in (first, second)]
    text = _CONF.format(
        host=_host(), folder=folder, cpus=cpus, controller_port=ports[0], node_port=ports[1]
    )
    (folder / "slurm.conf").write_text(text, encoding="utf-8")
    (folder / "gres.conf").write_text(_GPUS, encoding="utf-8")


@contextmanager
def _daemon(folder: Path, program: str, *arguments: str) -> Iterator[None]:
    with (folder / f"{program}.out").open("wb") as output:
        process = subprocess.Popen(
            # They end with the tests also when these are killed.
            ["setpriv", "--pdeathsig", "TERM", program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is not for them
        )
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(timeout=_PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(folder: Path, condition) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            outputs = (path.read_text("utf-8", "replace")[-2000:] for path in folder.glob("*.out"))
            raise RuntimeError("Slurm does not start or stop:\n" + "\n".join(outputs))
        time.sleep(0.1)


def _ask(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout


def _cancel_all(folder: Path) -> None:
    subprocess.run(["scancel", "--full", "--user=root"], capture_output=True, check=False)
    _wait(folder, lambda: not _ask("squeue", "--noheader"))


def _restore(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def main(argv: list[str] | None = None) -> int:
    """Run a command within a one-node Slurm; return its exit status."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument(
        "--cpus",
        type=int,
        default=16,
        help="promised; a job that asks for more waits for ever: take the profile's cores or more",
    )
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args(argv)
    reason = obstacle()
    if reason:
        parser.error(reason)
    with tempfile.TemporaryDirectory() as folder, cluster(Path(folder), arguments.cpus):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the command
        return subprocess.run(arguments.command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
