"""Jobs that begin in a process which has imported their modules before.

Importing takes up to three CPU-seconds, and the runs of the tests have thousands of jobs. So the
first job of a module leaves a process behind that has its imports done, and each further one is a
fork of that. It has loaded what a process of its own would have loaded: records tell of it.

The server is this file as a program. `python` beside its socket is what a job starts in place of
the interpreter: it waits for the fork, and takes it along when it is killed.
"""

import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
_VARIABLE = "PARALOOM_WARM_PYTHON"
_OURS = "workflow_scripts."
# A job has many words, and a larger environment: both travel in a file without a name.
_CLIENT = """#!{python} -IS
import json, os, socket, sys
words = sys.argv[1:]
module = words[1] if words[:1] == ["-m"] and words[1:] else ""
ours = module.startswith({ours!r}) and os.environ.get("PYTHONPATH") == {root!r}
if not ours and module != "snakemake":
    os.execv({python!r}, [{python!r}, *words])
request = os.memfd_create("request")
told = dict(words=words, folder=os.getcwd(), environment=dict(os.environ))
os.write(request, json.dumps(told).encode())
with socket.socket(socket.AF_UNIX) as server:
    server.connect({socket!r})
    socket.send_fds(server, [b"?"], [0, 1, 2, request])
    status = int(server.recv(16) or -9)
if status < 0:
    os.kill(os.getpid(), -status)
sys.exit(status)
"""


def interpreter() -> Path | None:
    """Return the interpreter that starts jobs by forks, or None where nothing serves."""
    found = os.environ.get(_VARIABLE)
    return Path(found) if found else None


@contextmanager
def serving(folder: Path) -> Iterator[None]:
    """Serve in the block; socket and interpreter are in `folder`."""
    from tests.commands import LOADED  # the server does without

    after_torch = [
        f"{_OURS}stages.{name}"
        for packages, names in LOADED.items()
        if "torch" in packages
        for name in names.split()
    ]
    path, client = folder / "socket", folder / "python"
    told = {"python": sys.executable, "root": str(ROOT), "ours": _OURS, "socket": str(path)}
    client.write_text(_CLIENT.format(**told), encoding="utf-8")
    client.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(64)
        server = subprocess.Popen(
            [sys.executable, "-P", __file__, str(listener.fileno()), *after_torch],
            env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[listener.fileno()],
            start_new_session=True,
        )
    os.environ[_VARIABLE] = str(client)
    try:
        yield
    finally:
        del os.environ[_VARIABLE]
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


# --- the server: each function that may fork a job returns true in it, and false elsewhere --------


def _serve(listener: socket.socket, after_torch: Sequence[str]) -> bool:
    branches: dict[str, socket.socket] = {}
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if listener not in ready:  # whom it serves is gone
            os.killpg(0, signal.SIGKILL)
        client = listener.accept()[0].detach()
        _, files, _, _ = socket.recv_fds(socket.socket(fileno=os.dup(client)), 1, 4)
        module = _told(files[-1])["words"][1]
        # Whatever writes a record has loaded the first of these.
        way = ["pyarrow.parquet", "torch"] if module in after_torch else ["pyarrow.parquet"]
        way = [module] if module == "snakemake" else [*way, module]
        if _passed(way, [client, *files], branches):
            return True


def _told(request: int) -> dict:
    return json.loads(os.pread(request, os.fstat(request).st_size, 0))


def _passed(way: Sequence[str], files: list[int], branches: dict[str, socket.socket]) -> bool:
    """Pass a request on to the process that has imported the first module of its way."""
    first, *further = way
    if first not in branches:
        branches[first], theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if not os.fork():
            _close(files)
            _import(first)
            return _branch(theirs)
        theirs.close()
    socket.send_fds(branches[first], [json.dumps(further).encode()], files)
    _close(files)
    return False


def _branch(channel: socket.socket) -> bool:
    branches: dict[str, socket.socket] = {}
    while True:
        message, files, _, _ = socket.recv_fds(channel, 4096, 5)
        way = json.loads(message)
        if _passed(way, files, branches) if way else _started(files):
            return True


def _import(module: str) -> None:
    """Import all that a module imports. The module itself is run later, and must not be there."""
    if module == "snakemake":
        importlib.import_module("snakemake.cli").get_argument_parser()  # which loads its plugins
        importlib.import_module("workflow_scripts.stages.catalogue")
        return
    found = importlib.import_module(module)
    if hasattr(found, "__path__") and module.startswith(_OURS):
        module = importlib.import_module(f"{module}.__main__").__name__
    if module.startswith(_OURS):
        del sys.modules[module]


def _started(files: list[int]) -> bool:
    """Start a job, beside a process that waits for it."""
    if os.fork():
        _close(files)
        return False
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    job = os.fork()
    if job:
        _wait(job, files[0])
    os.setsid()
    for number, file in enumerate(files[1:4]):
        os.dup2(file, number)
    told = _told(files[-1])
    _close(files)
    os.chdir(told["folder"])
    os.environ.clear()
    os.environ.update(told["environment"])
    sys.argv = told["words"][1:]
    return True


def _wait(job: int, client: int) -> NoReturn:
    """Tell the client the status of its job; without a client all that the job started ends."""
    waited = os.pidfd_open(job)
    ready, _, _ = select.select([waited, client], [], [])
    with suppress(ProcessLookupError):
        if waited not in ready:
            os.killpg(job, signal.SIGKILL)
    with suppress(BrokenPipeError):
        status = os.waitstatus_to_exitcode(os.waitpid(job, 0)[1])
        os.write(client, str(status).encode())
    os._exit(0)


def _close(files: Sequence[int]) -> None:
    for file in files:
        os.close(file)


if __name__ == "__main__":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    number, *modules = sys.argv[1:]
    _serve(socket.socket(fileno=int(number)), modules)
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
