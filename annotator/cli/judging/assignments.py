"""`annotator assignments`: which judge is assigned which topic."""

from collections.abc import Sequence

import click

from annotator.cli.site.installation import Installation, note, on_installation
from annotator.cli.site.options import dry_run_option
from annotator.cli.site.tables import Table, format_option, show_table, show_tables
from annotator.storage import JudgingMode
from annotator.workflows.judging import topic_owners
from annotator.workflows.judging.topic_owners import AssigningPlan


@click.group
def command() -> None:
    """Owners of topics: assigned by hand, or balanced by the remaining documents.

    Owners count while the collection is owned (`annotator collections set SLUG --mode owned`). Judgements stay;
    documents held by judges who may no longer judge the topic go back to the queue.
    """


@command.command("set")
@click.argument("slug")
@click.option("--topic", "numbers", multiple=True, required=True, metavar="NUMBER", help="A topic; repeatable.")
@click.option("--judge", metavar="NAME", help="The new owner.")
@click.option("--none", "nobody", is_flag=True, help="Remove the owners of the topics.")
@dry_run_option
@on_installation
def set_(
    installation: Installation, slug: str, numbers: Sequence[str], judge: str | None, *, nobody: bool, dry_run: bool
) -> None:
    """Assign topics to one judge, or remove their owners."""
    if nobody == (judge is not None):
        raise click.UsageError("Give --judge or --none.")
    plan = installation.database.read(topic_owners.plan_by_hand, slug, numbers, judge)
    _carry_out(installation, slug, plan, dry_run=dry_run)


@command.command("balance")
@click.argument("slug")
@click.option("--judge", "judges", multiple=True, metavar="NAME", help="Only to these judges; repeatable.")
@click.option(
    "--all", "reassign", is_flag=True, help="Assign every topic with remaining documents, also those with an owner."
)
@dry_run_option
@on_installation
def balance(installation: Installation, slug: str, judges: Sequence[str], *, reassign: bool, dry_run: bool) -> None:
    """Assign topics without an owner, so that all judges have about the same number of documents left."""
    plan = installation.database.read(topic_owners.plan_balance, slug, judges, reassign=reassign)
    _carry_out(installation, slug, plan, dry_run=dry_run)


def _carry_out(installation: Installation, slug: str, plan: AssigningPlan, *, dry_run: bool) -> None:
    _show_plan(plan)
    if dry_run:
        click.echo(f"Topics that would change hands: {len(plan.moves)}. Nothing was stored.", err=True)
        return
    with installation.database.transaction() as session:
        done = topic_owners.assign_topics(session, slug, plan.owners)
        for judge, topics in topic_owners.by_owner(plan.owners).items():
            note(session, "topics.assign", slug, subject=judge or "", details={"topics": topics})
    click.echo(f"Topics that changed hands: {done.topics}; documents given back: {done.given_back}.", err=True)


@command.command("list")
@click.argument("slug")
@format_option()
@on_installation
def list_(installation: Installation, slug: str, format_: str) -> None:
    """List the topics with their owners, and the judges with their remaining documents."""
    present = installation.database.read(topic_owners.show_assigning, slug)
    show_tables(
        format_,
        Table(
            "topics",
            ["TOPIC", "DOCUMENTS", "JUDGED", "REMAINING", "OWNER", "TITLE"],
            [
                [topic.number, topic.items, topic.judged, topic.remaining, topic.owner, topic.title]
                for topic in present.topics
            ],
        ),
        Table(
            "judges",
            ["JUDGE", "TOPICS", "REMAINING"],
            [[judge.name, judge.topics, judge.remaining] for judge in present.judges],
        ),
    )
    for name in present.gone:
        click.echo(f"{name} owns topics and is no judge any more: nobody is given their documents.", err=True)
    if present.mode == JudgingMode.SHARED:
        click.echo("The collection is shared: owners count when it is owned.", err=True)


def _show_plan(plan: AssigningPlan) -> None:
    show_table(
        ["TOPIC", "REMAINING", "OWNER", "NEW OWNER"],
        [[move.topic.number, move.topic.remaining, move.topic.owner, move.owner] for move in plan.moves],
    )
    click.echo()
    show_table(
        ["JUDGE", "TOPICS", "REMAINING", "TOPICS THEN", "REMAINING THEN"],
        [
            [before.name, before.topics, before.remaining, after.topics, after.remaining]
            for before, after in plan.judges
        ],
    )
