"""SIGTERM to Snakemake: heard at whatever moment it comes.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import _thread
from contextlib import suppress


def hear_every_sigterm() -> None:
    """Let this Snakemake hear a SIGTERM also while it deals with a job that just ended.

    Snakemake's handler takes the lock of its scheduler in the main thread. If that thread holds
    this lock already, which it does while it cleans up after a job, it waits for itself for ever,
    and deaf to any further SIGTERM. A cluster that cancels a job sends SIGTERM to the job and to
    its Snakemake at the same time, so this happens; where nothing sends SIGKILL to a process whose
    parent is gone (Slurm's proctrack/linuxproc), the Snakemake stays on the node. Here the handler
    does its work in a thread, which gets the lock when the main thread gives it back.
    """
    # A later Snakemake may have mended it in a way of its own.
    with suppress(ImportError, AttributeError):
        from snakemake.scheduling.job_scheduler import JobScheduler

        handler = JobScheduler.exit_gracefully
        if hasattr(JobScheduler, "exits_in_a_thread"):
            return

        def exit_gracefully(self: JobScheduler, *_: object) -> None:
            self._user_kill = "graceful"  # no further job begins meanwhile
            # Not threading.Thread: its start takes a lock, which the main thread may hold too.
            _thread.start_new_thread(handler, (self,))

        JobScheduler.exit_gracefully = exit_gracefully
        JobScheduler.exits_in_a_thread = True
