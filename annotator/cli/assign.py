"""`annotator assign`: which judge owns which topic."""

from collections.abc import Sequence

import click

from annotator.cli.deeds import note
from annotator.cli.installation import Installation, on_installation
from annotator.cli.tables import show_table
from annotator.storage import JudgingMode
from annotator.workflows import assigning
from annotator.workflows.assigning import AssigningPlan

USAGE = (
    "Give --topic with one --judge or with --none, or --balance; --all goes with --balance, and --dry-run with either. "
    "Without any of them the owners are shown."
)


@click.command
@click.argument("slug")
@click.option("--topic", "numbers", multiple=True, metavar="NUMBER", help="A topic to give away; repeatable.")
@click.option(
    "--judge", "judges", multiple=True, metavar="NAME", help="To whom; repeatable with --balance: among whom."
)
@click.option("--none", "nobody", is_flag=True, help="Take the topics from their owners.")
@click.option("--balance", is_flag=True, help="Deal out topics without an owner, so that all have about as much left.")
@click.option("--all", "anew", is_flag=True, help="With --balance: deal out every topic of which something remains.")
@click.option("--dry-run", is_flag=True, help="Show what would change and store nothing.")
@on_installation
def command(
    installation: Installation,
    slug: str,
    numbers: Sequence[str],
    judges: Sequence[str],
    *,
    nobody: bool,
    balance: bool,
    anew: bool,
    dry_run: bool,
) -> None:
    """Show who owns which topic; with options, give topics to judges, by hand or balanced by what remains.

    Owners count while the collection is owned (`annotator collections set SLUG --mode owned`). What was judged stays;
    what others hold of a topic and may not judge any more goes back to the queue.
    """
    by_hand = bool(numbers) and not balance and (nobody != bool(judges)) and len(judges) <= 1 and not anew
    balancing = balance and not numbers and not nobody
    if not (by_hand or balancing):
        if numbers or judges or nobody or balance or anew or dry_run:
            raise click.UsageError(USAGE)
        _show(installation, slug)
        return
    with installation.database.reading() as session:
        plan = (
            assigning.plan_balance(session, slug, judges, anew=anew)
            if balancing
            else assigning.plan_by_hand(session, slug, numbers, None if nobody else judges[0])
        )
    _show_plan(plan)
    if dry_run:
        click.echo(f"Topics that would change hands: {len(plan.moves)}. Nothing was stored.", err=True)
        return
    with installation.database.transaction() as session:
        done = assigning.assign_topics(session, slug, plan.owners)
        for judge, topics in assigning.by_owner(plan.owners).items():
            note(session, "topics.assign", slug, subject=judge or "", details={"topics": topics})
    click.echo(f"Topics that changed hands: {done.topics}; documents given back: {done.given_back}.", err=True)


def _show(installation: Installation, slug: str) -> None:
    with installation.database.reading() as session:
        present = assigning.show_assigning(session, slug)
    show_table(
        ["TOPIC", "DOCUMENTS", "JUDGED", "REMAINING", "OWNER", "TITLE"],
        [
            [topic.number, topic.items, topic.judged, topic.remaining, topic.owner, topic.title]
            for topic in present.topics
        ],
    )
    click.echo()
    show_table(
        ["JUDGE", "TOPICS", "REMAINING"], [[judge.name, judge.topics, judge.remaining] for judge in present.judges]
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
