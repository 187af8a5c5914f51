"""`annotator jobs`: the background jobs of a collection or of the site."""

from datetime import UTC, datetime

import click

from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.tables import format_option, show_rows, show_values
from annotator.workflows.site import jobs
from annotator.workflows.site.jobs import JOBS_A_PAGE

MOST_JOBS = 10_000
number_argument = click.argument("number", type=click.IntRange(1, 999_999_999))
collection_option = click.option(
    "--collection", "slug", metavar="SLUG", help="The collection; without it, the jobs of the site: imported archives."
)


@click.group
def command() -> None:
    """Background jobs: large imports, reports, archives; `annotator worker` runs them."""


@command.command("list")
@collection_option
@click.option(
    "--most",
    default=JOBS_A_PAGE,
    show_default=True,
    type=click.IntRange(1, MOST_JOBS),
    help="The maximum number of jobs.",
)
@format_option()
@on_installation
def list_(installation: Installation, slug: str | None, most: int, format_: str) -> None:
    """List the jobs, newest first; results are kept for a week."""
    page = installation.database.read(jobs.page_of_jobs, slug, most=most)
    show_rows(
        format_,
        ["NUMBER", "KIND", "STATE", "ASKED BY", "ASKED", "FINISHED", "STEPS DONE", "STEPS"],
        [
            [one.id, one.kind, one.state, one.asked_by, one.asked_at, one.finished_at, one.steps_done, one.steps]
            for one in page.jobs
        ],
    )
    click.echo(f"Jobs: {page.total}, shown: {len(page.jobs)}.", err=True)


@command.command("show")
@number_argument
@collection_option
@format_option()
@on_installation
def show(installation: Installation, number: int, slug: str | None, format_: str) -> None:
    """Show one job: how far it is, and the HTTP status of its result."""
    job = installation.database.read(jobs.show_job, slug, number)
    show_values(
        format_,
        ("FIELD", "VALUE"),
        {
            "number": job.id,
            "kind": job.kind,
            "state": job.state,
            "asked by": job.asked_by,
            "asked": job.asked_at,
            "started": job.started_at,
            "finished": job.finished_at,
            "steps done": job.steps_done,
            "steps": job.steps,
            "jobs before it": job.before,
            "status": job.result.get("status"),
            "reason": job.result.get("reason"),
        },
    )


@command.command("cancel")
@number_argument
@collection_option
@on_installation
def cancel(installation: Installation, number: int, slug: str | None) -> None:
    """Cancel a job that has not finished; nothing is stored for it."""
    with installation.database.transaction() as session:
        jobs.cancel_job(session, slug, number, at=datetime.now(UTC))
        note(session, "jobs.cancel", slug, subject=number)
    click.echo(f"Cancelled job {number}. Nothing was stored.", err=True)
