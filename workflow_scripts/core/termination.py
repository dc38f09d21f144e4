"""SIGTERM to Snakemake: it works at any moment.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import _thread
from contextlib import suppress


def hear_every_sigterm() -> None:
    """Let this Snakemake react to a SIGTERM also while it cleans up after a job.

    Snakemake's handler takes the lock of its scheduler in the main thread. While that thread cleans
    up after a job, it holds this lock already. Then it waits for itself for ever, and no further
    SIGTERM reaches it. This happens: a cluster that cancels a job sends SIGTERM to the job and to
    its Snakemake at the same time. Where nothing sends SIGKILL to a process whose parent has ended
    (Slurm's proctrack/linuxproc), the Snakemake stays on the node. Here the handler works in a
    thread of its own, which gets the lock when the main thread gives it back.
    """
    # A later Snakemake may have repaired this itself.
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
