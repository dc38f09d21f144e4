"""The lock of a results folder: one working directory at a time works in it.

Two Snakemakes of different working directories don't see each other's locks. Before a job, each
deletes the job's outputs, also if the other one has made or is making them. So a Snakemake that
runs jobs holds `<results>/.lock`. Several Snakemakes of one working directory hold it together;
between them Snakemake's own locks decide.

- The operating system's lock on the file (flock) ends with the last process that holds it, in
  whatever way the process ends. So no old lock remains.
- The text of the file names the holder. On a network file system whose locks don't reach other
  machines, or that has no locks, this text is the lock. The holder touches the file every few
  seconds; for other machines it is alive as long as the file changes.
- Without any locks, a process that takes the lock waits a moment after writing and reads the file
  again (Fischer's algorithm; Lamport 1987, A fast mutual exclusion algorithm, section 2). So only
  one of two processes at the same time gets it.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import atexit
import errno
import fcntl
import json
import os
import signal
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Self

from workflow_scripts.core.environment import user_name
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import start_of
from workflow_scripts.core.files.space import explained

NAME = ".lock"
RUN, COLLECTION = "run", "collection"

_BEAT_SECONDS = 5.0
# Longer than network file systems keep a file's times in memory (60 s by default).
_PATIENCE_SECONDS = 90.0
# Longer than it takes to write the file and see it on another machine.
_SETTLE_SECONDS = 2.0
_POLL_SECONDS = 0.5
_AGAIN = "another process, which has not said who it is"


def _read(path: str) -> str:
    with suppress(OSError):
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    return ""


def _space() -> str:
    with suppress(OSError):
        return str(Path("/proc/self/ns/pid").readlink())
    return ""


@dataclass(frozen=True)
class Holder:
    """Who holds a lock.

    `machine` names the host and its last start. `space` differs between containers of one machine,
    whose processes have numbers of their own. `directory` is the device and inode of the working
    directory, `folder` its path. `purpose` is RUN or COLLECTION. `since` is local time. `abandoned`
    are working directories whose killed holders may have left jobs on a cluster. `file` is the
    device and inode of the lock file, which a copy of the results does not share.
    """

    host: str
    machine: str
    space: str
    process: int
    started: str
    user: str
    folder: str
    directory: list[int]
    purpose: str
    since: str
    abandoned: list[str]
    file: list[int] = field(default_factory=list)

    @classmethod
    def this(cls, purpose: str) -> Self:
        """Return this process as a holder."""
        here = Path.cwd()
        status = here.stat()
        host = socket.gethostname()
        return cls(
            host=host,
            machine=f"{host} {_read('/proc/sys/kernel/random/boot_id')}",
            space=_space(),
            process=os.getpid(),
            started=start_of(os.getpid()),
            user=user_name(),
            folder=str(here),
            directory=[status.st_dev, status.st_ino],
            purpose=purpose,
            since=time.strftime("%Y-%m-%d %H:%M:%S"),
            abandoned=[],
        )

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the holder that the file names; None if the text can't be read."""
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError):
            return None

    def __str__(self) -> str:
        what = "the collection of garbage" if self.purpose == COLLECTION else "a run"
        return (
            f"{what} on host {self.host}, process {self.process} of user {self.user}, "
            f"in working directory {self.folder}, since {self.since}"
        )

    def after(self, dead: "Holder | None") -> Self:
        """Return this holder with what it takes over from the dead holder before it."""
        if dead is None or dead.purpose == COLLECTION:
            return self
        folders = {*dead.abandoned, dead.folder} - {self.folder}
        return replace(self, abandoned=sorted(folders))

    def is_of(self, here: "Holder") -> bool:
        """Return whether it held the lock file of `here`, and not one that this is a copy of.

        Machines that share a file give its device different numbers.
        """
        parts = 2 if self.machine == here.machine else 1
        return not self.file or self.file[-parts:] == here.file[-parts:]

    def is_beside(self, other: "Holder") -> bool:
        """Return whether both are runs of the same working directory on the same machine."""
        return (self.machine, self.directory, self.purpose, other.purpose) == (
            other.machine,
            other.directory,
            RUN,
            RUN,
        )

    def lives_here(self, here: "Holder") -> bool | None:
        """Return whether its process lives; None if this can't be seen from here."""
        if (self.machine, self.space) != (here.machine, here.space):
            return None
        return start_of(self.process) == self.started


class ResultsLock:
    """The lock of a results folder, as one process holds it."""

    def __init__(self, results: str | Path, purpose: str = RUN):
        """Remember the state of the file; `enter` takes the lock.

        Args:
            results: the folder.
            purpose: RUN, or COLLECTION, which only one process holds at a time.
        """
        self.path = Path(results) / NAME
        self._purpose = purpose
        self._stream: IO[bytes] | None = None
        self._holder = Holder.this(purpose)
        self._ended = threading.Event()
        self._seen = self._found = self._state()

    def _state(self) -> tuple[int, int] | None:
        with suppress(OSError):
            status = self.path.stat()
            return status.st_mtime_ns, status.st_ino
        return None

    def enter(self, planned: bool = False) -> None:
        """Take the lock until this process ends; nothing happens if this object holds it already.

        It waits while garbage is collected.

        Args:
            planned: the caller decided before this call what to do.

        Raises:
            InputError: another working directory holds the lock; or, if `planned`, another one held
                it since this object was made; or the file can't be written.
        """
        if self._stream is not None:
            return
        me, announced = Holder.this(self._purpose), False
        self._holder = me
        while (other := self._attempt(me)) is not None:
            if not (isinstance(other, Holder) and (me.purpose, other.purpose) == (RUN, COLLECTION)):
                raise InputError(
                    f"{self.path.parent}: in use by {other}. One working directory at a time works "
                    "on a results folder: wait until it has ended, or set another 'results' in the "
                    "configuration"
                )
            if not announced:
                print(f"{self.path.parent}: waiting for {other}", file=sys.stderr)
                announced = True
            time.sleep(_POLL_SECONDS)
        atexit.register(self.leave)
        threading.Thread(target=self._beat, args=(self._stream,), daemon=True).start()
        if planned and self._found != self._seen:
            raise InputError(
                f"{self.path.parent}: another run worked there while this one was planned; give "
                "the same command again"
            )

    def settle(self, cancel: Callable[[list[str]], object]) -> None:
        """Let `cancel` end the jobs that killed holders left in other working directories.

        If this process is killed before that, the next holder takes these folders over.
        """
        if self._stream is not None and self._holder.abandoned:
            cancel(self._holder.abandoned)
            self._holder = replace(self._holder, abandoned=[])
            self._write(self._stream, self._holder)

    def leave(self) -> None:
        """Give the lock back; nothing happens if this object does not hold it."""
        if self._stream is None:
            return
        self._ended.set()
        me = Holder.this(self._purpose)
        with suppress(OSError):
            holder, exclusive = Holder.parse(_text(self._stream)), _try_exclusive(self._stream)
            is_me = holder is not None and holder.process == me.process
            is_ours = is_me or (holder is not None and holder.is_beside(me))
            # The last one of its working directory says that nobody is there.
            if is_ours and (exclusive or (exclusive is None and is_me)):
                self._stream.truncate(0)
        self._stream.close()
        self._stream = None

    def __enter__(self) -> Self:
        self.enter()
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    # --- taking it ---------------------------------------------------------------------------

    def _attempt(self, me: Holder) -> "Holder | str | None":
        """Try to take the lock; return None, or who holds it, as a text if it is not known."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while True:
            self._found = self._state()
            stream = self._open()
            try:
                other = self._look(stream, me)
                if other is None:
                    self._stream = stream
                    return None
            finally:
                if self._stream is not stream:
                    stream.close()
            if other is not _AGAIN or time.monotonic() > deadline:
                return other
            time.sleep(_POLL_SECONDS / 10)

    def _look(self, stream: IO[bytes], me: Holder) -> "Holder | str | None":
        exclusive = _try_exclusive(stream)
        status = os.fstat(stream.fileno())
        self._holder = me = replace(me, file=[status.st_dev, status.st_ino])
        holder = Holder.parse(_text(stream))
        if holder is not None and not holder.is_of(me):
            holder = None
        if exclusive is False:
            return self._join(stream, me, holder)
        if holder is not None and self._lives(holder, me, exclusive):
            return None if holder.is_beside(me) else holder
        self._holder = me = me.after(holder)
        self._write(stream, me)
        if exclusive is None:
            time.sleep(_SETTLE_SECONDS)
        elif me.purpose == RUN:
            # The change is not atomic: another may have had it in between.
            fcntl.flock(stream, fcntl.LOCK_SH)
        with self.path.open("rb") as again:
            return None if Holder.parse(_text(again)) == me else _AGAIN

    def _join(self, stream: IO[bytes], me: Holder, holder: Holder | None) -> "Holder | str | None":
        """Hold the lock beside another Snakemake of the same working directory."""
        if holder is None:  # it is just being taken or given back
            return _AGAIN
        if not holder.is_beside(me):
            return holder
        try:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _AGAIN
        now = Holder.parse(_text(stream))
        return None if now is not None and now.is_beside(me) else _AGAIN

    def _lives(self, holder: Holder, me: Holder, exclusive: bool | None) -> bool:
        """Return whether a holder lives whose lock of the operating system can't be seen here."""
        if exclusive and holder.machine == me.machine:
            return False
        lives = holder.lives_here(me)
        if lives is not None:
            return lives
        print(
            f"{self.path.parent}: not given back by {holder}; watching for up to "
            f"{_PATIENCE_SECONDS:.0f} s whether it still lives",
            file=sys.stderr,
        )
        first, deadline = self._state(), time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
            with suppress(OSError), self.path.open("rb"):  # opened, it shows its newest times
                if self._state() != first:
                    return True
        return False

    # --- the file ----------------------------------------------------------------------------

    def _open(self) -> IO[bytes]:
        """Open the file; all users who may write into the folder may write the file."""
        folder = self.path.parent
        with explained(self.path):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                new = not self.path.exists()
                stream = os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600), "r+b", 0)
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                    raise
                raise InputError(
                    f"{self.path}: {error.strerror}; who runs jobs must be able to write into the "
                    "results folder"
                ) from error
        if new:
            with suppress(OSError):  # another's, made at the same time
                os.fchmod(stream.fileno(), stat.S_IMODE(folder.stat().st_mode) & 0o666)
        return stream

    def _write(self, stream: IO[bytes], holder: Holder) -> None:
        with explained(self.path):
            stream.seek(0)
            stream.truncate(0)
            stream.write(json.dumps(asdict(holder)).encode())
            os.fsync(stream.fileno())

    def _beat(self, stream: IO[bytes]) -> None:
        """Show others that this process lives; end it if another one has taken the lock over."""
        while not self._ended.wait(_BEAT_SECONDS):
            me = self._holder
            with suppress(OSError, ValueError):  # a file that was deleted, a stream just closed
                os.utime(stream.fileno())
                with self.path.open("rb") as newest:
                    holder = Holder.parse(_text(newest))
                if holder in (None, me) or self._ended.is_set():
                    continue
                if holder.is_beside(me):
                    if not holder.lives_here(me):  # it has ended before this one
                        self._write(stream, me)
                    continue
                print(
                    f"error: {self.path.parent} was taken over by {holder}, from where this "
                    "process did not seem to live; it ends",
                    file=sys.stderr,
                )
                ignored = signal.getsignal(signal.SIGINT) == signal.SIG_IGN
                os.kill(os.getpid(), signal.SIGTERM if ignored else signal.SIGINT)
                return


def _try_exclusive(stream: IO[bytes]) -> bool | None:
    """Try to lock a file for this process only; None if the file system has no locks."""
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode("utf-8", "replace")
