"""`annotator worker`: run background jobs."""

import os
from importlib import import_module

import click

from annotator.cli.serving.heap import return_freed_memory
from annotator.cli.site.installation import Installation, on_installation
from annotator.settings import refuse_incomplete_mail


@click.command
@click.option("--once", is_flag=True, help="Do the waiting jobs, then exit.")
@click.option(
    "--short", is_flag=True, help="Take only short jobs, such as small files; run another worker for the rest."
)
@click.option("--parent", type=int, hidden=True, help="Exit when this process exits.")
@on_installation
def command(installation: Installation, parent: int | None, *, once: bool, short: bool) -> None:
    """Run background jobs, such as large imports and reports, until Ctrl-C.

    `annotator serve` starts two, the second with --short, so that short jobs do not wait for a long one. Several may
    work at the same time, also on other machines that reach the database.
    """
    refuse_incomplete_mail(installation.settings)
    installation.database.close()
    # NumPy's threads would compete with the web pages; it reads this on import.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    return_freed_memory()
    working = import_module("annotator.worker.working")
    working.run_worker(installation.settings, only_what_waits=once, only_short=short, parent=parent)
